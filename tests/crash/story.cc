#include "crash/story.h"

#include <algorithm>

#include "base/check.h"

namespace baton::crash {

void Story::hear(std::string_view bytes) {
    text_ += bytes;
    for (std::size_t end = text_.find('\n', read_); end != std::string::npos;
         end = text_.find('\n', read_)) {
        hear_line(std::string_view(text_).substr(read_, end - read_));
        read_ = end + 1;
    }
}

void Story::hear_line(std::string_view line) {
    const auto after = [&](std::string_view start) {
        return std::string(line.substr(start.size()));
    };
    if (line == "opened") {
        opened_ = true;
    } else if (line == "unlimited") {
        unlimited_ = true;
        done_ = 0;
    } else if (line.starts_with("backup ")) {
        backups_.push_back(after("backup "));
    } else if (line.starts_with("! ")) {
        stuck_ = after("! ");
    } else if (line.starts_with("> ")) {
        attempts_.push_back({.thread = line.at(2) - '0', .operation = from_words(line.substr(4))});
    } else {
        hear_answer(line);
    }
}

void Story::hear_answer(std::string_view line) {
    CHECK(line.starts_with("< ") && line.size() > 6);
    const int thread = line[2] - '0';
    const std::string number(line.substr(6));
    const auto asked = std::find_if(attempts_.rbegin(), attempts_.rend(),
                                    [&](const Attempt& a) { return a.thread == thread; });
    CHECK(asked != attempts_.rend());
    answers_ += 1;
    if (line[4] == '+') {
        asked->done = Revision(std::stoull(number));
        done_ += 1;
    } else if (number != std::to_string(baton::number(ErrorCode::unknown_outcome))) {
        asked->refused = static_cast<unsigned>(std::stoul(number));
    }
}

}  // namespace baton::crash
