// Witness looks at a catalog from inside its database, where nobody can tell it stories: triggers
// note every transaction that changed the catalog, by which session and under which epoch of the
// fence, and every change of the lease, all by the database's clock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "testing/servers/database_server.h"

namespace baton::failover {

class Witness {
public:
    // The tables of the catalog are there.
    Witness(testing::ServerKind kind, const std::string& url);

    // As its owner said when it took the lease; none: nobody holds it, or nobody can be asked.
    [[nodiscard]] std::optional<std::string> leader() const;
    [[nodiscard]] std::uint64_t epoch() const;

    struct Report {
        std::uint64_t terms = 0;
        std::uint64_t writes = 0;
        std::uint64_t sessions = 0;  // that wrote
        // A lease that was taken while it was held; an epoch or a revision that went back; a
        // session that wrote under two epochs, so that it wrote for a leader it was not.
        std::vector<std::string> problems;
    };
    [[nodiscard]] Report report() const;

private:
    void look_at_lease(Sql& sql, Report& report) const;
    void look_at_writes(Sql& sql, Report& report) const;

    std::unique_ptr<SqlDatabase> database_;
};

}  // namespace baton::failover
