// Questions through the whole way (check, parse, gate, bind, answer), beside DuckDB alone in the
// same process on the same Parquet file.
//
//     bench_questions [--tiny]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <duckdb.hpp>

#include "adapters/duckdb/duckdb_engine.h"
#include "base/check.h"
#include "core/questions/gate.h"
#include "core/questions/tree.h"
#include "testing/temporary_directory.h"

namespace {

using namespace baton;  // NOLINT(google-build-using-namespace)
using Clock = std::chrono::steady_clock;

double cpu_seconds() {
    std::timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

struct Cost {
    double wall_ms = 0;
    double cpu_ms = 0;
};

// The best of some runs.
Cost cost_of(int runs, const std::function<void()>& work) {
    Cost best{.wall_ms = 1e9, .cpu_ms = 1e9};
    for (int i = 0; i < runs; ++i) {
        const auto begin = Clock::now();
        const double cpu = cpu_seconds();
        work();
        best.cpu_ms = std::min(best.cpu_ms, (cpu_seconds() - cpu) * 1e3);
        best.wall_ms = std::min(
            best.wall_ms, std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    }
    return best;
}

std::unique_ptr<QuestionAnswer> ask(QuestionEngine& engine, const std::string& sql,
                                    const QuestionRelation& relation) {
    CHECK(questions::check_text(sql));
    const auto text = engine.parse(sql);
    CHECK(text);
    auto tree = json::parse(*text, questions::tree_limits());
    CHECK(tree);
    CHECK(questions::gate(*tree, {.version = "PostgreSQL 15.0"}, sql));
    const auto mentions = questions::mentioned(*tree, sql);
    CHECK(mentions);
    CHECK(questions::bind_relations(*tree,
                                    std::vector<std::string>(mentions->size(), relation.name)));
    QuestionTask task{.tree = json::to_text(*tree), .text = sql};
    if (!mentions->empty()) task.relations.push_back(relation);
    auto answer = engine.answer(std::move(task));
    CHECK(answer);
    return *std::move(answer);
}

std::size_t drain(QuestionAnswer& answer) {
    std::size_t rows = 0;
    for (;;) {
        const auto batch = answer.next();
        CHECK(batch);
        rows += batch->rows.size();
        if (batch->ended) return rows;
    }
}

void show(const char* what, const Cost& ours, const Cost& theirs) {
    std::printf("%-34s %9.2f ms, CPU %9.2f ms; DuckDB %9.2f ms, CPU %9.2f ms; CPU x %.2f\n", what,
                ours.wall_ms, ours.cpu_ms, theirs.wall_ms, theirs.cpu_ms,
                theirs.cpu_ms / ours.cpu_ms);
}

void cancels(QuestionEngine& engine, const QuestionRelation& relation, int runs) {
    std::vector<double> took;
    for (int i = 0; i < runs; ++i) {
        auto answer = ask(engine, "SELECT count(*) FROM t x, t y WHERE x.i + y.i = -1", relation);
        std::atomic<bool> waits = false;
        std::thread caller([&] {
            waits = true;
            (void)answer->next();
        });
        while (!waits) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        const auto begin = Clock::now();
        answer->interrupt();
        caller.join();
        took.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    }
    std::sort(took.begin(), took.end());
    std::printf("cancel: median %.3f ms, worst %.3f ms of %d\n", took[took.size() / 2], took.back(),
                runs);
}

}  // namespace

int main(int argc, char** argv) {
    const bool tiny = argc > 1 && std::strcmp(argv[1], "--tiny") == 0;
    const std::string rows = tiny ? "10000" : "10000000";
    const int runs = tiny ? 1 : 5;
    const testing::TemporaryDirectory folder;
    const std::string path = folder / "t.parquet";
    duckdb::DBConfig config;
    config.SetOptionByName("threads", duckdb::Value::BIGINT(1));
    duckdb::DuckDB database(nullptr, &config);
    duckdb::Connection alone(database);
    CHECK(!alone
               .Query("COPY (SELECT i, i % 1000 AS k, hash(i) % 100 AS b, i / 7.0 AS x, 'name ' || "
                      "(i % 5000) AS s, DATE '2020-01-01' + (i % 365)::INTEGER AS d FROM range(" +
                      rows + ") r(i)) TO '" + path + "' (FORMAT parquet, COMPRESSION zstd)")
               ->HasError());
    using Kind = SqlType::Kind;
    const QuestionRelation relation{
        .name = "__baton_0",
        .columns = {{.name = "i", .type = {.kind = Kind::bigint}},
                    {.name = "k", .type = {.kind = Kind::bigint}},
                    {.name = "b", .type = {.kind = Kind::bigint}},
                    {.name = "x", .type = {.kind = Kind::double_precision}},
                    {.name = "s", .type = {.kind = Kind::varchar}},
                    {.name = "d", .type = {.kind = Kind::date}}},
        .content = RelationFiles{{{.path = path, .rows = std::stoull(rows)}}}};
    auto opened = duckdb_engine::open_engine({.slots = 2});
    CHECK(opened);
    QuestionEngine& engine = **opened;

    constexpr int kMany = 1'000;
    const Cost one = cost_of(tiny ? 1 : 5, [&] {
        for (int i = 0; i < kMany; ++i) drain(*ask(engine, "SELECT 1", relation));
    });
    std::printf("SELECT 1: %.3f ms, CPU %.3f ms\n", one.wall_ms / kMany, one.cpu_ms / kMany);

    const std::vector<std::pair<const char*, std::string>> all = {
        {"filter", "SELECT count(*) FROM t WHERE b < 10 AND x > 5"},
        {"group, 1,000 groups", "SELECT k, count(*), sum(x), max(d) FROM t GROUP BY k"},
        {"group by text, 5,000 groups", "SELECT s, count(*), avg(x) FROM t GROUP BY s"},
        {"top 10", "SELECT * FROM t ORDER BY b DESC, i LIMIT 10"},
    };
    for (const auto& [what, sql] : all) {
        const Cost ours = cost_of(runs, [&] { drain(*ask(engine, sql, relation)); });
        std::string text = sql;
        text.replace(text.find("FROM t"), 6, "FROM '" + path + "'");
        const Cost theirs = cost_of(runs, [&] { CHECK(!alone.Query(text)->HasError()); });
        show(what, ours, theirs);
    }
    const std::string wide = tiny ? "1000" : "1000000";
    const Cost rows_cost =
        cost_of(runs, [&] { drain(*ask(engine, "SELECT * FROM t LIMIT " + wide, relation)); });
    std::printf("%s rows of 6 columns: %.1f ms, CPU %.1f ms\n", wide.c_str(), rows_cost.wall_ms,
                rows_cost.cpu_ms);
    cancels(engine, relation, tiny ? 2 : 50);
    return 0;
}
