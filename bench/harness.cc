#include "bench/harness.h"

#include "catalog/schema.h"
#include "coordinator/sessions/session.h"

namespace baton::bench {

std::unique_ptr<Catalog> open_catalog(const std::string& path) {
    auto catalog = std::make_unique<Catalog>();
    sqlite::SqliteOptions options;
    options.path = path;
    options.create = true;
    options.initialise = [](Sql& sql) { return catalog::migrate(sql); };
    auto database = must(sqlite::open_sqlite(options));
    catalog->database = database.get();
    catalog->coordinator =
        must(coordinator::CoordinatorRuntime::open(std::move(database), catalog->clock));
    return catalog;
}

void run_all(coordinator::CoordinatorRuntime& coordinator, const std::string& statements) {
    coordinator::Session session(coordinator, "bench");
    const coordinator::Execution execution = session.execute(statements);
    if (execution.error) give_up(to_string(*execution.error));
}

}  // namespace baton::bench
