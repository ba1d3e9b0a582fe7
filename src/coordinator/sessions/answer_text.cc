#include "coordinator/sessions/answer_text.h"

#include "sql/printer.h"

namespace baton {

std::string in_words(const StatementResult& result) {
    const auto* answer = std::get_if<Answer>(&result.value);
    if (answer == nullptr) return result.tag;
    std::string text = result.tag;
    if (!answer->name.empty()) text += " " + sql::print_name(answer->name);
    if (answer->id && answer->name != std::to_string(*answer->id)) {
        text += " (id " + std::to_string(*answer->id) + ")";
    }
    switch (answer->did) {
        case Did::created:
        case Did::changed:
            break;
        case Did::dropped:
            if (answer->dropped.size() > 1) {
                text = result.tag + " (" + std::to_string(answer->dropped.size()) + " dropped)";
            }
            break;
        case Did::existed:
            text += ": it exists already, nothing was done";
            break;
        case Did::absent:
            text += ": nothing to drop";
            break;
        case Did::accepted:
            text += ": accepted, workers have yet to confirm";
            break;
        case Did::unchanged:
            text += ": nothing to do";
            break;
    }
    return text;
}

}  // namespace baton
