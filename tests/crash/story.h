// What the killed process had told before it was killed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/id.h"
#include "crash/model.h"

namespace baton::crash {

struct Attempt {
    int thread = 0;
    Operation operation;
    std::optional<Revision> done;     // acknowledged, as this revision
    std::optional<unsigned> refused;  // with the number of this error; neither: in doubt
};

class Story {
public:
    // Takes bytes of the pipe as they come.
    void hear(std::string_view bytes);

    [[nodiscard]] bool opened() const { return opened_; }
    [[nodiscard]] bool unlimited() const { return unlimited_; }
    [[nodiscard]] const std::optional<std::string>& stuck() const { return stuck_; }
    [[nodiscard]] const std::vector<std::string>& backups() const { return backups_; }
    [[nodiscard]] const std::vector<Attempt>& attempts() const { return attempts_; }
    [[nodiscard]] std::size_t answers() const { return answers_; }
    // Requests that were done since the disk is no longer full, or at all if it never was.
    [[nodiscard]] std::size_t done() const { return done_; }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    void hear_line(std::string_view line);
    void hear_answer(std::string_view line);

    std::string text_;
    std::size_t read_ = 0;  // how much of the text is whole lines that were understood
    bool opened_ = false;
    bool unlimited_ = false;
    std::optional<std::string> stuck_;
    std::vector<std::string> backups_;
    std::vector<Attempt> attempts_;
    std::size_t answers_ = 0;
    std::size_t done_ = 0;
};

}  // namespace baton::crash
