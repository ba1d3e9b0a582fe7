#include "doors/pg/wire/replies.h"

#include <array>

#include <gtest/gtest.h>

namespace baton::pgwire {
namespace {

using namespace std::string_literals;  // NOLINT: zeros within texts

template <class... Arguments>
std::string said(void (*append)(std::string&, Arguments...), auto&&... arguments) {
    std::string out = "before";
    append(out, arguments...);
    return out.substr(6);
}

TEST(Replies, EachHasItsBytes) {
    EXPECT_EQ(said(append_authentication_ok), "R\0\0\0\x08\0\0\0\0"s);
    EXPECT_EQ(said(append_authentication_sasl_continue, "r=1"), "R\0\0\0\x0b\0\0\0\x0br=1"s);
    EXPECT_EQ(said(append_authentication_sasl_final, "v=1"), "R\0\0\0\x0b\0\0\0\x0cv=1"s);
    EXPECT_EQ(said(append_parameter_status, "TimeZone", "UTC"), "S\0\0\0\x11TimeZone\0UTC\0"s);
    EXPECT_EQ(said(append_backend_key_data, 7U, 0x80000001U), "K\0\0\0\x0c\0\0\0\x07\x80\0\0\1"s);
    EXPECT_EQ(said(append_ready_for_query, TransactionStatus::idle), "Z\0\0\0\5I"s);
    EXPECT_EQ(said(append_ready_for_query, TransactionStatus::open), "Z\0\0\0\5T"s);
    EXPECT_EQ(said(append_ready_for_query, TransactionStatus::failed), "Z\0\0\0\5E"s);
    EXPECT_EQ(said(append_command_complete, "SHOW"), "C\0\0\0\x09SHOW\0"s);
    EXPECT_EQ(said(append_empty_query_response), "I\0\0\0\4"s);
    EXPECT_EQ(said(append_parse_complete), "1\0\0\0\4"s);
    EXPECT_EQ(said(append_bind_complete), "2\0\0\0\4"s);
    EXPECT_EQ(said(append_close_complete), "3\0\0\0\4"s);
    EXPECT_EQ(said(append_no_data), "n\0\0\0\4"s);
    EXPECT_EQ(said(append_portal_suspended), "s\0\0\0\4"s);
    EXPECT_EQ(said(append_copy_out_response, std::uint16_t{2}, Format::text),
              "H\0\0\0\x0b\0\0\2\0\0\0\0"s);
    EXPECT_EQ(said(append_copy_data, "a\n"), "d\0\0\0\6a\n"s);
    EXPECT_EQ(said(append_copy_done), "c\0\0\0\4"s);
}

TEST(Replies, ListsAreCounted) {
    std::string out;
    append_authentication_sasl(out, std::array<std::string_view, 1>{"SCRAM-SHA-256"});
    EXPECT_EQ(out, "R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0"s);
    out.clear();
    append_negotiate_protocol_version(out, 0, std::array<std::string, 1>{"_pq_.x"});
    EXPECT_EQ(out, "v\0\0\0\x13\0\3\0\0\0\0\0\1_pq_.x\0"s);
    out.clear();
    append_parameter_description(out, std::array<TypeId, 2>{20, 25});
    EXPECT_EQ(out, "t\0\0\0\x0e\0\2\0\0\0\x14\0\0\0\x19"s);
    out.clear();
    append_row_description(out, std::array{FieldDescription{
                                    .name = "n", .type = 20, .size = 8, .format = Format::binary}});
    EXPECT_EQ(out, "T\0\0\0\x1a\0\1n\0\0\0\0\0\0\0\0\0\0\x14\0\x08\xff\xff\xff\xff\0\1"s);
}

TEST(Replies, AReportHasOnlyTheFieldsThatItNeeds) {
    std::string out;
    append_error(out, {.sqlstate = "42601", .message = "no"});
    EXPECT_EQ(out, "E\0\0\0\x1eSERROR\0VERROR\0C42601\0Mno\0\0"s);
    out.clear();
    append_notice(out, {.severity = Severity::warning,
                        .sqlstate = "01000",
                        .message = "",
                        .detail = "d",
                        .hint = "h",
                        .position = 12,
                        .code = ErrorCode::syntax});
    EXPECT_EQ(out.substr(5),
              "SWARNING\0VWARNING\0C01000\0M\0Dd\0Hh\0P12\0Fbaton\0L2000\0Rsyntax\0\0"s);
}

TEST(Replies, AStringEndsAtItsFirstZero) {
    EXPECT_EQ(said(append_command_complete, "a\0b"s), "C\0\0\0\6a\0"s);
}

}  // namespace
}  // namespace baton::pgwire
