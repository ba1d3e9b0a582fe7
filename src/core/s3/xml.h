// Element is an XML document of a store as a tree: enough of XML for S3 and STS, and no more.
//
// Strict: one root, every element closed by its name, valid UTF-8, the five named entities and
// numeric ones. Refused: document types, other entities, processing instructions behind the
// start. Namespaces are left out: <a:Key> is Key. Attributes and comments are read over.
// Bounded in depth and in the number of elements; the caller bounds the bytes.
//
// Our own, because those documents are few and flat: a general library would bring entities, DTDs
// and encodings, each of which would have to be shut off again.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace baton::s3 {

struct Element {
    std::string name;
    std::string text;  // of this element alone, as it is written, entities decoded
    std::vector<Element> children;

    // The first child of that name; null: there is none.
    [[nodiscard]] const Element* child(std::string_view child_name) const;
    // Its text; empty: there is none.
    [[nodiscard]] std::string_view text_of(std::string_view child_name) const;
};

struct XmlLimits {
    std::size_t depth = 16;
    std::size_t elements = 50'000;
};

// Fails with malformed_message: at which byte and why, never what stands there.
[[nodiscard]] Result<Element> read_xml(std::string_view text, const XmlLimits& limits = {});

// Text between tags.
[[nodiscard]] std::string escape_xml(std::string_view text);

}  // namespace baton::s3
