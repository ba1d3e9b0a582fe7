#include "catalog/kinds/values.h"

#include <cstdlib>

namespace baton::kinds {

namespace {

const std::string& text_in(const SqlValue& value) {
    static const std::string kNothing;
    const auto* found = std::get_if<std::string>(&value);
    return found == nullptr ? kNothing : *found;
}

template <class T>
Result<Done> put(Result<T> read, T& to) {
    if (!read) return read.error();
    to = *std::move(read);
    return Done{};
}

}  // namespace

Result<Done> read_value(const SqlValue& value, WallTime& to) {
    to = wall_time_of(text_in(value)).value_or(WallTime{});
    return Done{};
}

Result<Done> read_value(const SqlValue& value, Schema& to) {
    return put(schema_from_json(text_in(value)), to);
}

Result<Done> read_value(const SqlValue& value, SqlColumns& to) {
    return put(sql_columns_from_json(text_in(value)), to);
}

Result<Done> read_value(const SqlValue& value, Config& to) {
    return put(config_from_json(text_in(value)), to);
}

Result<Done> read_value(const SqlValue& value, std::vector<std::string>& to) {
    return put(texts_from_json(text_in(value)), to);
}

Result<Done> read_value(const SqlValue& value, std::optional<Address>& to) {
    const std::string& whole = text_in(value);
    const std::size_t colon = whole.rfind(':');
    to.reset();
    if (colon == std::string::npos) return Done{};
    to = Address{.host = whole.substr(0, colon),
                 .port = static_cast<std::uint16_t>(std::atoi(whole.c_str() + colon + 1))};
    return Done{};
}

Result<Done> read_value(const SqlValue& value, std::optional<WallTime>& to) {
    to = wall_time_of(text_in(value));
    return Done{};
}

}  // namespace baton::kinds
