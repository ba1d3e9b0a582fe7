#include "core/descriptors/descriptors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/overload.h"
#include "base/text.h"

namespace baton::descriptors {

namespace {

constexpr std::string_view kMask = "***";
constexpr std::size_t kExcerptMax = 200;              // bytes of a value in a message
constexpr double kWholeDoubleMax = 9007199254740992;  // 2^53: above, a double skips whole numbers
constexpr std::array kSecretWords = {"PASSWORD", "SECRET", "TOKEN", "CREDENTIAL"};

std::vector<std::string> strings(std::span<const std::string_view> words) {
    return {words.begin(), words.end()};
}

const Option* option_of(const Descriptor& descriptor, std::string_view key) {
    const auto found =
        std::find_if(descriptor.options.begin(), descriptor.options.end(),
                     [&](const Option& o) { return equal_ignoring_case(o.key, key); });
    return found == descriptor.options.end() ? nullptr : &*found;
}

// What to do about an unknown word: the nearest known one, else all of them.
std::string hint_for(std::string_view word, std::span<const std::string> known) {
    std::string near = did_you_mean(word, known);
    if (!near.empty()) return near;
    return known.empty() ? std::string() : "known: " + join(known, ", ");
}

Error unknown_option(const Descriptor& descriptor, const GivenOption& given) {
    std::vector<std::string> keys;
    for (const Option& option : descriptor.options) keys.emplace_back(option.key);
    return {
        .code = ErrorCode::invalid_configuration,
        .message = in_quotes(descriptor.name) + " has no option " + in_quotes(to_upper(given.key)),
        .at = given.at,
        .hint = hint_for(given.key, keys)};
}

// ---- one value --------------------------------------------------------------------------------

std::string what_fits(const Option& option) {
    switch (option.type) {
        case OptionType::text:
            return "text in single quotes";
        case OptionType::real:
            return "a number";
        case OptionType::boolean:
            return "true or false";
        case OptionType::choice:
            return "one of " + join(strings(option.choices), ", ");
        case OptionType::delimiter:
            return R"(one or more characters, with \n, \t, \r, \0 and \\ for special ones)";
        case OptionType::integer:
            break;
    }
    const std::string least = std::to_string(option.least);
    const std::string most = std::to_string(option.most);
    if (option.most != INT64_MAX) return "a whole number from " + least + " to " + most;
    if (option.least != INT64_MIN) return "a whole number of at least " + least;
    return "a whole number";
}

// At most so many bytes of a text that someone else wrote, and no half of a character.
std::string excerpt(const std::string& text) {
    if (text.size() <= kExcerptMax) return text;
    std::size_t end = kExcerptMax;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) end -= 1;
    return text.substr(0, end) + "...";
}

std::string shown(const ConfigValue& value) {
    return std::visit(Overload{
                          [](bool b) { return std::string(b ? "true" : "false"); },
                          [](std::int64_t i) { return std::to_string(i); },
                          [](double d) {
                              std::array<char, 32> buffer{};
                              const auto end =
                                  std::to_chars(buffer.data(), buffer.data() + buffer.size(), d);
                              return std::string(buffer.data(), end.ptr);
                          },
                          [](const std::string& s) { return "'" + excerpt(s) + "'"; },
                      },
                      value);
}

template <class Number>
std::optional<Number> number_of(const std::string& text) {
    Number number{};
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number);
    if (error != std::errc() || end != last) return std::nullopt;
    return number;
}

std::optional<std::int64_t> integer_of(const ConfigValue& value) {
    if (const auto* i = std::get_if<std::int64_t>(&value)) return *i;
    if (const auto* s = std::get_if<std::string>(&value)) return number_of<std::int64_t>(*s);
    const auto* d = std::get_if<double>(&value);
    if (d == nullptr || std::abs(*d) > kWholeDoubleMax || std::trunc(*d) != *d) return std::nullopt;
    return static_cast<std::int64_t>(*d);
}

std::optional<double> real_of(const ConfigValue& value) {
    std::optional<double> real;
    if (const auto* d = std::get_if<double>(&value)) real = *d;
    if (const auto* i = std::get_if<std::int64_t>(&value)) real = static_cast<double>(*i);
    if (const auto* s = std::get_if<std::string>(&value)) real = number_of<double>(*s);
    return real && std::isfinite(*real) ? real : std::nullopt;
}

std::optional<bool> boolean_of(const ConfigValue& value) {
    if (const auto* b = std::get_if<bool>(&value)) return *b;
    const auto* s = std::get_if<std::string>(&value);
    if (s == nullptr) return std::nullopt;
    if (equal_ignoring_case(*s, "true")) return true;
    if (equal_ignoring_case(*s, "false")) return false;
    return std::nullopt;
}

std::optional<char> escaped(char letter) {
    switch (letter) {
        case 'n':
            return '\n';
        case 't':
            return '\t';
        case 'r':
            return '\r';
        case '0':
            return '\0';
        case '\\':
            return '\\';
        default:
            return std::nullopt;
    }
}

std::optional<std::string> delimiter_of(const ConfigValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr || text->empty()) return std::nullopt;
    if (*text == "\\") return *text;
    std::string decoded;
    for (std::size_t i = 0; i < text->size(); ++i) {
        if ((*text)[i] != '\\') {
            decoded += (*text)[i];
            continue;
        }
        i += 1;
        const auto letter = i < text->size() ? escaped((*text)[i]) : std::nullopt;
        if (!letter) return std::nullopt;
        decoded += *letter;
    }
    const bool has_backslash = decoded.find('\\') != std::string::npos;
    if (has_backslash && decoded.size() > 1) return std::nullopt;
    return decoded;
}

std::optional<std::string> text_of(const Option& option, const ConfigValue& value) {
    if (const auto* text = std::get_if<std::string>(&value)) {
        if (option.required && text->empty()) return std::nullopt;
        return *text;
    }
    // 0123 has lost its zero by now: no harm to a name, but a password would be another one.
    const auto* i = std::get_if<std::int64_t>(&value);
    if (i == nullptr || option.secret) return std::nullopt;
    return std::to_string(*i);
}

std::optional<std::string> choice_of(const Option& option, const ConfigValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) return std::nullopt;
    for (const std::string_view choice : option.choices) {
        if (equal_ignoring_case(choice, *text)) return std::string(choice);
    }
    return std::nullopt;
}

template <class T>
std::optional<ConfigValue> as_value(std::optional<T> value) {
    return value ? std::optional<ConfigValue>(*std::move(value)) : std::nullopt;
}

// The value as this option stores it, if it fits.
std::optional<ConfigValue> converted(const Option& option, const ConfigValue& value) {
    switch (option.type) {
        case OptionType::text:
            return as_value(text_of(option, value));
        case OptionType::real:
            return as_value(real_of(value));
        case OptionType::boolean:
            return as_value(boolean_of(value));
        case OptionType::choice:
            return as_value(choice_of(option, value));
        case OptionType::delimiter:
            return as_value(delimiter_of(value));
        case OptionType::integer:
            break;
    }
    const auto integer = integer_of(value);
    if (!integer || *integer < option.least || *integer > option.most) return std::nullopt;
    return *integer;
}

std::string hint_for_value(const Option& option, const ConfigValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    if (option.type != OptionType::choice || text == nullptr) return {};
    return did_you_mean(*text, strings(option.choices));
}

Error unfit_value(const Option& option, const GivenOption& given) {
    const std::string value = option.secret ? "the value given" : shown(given.value);
    return {.code = ErrorCode::invalid_configuration,
            .message = "option " + in_quotes(option.key) + " cannot be " + value + ": it must be " +
                       what_fits(option),
            .at = given.at,
            .hint = option.secret ? std::string() : hint_for_value(option, given.value)};
}

// ---- formats ----------------------------------------------------------------------------------

struct Move {
    std::string_view from;  // key of the source or sink
    std::string_view to;    // key of its format
};

constexpr std::array kSinkMoves = {Move{"OUTPUT_FORMAT", "TYPE"}, Move{"INPUT_FORMAT", "TYPE"}};
constexpr std::array kSourceMoves = {Move{"TUPLE_DELIMITER", "TUPLE_DELIMITER"}};

struct Given {
    std::vector<GivenOption> options;
    std::vector<GivenOption> format;
};

// Whether both spell the same value; delimiters may be escaped or not, names are in any case.
bool agree(const ConfigValue& a, const ConfigValue& b) {
    const auto* left = std::get_if<std::string>(&a);
    const auto* right = std::get_if<std::string>(&b);
    if (left == nullptr || right == nullptr) return a == b;
    const auto left_decoded = delimiter_of(a);
    return equal_ignoring_case(*left, *right) || (left_decoded && left_decoded == delimiter_of(b));
}

// Moves an option that belongs to the format into it.
Result<Done> move_option(const GivenOption& option, const Move& move, Given& given) {
    const auto there = std::find_if(given.format.begin(), given.format.end(), [&](const auto& o) {
        return equal_ignoring_case(o.key, move.to);
    });
    if (there == given.format.end()) {
        given.format.push_back(
            {.key = std::string(move.to), .value = option.value, .at = option.at});
        return Done{};
    }
    if (agree(there->value, option.value)) return Done{};
    return Error{.code = ErrorCode::invalid_configuration,
                 .message = "option " + in_quotes(move.from) + " says " + shown(option.value) +
                            ", but the format's option " + in_quotes(move.to) + " says " +
                            shown(there->value),
                 .at = option.at,
                 .hint = "give one of the two"};
}

Result<Given> sorted_out(const Descriptor& type, std::span<const Move> moves,
                         std::span<const GivenOption> options,
                         std::span<const GivenOption> format) {
    Given given{.options = {}, .format = {format.begin(), format.end()}};
    std::map<std::string_view, bool> moved;
    for (const GivenOption& option : options) {
        const auto move = std::find_if(moves.begin(), moves.end(), [&](const Move& m) {
            return equal_ignoring_case(m.from, option.key) && option_of(type, m.from) != nullptr;
        });
        // An option given twice stays, so that complete() says so.
        if (move == moves.end() || std::exchange(moved[move->from], true)) {
            given.options.push_back(option);
            if (move != moves.end()) given.options.push_back(option);
            continue;
        }
        TRY(move_option(option, *move, given));
    }
    return given;
}

Result<const Descriptor*> format_of(const Descriptor& type, DescriptorKind kind,
                                    std::span<const GivenOption> format) {
    const auto named = std::find_if(format.begin(), format.end(), [](const GivenOption& o) {
        return equal_ignoring_case(o.key, "TYPE");
    });
    if (named == format.end()) return descriptor_of(kind, type.formats.front());
    const auto* name = std::get_if<std::string>(&named->value);
    auto found = descriptor_of(kind, name != nullptr ? *name : shown(named->value));
    if (!found) {
        Error error = found.error();
        error.at = named->at;
        return error;
    }
    const bool fits =
        std::find(type.formats.begin(), type.formats.end(), (*found)->name) != type.formats.end();
    if (fits) return found;
    return Error{
        .code = ErrorCode::invalid_configuration,
        .message = in_quotes(type.name) + " cannot have the format " + in_quotes((*found)->name),
        .at = named->at,
        .hint = "it can have " + join(strings(type.formats), ", ")};
}

struct Sides {
    DescriptorKind connector;
    DescriptorKind format;
    std::span<const Move> moves;
};

Result<Connector> complete_connector(const Sides& sides, std::string_view type,
                                     std::span<const GivenOption> options,
                                     std::span<const GivenOption> format) {
    TRY_ASSIGN(descriptor, descriptor_of(sides.connector, type));
    TRY_ASSIGN(given, sorted_out(*descriptor, sides.moves, options, format));
    TRY_ASSIGN(format_descriptor, format_of(*descriptor, sides.format, given.format));
    TRY_ASSIGN(own, complete(*descriptor, given.options));
    TRY_ASSIGN(formats, complete(*format_descriptor, given.format));
    return Connector{.type = std::string(descriptor->name),
                     .options = std::move(own),
                     .format = std::move(formats)};
}

struct KindWords {
    ErrorCode unknown;
    std::string_view noun;
};

KindWords words_of(DescriptorKind kind) {
    switch (kind) {
        case DescriptorKind::source:
            return {ErrorCode::unknown_source_type, "source type"};
        case DescriptorKind::sink:
            return {ErrorCode::unknown_sink_type, "sink type"};
        case DescriptorKind::input_format:
            return {ErrorCode::unknown_source_format, "input format"};
        case DescriptorKind::output_format:
            return {ErrorCode::unknown_sink_format, "output format"};
    }
    CHECK(false && "a kind that is not in the list");
}

Result<Done> check_missing(const Descriptor& descriptor, const Config& config) {
    std::vector<std::string> missing;
    for (const Option& option : descriptor.options) {
        const std::string key(option.key);
        if (option.required && !config.contains(key)) missing.push_back(in_quotes(key));
    }
    if (missing.empty()) return Done{};
    return Error{.code = ErrorCode::missing_configuration,
                 .message = in_quotes(descriptor.name) + " needs " +
                            (missing.size() == 1 ? "the option " : "the options ") +
                            join(missing, ", ")};
}

}  // namespace

Result<const Descriptor*> descriptor_of(DescriptorKind kind, std::string_view name) {
    std::vector<std::string> names;
    for (const Descriptor& descriptor : descriptors(kind)) {
        if (equal_ignoring_case(descriptor.name, name)) return &descriptor;
        names.emplace_back(descriptor.name);
    }
    const auto [code, noun] = words_of(kind);
    return Error{.code = code,
                 .message = "unknown " + std::string(noun) + " " + in_quotes(name),
                 .hint = hint_for(name, names)};
}

bool opens_files(DescriptorKind kind, std::string_view type) {
    const auto descriptor = descriptor_of(kind, type);
    return descriptor && (*descriptor)->opens_files;
}

Result<Config> complete(const Descriptor& descriptor, std::span<const GivenOption> given) {
    Config config;
    std::map<std::string_view, std::optional<Position>> positions;
    for (const GivenOption& one : given) {
        const Option* const option = option_of(descriptor, one.key);
        if (option == nullptr) return unknown_option(descriptor, one);
        if (!positions.emplace(option->key, one.at).second) {
            return Error{.code = ErrorCode::invalid_configuration,
                         .message = "option " + in_quotes(option->key) + " is given twice",
                         .at = one.at};
        }
        const auto* text = std::get_if<std::string>(&one.value);
        if (text != nullptr && text->find('\0') != std::string::npos) {
            // Systems read paths and hosts to the first one.
            return Error{.code = ErrorCode::invalid_configuration,
                         .message = "option " + in_quotes(option->key) + " contains a byte 0",
                         .at = one.at};
        }
        auto value = converted(*option, one.value);
        if (!value) return unfit_value(*option, one);
        config.emplace(option->key, *std::move(value));
    }
    TRY(check_missing(descriptor, config));
    for (const Option& option : descriptor.options) {
        if (option.default_value) config.emplace(option.key, *option.default_value);
    }
    if (descriptor.check == nullptr) return config;
    auto misfit = descriptor.check(config);
    if (!misfit) return config;
    const auto position = positions.find(misfit->key);
    return Error{.code = ErrorCode::invalid_configuration,
                 .message = "option " + in_quotes(misfit->key) + " " + excerpt(misfit->message),
                 .at = position == positions.end() ? std::nullopt : position->second,
                 .hint = misfit->hint};
}

Result<Connector> complete_source(std::string_view type, std::span<const GivenOption> options,
                                  std::span<const GivenOption> format) {
    return complete_connector({.connector = DescriptorKind::source,
                               .format = DescriptorKind::input_format,
                               .moves = kSourceMoves},
                              type, options, format);
}

Result<Connector> complete_sink(std::string_view type, std::span<const GivenOption> options,
                                std::span<const GivenOption> format) {
    return complete_connector({.connector = DescriptorKind::sink,
                               .format = DescriptorKind::output_format,
                               .moves = kSinkMoves},
                              type, options, format);
}

bool is_secret(const Descriptor* descriptor, std::string_view key) {
    const Option* const option = descriptor == nullptr ? nullptr : option_of(*descriptor, key);
    if (option != nullptr) return option->secret;
    const std::string name = to_upper(key);
    return std::any_of(kSecretWords.begin(), kSecretWords.end(),
                       [&](const char* word) { return name.find(word) != std::string::npos; });
}

Config masked(const Descriptor& descriptor, Config config) {
    for (auto& [key, value] : config) {
        if (is_secret(&descriptor, key)) value = std::string(kMask);
    }
    return config;
}

}  // namespace baton::descriptors
