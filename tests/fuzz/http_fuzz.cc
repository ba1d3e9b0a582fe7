// Any bytes as a request over HTTP: what it means is a problem in well-formed JSON, or statements;
// and those that stand for a path are as many as they should be, whatever the path says. They are
// run, and a write succeeds after them. The first lines are the method, the target and headers; the
// body follows an empty line.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/overload.h"
#include "doors/http/api.h"
#include "doors/http/site_check.h"
#include "fuzz/canary.h"
#include "sql/parser.h"

namespace {

using namespace baton;        // NOLINT
using namespace baton::http;  // NOLINT

std::string take_line(std::string_view& text) {
    const std::size_t end = text.find('\n');
    const std::string line(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
}

http::Request request_of(std::string_view text) {
    http::Request request;
    request.method = take_line(text);
    request.target = take_line(text);
    while (!text.empty()) {
        const std::string line = take_line(text);
        if (line.empty()) break;
        const std::size_t colon = line.find(": ");
        if (colon == std::string::npos) continue;
        request.headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    }
    request.body = text;
    return request;
}

void check_response(const Response& response) {
    CHECK(response.status >= 400);
    CHECK(nlohmann::json::accept(response.body));
}

template <class... Kinds>
void check_statements(const std::string& text) {
    const auto statements = sql::parse(text);
    if (!statements) return;  // a name that no statement can hold
    std::size_t i = 0;
    CHECK(statements->size() == sizeof...(Kinds));
    (..., [&] { CHECK(std::holds_alternative<Kinds>((*statements)[i++].node)); }());
}

void check_ask(const Ask& ask) {
    if (ask.precondition) check_statements<sql::Begin, sql::SelectOnce>(ask.precondition->look);
    if (std::holds_alternative<AsList>(ask.shape) || std::holds_alternative<AsOne>(ask.shape)) {
        check_statements<sql::SelectOnce>(ask.text);
    }
    const auto* change = std::get_if<AsChange>(&ask.shape);
    if (change == nullptr || !change->created_at.empty()) return;
    const auto statements = sql::parse(ask.text);
    if (!statements) return;
    CHECK(statements->size() == (ask.precondition ? 2U : 1U));
    const auto& node = statements->front().node;
    CHECK(std::holds_alternative<sql::Drop>(node) || std::holds_alternative<sql::StopQuery>(node) ||
          std::holds_alternative<sql::DrainWorker>(node) ||
          std::holds_alternative<sql::ResumeWorker>(node));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const http::Request request = request_of({reinterpret_cast<const char*>(data), size});
    const SitePolicy open;
    if (const auto refused = refused_site(request, &open)) check_response(*refused);
    const Planned planned = plan(request);
    std::visit(Overload{
                   [](const Response& response) { check_response(response); },
                   [](const Ask& ask) {
                       check_ask(ask);
                       fuzz::Canary::shared().run(ask.text, ask.parameters);
                   },
                   [](const Follow& follow) {
                       CHECK(std::holds_alternative<sql::Watch>(follow.statement.node));
                   },
                   [](const Rows& rows) {
                       CHECK(sql::parse(rows.text, {}, rows.parameters)->size() == 1);
                   },
                   [](Page) {},
               },
               planned.what);
    fuzz::Canary::shared().write();
    return 0;
}
