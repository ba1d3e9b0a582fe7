#include "sim/world_time_sql.h"

#include "base/check.h"
#include "catalog/lease.h"

namespace baton::sim {

WorldTimeSql::Rewritten WorldTimeSql::rewrite(std::string_view sql) const {
    const std::string_view clock = catalog::now_us(dialect());
    Rewritten made;
    while (!sql.empty()) {
        const bool is_time = sql.starts_with(clock);
        if (is_time || sql.front() == '?') made.is_time.push_back(is_time);
        made.sql += is_time ? '?' : sql.front();
        sql.remove_prefix(is_time ? clock.size() : 1);
    }
    return made;
}

Result<std::int64_t> WorldTimeSql::run(std::string_view sql, std::span<const SqlValue> parameters,
                                       const SqlRowSink& sink) {
    auto found = rewritten_.find(sql);
    if (found == rewritten_.end()) found = rewritten_.emplace(sql, rewrite(sql)).first;
    const Rewritten& statement = found->second;
    std::vector<SqlValue> values;
    std::size_t next = 0;
    for (const bool is_time : statement.is_time) {
        if (is_time) {
            values.emplace_back(std::int64_t{agenda_.now().time_since_epoch().count()});
        } else {
            CHECK(next < parameters.size());
            values.push_back(parameters[next++]);
        }
    }
    return real_->run(statement.sql, values, sink);
}

}  // namespace baton::sim
