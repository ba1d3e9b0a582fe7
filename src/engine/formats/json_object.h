// JsonObjectReader finds the fields that are columns in a JSON object; see json_decoder.h.
//
// Objects of one source mostly have the same fields in the same order. So which field follows which
// is learnt, and looked up only where an object is different.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/formats/cells.h"
#include "model/schema.h"

namespace baton::formats {

class JsonObjectReader {
public:
    JsonObjectReader(const Schema& schema, const std::vector<std::size_t>& wanted);
    JsonObjectReader(const JsonObjectReader&) = delete;
    JsonObjectReader& operator=(const JsonObjectReader&) = delete;
    ~JsonObjectReader();

    // Sets a cell for each wanted column; `cells` begin as absent. 64 bytes past the text must be
    // readable. Text with escapes is decoded in place. Returns what is wrong, or nothing.
    [[nodiscard]] std::string read(std::span<char> text, std::span<Cell> cells);

private:
    struct Walk;
    std::unique_ptr<Walk> walk_;
};

}  // namespace baton::formats
