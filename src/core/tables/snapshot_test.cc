#include "core/tables/snapshot.h"

#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/prng.h"
#include "core/tables/commit_plan.h"
#include "core/tables/upkeep.h"

namespace baton::tables {
namespace {

const CommitStamp kStamp{
    .now = WallTime(std::chrono::hours(500'000)), .engine = "Baton/test", .nonce = "n1"};

TableDefinition definition() {
    return {.id = "0b9a7f5e-0000-4000-8000-000000000000",
            .name = "t",
            .columns = {{.name = "day", .type = *table_type_of("DATE")},
                        {.name = "n", .type = *table_type_of("BIGINT")},
                        {.name = "name", .type = *table_type_of("VARCHAR")}},
            .partition_by = {"day"}};
}

Snapshot created() {
    const auto entry = first_entry(definition(), kStamp);
    EXPECT_TRUE(entry);
    auto snapshot = apply(Snapshot(), *entry, {});
    EXPECT_TRUE(snapshot);
    return *std::move(snapshot);
}

TableObject object(const std::string& key, std::int64_t n = 0) {
    TableObject object{.key = key, .bytes = 100, .rows = 10};
    object.partition["day"] = "2026-11-15";
    object.ranges["n"] = {.min = std::to_string(n), .max = std::to_string(n + 9), .nulls = 0};
    object.ranges["name"] = {.min = "a", .max = "z" + key};
    return object;
}

// The snapshot after a request, or "done", "conflict: ..", "error: ..".
std::variant<Snapshot, std::string> commit(const Snapshot& snapshot, const CommitRequest& request) {
    const auto plan = plan_commit(snapshot, request, kStamp);
    if (!plan) return "error: " + plan.error().message;
    if (const auto* conflict = std::get_if<Conflict>(&*plan))
        return "conflict: " + conflict->reason;
    if (std::holds_alternative<AlreadyDone>(*plan)) return std::string("done");
    const auto& entry = std::get<NextEntry>(*plan);
    EXPECT_EQ(entry.version, snapshot.version() + 1);
    EXPECT_EQ(nonce_of(entry.text, {}), "n1");
    auto next = apply(snapshot, entry.text, {});
    EXPECT_TRUE(next) << (next ? "" : next.error().message);
    return *std::move(next);
}

Snapshot committed(const Snapshot& snapshot, const CommitRequest& request) {
    auto result = commit(snapshot, request);
    EXPECT_TRUE(std::holds_alternative<Snapshot>(result));
    return std::get<Snapshot>(result);
}

std::string refused(const Snapshot& snapshot, const CommitRequest& request) {
    auto result = commit(snapshot, request);
    EXPECT_TRUE(std::holds_alternative<std::string>(result));
    const auto* text = std::get_if<std::string>(&result);
    return text == nullptr ? "" : *text;
}

std::map<std::string, TableObject> objects_of(const Snapshot& snapshot) {
    std::map<std::string, TableObject> objects;
    snapshot.each([&](ObjectPlace place) {
        TableObject object = snapshot.object(place);
        EXPECT_TRUE(objects.emplace(object.key, object).second);
    });
    return objects;
}

TEST(Commit, ObjectsComeAndGo) {
    const Snapshot one = committed(created(), {.add = {object("a"), object("b", 50)}});
    EXPECT_EQ(one.version(), 1);
    EXPECT_EQ(one.totals(), (Totals{.objects = 2, .bytes = 200, .rows = 20}));
    const Snapshot two = committed(one, {.add = {object("c")}, .remove = {"a"}});
    EXPECT_EQ(two.totals(), (Totals{.objects = 2, .bytes = 200, .rows = 20}));
    EXPECT_FALSE(two.find("a"));
    EXPECT_EQ(two.removal_of("a"), kStamp.now);
    EXPECT_TRUE(one.find("a"));  // an older snapshot stays as it was
    EXPECT_EQ(one.object(*one.find("b")), object("b", 50));
}

TEST(Commit, ARequestThatNoLongerFitsIsAConflict) {
    const Snapshot one = committed(created(), {.add = {object("a")}});
    EXPECT_EQ(refused(one, {.remove = {"b"}}), "conflict: object \"b\" is gone");
    EXPECT_EQ(refused(one, {.add = {object("a")}}),
              "conflict: object \"a\" is in the table already");
    Layout other = one.layout();
    EXPECT_EQ(committed(one, {.add = {object("b")}, .layout = other}).version(), 2);
    other.columns.pop_back();
    EXPECT_EQ(refused(one, {.add = {object("b")}, .layout = other}),
              "conflict: the columns of the table have changed");
}

TEST(Commit, ATransactionHappensOnce) {
    const auto request = [](const std::string& key, std::int64_t number) {
        return CommitRequest{.add = {object(key)},
                             .transaction = Transaction{.application = "q", .version = number}};
    };
    const Snapshot one = committed(created(), request("a", 7));
    EXPECT_EQ(one.transaction("q"), 7);
    EXPECT_EQ(one.transaction("r"), std::nullopt);
    EXPECT_EQ(refused(one, request("b", 7)), "done");
    EXPECT_EQ(refused(one, request("b", 6)), "done");
    EXPECT_EQ(committed(one, request("b", 8)).transaction("q"), 8);
}

TEST(Commit, AnEmptyTextIsNoValueOfAPartition) {
    TableDefinition by_name = definition();
    by_name.partition_by = {"name"};
    const auto entry = first_entry(by_name, kStamp);
    ASSERT_TRUE(entry);
    const auto snapshot = apply(Snapshot(), *entry, {});
    ASSERT_TRUE(snapshot);
    TableObject bad{.key = "a", .bytes = 1, .partition = {{"name", ""}}};
    EXPECT_EQ(refused(*snapshot, {.add = {bad}}),
              "error: cannot add rows to a partition: the value of column \"name\" is an empty "
              "text, which a partition cannot tell from NULL");
    bad.partition["name"] = std::nullopt;
    EXPECT_EQ(committed(*snapshot, {.add = {bad}}).totals().objects, 1U);
}

TEST(Commit, AFirstEntryRefusesWhatNoTableHas) {
    const auto error = [](TableDefinition definition) {
        const auto entry = first_entry(definition, kStamp);
        EXPECT_FALSE(entry);
        return entry ? "" : entry.error().message;
    };
    TableDefinition bad = definition();
    bad.columns.push_back({.name = "DAY", .type = *table_type_of("INT")});
    EXPECT_EQ(error(bad), "column \"DAY\" is there twice");
    bad.columns.back() = {.name = "u", .type = {.kind = SqlType::Kind::uuid}};
    EXPECT_EQ(error(bad), "column \"u\" has the type UUID, which tables do not have");
    bad = definition();
    bad.partition_by = {"moon"};
    EXPECT_EQ(error(bad), "cannot partition by \"moon\": the table has no such column");
    bad.partition_by = {"day", "n", "name"};
    EXPECT_EQ(error(bad), "cannot partition by every column: one must be in the objects");
    EXPECT_EQ(error({}), "a table has 1 to 1600 columns, not 0");
}

TEST(Commit, KeysNameTheirPartition) {
    const Layout layout = created().layout();
    EXPECT_EQ(object_key(layout, {{"day", "2026-11-15"}}, "x"), "day=2026-11-15/part-x.parquet");
    EXPECT_EQ(object_key(layout, {{"day", std::nullopt}}, "x"),
              "day=__HIVE_DEFAULT_PARTITION__/part-x.parquet");
    EXPECT_EQ(object_key(layout, {{"day", "../a b/.."}}, "x"),
              "day=..%2Fa%20b%2F../part-x.parquet");
    EXPECT_EQ(object_key(layout, {{"day", std::string(1'000, 'a')}}, "x"), "part-x.parquet");
    EXPECT_EQ(object_key(layout, {{"day", std::string(300, 'a')}}, "x"), "part-x.parquet");
}

TEST(Protocol, ATableOfAnotherEngineIsRefusedByTheNamesOfItsFeatures) {
    const auto created_with = [](const std::string& protocol, const std::string& settings) {
        return apply(Snapshot(),
                     R"({"protocol":)" + protocol +
                         R"(}
{"metaData":{"id":"i","schemaString":"{\"fields\":[{\"name\":\"v\",\"type\":\"long\"}]}",)"
                         R"("partitionColumns":[],"configuration":)" +
                         settings + "}}",
                     {});
    };
    const auto refusal = [&](const std::string& protocol, const std::string& settings = "{}") {
        const auto snapshot = created_with(protocol, settings);
        if (!snapshot) {
            EXPECT_EQ(snapshot.error().code, ErrorCode::table_not_supported);
            return snapshot.error().message;
        }
        const auto plan = plan_commit(*snapshot, {.add = {{.key = "a", .bytes = 1}}}, kStamp);
        return plan ? std::string() : plan.error().message;
    };
    EXPECT_EQ(refusal(R"({"minReaderVersion":1,"minWriterVersion":2})"), "");
    EXPECT_EQ(refusal(R"({"minReaderVersion":2,"minWriterVersion":2})"), "");
    EXPECT_EQ(refusal(R"({"minReaderVersion":2,"minWriterVersion":5})",
                      R"({"delta.columnMapping.mode":"name"})"),
              "the table cannot be read: it uses \"columnMapping\" (version 0)");
    EXPECT_EQ(refusal(R"({"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":)"
                      R"(["deletionVectors","timestampNtz"],"writerFeatures":[]})"),
              "the table cannot be read: it uses \"deletionVectors\" (version 0)");
    EXPECT_EQ(refusal(R"({"minReaderVersion":9,"minWriterVersion":9})"),
              "the table cannot be read: it uses \"version 9 of the protocol\" (version 0)");
    EXPECT_EQ(refusal(R"({"minReaderVersion":1,"minWriterVersion":4})"),
              "the table cannot be written: it uses \"changeDataFeed\", \"checkConstraints\", "
              "\"generatedColumns\"");
    EXPECT_EQ(refusal(R"({"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":)"
                      R"(["timestampNtz"],"writerFeatures":["timestampNtz","rowTracking"]})"),
              "the table cannot be written: it uses \"rowTracking\"");
}

TEST(Snapshot, AnEntryWithoutATableIsDamaged) {
    for (const std::string entry :
         {"", R"({"protocol":{"minReaderVersion":1,"minWriterVersion":2}})", "{",
          R"({"add":{"path":"a","size":1}})"}) {
        const auto snapshot = apply(Snapshot(), entry, {});
        ASSERT_FALSE(snapshot) << entry;
        EXPECT_EQ(snapshot.error().code, ErrorCode::damaged_table) << entry;
    }
}

TEST(Snapshot, ColumnsOfAnotherEngineMayChange) {
    const Snapshot one = committed(created(), {.add = {object("a")}, .remove = {}});
    const auto changed =
        apply(one,
              R"({"metaData":{"id":"i","partitionColumns":["day"],"schemaString":"{\"fields\":[)"
              R"({\"name\":\"new\",\"type\":\"long\"},{\"name\":\"day\",\"type\":\"date\"},)"
              R"({\"name\":\"n\",\"type\":\"long\"}]}"}})",
              {});
    ASSERT_TRUE(changed);
    const TableObject now = changed->object(*changed->find("a"));
    EXPECT_EQ(now.partition, object("a").partition);
    EXPECT_EQ(now.ranges.at("n"), object("a").ranges.at("n"));
    EXPECT_FALSE(now.ranges.contains("name"));
}

std::string checkpoint_text(const Snapshot& snapshot, WallTime now) {
    CheckpointText text(snapshot, now, {});
    std::string all;
    for (std::string piece = text.next(); !piece.empty(); piece = text.next()) all += piece;
    EXPECT_EQ(text.actions(), static_cast<std::uint64_t>(std::count(all.begin(), all.end(), '\n')));
    return all;
}

Snapshot from_checkpoint(const std::string& text, std::int64_t version) {
    SnapshotBuilder builder{Snapshot()};
    const auto actions = read_entry(text, nullptr, {});
    EXPECT_TRUE(actions);
    for (const Action& action : *actions) EXPECT_TRUE(builder.apply(action));
    auto snapshot = builder.finish(version);
    EXPECT_TRUE(snapshot);
    return *std::move(snapshot);
}

struct Model {
    std::map<std::string, TableObject> objects;
    std::map<std::string, std::int64_t> transactions;
    std::set<std::string> removed;
};

CommitRequest drawn_request(Prng& prng, const Model& model, int number) {
    CommitRequest request;
    const std::size_t adds = prng.between(0, prng.chance(1, 20) ? 400 : 3);
    for (std::size_t i = 0; i < adds; ++i) {
        std::string key = "k" + std::to_string(number) + "-" + std::to_string(i);
        // Now and then a key that was removed comes back.
        if (prng.chance(1, 10) && !model.removed.empty() && i == 0) key = *model.removed.begin();
        request.add.push_back(object(key, static_cast<std::int64_t>(prng.between(0, 999))));
    }
    for (const auto& [key, value] : model.objects) {
        if (prng.chance(1, 10)) request.remove.push_back(key);
    }
    if (prng.chance(1, 3)) {
        request.transaction =
            Transaction{.application = "app" + std::to_string(prng.between(0, 2)),
                        .version = static_cast<std::int64_t>(prng.between(0, 39))};
    }
    return request;
}

void apply_to(Model& model, const CommitRequest& request) {
    for (const std::string& key : request.remove) {
        model.objects.erase(key);
        model.removed.insert(key);
    }
    for (const TableObject& added : request.add) {
        model.objects[added.key] = added;
        model.removed.erase(added.key);
    }
    if (request.transaction) {
        model.transactions[request.transaction->application] = request.transaction->version;
    }
}

void expect_same(const Snapshot& snapshot, const Model& model) {
    RC_ASSERT((objects_of(snapshot) == model.objects));
    RC_ASSERT(snapshot.totals().objects == model.objects.size());
    RC_ASSERT(snapshot.totals().rows == 10 * model.objects.size());
    for (const auto& [application, number] : model.transactions) {
        RC_ASSERT(snapshot.transaction(application) == number);
    }
    for (const std::string& key : model.removed) RC_ASSERT(snapshot.removal_of(key).has_value());
}

// Any history gives what a plain map has; a checkpoint anywhere in it and the rest give the same.
RC_GTEST_PROP(SnapshotProperty, AHistoryIsAMapAndACheckpointItsBeginning, ()) {
    Prng prng(*rc::gen::arbitrary<std::uint64_t>());
    Model model;
    Snapshot snapshot = created();
    std::optional<Snapshot> other;
    const int length = 1 + static_cast<int>(prng.between(0, 29));
    for (int number = 0; number < length; ++number) {
        const CommitRequest request = drawn_request(prng, model, number);
        const auto plan = plan_commit(snapshot, request, kStamp);
        RC_ASSERT(plan.has_value());
        if (request.transaction) {
            const auto known = model.transactions.find(request.transaction->application);
            const bool done =
                known != model.transactions.end() && known->second >= request.transaction->version;
            RC_ASSERT(std::holds_alternative<AlreadyDone>(*plan) == done);
        }
        const auto* entry = std::get_if<NextEntry>(&*plan);
        if (entry == nullptr) continue;
        apply_to(model, request);
        if (prng.chance(1, 8)) {
            other = from_checkpoint(checkpoint_text(snapshot, kStamp.now), snapshot.version());
        }
        auto next = apply(snapshot, entry->text, {});
        RC_ASSERT(next.has_value());
        snapshot = *std::move(next);
        expect_same(snapshot, model);
        if (!other) continue;
        auto also = apply(*other, entry->text, {});
        RC_ASSERT(also.has_value());
        other = *std::move(also);
        RC_ASSERT(other->version() == snapshot.version());
        RC_ASSERT(other->metadata() == snapshot.metadata());
        expect_same(*other, model);
    }
}

}  // namespace
}  // namespace baton::tables
