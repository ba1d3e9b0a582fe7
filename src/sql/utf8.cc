#include "sql/utf8.h"

#include <cstdint>

namespace baton::sql {

namespace {

struct Lead {
    std::size_t length = 0;
    std::uint32_t bits = 0;
    std::uint32_t smallest = 0;  // that needs so many bytes; less is an overlong form
};

Lead lead_of(unsigned char byte) {
    if (byte < 0x80U) return {1, byte, 0};
    if ((byte & 0xe0U) == 0xc0U) return {2, byte & 0x1fU, 0x80};
    if ((byte & 0xf0U) == 0xe0U) return {3, byte & 0x0fU, 0x800};
    if ((byte & 0xf8U) == 0xf0U) return {4, byte & 0x07U, 0x10000};
    return {};
}

}  // namespace

std::size_t character_length(std::string_view text, std::size_t from) {
    const Lead lead = lead_of(static_cast<unsigned char>(text[from]));
    if (lead.length == 0 || text.size() - from < lead.length) return 0;
    std::uint32_t value = lead.bits;
    for (std::size_t i = 1; i < lead.length; ++i) {
        const auto byte = static_cast<unsigned char>(text[from + i]);
        if ((byte & 0xc0U) != 0x80U) return 0;
        value = (value << 6U) | (byte & 0x3fU);
    }
    const bool surrogate = value >= 0xd800U && value <= 0xdfffU;
    if (value < lead.smallest || surrogate || value > 0x10ffffU) return 0;
    return lead.length;
}

}  // namespace baton::sql
