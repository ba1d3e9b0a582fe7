#include "failover/witness.h"

#include <map>

#include "base/check.h"
#include "catalog/lease.h"

namespace baton::failover {

namespace {

std::string triggers(testing::ServerKind kind) {
    const bool postgres = kind == testing::ServerKind::postgres;
    const std::string now(catalog::now_us(postgres ? SqlDialect::postgres : SqlDialect::mariadb));
    const std::string number = postgres ? "BIGSERIAL" : "BIGINT AUTO_INCREMENT";
    // Numbers of sessions begin again with each server. MariaDB's short UUIDs tell when it began.
    const std::string session = postgres ? "pg_backend_pid() || '/' || inet_client_port()"
                                         : "CONCAT(CONNECTION_ID(), '/', UUID_SHORT() >> 24)";
    const std::string write =
        "INSERT INTO seen_write (revision, epoch, session) SELECT "
        "NEW.revision, epoch, " +
        session + " FROM fence WHERE lock_key = 'leader'";
    const std::string lease =
        "INSERT INTO seen_lease (epoch, old_epoch, old_end, at_us) VALUES (NEW.epoch, OLD.epoch, "
        "OLD.expires_at, " +
        now + ")";
    std::string text = "CREATE TABLE seen_write (n " + number +
                       " PRIMARY KEY, revision BIGINT, epoch BIGINT, session VARCHAR(200));"
                       "CREATE TABLE seen_lease (n " +
                       number +
                       " PRIMARY KEY, epoch BIGINT, old_epoch BIGINT, old_end BIGINT, at_us "
                       "BIGINT);";
    for (const auto& [name, table, does] :
         {std::tuple{"see_write", "meta", write}, std::tuple{"see_lease", "lease", lease}}) {
        const std::string when =
            std::string("CREATE TRIGGER ") + name + " AFTER UPDATE ON " + table + " FOR EACH ROW ";
        if (postgres) {
            text += std::string("CREATE FUNCTION ") + name +
                    "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + does +
                    "; RETURN NULL; END $$;" + when + "EXECUTE FUNCTION " + name + "();";
        } else {
            text += when + does + ";";
        }
    }
    return text;
}

std::uint64_t number_in(const SqlRow& row, std::size_t column) {
    return static_cast<std::uint64_t>(std::get<std::int64_t>(row[column]));
}

}  // namespace

Witness::Witness(testing::ServerKind kind, const std::string& url) {
    auto database = testing::open_server_database(kind, url);
    CHECK(database);
    database_ = *std::move(database);
    const auto sql = database_->connect(Access::write);
    CHECK(sql);
    const auto made = (*sql)->run_script(triggers(kind));
    if (!made) std::fprintf(stderr, "%s\n", to_string(made.error()).c_str());
    CHECK(made);
}

std::optional<std::string> Witness::leader() const {
    const auto sql = database_->connect(Access::write);
    if (!sql) return std::nullopt;
    const auto state = catalog::Leases(**sql).watch("leader");
    if (!state || !*state || (*state)->remaining <= Duration::zero()) return std::nullopt;
    return (*state)->owner;
}

std::uint64_t Witness::epoch() const {
    const auto sql = database_->connect(Access::write);
    if (!sql) return 0;
    const auto state = catalog::Leases(**sql).watch("leader");
    return state && *state ? (*state)->epoch.value() : 0;
}

void Witness::look_at_lease(Sql& sql, Report& report) const {
    CHECK(sql.run("SELECT epoch, old_epoch, old_end, at_us FROM seen_lease ORDER BY n", {},
                  [&](const SqlRow& row) {
                      const std::uint64_t epoch = number_in(row, 0);
                      const std::uint64_t old = number_in(row, 1);
                      if (epoch == old) return;
                      report.terms += 1;
                      const std::string name = "epoch " + std::to_string(epoch);
                      if (epoch < old) {
                          report.problems.push_back(name + " came after " + std::to_string(old));
                      }
                      if (number_in(row, 2) > number_in(row, 3)) {
                          report.problems.push_back(name +
                                                    " began before the one before it had "
                                                    "ended");
                      }
                  }));
}

void Witness::look_at_writes(Sql& sql, Report& report) const {
    std::uint64_t revision = 0;
    std::uint64_t epoch = 0;
    std::map<std::string, std::uint64_t> epochs;
    CHECK(sql.run(
        "SELECT revision, epoch, session FROM seen_write ORDER BY n", {}, [&](const SqlRow& row) {
            report.writes += 1;
            const std::string name = "revision " + std::to_string(number_in(row, 0));
            if (number_in(row, 0) < revision) {
                report.problems.push_back(name + " came after a later one");
            }
            if (number_in(row, 1) < epoch) {
                report.problems.push_back(name + " was written by a deposed leader");
            }
            revision = number_in(row, 0);
            epoch = number_in(row, 1);
            const auto& session = std::get<std::string>(row[2]);
            const auto [known, is_new] = epochs.emplace(session, epoch);
            if (!is_new && known->second != epoch) {
                report.problems.push_back(name + " was written under epoch " +
                                          std::to_string(epoch) + " by a session of epoch " +
                                          std::to_string(known->second));
            }
        }));
    report.sessions = epochs.size();
}

Witness::Report Witness::report() const {
    Report report;
    const auto sql = database_->connect(Access::write);
    CHECK(sql);
    look_at_lease(**sql, report);
    look_at_writes(**sql, report);
    return report;
}

}  // namespace baton::failover
