#include "sql/utf8.h"

#include "base/utf8.h"

namespace baton::sql {

std::size_t character_length(std::string_view text, std::size_t from) {
    return utf8_character_size(text.substr(from));
}

}  // namespace baton::sql
