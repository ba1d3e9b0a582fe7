// The relations of the question that an instance answers, as DuckDB finds them: by name, when it
// has no table of that name. It has none at all, so this is the only way to rows.
//
// A relation of files has the columns that were declared: a column that a file lacks is NULL
// there, a column of the partition is a constant, and everything is converted to the declared type.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <duckdb.hpp>

#include "base/result.h"
#include "ports/question_engine.h"

namespace baton::duckdb_engine {

// One for each instance; one question at a time. DuckDB's threads read it while one runs.
class Relations final : public duckdb::TableFunctionInfo {
public:
    // In force until the next call. Throws what DuckDB throws where rows do not fit their columns.
    void set(const std::vector<QuestionRelation>& relations, duckdb::ClientContext& context);
    void clear() { relations_.clear(); }

    [[nodiscard]] const QuestionRelation* find(std::string_view name) const;
    // The reference that DuckDB binds instead of the name; null: there is no such relation.
    [[nodiscard]] duckdb::unique_ptr<duckdb::TableRef> reference(const std::string& name) const;

    struct Entry {
        const QuestionRelation* relation = nullptr;
        duckdb::shared_ptr<duckdb::ColumnDataCollection> rows;  // null: files
    };

private:
    std::map<std::string, Entry, std::less<>> relations_;
};

// Makes the relations known to a new instance.
void install(duckdb::DatabaseInstance& instance, duckdb::shared_ptr<Relations> relations);

}  // namespace baton::duckdb_engine
