#include "doors/shell/render.h"

#include <gtest/gtest.h>

namespace baton::shell {
namespace {

const views::Table& table() {
    static const views::Table kTable{
        .columns = {{.name = "NAME", .type = kinds::ViewType::text},
                    {.name = "N", .type = kinds::ViewType::integer},
                    {.name = "ON", .type = kinds::ViewType::boolean},
                    {.name = "J", .type = kinds::ViewType::json}},
        .rows = {{std::string("a \"b\", c"), std::int64_t{7}, std::int64_t{1}, std::string("[1]")},
                 {std::string(), {}, std::int64_t{0}, {}}}};
    return kTable;
}

TEST(RenderTest, CsvQuotesWhatNeedsItAndTellsNothingFromEmpty) {
    EXPECT_EQ(render(table(), {.format = Format::csv}),
              "NAME,N,ON,J\n\"a \"\"b\"\", c\",7,true,[1]\n\"\",,false,\n");
    EXPECT_EQ(render({.columns = {{.name = "A"}}, .rows = {}}, {.format = Format::csv}), "A\n");
}

TEST(RenderTest, JsonIsOneObjectALine) {
    EXPECT_EQ(render(table(), {.format = Format::json}),
              "{\"NAME\":\"a \\\"b\\\", c\",\"N\":7,\"ON\":true,\"J\":[1]}\n"
              "{\"NAME\":\"\",\"N\":null,\"ON\":false,\"J\":null}\n");
}

TEST(RenderTest, TextIsCutToTheScreenAndColouredOnlyWhereItIsWanted) {
    const std::string wide(200, 'x');
    const views::Table one{.columns = {{.name = "A"}}, .rows = {{wide}}};
    const std::string text = render(one, {.format = Format::text, .width_max = 40});
    EXPECT_NE(text.find("x…\n"), std::string::npos) << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    const std::string coloured =
        render(one, {.format = Format::text, .width_max = 40, .colours = true});
    EXPECT_NE(coloured.find("\x1b[1mA"), std::string::npos) << coloured;
}

TEST(RenderTest, EventsAreRowsWithAnOperationInCsv) {
    EventLines lines({{.name = "A"}}, {.format = Format::csv});
    const std::string snapshot = lines.next(coordinator::WatchSnapshot{
        .revision = Revision(3), .table = {{{.name = "A"}}, {{std::string("x")}}}, .reason = {}});
    EXPECT_EQ(snapshot, "OP,REVISION,A\nSNAPSHOT,3,x\n");
    EXPECT_EQ(
        lines.next(coordinator::WatchChange{
            .revision = Revision(4), .op = ChangeOp::drop, .key = "x", .row = {std::string("x")}}),
        "DROP,4,x\n");
}

TEST(RenderTest, AnErrorMarksItsPlaceAndHidesStrings) {
    const std::string text = "SELECT 'secret' FRM x";
    Error error{.code = ErrorCode::syntax, .message = "no", .at = Position{16, 1, 17}, .hint = {}};
    EXPECT_EQ(render_error(error, text),
              "error 2000 at 1:17: no\n  SELECT '***' FRM x\n               ^\n");
}

}  // namespace
}  // namespace baton::shell
