#include "bench/harness.h"

#include "catalog/schema.h"
#include "coordinator/sessions/session.h"

namespace baton::bench {

std::unique_ptr<Catalog> open_catalog(const std::string& path) {
    auto catalog = std::make_unique<Catalog>();
    SqliteOptions options;
    options.path = path;
    options.create = true;
    options.initialise = [](Sql& sql) { return migrate(sql); };
    auto database = must(open_sqlite(options));
    catalog->database = database.get();
    catalog->coordinator = must(CoordinatorRuntime::open(std::move(database), catalog->clock));
    return catalog;
}

void run_all(CoordinatorRuntime& coordinator, const std::string& statements) {
    Session session(coordinator, "bench");
    const Execution execution = session.execute(statements);
    if (execution.error) give_up(to_string(*execution.error));
}

}  // namespace baton::bench
