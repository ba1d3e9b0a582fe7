// A copy of the catalog, kept by following its change feed alone.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/id.h"
#include "catalog/change.h"
#include "crash/model.h"
#include "ports/sql.h"

namespace baton::crash {

using Rows = std::map<std::pair<kinds::Entity, std::string>, SqlRow>;

class Replica {
public:
    // What the tables say, by the entities' views.
    [[nodiscard]] static Result<Replica> of_tables(Sql& sql);

    // What is wrong with the change, as a sentence; empty if it follows from what was before.
    [[nodiscard]] std::string follow(const catalog::Change& change);

    [[nodiscard]] Revision revision() const { return revision_; }
    [[nodiscard]] Facts facts_of(int thread) const;
    // An entity in which they differ, as a sentence; empty if they agree in everything.
    [[nodiscard]] std::string difference(const Replica& other) const;

private:
    Rows rows_;
    Revision revision_;
    std::uint32_t next_ordinal_ = 0;
};

}  // namespace baton::crash
