#include "engine/formats/json_object.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include <simdjson.h>

#include "base/text.h"

namespace baton::formats {

namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::size_t kNone = SIZE_MAX;
constexpr std::size_t kLearntMax = 256;     // fields of an object whose order is learnt
constexpr std::size_t kLearntNameMax = 48;  // compared past the end of a shorter name: within slack

// What a name of an object leads to.
struct Target {
    std::size_t cell = kNone;   // a column
    std::size_t level = kNone;  // or the fields of an object in it
};

struct Name {
    std::string name;
    Target target;
};

// The fields that are looked for in an object at one place.
struct Level {
    struct Learnt {
        std::string name;
        Target target;
        bool is_exact = true;
    };
    std::vector<Name> names;
    std::vector<Learnt> learnt;  // by position in the object
};

struct Found {
    Target target;
    bool is_exact = true;
};

std::string_view without_blanks_behind(std::string_view token) {
    return token.substr(0, token.find_last_not_of(" \t\r\n") + 1);
}

}  // namespace

struct JsonObjectReader::Walk {
    ondemand::parser parser;
    std::vector<Level> levels = {{}};  // the first is the object itself
    std::vector<std::string> columns;  // names, by cell
    std::span<char> text;
    std::span<Cell> cells;
    std::vector<bool> is_exact;  // whether the cell's name was found as it is written

    void add_column(const std::string& name, std::size_t cell);
    std::size_t level_below(std::size_t level, const std::string& name);
    static Found look_up(const Level& level, std::string_view key);
    Found target_of(std::size_t level, std::size_t position, ondemand::field& field);
    std::string read_object(ondemand::object& object, std::size_t level);
    std::string read_value(ondemand::value& value, const Found& found);
    std::string read_string(ondemand::value& value, Cell& cell);
    std::string read_scalar(ondemand::value& value, ondemand::json_type type, Cell& cell);
};

// ---- names ------------------------------------------------------------------------------------

void JsonObjectReader::Walk::add_column(const std::string& name, std::size_t cell) {
    levels[0].names.push_back({.name = name, .target = {.cell = cell}});
    std::size_t level = 0;
    std::size_t begin = 0;
    std::size_t slash = name.find('/');
    if (slash == std::string::npos) return;
    for (; slash != std::string::npos; slash = name.find('/', begin)) {
        level = level_below(level, name.substr(begin, slash - begin));
        begin = slash + 1;
    }
    levels[level].names.push_back({.name = name.substr(begin), .target = {.cell = cell}});
}

std::size_t JsonObjectReader::Walk::level_below(std::size_t level, const std::string& name) {
    std::vector<Name>& names = levels[level].names;
    const auto found = std::find_if(names.begin(), names.end(), [&](const Name& n) {
        return n.name == name && n.target.level != kNone;
    });
    if (found != names.end()) return found->target.level;
    names.push_back({.name = name, .target = {.level = levels.size()}});
    levels.emplace_back();
    return levels.size() - 1;
}

// A name may be a column and, in another object, the way to others: both are kept in one target.
Found JsonObjectReader::Walk::look_up(const Level& level, std::string_view key) {
    const auto collect = [&](auto&& same) {
        Target target;
        for (const Name& name : level.names) {
            if (!same(name.name)) continue;
            if (name.target.cell != kNone && target.cell == kNone) target.cell = name.target.cell;
            if (name.target.level != kNone && target.level == kNone) {
                target.level = name.target.level;
            }
        }
        return target;
    };
    const Target exact = collect([&](const std::string& name) { return name == key; });
    if (exact.cell != kNone || exact.level != kNone) return {.target = exact};
    return {
        .target = collect([&](const std::string& name) { return equal_ignoring_case(name, key); }),
        .is_exact = false};
}

Found JsonObjectReader::Walk::target_of(std::size_t level, std::size_t position,
                                        ondemand::field& field) {
    std::vector<Level::Learnt>& learnt = levels[level].learnt;
    const char* const raw = field.key().raw();
    if (position < learnt.size()) {
        const Level::Learnt& guess = learnt[position];
        const std::size_t size = guess.name.size();
        if (raw[size] == '"' && std::memcmp(raw, guess.name.data(), size) == 0) {
            return {.target = guess.target, .is_exact = guess.is_exact};
        }
    }
    std::string_view key;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return {};
    const Found found = look_up(levels[level], key);
    const bool is_plain = key.size() <= kLearntNameMax &&
                          key.find_first_of("\\\"") == std::string_view::npos &&
                          std::memcmp(raw, key.data(), key.size()) == 0 && raw[key.size()] == '"';
    if (is_plain && position <= learnt.size() && position < kLearntMax) {
        if (position == learnt.size()) learnt.emplace_back();
        learnt[position] = {
            .name = std::string(key), .target = found.target, .is_exact = found.is_exact};
    }
    return found;
}

// ---- values -----------------------------------------------------------------------------------

std::string JsonObjectReader::Walk::read_object(ondemand::object& object, std::size_t level) {
    std::size_t position = 0;
    for (auto next : object) {
        ondemand::field field;
        if (const auto error = std::move(next).get(field); error != simdjson::SUCCESS) {
            return simdjson::error_message(error);
        }
        const Found found = target_of(level, position++, field);
        if (found.target.cell == kNone && found.target.level == kNone) continue;
        ondemand::value value = std::move(field).value();
        if (std::string fault = read_value(value, found); !fault.empty()) return fault;
    }
    return {};
}

std::string JsonObjectReader::Walk::read_value(ondemand::value& value, const Found& found) {
    ondemand::json_type type{};
    if (const auto error = value.type().get(type); error != simdjson::SUCCESS) {
        return simdjson::error_message(error);
    }
    if (type == ondemand::json_type::object && found.target.level != kNone) {
        ondemand::object object;
        if (const auto error = value.get_object().get(object); error != simdjson::SUCCESS) {
            return simdjson::error_message(error);
        }
        return read_object(object, found.target.level);
    }
    const std::size_t index = found.target.cell;
    if (index == kNone) return {};  // no object, so nothing in it
    if (!found.is_exact && is_exact[index]) return {};
    is_exact[index] = found.is_exact;
    if (type == ondemand::json_type::object || type == ondemand::json_type::array) {
        return baton::in_quotes(columns[index]) + " is " +
               (type == ondemand::json_type::object ? "an object" : "an array") + ", not a value";
    }
    return type == ondemand::json_type::string ? read_string(value, cells[index])
                                               : read_scalar(value, type, cells[index]);
}

std::string JsonObjectReader::Walk::read_string(ondemand::value& value, Cell& cell) {
    std::string_view token = without_blanks_behind(value.raw_json_token());
    if (token.size() < 2 || token.back() != '"') return "a string is not closed";
    token = token.substr(1, token.size() - 2);
    std::size_t size = token.size();
    if (size > 0 && std::memchr(token.data(), '\\', size) != nullptr) {
        std::string_view decoded;
        if (const auto error = value.get_string().get(decoded); error != simdjson::SUCCESS) {
            return simdjson::error_message(error);
        }
        // It is never longer than what it was made of.
        size = decoded.size();
        std::memcpy(text.data() + (token.data() - text.data()), decoded.data(), size);
    }
    cell = {
        .text = token.data(), .size = static_cast<std::uint32_t>(size), .kind = Cell::Kind::quoted};
    return {};
}

std::string JsonObjectReader::Walk::read_scalar(ondemand::value& value, ondemand::json_type type,
                                                Cell& cell) {
    const std::string_view token = without_blanks_behind(value.raw_json_token());
    cell = {.text = token.data(),
            .size = static_cast<std::uint32_t>(token.size()),
            .kind = Cell::Kind::plain};
    if (type == ondemand::json_type::null) {
        if (token != "null") return shown(token) + " is no value";
        cell.kind = Cell::Kind::null;
        return {};
    }
    if (type == ondemand::json_type::boolean) {
        return token == "true" || token == "false" ? std::string() : shown(token) + " is no value";
    }
    const bool is_number = token.find_first_not_of("+-.0123456789eE") == std::string_view::npos;
    return is_number ? std::string() : shown(token) + " is no number";
}

// ---- the whole --------------------------------------------------------------------------------

JsonObjectReader::JsonObjectReader(const Schema& schema, const std::vector<std::size_t>& wanted)
    : walk_(std::make_unique<Walk>()) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        walk_->columns.push_back(schema.columns[wanted[i]].name);
        walk_->add_column(walk_->columns.back(), i);
    }
    walk_->is_exact.resize(wanted.size());
}

JsonObjectReader::~JsonObjectReader() = default;

std::string JsonObjectReader::read(std::span<char> text, std::span<Cell> cells) {
    Walk& walk = *walk_;
    walk.text = text;
    walk.cells = cells;
    std::fill(walk.is_exact.begin(), walk.is_exact.end(), false);
    ondemand::document document;
    const auto error =
        walk.parser.iterate(text.data(), text.size(), text.size() + simdjson::SIMDJSON_PADDING)
            .get(document);
    if (error != simdjson::SUCCESS) return simdjson::error_message(error);
    ondemand::object object;
    if (document.get_object().get(object) != simdjson::SUCCESS) return "it is not a JSON object";
    std::string fault = walk.read_object(object, 0);
    if (!fault.empty()) return fault;
    const char* rest = nullptr;
    const bool is_end = document.current_location().get(rest) == simdjson::OUT_OF_BOUNDS;
    return is_end ? std::string() : "something follows the object";
}

}  // namespace baton::formats
