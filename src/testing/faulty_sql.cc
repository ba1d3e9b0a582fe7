#include "testing/faulty_sql.h"

#include <array>
#include <mutex>
#include <string>
#include <utility>

#include "base/text.h"

namespace baton::testing {

struct FaultySqlDatabase::Shared {
    std::mutex mutex;
    SqlFaults faults;
    std::array<std::uint64_t, 9> counts{};  // by SqlCall

    std::optional<SqlFault> ask(SqlCall call, std::string_view sql = {}) {
        const std::lock_guard guard(mutex);
        const std::uint64_t number = ++counts.at(static_cast<std::size_t>(call));
        if (!faults) return std::nullopt;
        return faults({.call = call, .number = number, .sql = sql});
    }
};

namespace {

Error error_of(const SqlFault& fault) {
    return {.code = fault.code,
            .message = "a fault was injected: " + std::string(entry_of(fault.code).meaning)};
}

SqlCall kind_of(std::string_view sql) {
    const auto start = sql.find_first_not_of(" \t\r\n(");
    const auto text = start == std::string_view::npos ? "" : sql.substr(start);
    for (const std::string_view word : {"SELECT", "WITH", "VALUES", "PRAGMA"}) {
        if (equal_ignoring_case(text.substr(0, word.size()), word)) return SqlCall::read;
    }
    return SqlCall::write;
}

class FaultySync final : public SqlSync {
public:
    FaultySync(std::unique_ptr<SqlSync> real, std::shared_ptr<FaultySqlDatabase::Shared> shared)
        : real_(std::move(real)), shared_(std::move(shared)) {}

    Result<Done> sync() override {
        if (const auto fault = shared_->ask(SqlCall::sync)) return error_of(*fault);
        return real_->sync();
    }

private:
    std::unique_ptr<SqlSync> real_;
    std::shared_ptr<FaultySqlDatabase::Shared> shared_;
};

class FaultySql final : public Sql {
public:
    FaultySql(std::unique_ptr<Sql> real, std::shared_ptr<FaultySqlDatabase::Shared> shared)
        : real_(std::move(real)), shared_(std::move(shared)) {}

    [[nodiscard]] SqlDialect dialect() const override { return real_->dialect(); }

    Result<std::int64_t> run(std::string_view sql, std::span<const SqlValue> parameters,
                             const SqlRowSink& sink) override {
        return attempt<std::int64_t>(kind_of(sql), sql,
                                     [&] { return real_->run(sql, parameters, sink); });
    }
    Result<Done> run_script(const std::string& sql) override {
        return attempt<Done>(SqlCall::script, sql, [&] { return real_->run_script(sql); });
    }
    Result<Done> begin(Access access) override {
        auto begun = attempt<Done>(SqlCall::begin, {}, [&] { return real_->begin(access); });
        if (!begun) rollback();  // an error says that there is no transaction
        return begun;
    }
    Result<Done> commit() override {
        auto committed = attempt<Done>(SqlCall::commit, {}, [&] { return real_->commit(); });
        if (!committed) rollback();  // whatever came of it, it has ended the transaction
        return committed;
    }
    void rollback() override {
        real_->rollback();
        lost_.reset();
    }
    Result<Done> set_savepoint() override {
        return attempt<Done>(SqlCall::savepoint, {}, [&] { return real_->set_savepoint(); });
    }
    Result<Done> release_savepoint() override {
        return attempt<Done>(SqlCall::savepoint, {}, [&] { return real_->release_savepoint(); });
    }
    Result<Done> roll_back_to_savepoint() override {
        return attempt<Done>(SqlCall::savepoint, {},
                             [&] { return real_->roll_back_to_savepoint(); });
    }

    [[nodiscard]] Result<std::unique_ptr<SqlSync>> defer_sync() override {
        TRY_ASSIGN(real, real_->defer_sync());
        if (!real) return real;
        return std::unique_ptr<SqlSync>(std::make_unique<FaultySync>(std::move(real), shared_));
    }

private:
    template <class T, class Call>
    Result<T> attempt(SqlCall call, std::string_view sql, const Call& real) {
        if (lost_) return *lost_;
        const auto fault = shared_->ask(call, sql);
        if (!fault) return real();
        if (fault->took_effect) {
            auto result = real();
            if (!result) return result.error();
        }
        Error error = error_of(*fault);
        if (fault->transaction_lost) {
            real_->rollback();
            lost_ = error;
        }
        return error;
    }

    std::unique_ptr<Sql> real_;
    std::shared_ptr<FaultySqlDatabase::Shared> shared_;
    std::optional<Error> lost_;  // the fault that cost the transaction
};

}  // namespace

SqlFaults as_planned(std::vector<PlannedFault> plan) {
    return [plan = std::move(plan)](const SqlMoment& moment) -> std::optional<SqlFault> {
        for (const auto& [call, number, fault] : plan) {
            if (call == moment.call && number == moment.number) return fault;
        }
        return std::nullopt;
    };
}

FaultySqlDatabase::FaultySqlDatabase(SqlDatabase& real, SqlFaults faults)
    : real_(real), shared_(std::make_shared<Shared>()) {
    shared_->faults = std::move(faults);
}

FaultySqlDatabase::~FaultySqlDatabase() = default;

void FaultySqlDatabase::set_faults(SqlFaults faults) {
    const std::lock_guard guard(shared_->mutex);
    shared_->faults = std::move(faults);
}

std::uint64_t FaultySqlDatabase::calls(SqlCall call) const {
    const std::lock_guard guard(shared_->mutex);
    return shared_->counts.at(static_cast<std::size_t>(call));
}

Result<std::unique_ptr<Sql>> FaultySqlDatabase::connect(Access access) {
    if (const auto fault = shared_->ask(SqlCall::connect)) return error_of(*fault);
    TRY_ASSIGN(real, real_.connect(access));
    return std::unique_ptr<Sql>(std::make_unique<FaultySql>(std::move(real), shared_));
}

Result<Done> FaultySqlDatabase::backup_to(const std::string& path) {
    if (const auto fault = shared_->ask(SqlCall::backup)) return error_of(*fault);
    return real_.backup_to(path);
}

}  // namespace baton::testing
