// Feeds texts to the way of questions: check, parse, gate, answer. Whatever passes is answered over
// a tiny relation, within a moment; a canary file is neither read nor changed.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "adapters/duckdb/duckdb_engine.h"
#include "base/check.h"
#include "core/questions/bounds.h"
#include "core/questions/gate.h"
#include "core/questions/split.h"
#include "core/questions/tree.h"
#include "testing/temporary_directory.h"

namespace {

using namespace baton;  // NOLINT(google-build-using-namespace)

constexpr const char* kCanary = "canary-5d20";
constexpr std::chrono::milliseconds kMoment(200);

const SqlColumns& columns() {
    static const SqlColumns kColumns = {{.name = "a", .type = {.kind = SqlType::Kind::bigint}},
                                        {.name = "b", .type = {.kind = SqlType::Kind::varchar}}};
    return kColumns;
}

class Place {
public:
    static Place& shared() {
        static Place place;
        return place;
    }

    void ask(std::string_view text) {
        const auto outcome = answered(text);
        if (!outcome && outcome.error().code == ErrorCode::defect) {
            (void)std::fprintf(stderr, "%s\n", to_string(outcome.error()).c_str());
            std::abort();
        }
    }

    void check() {
        std::ifstream file(folder_ / "canary.csv");
        const std::string bytes((std::istreambuf_iterator<char>(file)), {});
        CHECK(bytes == kCanary);
        auto entries = std::filesystem::directory_iterator(folder_.path());
        CHECK(std::distance(begin(entries), end(entries)) == 1);
    }

private:
    Place() {
        std::ofstream(folder_ / "canary.csv") << kCanary;
        std::filesystem::current_path(folder_.path());
        auto opened = duckdb_engine::open_engine({.slots = 2, .memory_max = 128U << 20U});
        CHECK(opened);
        engine_ = *std::move(opened);
    }

    Result<Done> answered(std::string_view text) {
        TRY(questions::check_text(text));
        TRY_ASSIGN(words, engine_->parse(text));
        TRY_ASSIGN(tree, json::parse(words, questions::tree_limits()));
        TRY(questions::gate(tree, {.version = "PostgreSQL 15.0"}, text));
        TRY_ASSIGN(mentions, questions::mentioned(tree, text));
        const std::vector<std::string> names(mentions.size(), "__baton_0");
        TRY(questions::bind_relations(tree, names));
        const std::vector<SqlColumns> tables(mentions.size(), columns());
        (void)questions::bounds(tree, tables);
        const auto end = std::chrono::steady_clock::now() + kMoment;
        const QuestionTask task{
            .tree = json::to_text(tree),
            .relations = {{.name = "__baton_0",
                           .columns = columns(),
                           .content = RelationRows{std::make_shared<const std::vector<SqlRow>>(
                               std::vector<SqlRow>{{std::int64_t{1}, std::string("x")}})}}},
            .text = std::string(text),
            .given_up = [end] { return std::chrono::steady_clock::now() > end; }};
        TRY_ASSIGN(description, engine_->describe(task));
        if (!tables.empty()) {
            (void)questions::split({.tree = tree, .tables = tables, .answer = description.columns});
        }
        TRY_ASSIGN(answer, engine_->answer(task));
        return drain(*answer);
    }

    static Result<Done> drain(QuestionAnswer& answer) {
        std::mutex mutex;
        std::condition_variable over;
        bool done = false;
        std::thread watch([&] {
            std::unique_lock lock(mutex);
            if (!over.wait_for(lock, kMoment, [&] { return done; })) answer.interrupt();
        });
        const auto outcome = rows_of(answer);
        {
            const std::lock_guard lock(mutex);
            done = true;
        }
        over.notify_one();
        watch.join();
        return outcome;
    }

    static Result<Done> rows_of(QuestionAnswer& answer) {
        for (int i = 0; i < 20; ++i) {
            TRY_ASSIGN(batch, answer.next());
            for (const SqlRow& row : batch.rows) {
                for (const SqlValue& value : row) {
                    const auto* word = std::get_if<std::string>(&value);
                    CHECK(word == nullptr || word->find(kCanary) == std::string::npos);
                }
            }
            if (batch.ended) break;
        }
        return Done{};
    }

    testing::TemporaryDirectory folder_;
    std::unique_ptr<QuestionEngine> engine_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Place::shared().ask({reinterpret_cast<const char*>(data), size});
    Place::shared().check();
    return 0;
}
