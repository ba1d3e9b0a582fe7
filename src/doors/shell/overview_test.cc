#include "doors/shell/overview.h"

#include <gtest/gtest.h>

namespace baton::shell {
namespace {

views::Table table_of(std::initializer_list<const char*> names, std::vector<SqlRow> rows) {
    views::Table table{.columns = {}, .rows = std::move(rows)};
    for (const char* name : names)
        table.columns.push_back({.name = name, .type = kinds::ViewType::text});
    return table;
}

std::string text(const char* value) {
    return value;
}

std::array<views::Table, 6> answers(const char* worker_state, const char* query_state,
                                    const char* desired) {
    return {
        table_of({"NAME", "STATE", "DRAINING", "LEAVING", "REASON", "SINCE"},
                 {{text("w1"), text(worker_state), text("false"), text("false"), text("silent"),
                   text("then")}}),
        table_of(
            {"NAME", "STATE", "DESIRED", "LAGGING", "REASON", "SINCE"},
            {{text("Q"), text(query_state), text(desired), text("[]"), text("why"), text("then")}}),
        table_of({"NAME", "PHYSICAL_SOURCES"}, {{text("S"), std::int64_t{2}}}),
        table_of({"NAME"}, {}),
        table_of({"OWNER", "EPOCH", "SINCE", "REMAINING_US"},
                 {{text("host:1:ab 127.0.0.1:5433"), std::int64_t{3}, text("then"),
                   std::int64_t{4'210'000}}}),
        table_of({"NAME", "PARTITIONS", "OWNED"}, {{text("L"), std::int64_t{4}, std::int64_t{4}}})};
}

TEST(OverviewTest, WhatIsAsWantedIsNoProblem) {
    EXPECT_TRUE(state_of(answers("ACTIVE", "RUNNING", "RUNNING")).problems.empty());
    EXPECT_TRUE(state_of(answers("ACTIVE", "STOPPED", "STOPPED")).problems.empty());
    EXPECT_TRUE(state_of(answers("ACTIVE", "TERMINATED", "RUNNING")).problems.empty());
}

TEST(OverviewTest, WhatFailedOrIsOnItsWayIsOne) {
    const State state = state_of(answers("UNREACHABLE", "FAILED", "FAILED"));
    EXPECT_EQ(state.problems,
              (std::vector<std::string>{"worker w1 is UNREACHABLE since then: silent",
                                        "query Q is FAILED since then: why"}));
    EXPECT_EQ(state_of(answers("ACTIVE", "DEPLOYING", "RUNNING")).problems.size(), 1U);
    EXPECT_NE(as_text(state, "baton 1").find("sources  1 logical, 2 physical\n"),
              std::string::npos);
    EXPECT_NE(as_json(state, "baton 1").find("\"workers\":{\"UNREACHABLE\":1}"), std::string::npos);
}

TEST(OverviewTest, PartitionsWithoutAWorkerAreAProblem) {
    auto tables = answers("ACTIVE", "RUNNING", "RUNNING");
    EXPECT_NE(as_text(state_of(tables), "baton 1")
                  .find("lists    1 task lists, 4 of 4 partitions OWNED\n"),
              std::string::npos);
    tables[5].rows[0][2] = std::int64_t{3};
    const State state = state_of(tables);
    EXPECT_EQ(state.problems,
              (std::vector<std::string>{"task list L: 3 of its 4 partitions are OWNED"}));
    EXPECT_NE(as_json(state, "baton 1").find("\"partitions\":4,\"partitions_owned\":3"),
              std::string::npos);
}

TEST(OverviewTest, WhoLeadsIsToldWithItsTermAndWhatIsLeftOfIt) {
    auto tables = answers("ACTIVE", "RUNNING", "RUNNING");
    const State state = state_of(tables);
    EXPECT_NE(as_text(state, "baton 1")
                  .find("leader   host:1:ab 127.0.0.1:5433, epoch 3 since then, 4.2 s left\n"),
              std::string::npos);
    EXPECT_NE(as_json(state, "baton 1")
                  .find("\"leader\":{\"owner\":\"host:1:ab 127.0.0.1:5433\",\"epoch\":3,"
                        "\"since\":\"then\",\"remaining_us\":4210000}"),
              std::string::npos);

    tables[4].rows[0][3] = std::int64_t{0};  // its lease ran out
    const State without = state_of(tables);
    EXPECT_NE(as_text(without, "baton 1").find("leader   none\n"), std::string::npos);
    EXPECT_EQ(without.problems,
              (std::vector<std::string>{
                  "no coordinator leads; the last was host:1:ab 127.0.0.1:5433, epoch 3"}));

    tables[4].rows[0][0] = text("");  // one coordinator alone has no election
    EXPECT_EQ(as_text(state_of(tables), "baton 1").find("leader"), std::string::npos);
}

SqlRow counter(std::int64_t run, std::int64_t rows) {
    return {std::int64_t{5}, run,       std::int64_t{1}, text("w1"), rows, rows,
            std::int64_t{0}, rows * 10, std::int64_t{0}};
}

std::array<views::Table, 3> top_answers(const SqlRow& counted) {
    return {table_of({"NAME", "STATE", "DRAINING", "USED", "CAPACITY"},
                     {{text("w1"), text("ACTIVE"), text("false"), std::int64_t{1}, {}}}),
            table_of({"ID", "NAME", "STATE", "RUN", "FRAGMENTS", "REASON"},
                     {{std::int64_t{1}, text("Q"), text("RUNNING"), std::int64_t{1},
                       std::int64_t{1}, text("")}}),
            table_of({"FRAGMENT", "RUN", "QUERY", "WORKER", "ROWS_IN", "ROWS_OUT", "LATE",
                      "BUSY_US", "MEMORY"},
                     {counted})};
}

TEST(OverviewTest, RatesAreWhatHasGrownPerSecond) {
    Top top;
    const std::string first =
        top.screen(std::chrono::seconds(1), top_answers(counter(1, 100)), 0, {});
    EXPECT_NE(first.find("ACTIVE  1      -"), std::string::npos) << first;
    const std::string second =
        top.screen(std::chrono::seconds(3), top_answers(counter(1, 3'100)), 0, {});
    EXPECT_NE(second.find("1.5k"), std::string::npos) << second;
    // A new run counts from the beginning.
    const std::string third =
        top.screen(std::chrono::seconds(4), top_answers(counter(2, 50)), 0, {});
    EXPECT_EQ(third.find("1.5k"), std::string::npos) << third;
    EXPECT_EQ(top.screen(std::chrono::seconds(5), top_answers(counter(2, 50)), 2, {}).find("QUERY"),
              std::string::npos);
}

TEST(OverviewTest, AStoryIsReadFromTheRowsOfChanges) {
    const kinds::View& view = views::view_of(kinds::Entity::query);
    SqlRow row(view.own_columns());
    row[*view.column("STATE")] = text("FAILED");
    row[*view.column("REASON")] = text("no disk");
    const views::Table changes =
        table_of({"AT", "REVISION", "ENTITY", "KEY", "OP", "ROW"},
                 {{text("t1"), std::int64_t{1}, text("query"), text("7"), text("UPDATE"),
                   kinds::row_to_json(view, row)},
                  {text("t2"), std::int64_t{2}, text("query"), text("7"), text("DROP"), {}}});
    const views::Table history = history_of(changes);
    ASSERT_EQ(history.rows.size(), 2U);
    EXPECT_EQ(std::get<std::string>(history.rows[0][5]), "FAILED");
    EXPECT_EQ(std::get<std::string>(history.rows[0][6]), "no disk");
    EXPECT_EQ(std::get<std::string>(history.rows[1][5]), "DROP");
}

}  // namespace
}  // namespace baton::shell
