#include "slt/runner.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "base/check.h"
#include "base/text.h"
#include "slt/compare.h"
#include "sql/parser.h"
#include "sql/printer.h"

namespace baton::slt {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSucceeded = "the statement succeeded, and something else was expected";

bool is_header(const std::string& line) {
    return line.find(":NOT_NULLABLE") != std::string::npos ||
           line.find(":IS_NULLABLE") != std::string::npos;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::string unless_expected(const Error& error, const std::optional<Expectation>& expected) {
    const auto* wanted = expected ? std::get_if<ExpectError>(&*expected) : nullptr;
    if (wanted == nullptr) return to_string(error);
    const unsigned got = number(error.code);
    if (got == wanted->code) return "";
    return "expected error " + std::to_string(wanted->code) + ", got " + to_string(error);
}

// The script's own words, unless something was added to them: errors then stand where they stood.
std::string text_of(const sql::Statement& given, const sql::Statement& completed,
                    const std::string& words) {
    return given.node == completed.node ? words : sql::print(completed);
}

std::string check_explained(const std::string& text, const Expectation& expected) {
    if (const auto* wanted = std::get_if<ExpectText>(&expected)) {
        if (wanted->text == text) return "";
        return "the text differs; it is\n" + text;
    }
    const auto* patterns = std::get_if<ExpectPattern>(&expected);
    if (patterns == nullptr) return "an EXPLAIN gives text, and something else was expected";
    for (const auto& pattern : patterns->patterns) {
        const bool found = std::regex_search(text, std::regex(pattern.regex));
        if (found == pattern.matches) continue;
        return std::string(found ? "found: " : "not found: ") + pattern.regex + "\n" + text;
    }
    return "";
}

}  // namespace

Runner::Runner(Client& client, const RunnerOptions& options)
    : client_(client),
      options_(options),
      supply_(options.places, options.testdata, options.scratch) {}

std::vector<Check> Runner::run(const Script& script) {
    std::vector<Check> checks;
    for (const Item& item : script.items) {
        std::string problem = check(item);
        if (item.expected || !problem.empty()) checks.push_back({item.line, std::move(problem)});
    }
    return checks;
}

std::string Runner::check(const Item& item) {
    auto statement = sql::parse_one(item.statement);
    if (statement) {
        if (const auto* query = std::get_if<sql::CreateQuery>(&statement->node)) {
            return check_rows(rows_of(*query, item.statement), item.expected);
        }
        if (const auto* sink = std::get_if<sql::CreateSink>(&statement->node)) {
            const auto done = create(*sink, item.statement);
            if (!done) return unless_expected(done.error(), item.expected);
            return item.expected ? kSucceeded : "";
        }
    }
    std::string text = item.statement;
    bool explains = false;
    if (statement) {
        const sql::Statement given = *statement;
        if (auto* source = std::get_if<sql::CreatePhysicalSource>(&statement->node)) {
            Result<SourceData> data = SourceData{};
            if (item.attached) data = serve(*item.attached, source->type);
            if (!data) return to_string(data.error());
            supply_.complete(*source, *data);
        }
        if (auto* explain = std::get_if<sql::Explain>(&statement->node)) {
            explains = true;
            supply_.complete(explain->query);
            if (explain->sink) supply_.complete(*explain->sink);
        }
        text = text_of(given, *statement, item.statement);
    }
    const auto answered = client_.run(text);
    if (!answered) return unless_expected(answered.error(), item.expected);
    if (!item.expected) return "";
    return explains ? check_explained(answered->text, *item.expected) : kSucceeded;
}

std::string Runner::check_rows(const Result<Rows>& rows,
                               const std::optional<Expectation>& expectation) {
    if (!rows) return unless_expected(rows.error(), expectation);
    if (!expectation) return "";
    if (const auto* wanted = std::get_if<ExpectError>(&*expectation)) {
        return "expected error " + std::to_string(wanted->code) + ", and the query gave " +
               std::to_string(rows->rows.size()) + " rows";
    }
    std::vector<std::string> expected;
    if (const auto* same = std::get_if<ExpectSame>(&*expectation)) {
        const auto others = rows_of(same->query);
        if (!others) return "the second query: " + to_string(others.error());
        expected = others->rows;
    } else if (const auto* told = std::get_if<ExpectRows>(&*expectation)) {
        expected = told->rows;
    }
    if (!rows->known)
        return expected.empty() ? "" : "the sink keeps no rows that could be looked at";
    const Difference difference = compare_rows(expected, rows->rows);
    if (difference.none()) return "";
    return "the rows differ (- expected, + given)\n" + to_string(difference);
}

// One that is there already keeps writing where it did.
Result<Done> Runner::create(const sql::CreateSink& given, const std::string& text) {
    sql::CreateSink sink = given;
    const Supply::Written written = supply_.complete(sink);
    TRY_ASSIGN(answered, client_.run(text_of({.node = given}, {.node = sink}, text)));
    if (answered.created) supply_.created(sink, written);
    return Done{};
}

Result<SourceData> Runner::serve(const Attach& attached, const std::string& type) {
    const bool over_tcp = to_upper(type) == "TCP";
    std::string bytes;
    for (const std::string& row : attached.rows) bytes += row + "\n";
    if (attached.file && !over_tcp) {
        return SourceData{.file = supply_.found(*attached.file), .port = {}};
    }
    if (attached.file) {
        TRY_ASSIGN(read, contents_of(supply_.found(*attached.file)));
        bytes = std::move(read);
    }
    if (over_tcp) {
        servers_.push_back(std::make_unique<RowServer>(std::move(bytes)));
        return SourceData{.file = {}, .port = servers_.back()->port()};
    }
    const fs::path path =
        fs::path(options_.scratch) / ("input-" + std::to_string(inputs_++) + ".csv");
    std::ofstream(path, std::ios::binary) << bytes;
    return SourceData{.file = path.string(), .port = {}};
}

Result<Runner::Rows> Runner::rows_of(const std::string& text) {
    TRY_ASSIGN(statement, sql::parse_one(text));
    const auto* query = std::get_if<sql::CreateQuery>(&statement.node);
    if (query != nullptr) return rows_of(*query, text);
    return Error{.code = ErrorCode::syntax, .message = "the second statement is no query"};
}

Result<Runner::Rows> Runner::rows_of(const sql::CreateQuery& given, const std::string& text) {
    sql::CreateQuery query = given;
    supply_.complete(query.query);
    supply_.complete(query.sink);
    const auto written = supply_.written_by(query.sink);
    if (written) fs::remove(written->path);
    TRY(run_to_its_end(text_of({.node = given}, {.node = query}, text)));
    if (!written || (written->type != "FILE" && written->type != "CHECKSUM")) {
        return Rows{.rows = {}, .known = false};
    }
    TRY_ASSIGN(read, contents_of(written->path));
    Rows rows{.rows = lines_of(read), .known = true};
    if (!rows.rows.empty() && is_header(rows.rows.front())) rows.rows.erase(rows.rows.begin());
    return rows;
}

Result<Done> Runner::run_to_its_end(const std::string& text) {
    TRY_ASSIGN(answered, client_.run(text));
    CHECK(answered.id.has_value());
    const auto ended = client_.end_of(*answered.id);
    (void)client_.run("DROP QUERY " + std::to_string(*answered.id) + " MODE FORCEFUL");
    if (!ended) return ended.error();
    if (!*ended || (*ended)->state == QueryState::terminated) return Done{};
    const Reason& reason = (*ended)->reason;
    return Error{
        .code = error_numbered(reason.error).value_or(ErrorCode::cancelled),
        .message = "the query is " + std::string(to_string((*ended)->state)) + ": " + reason.text};
}

}  // namespace baton::slt
