#include "core/plan_format/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace baton::plan_format {

namespace {

constexpr std::size_t kFieldsMax = 10'000;  // of one object; each is compared with all others

class Parser {
public:
    Parser(std::string_view text, std::size_t depth) : text_(text), depth_max_(depth) {}

    Result<Json> document() {
        TRY_ASSIGN(value, any());
        skip_space();
        if (at_ != text_.size()) return damaged("nothing may follow");
        return value;
    }

private:
    [[nodiscard]] Error damaged(const std::string& why) const {
        return Error{.code = ErrorCode::catalog_corrupt,
                     .message = "damaged JSON at byte " + std::to_string(at_) + ": " + why};
    }

    [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    void skip_space() {
        while (peek() == ' ' || peek() == '\n' || peek() == '\r' || peek() == '\t') at_ += 1;
    }

    bool take(std::string_view word) {
        if (text_.substr(at_, word.size()) != word) return false;
        at_ += word.size();
        return true;
    }

    // A value that holds others, not closed yet.
    struct Open {
        Json holder;
        std::string key;  // of the field that is being read, in an object
    };

    // Without recursion: how deep a text may be is for the limit to say, not for the stack.
    Result<Json> any() {
        std::vector<Open> open;
        for (;;) {
            skip_space();
            if (peek() == '{' || peek() == '[') {
                if (open.size() >= depth_max_) return damaged("it is nested too deep");
                const bool object = peek() == '{';
                at_ += 1;
                open.push_back({.holder = object ? Json{Json::Object()} : Json{Json::Array()}});
                skip_space();
                if (!take(object ? "}" : "]")) {
                    if (object) TRY(begin_field(open.back()));
                    continue;
                }
            } else {
                TRY_ASSIGN(value, scalar());
                if (open.empty()) return value;
                put(open.back(), std::move(value));
                TRY_ASSIGN(closed, closes(open.back()));
                if (!closed) continue;
            }
            // The last one is closed, and may close those around it.
            for (bool closed = true; closed;) {
                Json value = std::move(open.back().holder);
                open.pop_back();
                if (open.empty()) return value;
                put(open.back(), std::move(value));
                TRY_ASSIGN(next, closes(open.back()));
                closed = next;
            }
        }
    }

    static void put(Open& open, Json value) {
        if (auto* fields = std::get_if<Json::Object>(&open.holder.value)) {
            fields->push_back({.key = std::move(open.key), .value = std::move(value)});
        } else {
            std::get<Json::Array>(open.holder.value).push_back(std::move(value));
        }
    }

    // After a value: whether it was the last one. If not, the next one follows.
    Result<bool> closes(Open& open) {
        const bool object = std::holds_alternative<Json::Object>(open.holder.value);
        skip_space();
        if (take(object ? "}" : "]")) return true;
        if (!take(",")) {
            return damaged(object ? "a comma or a closing brace is expected"
                                  : "a comma or a closing bracket is expected");
        }
        if (object) TRY(begin_field(open));
        return false;
    }

    Result<Done> begin_field(Open& open) {
        const auto& fields = std::get<Json::Object>(open.holder.value);
        skip_space();
        if (peek() != '"') return damaged("a key is expected");
        TRY_ASSIGN(key, string());
        if (fields.size() >= kFieldsMax) return damaged("an object has too many fields");
        const bool twice = std::any_of(fields.begin(), fields.end(),
                                       [&](const auto& field) { return field.key == key; });
        if (twice) return damaged("a key stands twice");
        skip_space();
        if (!take(":")) return damaged("a colon is expected");
        open.key = std::move(key);
        return Done{};
    }

    Result<Json> scalar() {
        if (peek() == '"') {
            TRY_ASSIGN(text, string());
            return Json{std::move(text)};
        }
        if (take("null")) return Json{};
        if (take("true")) return Json{true};
        if (take("false")) return Json{false};
        return number();
    }

    Result<std::string> string() {
        at_ += 1;
        std::string result;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (static_cast<unsigned char>(c) < 0x20) return damaged("a control character");
            at_ += 1;
            if (c == '"') return result;
            if (c != '\\') {
                result += c;
                continue;
            }
            TRY(escape(result));
        }
        return damaged("a text does not end");
    }

    Result<Done> escape(std::string& to) {
        constexpr std::string_view kLetters = "\"\\/bfnrt";
        constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
        const char letter = peek();
        at_ += 1;
        if (letter == 'u') return unicode(to);
        const std::size_t found = kLetters.find(letter);
        if (letter == '\0' || found == std::string_view::npos) return damaged("an unknown escape");
        to += kMeanings[found];
        return Done{};
    }

    // Only what the writer uses it for: control characters.
    Result<Done> unicode(std::string& to) {
        constexpr std::size_t kDigits = 4;
        const std::string_view digits = text_.substr(std::min(at_, text_.size()), kDigits);
        std::uint16_t code = 0;
        const auto [end, problem] =
            std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
        const bool whole = digits.size() == kDigits && problem == std::errc() &&
                           end == digits.data() + digits.size();
        if (!whole || code >= 0x80) return damaged("an escape that is not of a control character");
        at_ += kDigits;
        to += static_cast<char>(code);
        return Done{};
    }

    Result<Json> number() {
        const std::string_view rest = text_.substr(std::min(at_, text_.size()));
        const std::size_t size = std::min(rest.find_first_not_of("0123456789+-.eE"), rest.size());
        const std::string_view digits = rest.substr(0, size);
        const char* const begin = digits.data();
        const char* const end = begin + digits.size();
        const auto whole = [&](const std::from_chars_result& result) {
            return !digits.empty() && result.ec == std::errc() && result.ptr == end;
        };
        const auto done = [&](auto value) {
            at_ += size;
            return Json{value};
        };
        if (digits.find_first_of(".eE") != std::string_view::npos) {
            double value = 0;
            if (whole(std::from_chars(begin, end, value))) return done(value);
        } else if (digits.starts_with('-')) {
            std::int64_t value = 0;
            if (whole(std::from_chars(begin, end, value))) return done(value);
        } else {
            std::uint64_t value = 0;
            if (whole(std::from_chars(begin, end, value))) return done(value);
        }
        return damaged("a value is expected");
    }

    std::string_view text_;
    std::size_t depth_max_;
    std::size_t at_ = 0;
};

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
    if (text.size() > limits.bytes) {
        return Error{.code = ErrorCode::catalog_corrupt,
                     .message = "damaged JSON: it has " + std::to_string(text.size()) +
                                " bytes, at most " + std::to_string(limits.bytes) + " are read"};
    }
    return Parser(text, limits.depth).document();
}

void append_json_number(std::string& to, double value) {
    if (std::isnan(value)) {
        to += "\"NaN\"";
    } else if (std::isinf(value)) {
        to += value < 0 ? "\"-Infinity\"" : "\"Infinity\"";
    } else {
        std::array<char, 40> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
        to += text;
        // Without a point or an exponent it would be read back as an integer.
        if (text.find_first_of(".e") == std::string_view::npos) to += ".0";
    }
}

}  // namespace baton::plan_format
