#include "catalog/check.h"

#include "base/text.h"
#include "catalog/history.h"
#include "catalog/kinds/row_cursor.h"
#include "catalog/reader.h"
#include "catalog/schema.h"
#include "catalog/views/views.h"
#include "core/descriptors/descriptors.h"
#include "core/topology/topology.h"
#include "sql/parser.h"

namespace baton::catalog {

namespace {

class Checker {
public:
    explicit Checker(Sql& sql) : sql_(sql), reader_(sql) {}

    Result<std::vector<std::string>> run() {
        TRY(check_configurations());
        TRY(check_workers());
        TRY(check_topology());
        TRY(check_queries());
        TRY(check_references());
        TRY(check_feed());
        TRY(check_identity());
        return std::move(problems_);
    }

private:
    void complain(std::string what) { problems_.push_back(std::move(what)); }

    // Entities that cannot be decoded are themselves the finding.
    template <class List>
    Result<std::vector<typename List::value_type>> readable(Result<List> list) {
        if (list) return *std::move(list);
        if (list.error().code != ErrorCode::catalog_corrupt) return list.error();
        complain(list.error().message);
        return List();
    }

    Result<Done> check_configurations() {
        TRY_ASSIGN(logical, readable(reader_.logical_sources()));
        for (const LogicalSource& source : logical) {
            if (auto valid = validate(source.schema, "source " + in_quotes(source.name)); !valid) {
                complain(valid.error().message);
            }
        }
        TRY_ASSIGN(physical, readable(reader_.physical_sources()));
        for (const PhysicalSource& source : physical) {
            check_config(descriptors::DescriptorKind::source, source.type, source.source,
                         "physical source " + to_string(source.id));
        }
        TRY_ASSIGN(sinks, readable(reader_.sinks()));
        for (const Sink& sink : sinks) {
            if (auto valid = validate(sink.schema, "sink " + in_quotes(sink.name)); !valid) {
                complain(valid.error().message);
            }
            check_config(descriptors::DescriptorKind::sink, sink.type, sink.sink,
                         "sink " + in_quotes(sink.name));
        }
        return Done{};
    }

    void check_config(descriptors::DescriptorKind kind, const std::string& type,
                      const Config& config, const std::string& what) {
        const auto descriptor = descriptors::descriptor_of(kind, type);
        if (!descriptor) {
            complain(what + ": " + descriptor.error().message);
            return;
        }
        std::vector<descriptors::GivenOption> given;
        for (const auto& [key, value] : config) given.push_back({.key = key, .value = value});
        const auto completed = descriptors::complete(**descriptor, given);
        if (!completed) {
            complain(what + ": " + completed.error().message);
        } else if (*completed != config) {
            complain(what + ": its configuration is not complete");
        }
    }

    Result<Done> check_workers() {
        TRY_ASSIGN(workers, readable(reader_.workers()));
        for (const Worker& worker : workers) {
            if (worker.kind == WorkerKind::remote && !worker.control) {
                complain("worker " + in_quotes(worker.name) + " has no valid address");
            }
            if (worker.control && !topology::parse_address(to_string(*worker.control))) {
                complain("worker " + in_quotes(worker.name) + " has the invalid address " +
                         in_quotes(to_string(*worker.control)));
            }
            TRY_ASSIGN(used, reader_.used_slots(worker.name));
            if (worker.capacity && used > *worker.capacity) {
                complain("worker " + in_quotes(worker.name) + " has " +
                         std::to_string(*worker.capacity) + " slots, but fragments use " +
                         std::to_string(used));
            }
        }
        return Done{};
    }

    Result<Done> check_topology() {
        TRY_ASSIGN(links, reader_.links());
        if (const auto circle = topology::Topology(links).cycle()) {
            complain("the links form a cycle: " + join(*circle, " -> "));
        }
        return Done{};
    }

    Result<Done> check_queries() {
        TRY_ASSIGN(queries, readable(reader_.queries()));
        for (const Query& query : queries) {
            const std::string what = "query " + in_quotes(query.name);
            // Printed in normal form it may be longer than it was written.
            constexpr sql::Limits kGenerous{.bytes_max = std::size_t{16} << 20U, .depth_max = 256};
            if (!sql::parse_one(query.statement, kGenerous)) {
                complain(what + ": its statement does not parse");
            }
            TRY_ASSIGN(fragments, reader_.fragments({.query = query.id}));
            if (fragments.empty()) complain(what + " has no fragment");
            for (const Fragment& fragment : fragments) TRY(check_fragment(query, fragment, what));
        }
        return Done{};
    }

    Result<Done> check_fragment(const Query& query, const Fragment& fragment,
                                const std::string& what) {
        const std::string state(to_string(fragment.state));
        const std::string is = what + " is " + std::string(to_string(query.state)) +
                               ", but its fragment on worker " + in_quotes(fragment.worker) +
                               " is ";
        if (has_ended(query.state) && !has_ended(fragment.state)) complain(is + state);
        if (query.state == QueryState::pending && fragment.state != FragmentState::pending) {
            complain(is + state);
        }
        if (query.state != QueryState::running) return Done{};
        if (fragment.state == FragmentState::terminated) return Done{};
        if (fragment.state != FragmentState::running) complain(is + state);
        TRY_ASSIGN(worker, reader_.worker(fragment.worker));
        if (worker && worker->state != WorkerState::active) {
            complain(what + " is RUNNING, but worker " + in_quotes(worker->name) +
                     " is UNREACHABLE");
        }
        return Done{};
    }

    Result<Done> check_references() {
        struct Reference {
            std::string_view sql;
            std::string_view complaint;
        };
        // The constraints forbid these; a file changed with other tools may have them.
        constexpr std::array kReferences = {
            Reference{"SELECT id FROM physical_source p WHERE NOT EXISTS (SELECT 1 FROM "
                      "logical_source l WHERE l.name = p.logical) OR NOT EXISTS (SELECT 1 FROM "
                      "worker w WHERE w.name = p.worker)",
                      "a physical source refers to something that does not exist: "},
            Reference{"SELECT name FROM sink s WHERE NOT EXISTS (SELECT 1 FROM worker w WHERE "
                      "w.name = s.worker)",
                      "a sink is on a worker that does not exist: "},
            Reference{"SELECT id FROM fragment f WHERE NOT EXISTS (SELECT 1 FROM query q WHERE "
                      "q.id = f.query) OR NOT EXISTS (SELECT 1 FROM worker w WHERE w.name = "
                      "f.worker)",
                      "a fragment refers to something that does not exist: "},
            Reference{"SELECT query FROM query_source s WHERE NOT EXISTS (SELECT 1 FROM query q "
                      "WHERE q.id = s.query) OR NOT EXISTS (SELECT 1 FROM physical_source p WHERE "
                      "p.id = s.source)",
                      "a query reads a source that does not exist: "},
            Reference{"SELECT query FROM query_sink s WHERE NOT EXISTS (SELECT 1 FROM query q "
                      "WHERE q.id = s.query) OR NOT EXISTS (SELECT 1 FROM sink k WHERE k.name = "
                      "s.sink)",
                      "a query writes to a sink that does not exist: "},
            Reference{"SELECT query FROM query_table t WHERE NOT EXISTS (SELECT 1 FROM query q "
                      "WHERE q.id = t.query) OR NOT EXISTS (SELECT 1 FROM sql_table k WHERE k.name "
                      "= t.target)",
                      "a query writes into a table that does not exist: "},
            Reference{"SELECT list FROM task_partition p WHERE p.owner IS NOT NULL AND NOT EXISTS "
                      "(SELECT 1 FROM worker w WHERE w.name = p.owner)",
                      "a partition is with a worker that does not exist, of the task list "},
            // One that is owned outlives its list until its owner let go.
            Reference{"SELECT list FROM task_partition p WHERE p.state = 'UNOWNED' AND NOT EXISTS "
                      "(SELECT 1 FROM task_list l WHERE l.name = p.list AND p.number < "
                      "l.partitions)",
                      "there is a partition too many of the task list "},
            Reference{"SELECT name FROM task_list l WHERE partitions > (SELECT COUNT(*) FROM "
                      "task_partition p WHERE p.list = l.name AND p.number < l.partitions)",
                      "there are partitions too few of the task list "},
        };
        for (const Reference& reference : kReferences) {
            TRY(sql_.run(reference.sql, {}, [&](const SqlRow& row) {
                complain(std::string(reference.complaint) +
                         kinds::shown(row.at(0), kinds::ViewType::text));
            }));
        }
        return Done{};
    }

    Result<Done> check_feed() {
        TRY_ASSIGN(rows, sql_.query("SELECT m.revision, m.next_id, m.feed_floor, (SELECT "
                                    "MAX(revision) FROM change_feed) FROM meta m WHERE m.id = 1"));
        kinds::RowCursor cursor(rows.at(0));
        const std::uint64_t revision = cursor.number();
        const std::uint64_t next_id = cursor.number();
        const std::uint64_t floor = cursor.number();
        const std::uint64_t last = cursor.number();
        if (last > revision) complain("the change feed is ahead of the revision");
        if (revision > floor && last < revision) complain("the change feed has lost its end");
        TRY_ASSIGN(kept,
                   sql_.query("SELECT COUNT(DISTINCT revision) FROM change_feed WHERE "
                              "revision > ? AND revision < ?",
                              {static_cast<std::int64_t>(floor), static_cast<std::int64_t>(last)}));
        const std::uint64_t inside = last > floor ? last - floor - 1 : 0;
        if (const std::uint64_t found = kinds::RowCursor(kept.at(0)).number(); found < inside) {
            complain("the change feed lacks " + std::to_string(inside - found) +
                     " of the revisions between " + std::to_string(floor) + " and " +
                     std::to_string(last));
        }
        TRY_ASSIGN(ids, sql_.query("SELECT MAX(id) FROM (SELECT id FROM query UNION ALL SELECT id "
                                   "FROM fragment UNION ALL SELECT id FROM physical_source) t"));
        if (kinds::RowCursor(ids.at(0)).number() >= next_id)
            complain("a number would be given out twice");
        for (Revision at(floor);;) {
            constexpr std::size_t kPortion = 1'000;
            auto portion = changes_after(sql_, at, std::nullopt, kPortion);
            if (!portion && portion.error().code == ErrorCode::catalog_corrupt) {
                complain(portion.error().message);
                return Done{};
            }
            if (!portion) return portion.error();
            if (portion->changes.empty()) return Done{};
            at = portion->changes.back().revision;
        }
    }

    Result<Done> check_identity() {
        const auto id = reader_.catalog_id();
        if (!id && id.error().code != ErrorCode::catalog_corrupt) return id.error();
        if (!id) complain(id.error().message);
        TRY_ASSIGN(rows, sql_.query("SELECT id FROM fragment WHERE fingerprint = '' ORDER BY id"));
        for (const SqlRow& row : rows) {
            complain("fragment " + std::to_string(kinds::RowCursor(row).number()) +
                     " has no fingerprint");
        }
        return Done{};
    }

    Sql& sql_;
    Reader reader_;
    std::vector<std::string> problems_;
};

}  // namespace

Result<std::vector<std::string>> catalog_problems(Sql& sql) {
    TRY(sql.begin(Access::read));
    auto problems = [&]() -> Result<std::vector<std::string>> {
        TRY(require_current_version(sql));
        return Checker(sql).run();
    }();
    sql.rollback();
    return problems;
}

}  // namespace baton::catalog
