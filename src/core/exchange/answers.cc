#include "core/exchange/answers.h"

#include <utility>

namespace baton::exchange {

std::optional<AnswersEffect> Answers::answer(ToSender first) {
    opened_ = std::holds_alternative<Opened>(first);
    first_ = std::move(first);
    return next();
}

std::optional<AnswersEffect> Answers::progressed() {
    progressed_ = true;
    return next();
}

std::optional<AnswersEffect> Answers::written(bool ok) {
    writing_ = false;
    if (!ok) over_ = true;
    return next();
}

std::optional<AnswersEffect> Answers::end() {
    over_ = true;
    return next();
}

std::optional<AnswersEffect> Answers::next() {
    if (writing_ || finished_) return std::nullopt;
    if (first_) {
        writing_ = true;
        WriteAnswer write{*std::move(first_)};
        first_.reset();
        return write;
    }
    if (over_) {
        finished_ = true;
        return FinishStream{};
    }
    if (!opened_ || !progressed_) return std::nullopt;
    progressed_ = false;
    writing_ = true;
    return WriteProgress{};
}

}  // namespace baton::exchange
