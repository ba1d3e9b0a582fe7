// error_manual prints docs/ERRORS.md from the list of errors, so that the manual cannot drift.
//
//     build/dev/error_manual > docs/ERRORS.md
#include <cstdio>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/error.h"

namespace {

constexpr std::string_view kOpening = R"(# Errors

Every error has a number that never changes and is never reused; clients decide by it, not by the
text. The message says what was attempted and why it failed. Where it helps, an error also carries
its place in the statement, a hint, and the names of the things that stand in the way.

The reaction says what a caller can do:

| reaction | meaning |
|---|---|
| invalid | the request can never succeed as asked |
| not found | the named object does not exist |
| conflict | someone else got there first: read again, then decide |
| unavailable | nothing happened: try again later |
| unknown outcome | it may or may not have happened: read before trying again |
)";

std::string_view title_of(unsigned thousand) {
    switch (thousand) {
        case 1:
            return "configuration";
        case 2:
            return "the statement";
        case 3:
            return "run time";
        case 4:
            return "data of sources and sinks";
        case 5:
            return "the API";
        case 6:
            return "the catalog";
        case 9:
            return "a defect of Baton";
        default:
            CHECK(false && "a range of numbers without a title");
    }
}

std::string_view name_of(baton::Reaction reaction) {
    using enum baton::Reaction;
    switch (reaction) {
        case invalid:
            return "invalid";
        case not_found:
            return "not found";
        case conflict:
            return "conflict";
        case unavailable:
            return "unavailable";
        case unknown_outcome:
            return "unknown outcome";
    }
    CHECK(false && "a reaction without a name");
}

std::string manual() {
    std::string text(kOpening);
    unsigned thousand = 0;
    for (const baton::ErrorEntry& entry : baton::error_list()) {
        const unsigned number = baton::number(entry.code);
        if (number / 1000 != thousand) {
            thousand = number / 1000;
            text += "\n## " + std::to_string(thousand) + "xxx: ";
            text += title_of(thousand);
            text += "\n\n| number | name | reaction | meaning |\n|---|---|---|---|\n";
        }
        text += "| " + std::to_string(number) + " | `";
        text += entry.name;
        text += "` | ";
        text += name_of(entry.reaction);
        text += " | ";
        text += entry.meaning;
        text += " |\n";
    }
    return text + "\n<!-- Written by tools/error_manual.cc; do not edit. -->\n";
}

}  // namespace

int main() {
    const std::string text = manual();
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
