#include "core/descriptors/generator.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "model/data_type.h"

namespace baton::descriptors {

namespace {

constexpr std::string_view kSchemaKey = "GENERATOR_SCHEMA";
constexpr std::string_view kRateKey = "GENERATOR_RATE_CONFIG";
constexpr std::string_view kRateTypeKey = "GENERATOR_RATE_TYPE";
constexpr std::string_view kBlanks = " \t\r";
constexpr std::uint32_t kTextBytesMax = 65'536;
constexpr std::uint64_t kRowBytesMax = 1'048'576;  // of all texts of a row
constexpr double kRateMax = 1e12;                  // beyond it, a year of rows cannot be counted

using Words = std::vector<std::string_view>;

// The words of each entry; entries without words are left out.
std::vector<Words> entries_of(std::string_view text) {
    std::vector<Words> entries(1);
    std::size_t start = std::string_view::npos;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const bool separates = i == text.size() || text[i] == ',' || text[i] == '\n';
        const bool in_word = !separates && kBlanks.find(text[i]) == std::string_view::npos;
        if (in_word && start == std::string_view::npos) start = i;
        if (!in_word && start != std::string_view::npos) {
            entries.back().push_back(text.substr(start, i - start));
            start = std::string_view::npos;
        }
        if (separates && !entries.back().empty()) entries.emplace_back();
    }
    entries.pop_back();
    return entries;
}

std::string text_of(const Words& words) {
    return join(std::vector<std::string>(words.begin(), words.end()), " ");
}

template <class Number>
std::optional<Number> number_of(std::string_view word) {
    Number number{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    return number;
}

std::optional<double> finite_of(std::string_view word) {
    const auto number = number_of<double>(word);
    return number && std::isfinite(*number) ? number : std::nullopt;
}

// Whether the word is a value of the type; false for types that are not numbers.
bool fits(std::string_view word, DataType type) {
    switch (type) {
        case DataType::int8:
            return number_of<std::int8_t>(word).has_value();
        case DataType::int16:
            return number_of<std::int16_t>(word).has_value();
        case DataType::int32:
            return number_of<std::int32_t>(word).has_value();
        case DataType::int64:
            return number_of<std::int64_t>(word).has_value();
        case DataType::uint8:
            return number_of<std::uint8_t>(word).has_value();
        case DataType::uint16:
            return number_of<std::uint16_t>(word).has_value();
        case DataType::uint32:
            return number_of<std::uint32_t>(word).has_value();
        case DataType::uint64:
            return number_of<std::uint64_t>(word).has_value();
        case DataType::float32:
        case DataType::float64:
            return finite_of(word).has_value();
        case DataType::boolean:
        case DataType::character:
        case DataType::varsized:
            return false;
    }
    CHECK(false && "a type that is not in the list");
}

std::optional<DataType> numeric_type_of(std::string_view word) {
    const auto type = data_type_of(word);
    return type && fits("0", *type) ? type : std::nullopt;
}

Misfit bad_field(const Words& field, const std::string& why, const std::string& hint) {
    return {.key = kSchemaKey,
            .message = "has a bad field " + in_quotes(text_of(field)) + ": " + why,
            .hint = hint};
}

std::optional<Misfit> sequence_misfit(const Words& field) {
    const std::size_t words = 5;
    const std::string form = "write SEQUENCE type from to step";
    if (field.size() != words) return bad_field(field, "it has the wrong number of words", form);
    const auto type = numeric_type_of(field[1]);
    if (!type) return bad_field(field, in_quotes(field[1]) + " is not a numeric type", form);
    for (std::size_t i = 2; i < words; ++i) {
        if (fits(field[i], *type)) continue;
        return bad_field(field, in_quotes(field[i]) + " is not a " + std::string(to_string(*type)),
                         form);
    }
    return std::nullopt;
}

std::optional<Misfit> normal_misfit(const Words& field) {
    const std::size_t words = 4;
    const std::string form = "write NORMAL_DISTRIBUTION type mean deviation";
    if (field.size() != words) return bad_field(field, "it has the wrong number of words", form);
    if (!numeric_type_of(field[1])) {
        return bad_field(field, in_quotes(field[1]) + " is not a numeric type", form);
    }
    for (std::size_t i = 2; i < words; ++i) {
        if (!finite_of(field[i])) {
            return bad_field(field, in_quotes(field[i]) + " is not a number", form);
        }
    }
    if (*finite_of(field[3]) < 0) return bad_field(field, "the deviation is negative", form);
    return std::nullopt;
}

std::optional<Misfit> text_misfit(const Words& field) {
    const std::size_t words = 3;
    const std::string form = "write RANDOMSTR least most, two lengths";
    if (field.size() != words) return bad_field(field, "it has the wrong number of words", form);
    const auto least = number_of<std::uint32_t>(field[1]);
    const auto most = number_of<std::uint32_t>(field[2]);
    if (!least || !most) return bad_field(field, "a length is not a whole number", form);
    if (*least > *most) return bad_field(field, "the least length is above the most", form);
    if (*most > kTextBytesMax) {
        return bad_field(field, "a text would be too long",
                         "lengths go up to " + std::to_string(kTextBytesMax));
    }
    return std::nullopt;
}

std::optional<Misfit> schema_misfit(std::string_view text) {
    const std::vector<std::string> kinds = {"SEQUENCE", "NORMAL_DISTRIBUTION", "RANDOMSTR"};
    const std::vector<Words> fields = entries_of(text);
    if (fields.empty()) {
        return Misfit{.key = kSchemaKey,
                      .message = "has no fields",
                      .hint = "write one of " + join(kinds, ", ") + " for each column"};
    }
    std::uint64_t row_bytes = 0;
    for (const Words& field : fields) {
        std::optional<Misfit> misfit;
        if (equal_ignoring_case(field[0], kinds[0])) {
            misfit = sequence_misfit(field);
        } else if (equal_ignoring_case(field[0], kinds[1])) {
            misfit = normal_misfit(field);
        } else if (equal_ignoring_case(field[0], kinds[2])) {
            misfit = text_misfit(field);
            if (!misfit) row_bytes += *number_of<std::uint32_t>(field[2]);
        } else {
            const std::string near = did_you_mean(field[0], kinds);
            misfit = bad_field(field, "unknown kind " + in_quotes(field[0]),
                               near.empty() ? "known kinds: " + join(kinds, ", ") : near);
        }
        if (misfit) return misfit;
    }
    if (row_bytes <= kRowBytesMax) return std::nullopt;
    return Misfit{
        .key = kSchemaKey,
        .message = "describes rows of up to " + std::to_string(row_bytes) + " bytes",
        .hint = "the texts of a row may have " + std::to_string(kRowBytesMax) + " bytes together"};
}

// The older spelling emitRate is the same word.
std::string parameter_name(std::string_view word) {
    return equal_ignoring_case(word, "emitRate") ? "EMIT_RATE" : to_upper(word);
}

std::optional<Misfit> rate_misfit(std::string_view text, std::string_view type) {
    const bool fixed = type == "FIXED";
    const std::string form = fixed ? "write emit_rate n, rows per second"
                                   : "write amplitude a, frequency f, two positive numbers";
    const auto refuse = [&](const std::string& why) {
        return Misfit{
            .key = kRateKey,
            .message = "does not describe a rate of type " + std::string(type) + ": " + why,
            .hint = form};
    };
    std::map<std::string, bool> given;  // by name: whether it was given
    if (fixed) {
        given = {{"EMIT_RATE", false}};
    } else {
        given = {{"AMPLITUDE", false}, {"FREQUENCY", false}};
    }
    for (const Words& entry : entries_of(text)) {
        const auto parameter = given.find(parameter_name(entry[0]));
        if (parameter == given.end()) return refuse("unknown word " + in_quotes(entry[0]));
        if (parameter->second) return refuse(in_quotes(entry[0]) + " is given twice");
        parameter->second = true;
        const auto value = entry.size() == 2 ? finite_of(entry[1]) : std::nullopt;
        if (!value || *value <= 0) {
            return refuse(in_quotes(text_of(entry)) + " is not a name and a positive number");
        }
        if (*value > kRateMax) return refuse(in_quotes(text_of(entry)) + " is above 1e12");
    }
    for (const auto& [name, is_given] : given) {
        if (!is_given) return refuse(in_quotes(name) + " is missing");
    }
    return std::nullopt;
}

// ---- what was found to be right
// ------------------------------------------------------------------

Value value_of(std::string_view word, DataType type) {
    if (is_float(type)) return *finite_of(word);
    if (is_signed(type)) return *number_of<std::int64_t>(word);
    return *number_of<std::uint64_t>(word);
}

GeneratedField field_of(const Words& words) {
    if (equal_ignoring_case(words[0], "RANDOMSTR")) {
        return GeneratedText{.least = *number_of<std::uint32_t>(words[1]),
                             .most = *number_of<std::uint32_t>(words[2])};
    }
    const DataType type = *numeric_type_of(words[1]);
    if (equal_ignoring_case(words[0], "SEQUENCE")) {
        return GeneratedSequence{.type = type,
                                 .from = value_of(words[2], type),
                                 .to = value_of(words[3], type),
                                 .step = value_of(words[4], type)};
    }
    return GeneratedNormal{
        .type = type, .mean = *finite_of(words[2]), .deviation = *finite_of(words[3])};
}

}  // namespace

std::optional<Misfit> generator_misfit(const Config& config) {
    const auto text = [&](std::string_view key) {
        return std::get<std::string>(config.at(std::string(key)));
    };
    if (auto misfit = schema_misfit(text(kSchemaKey))) return misfit;
    return rate_misfit(text(kRateKey), text(kRateTypeKey));
}

Result<GeneratorSpec> generator_of(const Config& config) {
    for (const std::string_view key : {kSchemaKey, kRateKey, kRateTypeKey}) {
        const auto found = config.find(std::string(key));
        if (found != config.end() && std::holds_alternative<std::string>(found->second)) continue;
        return Error{.code = ErrorCode::missing_configuration,
                     .message = "a generator needs the option " + in_quotes(key)};
    }
    if (const auto misfit = generator_misfit(config)) {
        return Error{.code = ErrorCode::invalid_configuration,
                     .message = "option " + in_quotes(misfit->key) + " " + misfit->message,
                     .hint = misfit->hint};
    }
    const auto text = [&](std::string_view key) -> std::string_view {
        return std::get<std::string>(config.find(std::string(key))->second);
    };
    GeneratorSpec spec;
    for (const Words& words : entries_of(text(kSchemaKey))) spec.fields.push_back(field_of(words));
    std::map<std::string, double> rate;
    for (const Words& entry : entries_of(text(kRateKey))) {
        rate[parameter_name(entry[0])] = *finite_of(entry[1]);
    }
    if (text(kRateTypeKey) == "FIXED") {
        spec.rate = FixedRate{.rows = rate["EMIT_RATE"]};
    } else {
        spec.rate = SinusRate{.amplitude = rate["AMPLITUDE"], .frequency = rate["FREQUENCY"]};
    }
    return spec;
}

}  // namespace baton::descriptors
