#include "slt/client.h"

#include "catalog/reader.h"
#include "coordinator/sessions/query_wait.h"

namespace baton::slt {

namespace {

std::string text_of(const views::Table& table) {
    std::string text;
    for (const SqlRow& row : table.rows) {
        for (const SqlValue& value : row) {
            if (const auto* line = std::get_if<std::string>(&value)) text += *line;
        }
        text += "\n";
    }
    return text;
}

}  // namespace

SessionClient::SessionClient(coordinator::CoordinatorRuntime& coordinator, Duration patience)
    : coordinator_(coordinator), session_(coordinator, "baton-slt"), patience_(patience) {}

Result<Client::Answered> SessionClient::run(const std::string& text) {
    coordinator::Execution execution =
        session_.execute(text, {.until = Wait::Until::steady, .timeout = patience_});
    if (execution.results.empty()) {
        if (execution.error) return *std::move(execution.error);
        return Answered{};
    }
    Answered answered;
    const auto& value = execution.results.front().value;
    if (const auto* answer = std::get_if<catalog::Answer>(&value)) {
        answered.created = answer->did == catalog::Did::created;
        answered.id = answer->id;
    }
    // A query that did not settle is there, and can be waited for and dropped.
    if (execution.error && !(answered.created && answered.id)) return *std::move(execution.error);
    if (const auto* table = std::get_if<views::Table>(&value)) answered.text = text_of(*table);
    return answered;
}

Result<std::optional<Client::Ended>> SessionClient::end_of(std::uint64_t query) {
    const Wait wait{.until = Wait::Until::ended, .timeout = patience_};
    TRY(coordinator::wait_for(coordinator_, QueryId(query), wait, session_.interrupt()));
    TRY_ASSIGN(snapshot, coordinator_.snapshot());
    TRY_ASSIGN(ended, snapshot.read().query(QueryId(query)));
    if (!ended) return std::optional<Ended>();
    return std::optional(Ended{.state = ended->state, .reason = ended->reason});
}

}  // namespace baton::slt
