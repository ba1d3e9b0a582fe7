// Answers decides what the receiver writes to one stream of a sender, and when.
//
// Input:   the answer to the sender's opening, news of progress, writes that are done, the end.
// Output:  the next write, or the end of the stream.
//
// Rules:
//   - One write at a time; the answer to the opening comes first.
//   - Only the newest progress counts: progress that was made while a write was under way is
//     written once, when that write is done.
//   - A stream ends when its answer is written and no write is under way. Progress is not written
//     then: the sender asks again on its next stream.
// Pure: no clock, no I/O, no threads.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "core/exchange/progress.h"

namespace baton::exchange {

struct WriteAnswer {
    ToSender answer;
};
// The progress as it is now.
struct WriteProgress {};
struct FinishStream {};
using AnswersEffect = std::variant<WriteAnswer, WriteProgress, FinishStream>;

class Answers {
public:
    // Opened or Refused, once.
    [[nodiscard]] std::optional<AnswersEffect> answer(ToSender first);
    [[nodiscard]] std::optional<AnswersEffect> progressed();
    [[nodiscard]] std::optional<AnswersEffect> written(bool ok);
    // The sender will send nothing more.
    [[nodiscard]] std::optional<AnswersEffect> end();

private:
    [[nodiscard]] std::optional<AnswersEffect> next();

    std::optional<ToSender> first_;
    bool opened_ = false;
    bool progressed_ = false;
    bool writing_ = false;
    bool over_ = false;
    bool finished_ = false;
};

}  // namespace baton::exchange
