#include "coordinator/sessions/answer_text.h"

#include "sql/printer.h"

namespace baton::coordinator {

std::string in_words(const StatementResult& result) {
    const auto* answer = std::get_if<catalog::Answer>(&result.value);
    if (answer == nullptr) return result.tag;
    std::string text = result.tag;
    if (!answer->name.empty()) text += " " + sql::print_name(answer->name);
    if (answer->id && answer->name != std::to_string(*answer->id)) {
        text += " (id " + std::to_string(*answer->id) + ")";
    }
    switch (answer->did) {
        case catalog::Did::created:
        case catalog::Did::changed:
            break;
        case catalog::Did::dropped:
            if (answer->dropped.size() > 1) {
                text = result.tag + " (" + std::to_string(answer->dropped.size()) + " dropped)";
            }
            break;
        case catalog::Did::existed:
            text += ": it exists already, nothing was done";
            break;
        case catalog::Did::absent:
            text += ": nothing to drop";
            break;
        case catalog::Did::accepted:
            text += ": accepted, workers have yet to confirm";
            break;
        case catalog::Did::unchanged:
            text += ": nothing to do";
            break;
    }
    return text;
}

}  // namespace baton::coordinator
