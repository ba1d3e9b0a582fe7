// WorldTimeSql is a connection whose database has the world's clock: a statement that asks for the
// time (catalog/lease.h: now_us) gets the time of the simulation. All else is unchanged.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ports/sql.h"
#include "sim/agenda.h"

namespace baton::sim {

class WorldTimeSql final : public Sql {
public:
    WorldTimeSql(std::unique_ptr<Sql> real, const Agenda& agenda)
        : real_(std::move(real)), agenda_(agenda) {}

    [[nodiscard]] SqlDialect dialect() const override { return real_->dialect(); }
    Result<std::int64_t> run(std::string_view sql, std::span<const SqlValue> parameters,
                             const SqlRowSink& sink) override;
    Result<Done> run_script(const std::string& sql) override { return real_->run_script(sql); }
    Result<Done> begin(Access access) override { return real_->begin(access); }
    Result<Done> commit() override { return real_->commit(); }
    void rollback() override { real_->rollback(); }
    Result<Done> set_savepoint() override { return real_->set_savepoint(); }
    Result<Done> release_savepoint() override { return real_->release_savepoint(); }
    Result<Done> roll_back_to_savepoint() override { return real_->roll_back_to_savepoint(); }

private:
    // A statement with a parameter in place of each look at the clock.
    struct Rewritten {
        std::string sql;
        std::vector<bool> is_time;  // of its parameters
    };
    [[nodiscard]] Rewritten rewrite(std::string_view sql) const;

    std::unique_ptr<Sql> real_;
    const Agenda& agenda_;
    std::map<std::string, Rewritten, std::less<>> rewritten_;
};

}  // namespace baton::sim
