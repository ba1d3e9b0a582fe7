#include "doors/pg/wire/connection.h"

#include <gtest/gtest.h>

#include "doors/pg/wire/scripted_test.h"

namespace baton::pgwire {
namespace {

using namespace connection;            // NOLINT
using namespace testing;               // NOLINT
using namespace std::string_literals;  // NOLINT: zeros within texts

ConnectionOptions trusting() {
    return {.authentication = Authentication::trust, .process = 7, .key = 9, .version = "1.2"};
}

// Effects as text, with what errors say.
std::string text_of(const std::vector<Effect>& effects) {
    std::string text;
    for (const Effect& effect : effects) {
        text += (text.empty() ? "" : "; ") + to_string(effect);
        const auto* send = std::get_if<Send>(&effect);
        if (send == nullptr) continue;
        for (std::size_t at = send->bytes.find("SERROR\0"s); at != std::string::npos;
             at = send->bytes.find("SERROR\0"s, at + 1)) {
            text += " " + send->bytes.substr(at + 15, 5);
        }
        if (const std::size_t at = send->bytes.find("SFATAL\0"s); at != std::string::npos) {
            text += " fatal " + send->bytes.substr(at + 15, 5);
        }
    }
    return text;
}

// A client that is logged in, and a runner that the test plays.
class ConnectionTest : public ::testing::Test {
protected:
    explicit ConnectionTest(const ConnectionOptions& options = trusting()) : machine_(options) {
        (void)machine_.step(Received{startup()});
        note_sent(machine_.step(SessionOpened{}));
    }

    std::string step(Event event) {
        const auto effects = machine_.step(std::move(event));
        note_sent(effects);
        return text_of(effects);
    }
    std::string receive(const std::string& bytes) { return step(Received{bytes}); }
    // As if the transport had written all.
    void write_all() {
        const std::size_t all = std::exchange(unwritten_, 0);
        (void)step(Written{all});
    }
    static EncodedRows rows(std::size_t count, std::size_t bytes_each = 1) {
        const std::vector<Column> columns = {{"t", ColumnType::text}};
        RowWriter writer(columns);
        const std::vector<Value> row = {std::string(bytes_each, 'x')};
        for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(writer.append(row));
        return writer.take();
    }
    static Failed failed(std::string sqlstate, TransactionStatus status = TransactionStatus::idle) {
        return {.report = {.sqlstate = std::move(sqlstate), .message = "m"}, .status = status};
    }
    // Statement "s" with one column and portal "p" of it.
    void make_portal() {
        (void)receive(parse("s", "S"));
        (void)step(Prepared{.parameter_types = {}, .columns = {{{"t", ColumnType::text}}}});
        (void)receive(bound("p", "s"));
        (void)step(Bound{});
    }

    Connection machine_;
    std::size_t unwritten_ = 0;

private:
    void note_sent(const std::vector<Effect>& effects) {
        for (const Effect& effect : effects) {
            if (const auto* send = std::get_if<Send>(&effect)) unwritten_ += send->bytes.size();
        }
    }
};

// ---- the simple cycle ---------------------------------------------------------------------------

TEST_F(ConnectionTest, ATextRunsAndIsFollowedByReady) {
    EXPECT_EQ(receive(query("SHOW X")), "run [SHOW X]");
    EXPECT_EQ(step(RowsBegan{{{"t", ColumnType::text}}}), "send T");
    EXPECT_EQ(step(RowsCame{rows(2)}), "send D D");
    EXPECT_EQ(step(StatementCompleted{"SHOW"}), "send C");
    EXPECT_EQ(step(RowsBegan{{{"t", ColumnType::text}}}), "send T");
    EXPECT_EQ(step(StatementCompleted{"SHOW"}), "send C");
    EXPECT_EQ(step(Ended{TransactionStatus::open}), "send ZT");
}

TEST_F(ConnectionTest, AnEmptyTextIsSaidToBeEmpty) {
    (void)receive(query(""));
    EXPECT_EQ(step(Ended{}), "send I ZI");
}

TEST_F(ConnectionTest, AnErrorEndsATextAndTheNextIsTaken) {
    (void)receive(query("one; two"));
    (void)step(StatementCompleted{"ONE"});
    EXPECT_EQ(step(failed("42P01", TransactionStatus::failed)), "send E ZE 42P01");
    EXPECT_EQ(receive(query("three")), "run [three]");
}

TEST_F(ConnectionTest, WhatComesWhileOneRunsWaits) {
    EXPECT_EQ(receive(query("one") + query("two") + terminate()), "run [one]");
    EXPECT_EQ(receive(""), "");
    EXPECT_EQ(step(Ended{}), "run [two]; send I ZI");
    EXPECT_EQ(step(Ended{}), "end session; send I ZI; hang up");
}

TEST_F(ConnectionTest, AMalformedQueryIsAnErrorAndTheNextIsFine) {
    EXPECT_EQ(receive(frame('Q', "no end") + query("two")), "run [two]; send E ZI 08P01");
}

TEST_F(ConnectionTest, AnErrorThatOnlyWeSawFailsTheOpenTransaction) {
    (void)receive(query("begin"));
    (void)step(StatementCompleted{"BEGIN"});
    (void)step(Ended{TransactionStatus::open});
    EXPECT_EQ(receive(frame('Q', "no end")), "end failed series; send E 08P01");
    EXPECT_EQ(step(Ended{TransactionStatus::failed}), "send ZE");
}

TEST_F(ConnectionTest, FunctionCallsAreRefused) {
    EXPECT_EQ(receive(frame('F', "whatever")), "send E ZI 0A000");
}

TEST_F(ConnectionTest, CopyMessagesOutsideOfACopyAreIgnored) {
    EXPECT_EQ(receive(frame('d', "x") + frame('c') + frame('f', "no end")), "");
}

TEST_F(ConnectionTest, RowsOfACopyComeFromTheClient) {
    EXPECT_EQ(receive(query("COPY t FROM STDIN")), "run [COPY t FROM STDIN]");
    EXPECT_EQ(step(CopyInBegan{.columns = 1}), "send G");
    EXPECT_EQ(receive(frame('d', "1\n") + frame('H') + frame('S') + frame('d', "2")),
              "give 2 copied bytes; give 1 copied bytes");
    EXPECT_EQ(receive(frame('c') + query("next")), "end copied");
    EXPECT_EQ(step(StatementCompleted{"COPY 2"}), "send C");
    EXPECT_EQ(step(Ended{}), "run [next]; send ZI");
}

TEST_F(ConnectionTest, TheClientGivesUpACopy) {
    (void)receive(query("COPY t FROM STDIN"));
    (void)step(CopyInBegan{.columns = 1});
    EXPECT_EQ(receive(frame('f', "no more\0"s)), "end copied: no more");
    EXPECT_EQ(step(failed("57014")), "send E ZI 57014");
}

TEST_F(ConnectionTest, RowsAfterAFailedCopyMeanNothing) {
    (void)receive(query("COPY t FROM STDIN"));
    (void)step(CopyInBegan{.columns = 1});
    EXPECT_EQ(step(failed("22P04")), "send E ZI 22P04");
    EXPECT_EQ(receive(frame('d', "1\n") + frame('c') + query("next")), "run [next]");
}

TEST_F(ConnectionTest, AnotherMessageEndsACopy) {
    (void)receive(query("COPY t FROM STDIN"));
    (void)step(CopyInBegan{.columns = 1});
    EXPECT_EQ(receive(query("SELECT 1")),
              "end copied: another message came in the middle of the rows");
    EXPECT_EQ(step(failed("57014")), "send E ZI 57014");
}

TEST_F(ConnectionTest, ALostClientEndsItsCopy) {
    (void)receive(query("COPY t FROM STDIN"));
    (void)step(CopyInBegan{.columns = 1});
    EXPECT_EQ(receive(frame('d', "1\n") + terminate()),
              "give 2 copied bytes; interrupt; end session; hang up");
}

TEST_F(ConnectionTest, ACopyIsDataAndAnEnd) {
    (void)receive(query("COPY"));
    EXPECT_EQ(step(CopyBegan{.columns = 2}), "send H");
    EXPECT_EQ(step(CopyCame{{"a\n", "b\n"}}), "send d d");
    EXPECT_EQ(step(StatementCompleted{"COPY 2"}), "send c C");
    EXPECT_EQ(step(Ended{}), "send ZI");
}

TEST_F(ConnectionTest, AnErrorEndsACopyWithoutItsEnd) {
    (void)receive(query("COPY"));
    (void)step(CopyBegan{.columns = 2});
    EXPECT_EQ(step(failed("58030")), "send E ZI 58030");
}

TEST_F(ConnectionTest, NoticesAndParametersAreToldAtAnyTime) {
    EXPECT_EQ(step(ParameterChanged{.name = "application_name", .value = "x"}), "send S");
    (void)receive(query("one"));
    EXPECT_EQ(step(Noticed{{.severity = Severity::warning, .message = "m"}}), "send N");
}

// ---- the extended cycle -------------------------------------------------------------------------

TEST_F(ConnectionTest, AStatementIsPreparedBoundDescribedAndRun) {
    EXPECT_EQ(receive(parse("s", "SELECT $1", {20}) + bound("p", "s", {.parameters = {"5"}}) +
                      describe('S', "s") + describe('P', "p") + execute("p") + sync()),
              "prepare 1 [SELECT $1]");
    EXPECT_EQ(step(Prepared{.parameter_types = {20}, .columns = {{{"t", ColumnType::text}}}}),
              "bind 1 to 1 with 1; send 1");
    EXPECT_EQ(step(Bound{}), "run portal 1 for 0; send 2 t T T");
    EXPECT_EQ(step(RowsCame{rows(1)}), "send D");
    EXPECT_EQ(step(StatementCompleted{"SELECT 1"}), "send C");
    EXPECT_EQ(step(Ended{}), "end series");
    EXPECT_EQ(step(Ended{}), "close portal 1; send ZI");
}

TEST_F(ConnectionTest, WithoutRowsThereIsNoData) {
    (void)receive(parse("", "BEGIN"));
    (void)step(Prepared{});
    EXPECT_EQ(receive(describe('S', "")), "send t n");
    (void)receive(bound("", ""));
    (void)step(Bound{});
    EXPECT_EQ(receive(describe('P', "")), "send n");
}

TEST_F(ConnectionTest, AnEmptyPortalIsSaidToBeEmpty) {
    (void)receive(parse("", "") + bound("", "") + execute(""));
    (void)step(Prepared{});
    (void)step(Bound{});
    EXPECT_EQ(step(Ended{}), "send I");
}

TEST_F(ConnectionTest, APortalGivesAsManyRowsAsWereAskedForAndGoesOn) {
    make_portal();
    EXPECT_EQ(receive(execute("p", 2)), "run portal 1 for 2");
    EXPECT_EQ(step(RowsCame{rows(2)}), "send D D");
    EXPECT_EQ(step(Suspended{TransactionStatus::open}), "send s");
    EXPECT_EQ(receive(sync()), "end series");
    EXPECT_EQ(step(Ended{TransactionStatus::open}), "send ZT");
    EXPECT_EQ(receive(execute("p", 2)), "run portal 1 for 2");
    (void)step(RowsCame{rows(1)});
    (void)step(StatementCompleted{"SELECT 3"});
    (void)step(Ended{TransactionStatus::open});
    EXPECT_EQ(receive(execute("p", 2)), "send E 55000");
}

TEST_F(ConnectionTest, MoreRowsThanWereAskedForIsADefect) {
    make_portal();
    (void)receive(execute("p", 2));
    EXPECT_DEATH((void)step(RowsCame{rows(3)}), "CHECK failed");
}

TEST_F(ConnectionTest, AfterAnErrorAllIsSkippedUntilSync) {
    EXPECT_EQ(receive(bound("", "none") + parse("", "x") + query("x") + frame('H', "nonsense")),
              "send E 26000");
    EXPECT_EQ(receive(sync() + parse("", "x")), "prepare 1 [x]; send ZI");
    EXPECT_EQ(step(failed("42601")), "send E 42601");
    EXPECT_EQ(receive(execute("") + sync() + sync()), "send ZI ZI");
}

TEST_F(ConnectionTest, ASeriesThatRanAndFailedIsEndedAsFailed) {
    make_portal();
    (void)receive(execute("p"));
    EXPECT_EQ(step(failed("22000")), "send E 22000");
    EXPECT_EQ(receive(execute("p") + sync()), "end failed series");
    EXPECT_EQ(step(failed("40001")), "close portal 1; send E ZI 40001");
}

TEST_F(ConnectionTest, ANamedStatementOrPortalIsNotReplaced) {
    make_portal();
    EXPECT_EQ(receive(parse("s", "x") + sync() + bound("p", "s") + sync()),
              "close portal 1; bind 2 to 1 with 0; send E ZI 42P05");
    (void)step(Bound{});
    (void)receive(bound("q", "s"));
    (void)step(Bound{});
    EXPECT_EQ(receive(bound("q", "s")), "send E 42P03");
}

TEST_F(ConnectionTest, TheUnnamedOnesAreReplaced) {
    (void)receive(parse("", "one"));
    (void)step(Prepared{});
    (void)receive(bound("", ""));
    (void)step(Bound{});
    EXPECT_EQ(receive(bound("", "")), "close portal 1; bind 2 to 1 with 0");
    (void)step(Bound{});
    EXPECT_EQ(receive(parse("", "two")), "close prepared 1; prepare 2 [two]");
    (void)step(Prepared{});
    EXPECT_EQ(receive(query("three")), "close portal 2; close prepared 2; run [three]");
}

TEST_F(ConnectionTest, PortalsEndWithTheTransactionStatementsDoNot) {
    make_portal();
    EXPECT_EQ(receive(sync()), "close portal 1; send ZI");
    EXPECT_EQ(receive(describe('P', "p")), "send E 34000");
    EXPECT_EQ(receive(sync() + describe('S', "s")), "send ZI t T");
}

TEST_F(ConnectionTest, ClosingAStatementClosesItsPortals) {
    make_portal();
    EXPECT_EQ(receive(close('S', "s") + close('P', "p") + close('S', "never")),
              "close portal 1; close prepared 1; send 3 3 3");
    EXPECT_EQ(receive(bound("", "s")), "send E 26000");
}

TEST_F(ConnectionTest, ParametersAreReadByTypeAndFormat) {
    (void)receive(parse("s", "x"));
    (void)step(Prepared{.parameter_types = {20, 25, 16}});
    const auto effects = machine_.step(Received{bound(
        "", "s",
        {.parameters = {"\0\0\0\0\0\0\0\5"s, std::nullopt, "\1"}, .parameter_formats = {1}})});
    ASSERT_EQ(effects.size(), 1U);
    EXPECT_EQ(std::get<BindPortal>(effects[0]).parameters,
              (std::vector<Value>{std::int64_t{5}, Value(), true}));
}

TEST_F(ConnectionTest, AWrongBindSaysWhatIsWrong) {
    (void)receive(parse("s", "x"));
    (void)step(Prepared{.parameter_types = {20, 20}, .columns = {{{"t", ColumnType::text}}}});
    const auto error = [&](const Binding& binding) {
        std::string said = receive(bound("", "s", binding));
        (void)receive(sync());
        return said;
    };
    EXPECT_EQ(error({.parameters = {"1"}}), "send E 08P01");
    EXPECT_EQ(error({.parameters = {"1", "x"}}), "send E 22P02");
    EXPECT_EQ(error({.parameters = {"1", "2"}, .parameter_formats = {1}}), "send E 22P03");
    EXPECT_EQ(error({.parameters = {"1", "2"}, .parameter_formats = {0, 0, 0}}), "send E 08P01");
    EXPECT_EQ(error({.parameters = {"1", "2"}, .parameter_formats = {2}}), "send E 22023");
    EXPECT_EQ(error({.parameters = {"1", "2"}, .result_formats = {0, 0}}), "send E 08P01");
    EXPECT_EQ(error({.parameters = {"1", "2"}, .result_formats = {7}}), "send E 22023");
    EXPECT_EQ(error({.parameters = {"1", "2"}, .result_formats = {1}}), "bind 1 to 1 with 2");
}

TEST_F(ConnectionTest, FlushHoldsNothingBackBecauseNothingWas) {
    EXPECT_EQ(receive(parse("", "x")), "prepare 1 [x]");
    EXPECT_EQ(step(Prepared{}), "send 1");
    EXPECT_EQ(receive(flush()), "");
}

// ---- ends ---------------------------------------------------------------------------------------

TEST_F(ConnectionTest, ACancelInterruptsWhatRunsOnce) {
    EXPECT_EQ(step(CancelAsked{}), "");
    (void)receive(query("for ever"));
    EXPECT_EQ(step(CancelAsked{}), "interrupt");
    EXPECT_EQ(step(CancelAsked{}), "");
    EXPECT_EQ(step(failed("57014")), "send E ZI 57014");
    EXPECT_EQ(step(CancelAsked{}), "");
    (void)receive(query("for ever"));
    EXPECT_EQ(step(CancelAsked{}), "interrupt");
}

TEST_F(ConnectionTest, AClientThatVanishesInterruptsWhatRunsAndEndsTheSession) {
    (void)receive(query("for ever"));
    EXPECT_EQ(step(Vanished{}), "interrupt; end session; hang up");
    EXPECT_TRUE(machine_.is_closed());
    EXPECT_EQ(step(RowsCame{rows(1)}), "");
    EXPECT_EQ(step(failed("57014")), "");
}

TEST_F(ConnectionTest, TheServerMayEndItWithAReason) {
    (void)receive(query("for ever"));
    EXPECT_EQ(step(Expelled{{.sqlstate = "57P01", .message = "m"}}),
              "interrupt; end session; send E fatal 57P01; hang up");
}

TEST_F(ConnectionTest, ALostPlaceInTheStreamEndsIt) {
    EXPECT_EQ(receive("GET / HTTP/1.1\r\n"), "end session; send E fatal 08P01; hang up");
}

TEST_F(ConnectionTest, APasswordThatNobodyAskedForEndsIt) {
    EXPECT_EQ(receive(frame('p', "x")), "end session; send E fatal 08P01; hang up");
}

TEST_F(ConnectionTest, AnAnswerThatNobodyAskedForIsADefect) {
    EXPECT_DEATH((void)step(Ended{}), "CHECK failed");
    EXPECT_DEATH((void)step(Bound{}), "CHECK failed");
    EXPECT_DEATH((void)step(RowsCame{rows(1)}), "CHECK failed");
}

// ---- what waits is bounded ----------------------------------------------------------------------

ConnectionOptions small() {
    ConnectionOptions options = trusting();
    options.input_bytes_ahead_max = 100;
    options.output_bytes_max = 1000;
    options.prepared_max = 1;
    options.portals_max = 1;
    return options;
}

class SmallConnectionTest : public ConnectionTest {
protected:
    SmallConnectionTest() : ConnectionTest(small()) { write_all(); }
};

TEST_F(SmallConnectionTest, RowsPauseWhenTheClientReadsTooSlowly) {
    (void)receive(query("for ever"));
    (void)step(RowsBegan{{{"t", ColumnType::text}}});
    EXPECT_EQ(step(RowsCame{rows(1, 900)}), "send D");
    EXPECT_EQ(step(RowsCame{rows(1, 900)}), "send D; pause rows");
    EXPECT_EQ(step(RowsCame{rows(1, 900)}), "send D");  // was under way
    EXPECT_EQ(step(Written{1800}), "");
    EXPECT_EQ(step(Written{900}), "resume rows");
}

TEST_F(SmallConnectionTest, ReadingPausesWhenTheClientIsFarAhead) {
    EXPECT_EQ(receive(query("one")), "run [one]");
    EXPECT_EQ(receive(query(std::string(50, 'x'))), "");
    EXPECT_EQ(receive(query(std::string(50, 'y'))), "pause reading");
    EXPECT_EQ(step(Ended{}), "run [" + std::string(50, 'x') + "]; send I ZI; resume reading");
}

TEST_F(SmallConnectionTest, AMessageLargerThanThatIsReadWhenItsTimeComes) {
    const std::string large = query(std::string(5000, 'x'));
    (void)receive(query("one"));
    EXPECT_EQ(receive(large.substr(0, 2000)), "pause reading");
    EXPECT_EQ(step(Ended{}), "send I ZI; resume reading");
    EXPECT_EQ(receive(large.substr(2000)), "run [" + std::string(5000, 'x') + "]");
}

TEST_F(SmallConnectionTest, NoMessageIsTakenWhileTooMuchWaitsToBeSent) {
    std::string many;
    for (int i = 0; i < 1000; ++i) many += sync();
    EXPECT_TRUE(receive(many).ends_with("pause reading"));
    EXPECT_LT(machine_.output_waiting(), 1010U);
    while (machine_.input_waiting() > 0) write_all();
    EXPECT_LT(machine_.output_waiting(), 1010U);
}

TEST_F(SmallConnectionTest, StatementsAndPortalsAreCounted) {
    make_portal();
    EXPECT_EQ(receive(parse("t", "x")), "send E 53400");
    (void)receive(sync() + bound("p", "s"));
    (void)step(Bound{});
    EXPECT_EQ(receive(bound("q", "s")), "send E 53400");
}

ConnectionOptions light() {
    ConnectionOptions options = trusting();
    options.prepared_bytes_max = 10'000;
    options.portal_bytes_max = 5'000;
    return options;
}

class LightConnectionTest : public ConnectionTest {
protected:
    LightConnectionTest() : ConnectionTest(light()) { write_all(); }
};

TEST_F(LightConnectionTest, PreparedStatementsAreWeighed) {
    (void)receive(parse("s", std::string(6'000, 'x')));
    (void)step(Prepared{});
    EXPECT_EQ(receive(parse("t", std::string(6'000, 'x'))), "send E 53200");
    EXPECT_EQ(receive(sync()), "send ZI");  // the connection lives on
    (void)receive(close('S', "s"));
    EXPECT_NE(receive(parse("t", std::string(6'000, 'x'))), "send E 53200");
}

TEST_F(LightConnectionTest, PortalsAreWeighedWithTheRowsTheyKeep) {
    make_portal();
    EXPECT_EQ(receive(execute("p", 1)), "run portal 1 for 1");
    (void)step(RowsCame{rows(1)});
    // One alone may keep what an answer may have.
    EXPECT_EQ(step(Suspended{.status = TransactionStatus::open, .bytes = 100'000}), "send s");
    EXPECT_EQ(receive(bound("q", "s")), "send E 53200");
    (void)receive(sync());
    (void)step(Ended{TransactionStatus::open});
    (void)receive(close('P', "p"));
    for (const char* name : {"q", "r"}) {
        (void)receive(bound(name, "s"));
        (void)step(Bound{});
    }
    (void)receive(execute("q", 1));
    (void)step(RowsCame{rows(1)});
    EXPECT_EQ(step(Suspended{.status = TransactionStatus::open, .bytes = 100'000}),
              "close portal 2; send E 53200");
}

TEST_F(ConnectionTest, WhatAClientMakesUsKeepIsToldBeyondALittle) {
    EXPECT_EQ(machine_.bytes_kept(), 0U);
    const std::string large = query(std::string(100'000, 'x'));
    (void)receive(large.substr(0, 90'000));
    EXPECT_EQ(machine_.bytes_kept(), 90'000U);
    (void)receive(large.substr(90'000));
    EXPECT_GE(machine_.bytes_kept(), 100'000U);  // until it was run
    (void)step(Ended{});
    EXPECT_EQ(machine_.bytes_kept(), 0U);
}

}  // namespace
}  // namespace baton::pgwire
