#include "doors/http/event_stream.h"

namespace baton::http {

std::string event_text(std::string_view kind, const std::string& id, std::string data) {
    for (char& c : data) {
        if (c == '\n' || c == '\r') c = ' ';  // between the parts of embedded JSON
    }
    std::string text = "event: " + std::string(kind) + "\n";
    if (!id.empty()) text += "id: " + id + "\n";
    return text + "data: " + data + "\n\n";
}

Piece piece_of(std::string text) {
    return std::make_shared<const std::string>(std::move(text));
}

}  // namespace baton::http
