// The users of a stage: what they ask of which coordinator, and what they are told.
#include "sim/stage.h"

namespace baton::sim {

namespace {

// "CREATE QUERY Q7 AS .." -> "Q7" for "CREATE QUERY "
std::optional<std::string> name_after(std::string_view statement, std::string_view words) {
    if (!statement.starts_with(words)) return std::nullopt;
    const std::string_view rest = statement.substr(words.size());
    return std::string(rest.substr(0, rest.find(' ')));
}

}  // namespace

struct Stage::Question {
    std::string statement;
    std::size_t coordinator = 0;  // that is asked
    std::size_t others = 0;       // that may be asked after it
    Instant asked;
};

void Stage::ask(const std::string& statement) {
    const std::size_t count = coordinators_.size();
    const std::size_t first = count == 1 ? 0 : world_.prng.between(0, count - 1);
    ask(statement, first, count - 1);
}

void Stage::ask_of(std::size_t coordinator, const std::string& statement) {
    ask(statement, coordinator, 0);
}

void Stage::ask(const std::string& statement, std::size_t coordinator, std::size_t others) {
    world_.tell(40, [&] { return "a user asks: " + statement; });
    if (const auto dropped = name_after(statement, "DROP QUERY ")) checks_.drop_asked(*dropped);
    if (const auto stopped = name_after(statement, "STOP QUERY ")) checks_.stop_asked(*stopped);
    put({.statement = statement,
         .coordinator = coordinator,
         .others = others,
         .asked = world_.agenda.now()});
}

void Stage::put(const Question& question) {
    SimCoordinator& asked = *coordinators_.at(question.coordinator);
    const auto ask_next = [=, this] {
        Question next = question;
        next.coordinator = (question.coordinator + 1) % coordinators_.size();
        next.others -= 1;
        put(next);
    };
    if (!asked.is_up() && question.others > 0) return ask_next();
    asked.ask(user_of(question.coordinator), question.statement,
              [=, this](UserAnswer told, const Error* error) {
                  const bool elsewhere = error != nullptr && error->code == ErrorCode::fenced;
                  if (elsewhere && question.others > 0) return ask_next();
                  answered(question, told, error);
              });
}

void Stage::answered(const Question& question, UserAnswer told, const Error* error) {
    const std::string& statement = question.statement;
    const auto created = name_after(statement, "CREATE QUERY ");
    const auto dropped = name_after(statement, "DROP QUERY ");
    const auto stopped = name_after(statement, "STOP QUERY ");
    answers_.push_back(statement + ": " +
                       (told == UserAnswer::accepted ? "accepted" : to_string(*error)));
    world_.tell(41, [&] { return "a user is told: " + answers_.back(); });
    if (dropped && told != UserAnswer::nothing) checks_.drop_answered(*dropped);
    if (told != UserAnswer::accepted) return;
    if (created) checks_.create_acknowledged(*created, question.asked);
    if (stopped) checks_.stop_acknowledged(*stopped);
}

std::string Stage::user_of(std::size_t coordinator) {
    return request_checks_.asked(coordinator, coordinators_.at(coordinator)->name());
}

bool Stage::is_undisturbed(std::size_t coordinator, Instant since) const {
    const SimCoordinator& asked = *coordinators_.at(coordinator);
    const auto disturbed = disturbed_.find(coordinator);
    const bool lately = disturbed != disturbed_.end() && disturbed->second >= since;
    return asked.is_up() && !asked.is_paused() && !lately;
}

}  // namespace baton::sim
