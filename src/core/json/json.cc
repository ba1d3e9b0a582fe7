#include "core/json/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/overload.h"
#include "base/text.h"

namespace baton::json {

namespace {

constexpr std::size_t kFieldsMax = 10'000;  // of one object; each is compared with all others

class Parser {
public:
    Parser(std::string_view text, const Limits& limits) : text_(text), limits_(limits) {}

    Result<Value> document() {
        TRY_ASSIGN(value, any());
        skip_space();
        if (at_ != text_.size()) return damaged("nothing may follow");
        return value;
    }

private:
    [[nodiscard]] Error damaged(const std::string& why) const {
        return Error{.code = limits_.damaged,
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
        Value holder;
        std::string key;  // of the field that is being read, in an object
    };

    // Without recursion: how deep a text may be is for the limit to say, not for the stack.
    Result<Value> any() {
        std::vector<Open> open;
        for (;;) {
            skip_space();
            if (peek() == '{' || peek() == '[') {
                if (open.size() >= limits_.depth) return damaged("it is nested too deep");
                const bool object = peek() == '{';
                at_ += 1;
                open.push_back({.holder = object ? Value{Object()} : Value{Array()}});
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
                Value value = std::move(open.back().holder);
                open.pop_back();
                if (open.empty()) return value;
                put(open.back(), std::move(value));
                TRY_ASSIGN(next, closes(open.back()));
                closed = next;
            }
        }
    }

    static void put(Open& open, Value value) {
        if (auto* fields = std::get_if<Object>(&open.holder.value)) {
            fields->push_back({.key = std::move(open.key), .value = std::move(value)});
        } else {
            std::get<Array>(open.holder.value).push_back(std::move(value));
        }
    }

    // After a value: whether it was the last one. If not, the next one follows.
    Result<bool> closes(Open& open) {
        const bool object = std::holds_alternative<Object>(open.holder.value);
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
        const auto& fields = std::get<Object>(open.holder.value);
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

    Result<Value> scalar() {
        if (peek() == '"') {
            TRY_ASSIGN(text, string());
            return Value{std::move(text)};
        }
        if (take("null")) return Value{};
        if (take("true")) return Value{true};
        if (take("false")) return Value{false};
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

    Result<Done> unicode(std::string& to) {
        constexpr std::uint32_t kHigh = 0xD800;
        constexpr std::uint32_t kLow = 0xDC00;
        constexpr std::uint32_t kEnd = 0xE000;
        TRY_ASSIGN(code, four_digits());
        if (code >= kLow && code < kEnd) return damaged("half of a pair of escapes");
        if (code >= kHigh && code < kLow) {
            if (!take("\\u")) return damaged("half of a pair of escapes");
            TRY_ASSIGN(low, four_digits());
            if (low < kLow || low >= kEnd) return damaged("half of a pair of escapes");
            code = 0x10000U + ((code - kHigh) << 10U) + (low - kLow);
        }
        append_utf8(to, code);
        return Done{};
    }

    Result<std::uint32_t> four_digits() {
        constexpr std::size_t kDigits = 4;
        const std::string_view digits = text_.substr(std::min(at_, text_.size()), kDigits);
        std::uint32_t code = 0;
        const auto [end, problem] =
            std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
        const bool whole = digits.size() == kDigits && problem == std::errc() &&
                           end == digits.data() + digits.size();
        if (!whole) return damaged("an escape without four digits");
        at_ += kDigits;
        return code;
    }

    static void append_utf8(std::string& to, std::uint32_t code) {
        const auto byte = [&](std::uint32_t bits) { to += static_cast<char>(bits); };
        const auto tail = [&](unsigned shift) { byte(0x80U | ((code >> shift) & 0x3FU)); };
        if (code < 0x80) {
            byte(code);
        } else if (code < 0x800) {
            byte(0xC0U | (code >> 6U));
            tail(0);
        } else if (code < 0x10000) {
            byte(0xE0U | (code >> 12U));
            tail(6);
            tail(0);
        } else {
            byte(0xF0U | (code >> 18U));
            tail(12);
            tail(6);
            tail(0);
        }
    }

    Result<Value> number() {
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
            return Value{value};
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
    const Limits& limits_;
    std::size_t at_ = 0;
};

// Without recursion, as in reading: a tree may be deep.
class Writer {
public:
    explicit Writer(const Value& value) { begin(value); }

    std::string text() {
        while (!open_.empty()) {
            Open& open = open_.back();
            const bool object = open.fields != nullptr;
            const std::size_t size = object ? open.fields->size() : open.items->size();
            if (open.next == size) {
                text_ += object ? '}' : ']';
                open_.pop_back();
                continue;
            }
            if (open.next > 0) text_ += ',';
            const std::size_t next = open.next++;
            if (object) {
                const Field& field = (*open.fields)[next];
                append_json_string(text_, field.key);
                text_ += ':';
                begin(field.value);
            } else {
                begin((*open.items)[next]);
            }
        }
        return std::move(text_);
    }

private:
    struct Open {
        const Array* items = nullptr;
        const Object* fields = nullptr;
        std::size_t next = 0;
    };

    void begin(const Value& value) {
        std::visit(Overload{
                       [&](std::monostate) { text_ += "null"; },
                       [&](bool flag) { text_ += flag ? "true" : "false"; },
                       [&](std::int64_t number) { text_ += std::to_string(number); },
                       [&](std::uint64_t number) { text_ += std::to_string(number); },
                       [&](double number) { append_number(text_, number); },
                       [&](const std::string& text) { append_json_string(text_, text); },
                       [&](const Array& items) {
                           text_ += '[';
                           open_.push_back({.items = &items});
                       },
                       [&](const Object& fields) {
                           text_ += '{';
                           open_.push_back({.fields = &fields});
                       },
                   },
                   value.value);
    }

    std::vector<Open> open_;
    std::string text_;
};

}  // namespace

std::string to_text(const Value& value) {
    return Writer(value).text();
}

const Value* find(const Value& object, std::string_view key) {
    const auto* fields = std::get_if<Object>(&object.value);
    if (fields == nullptr) return nullptr;
    const auto found = std::find_if(fields->begin(), fields->end(),
                                    [&](const Field& field) { return field.key == key; });
    return found == fields->end() ? nullptr : &found->value;
}

Value* find(Value& object, std::string_view key) {
    return const_cast<Value*>(find(std::as_const(object), key));
}

Result<Value> parse(std::string_view text, const Limits& limits) {
    if (text.size() > limits.bytes) {
        return Error{.code = limits.damaged,
                     .message = "damaged JSON: it has " + std::to_string(text.size()) +
                                " bytes, at most " + std::to_string(limits.bytes) + " are read"};
    }
    return Parser(text, limits).document();
}

void append_number(std::string& to, double value) {
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

}  // namespace baton::json
