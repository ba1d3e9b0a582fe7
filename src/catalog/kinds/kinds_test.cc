#include "catalog/kinds/kinds.h"

#include <gtest/gtest.h>

namespace baton::kinds {
namespace {

// The row that SELECT gives of an entity that was inserted: the columns that are read.
template <class E>
SqlRow stored(const E& entity) {
    const KindTable<E>& table = table_of<E>();
    const std::vector<SqlValue> values = table.inserted(entity);
    SqlRow row;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (table.kind().columns[i].read) row.push_back(values[i]);
    }
    return row;
}

template <class E>
void expect_back(const E& entity) {
    const auto back = table_of<E>().entity_in(stored(entity));
    ASSERT_TRUE(back) << to_string(back.error());
    EXPECT_EQ(*back, entity);
}

const WallTime kTime = *wall_time_of("2026-01-02T03:04:05.000006Z");
const Schema kSchema{.columns = {{.name = "ID", .type = DataType::uint64, .nullable = false}}};

Worker some_worker() {
    return {.name = "w \"1\"",
            .control = Address{.host = "h", .port = 1},
            .data = Address{.host = "::1", .port = 2},
            .capacity = 7,
            .state = WorkerState::unreachable,
            .draining = true,
            .incarnation = Incarnation(9),
            .reason = {.code = ReasonCode::silent,
                       .who = "w \"1\"",
                       .error = 3013,
                       .text = "it is away"},
            .since = kTime,
            .revision = Revision(3)};
}

TEST(Kinds, AnEntityComesBackFromItsRowAsItWas) {
    expect_back(some_worker());
    expect_back(Worker{.name = "E", .kind = WorkerKind::embedded});
    expect_back(LogicalSource{.name = "S", .schema = kSchema, .revision = Revision(1)});
    const Config options = {{"A", true}, {"B", std::int64_t{-5}}};
    expect_back(PhysicalSource{.id = PhysicalSourceId(4),
                               .logical = "S",
                               .worker = "W",
                               .type = "File",
                               .source = options,
                               .format = options,
                               .revision = Revision(1)});
    expect_back(Sink{.name = "S",
                     .schema = kSchema,
                     .worker = "W",
                     .type = "File",
                     .sink = options,
                     .format = options,
                     .revision = Revision(1)});
    expect_back(TaskList{.name = "L", .partitions = 5, .revision = Revision(2)});
}

TEST(Kinds, AQueryComesBackWithoutItsUses) {
    expect_back(Query{.id = QueryId(1),
                      .name = "Q",
                      .statement = "SELECT 1",
                      .settings = {{"A", 0.5}},
                      .state = QueryState::stopping,
                      .desired = QueryDesire::dropped,
                      .stop_mode = StopMode::forceful,
                      .run = 4,
                      .reason = {.code = ReasonCode::timed_out, .text = "why"},
                      .lagging = {"A", "B"},
                      .created = kTime,
                      .since = kTime,
                      .revision = Revision(8),
                      .restarts = 3,
                      .restarted = kTime});
}

TEST(Kinds, CountersThatNobodyKnowsAreNullAndNotZero) {
    Fragment fragment{.id = FragmentId(1), .query = QueryId(2), .worker = "W", .plan = "a plan"};
    expect_back(fragment);
    fragment.counts = Counts{.rows_in = 0, .memory = 9};
    fragment.fingerprint = "f";
    expect_back(fragment);
}

TEST(Kinds, APartitionComesBackWithEachOwnership) {
    Partition partition{.key = {.list = "L", .number = 3}, .since = kTime};
    const auto expect_ownership_back = [&](Ownership ownership) {
        partition.ownership = std::move(ownership);
        expect_back(partition);
    };
    expect_ownership_back(ownership::Unowned{});
    expect_ownership_back(ownership::Owned{.owner = "W", .epoch = Epoch(5)});
    expect_ownership_back(ownership::Releasing{.owner = "W", .epoch = Epoch(5), .next_owner = "V"});
    expect_ownership_back(ownership::Releasing{.owner = "W", .epoch = Epoch(5)});
}

TEST(Kinds, ARowThatIsDamagedIsReportedWithItsName) {
    SqlRow row = stored(LogicalSource{.name = "S", .schema = kSchema});
    row.at(1) = "[rubbish";
    const auto found = table_of<LogicalSource>().entity_in(row);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::catalog_corrupt);
    EXPECT_NE(found.error().message.find("in the row of S"), std::string::npos);
}

TEST(Kinds, ARowOfAViewComesBackFromJsonAsItWas) {
    const View view = table_of<Worker>().view();
    const SqlRow row = row_of(some_worker());
    EXPECT_EQ(row.size(), view.own_columns());
    const auto back = row_from_json(view, row_to_json(view, row));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, row);
    EXPECT_FALSE(row_from_json(view, "rubbish"));
}

// The feed names an entity by the first columns of its view, and UPDATE and DELETE find it by those
// of its table.
TEST(Kinds, TheKeyIsTheSameInTheTableAndInTheView) {
    EXPECT_EQ(kinds().size(), kEntityCount);
    for (std::size_t i = 0; i < kinds().size(); ++i) {
        EXPECT_EQ(kinds()[i].view.entity, static_cast<Entity>(i));
    }
    const Partition partition{.key = {.list = "L", .number = 3}};
    EXPECT_EQ(table_of<Partition>().key(partition), (std::vector<SqlValue>{"L", std::int64_t{3}}));
    EXPECT_EQ(key_of(table_of<Partition>().view(), row_of(partition)), "L -> 3");
}

TEST(Kinds, SecretsAreStoredAndNotShown) {
    const Sink sink{.name = "S", .type = "MQTT", .sink = {{"PASSWORD", std::string("hidden")}}};
    const auto shows_it = [](const SqlRow& row) {
        return std::any_of(row.begin(), row.end(), [](const SqlValue& value) {
            const auto* text = std::get_if<std::string>(&value);
            return text != nullptr && text->find("hidden") != std::string::npos;
        });
    };
    EXPECT_TRUE(shows_it(stored(sink)));
    EXPECT_FALSE(shows_it(row_of(sink)));
}

TEST(Kinds, AVersionAddsItsColumnsAndRewritesNothing) {
    const KindTable<Query>& table = table_of<Query>();
    EXPECT_EQ(table.statements(1).find("restarts"), std::string::npos);
    EXPECT_EQ(table.statements(2), "");
    EXPECT_EQ(table.statements(3),
              "ALTER TABLE query ADD COLUMN restarts {int} NOT NULL DEFAULT 0;\n"
              "ALTER TABLE query ADD COLUMN restarted {key};\n");
    EXPECT_EQ(table_of<TaskList>().statements(1), "");
    EXPECT_NE(table_of<TaskList>().statements(2), "");
}

}  // namespace
}  // namespace baton::kinds
