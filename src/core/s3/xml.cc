#include "core/s3/xml.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/utf8.h"

namespace baton::s3 {

namespace {

bool is_xml_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool has_control(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 && !is_xml_space(c);
    });
}

bool is_in_name(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == ':' || (static_cast<unsigned char>(c) & 0x80U) != 0;
}

// -1: it is none.
int digit_of_entity(char c, bool hexadecimal) {
    if (c >= '0' && c <= '9') return c - '0';
    if (hexadecimal && c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (hexadecimal && c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool is_xml_character(std::uint32_t c) {
    return c == 9 || c == 10 || c == 13 || (c >= 0x20 && c <= 0xd7ff) ||
           (c >= 0xe000 && c <= 0xfffd) || (c >= 0x10000 && c <= 0x10ffff);
}

void append_utf8(std::string& to, std::uint32_t c) {
    const auto byte = [&](std::uint32_t value) { to += static_cast<char>(value); };
    if (c < 0x80) return byte(c);
    if (c < 0x800) {
        byte(0xc0U | (c >> 6U));
    } else if (c < 0x10000) {
        byte(0xe0U | (c >> 12U));
        byte(0x80U | ((c >> 6U) & 0x3fU));
    } else {
        byte(0xf0U | (c >> 18U));
        byte(0x80U | ((c >> 12U) & 0x3fU));
        byte(0x80U | ((c >> 6U) & 0x3fU));
    }
    byte(0x80U | (c & 0x3fU));
}

class XmlReader {
public:
    XmlReader(std::string_view text, const XmlLimits& limits) : text_(text), limits_(limits) {}

    Result<Element> read() {
        if (!is_valid_utf8(text_)) return fail("it is not UTF-8");
        if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
        if (next_is("<?xml")) TRY(skip_behind("?>"));
        TRY(skip_between());
        if (!next_is("<")) return fail("an element is missing");
        Element root;
        TRY(read_elements(root));
        TRY(skip_between());
        if (at_ != text_.size()) return fail("something stands behind the root element");
        return root;
    }

private:
    [[nodiscard]] Error fail(std::string_view why) const {
        return {.code = ErrorCode::malformed_message,
                .message = "the XML document is damaged at byte " + std::to_string(at_) + ": " +
                           std::string(why)};
    }

    [[nodiscard]] bool next_is(std::string_view word) const {
        return text_.substr(at_).starts_with(word);
    }

    void skip_space() {
        while (at_ < text_.size() && is_xml_space(text_[at_])) ++at_;
    }

    Result<Done> skip_behind(std::string_view end) {
        const std::size_t found = text_.find(end, at_);
        if (found == std::string_view::npos) return fail("it ends too early");
        at_ = found + end.size();
        return Done{};
    }

    // Space and comments outside of the root.
    Result<Done> skip_between() {
        skip_space();
        while (next_is("<!--")) {
            TRY(skip_behind("-->"));
            skip_space();
        }
        return Done{};
    }

    // The element that begins here, and all in it, without recursion: the depth is bounded, but by
    // the caller.
    Result<Done> read_elements(Element& root) {
        std::vector<Element*> open;
        TRY_ASSIGN(closed, read_start_tag(root));
        if (closed) return Done{};
        open.push_back(&root);
        while (!open.empty()) {
            TRY(read_text(open.back()->text));
            if (next_is("</")) {
                TRY(read_end_tag(open.back()->name));
                open.pop_back();
            } else if (next_is("<!--")) {
                TRY(skip_behind("-->"));
            } else if (next_is("<![CDATA[")) {
                TRY(read_cdata(open.back()->text));
            } else {
                if (open.size() >= limits_.depth) return fail("it is nested too deeply");
                // Only the newest child may grow, so that pointers to those that are open hold.
                Element& child = open.back()->children.emplace_back();
                TRY_ASSIGN(empty, read_start_tag(child));
                if (!empty) open.push_back(&child);
            }
        }
        return Done{};
    }

    Result<std::string> read_name() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_in_name(text_[at_])) ++at_;
        const std::string_view name = text_.substr(begin, at_ - begin);
        const std::size_t colon = name.rfind(':');
        const std::string_view local =
            colon == std::string_view::npos ? name : name.substr(colon + 1);
        if (local.empty()) return fail("a name is missing");
        return std::string(local);
    }

    // Whether it closes itself.
    Result<bool> read_start_tag(Element& element) {
        if (++elements_ > limits_.elements) return fail("it has too many elements");
        ++at_;  // <
        TRY_ASSIGN(name, read_name());
        element.name = std::move(name);
        while (true) {
            const std::size_t before = at_;
            skip_space();
            if (next_is("/>")) {
                at_ += 2;
                return true;
            }
            if (next_is(">")) {
                ++at_;
                return false;
            }
            if (at_ == before) return fail("a tag is damaged");
            TRY(skip_attribute());
        }
    }

    Result<Done> skip_attribute() {
        TRY(read_name());
        skip_space();
        if (!next_is("=")) return fail("an attribute has no value");
        ++at_;
        skip_space();
        if (!next_is("\"") && !next_is("'")) return fail("an attribute's value has no quotes");
        const char quote = text_[at_++];
        const std::size_t end = text_.find(quote, at_);
        if (end == std::string_view::npos) return fail("it ends too early");
        if (text_.substr(at_, end - at_).find('<') != std::string_view::npos) {
            return fail("an attribute's value is damaged");
        }
        at_ = end + 1;
        return Done{};
    }

    Result<Done> read_end_tag(const std::string& expected) {
        at_ += 2;
        TRY_ASSIGN(name, read_name());
        if (name != expected) return fail("an element is closed by another name");
        skip_space();
        if (!next_is(">")) return fail("a tag is damaged");
        ++at_;
        return Done{};
    }

    Result<Done> read_cdata(std::string& to) {
        at_ += std::string_view("<![CDATA[").size();
        const std::size_t begin = at_;
        TRY(skip_behind("]]>"));
        const std::string_view plain = text_.substr(begin, at_ - 3 - begin);
        if (has_control(plain)) return fail("it has a control character");
        to += plain;
        return Done{};
    }

    // Up to the next <.
    Result<Done> read_text(std::string& to) {
        while (at_ < text_.size() && text_[at_] != '<') {
            const std::size_t end = std::min(text_.find_first_of("<&", at_), text_.size());
            const std::string_view plain = text_.substr(at_, end - at_);
            if (has_control(plain)) return fail("it has a control character");
            to += plain;
            at_ = end;
            if (next_is("&")) TRY(read_entity(to));
        }
        if (at_ == text_.size()) return fail("it ends too early");
        return Done{};
    }

    Result<Done> read_entity(std::string& to) {
        constexpr std::array<std::pair<std::string_view, char>, 5> kNamed = {
            {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}}};
        for (const auto& [name, character] : kNamed) {
            if (!next_is(name)) continue;
            to += character;
            at_ += name.size();
            return Done{};
        }
        if (!next_is("&#")) return fail("an entity is unknown");
        const bool hexadecimal = next_is("&#x");
        std::size_t i = at_ + (hexadecimal ? 3 : 2);
        std::uint32_t value = 0;
        const std::size_t begin = i;
        for (; i < text_.size() && text_[i] != ';' && i - begin < 8; ++i) {
            const int digit = digit_of_entity(text_[i], hexadecimal);
            if (digit < 0) return fail("an entity is damaged");
            value = value * (hexadecimal ? 16 : 10) + static_cast<std::uint32_t>(digit);
        }
        if (i == begin || i >= text_.size() || text_[i] != ';' || !is_xml_character(value)) {
            return fail("an entity is damaged");
        }
        append_utf8(to, value);
        at_ = i + 1;
        return Done{};
    }

    std::string_view text_;
    const XmlLimits& limits_;
    std::size_t at_ = 0;
    std::size_t elements_ = 0;
};

}  // namespace

const Element* Element::child(std::string_view child_name) const {
    const auto found = std::find_if(children.begin(), children.end(),
                                    [&](const Element& e) { return e.name == child_name; });
    return found == children.end() ? nullptr : &*found;
}

std::string_view Element::text_of(std::string_view child_name) const {
    const Element* found = child(child_name);
    return found == nullptr ? std::string_view() : found->text;
}

Result<Element> read_xml(std::string_view text, const XmlLimits& limits) {
    return XmlReader(text, limits).read();
}

std::string escape_xml(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        switch (c) {
            case '&':
                escaped += "&amp;";
                break;
            case '<':
                escaped += "&lt;";
                break;
            case '>':
                escaped += "&gt;";
                break;
            case '"':
                escaped += "&quot;";
                break;
            case '\r':  // would be read back as a line break
                escaped += "&#13;";
                break;
            default:
                escaped += c;
        }
    }
    return escaped;
}

}  // namespace baton::s3
