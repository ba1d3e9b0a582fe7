#include "engine/formats/utf8.h"

#include <simdjson.h>

namespace baton::formats {

bool is_utf8(std::string_view text) {
    return simdjson::validate_utf8(text.data(), text.size());
}

}  // namespace baton::formats
