#include "doors/pg/server/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/text.h"
#include "doors/pg/catalog/tokens.h"

namespace baton::pgserver {

namespace {

constexpr std::size_t kNamesMax = 200;
constexpr std::size_t kValueBytesMax = 10'000;

pgwire::Report invalid(const std::string& name, const std::string& value, std::string hint) {
    return {.sqlstate = "22023",
            .message = "parameter " + in_quotes(name) + " cannot be " + in_quotes(value),
            .hint = std::move(hint)};
}

std::optional<Wait::Until> wait_of(std::string_view word) {
    if (word == "accepted") return Wait::Until::accepted;
    if (word == "running") return Wait::Until::steady;
    if (word == "ended") return Wait::Until::ended;
    return std::nullopt;
}

std::optional<std::chrono::milliseconds> milliseconds_of(std::string_view text) {
    std::uint32_t number = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
    return std::chrono::milliseconds(number);
}

// "60000", "60s", "1min": as PostgreSQL reads times, of which a number alone is milliseconds.
std::optional<std::chrono::milliseconds> time_of(std::string_view text) {
    std::uint32_t number = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec != std::errc()) return std::nullopt;
    std::string_view unit(read.ptr, static_cast<std::size_t>(end - read.ptr));
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    struct Unit {
        std::string_view name;
        std::chrono::milliseconds length;
    };
    using namespace std::chrono_literals;
    constexpr std::array kUnits = {Unit{"", 1ms},     Unit{"ms", 1ms}, Unit{"s", 1s},
                                   Unit{"min", 1min}, Unit{"h", 1h},   Unit{"d", 24h}};
    constexpr std::chrono::milliseconds kMost{INT32_MAX};  // as PostgreSQL has it
    for (const Unit& known : kUnits) {
        if (known.name != unit) continue;
        if (number > kMost / known.length) return std::nullopt;
        return number * known.length;
    }
    return std::nullopt;
}

// Why this value is refused; none if it is not.
std::optional<pgwire::Report> objection(const std::string& name, const std::string& value) {
    const std::string lower = pg::to_lower(value);
    const bool on = lower == "on" || lower == "true" || lower == "1" || lower == "yes";
    if (name == "standard_conforming_strings" && on) {
        return invalid(name, value, "a backslash escapes in strings: write \\\\ for one");
    }
    if (name == "client_encoding") {
        std::string letters;
        for (const char c : lower) {
            if (c != '-' && c != '_' && c != '\'') letters += c;
        }
        const bool known = letters == "utf8" || letters == "unicode" || letters == "sqlascii";
        if (!known) return invalid(name, value, "use UTF8");
    }
    if (name == "baton.notices" && lower != "some" && lower != "all") {
        return invalid(name, value, "use some or all");
    }
    if (name == "baton.wait" && !wait_of(lower)) {
        return invalid(name, value, "use accepted, running or ended");
    }
    if (name == "baton.wait_timeout" && !milliseconds_of(lower)) {
        return invalid(name, value, "give milliseconds; 0 is for ever");
    }
    if (name == "idle_in_transaction_session_timeout" && !time_of(lower)) {
        return invalid(name, value,
                       "give milliseconds, or 30s, 5min, 1h, at most 24d; 0 is for ever");
    }
    if (name == "datestyle" && !lower.starts_with("iso")) return invalid(name, value, "use ISO");
    return std::nullopt;
}

// As clients are told at the start, if they are.
std::optional<std::string> reported_name(const std::string& name) {
    if (name == "application_name") return "application_name";
    return std::nullopt;
}

// Kept, but of no effect on what it would change in PostgreSQL.
bool is_fixed(const std::string& name) {
    constexpr std::array<std::string_view, 9> kFixed = {
        "timezone",        "datestyle",         "client_encoding", "standard_conforming_strings",
        "server_encoding", "integer_datetimes", "server_version",  "server_version_num",
        "in_hot_standby"};
    return std::find(kFixed.begin(), kFixed.end(), name) != kFixed.end();
}

}  // namespace

Settings::Settings(const std::string& version)
    : defaults_{{"application_name", ""},
                {"baton.notices", "some"},
                {"baton.wait", "accepted"},
                {"baton.wait_timeout", "0"},
                {"bytea_output", "hex"},
                {"client_encoding", "UTF8"},
                {"client_min_messages", "notice"},
                {"datestyle", "ISO, MDY"},
                {"default_transaction_isolation", "serializable"},
                {"default_transaction_read_only", "off"},
                {"extra_float_digits", "1"},
                {"idle_in_transaction_session_timeout", "1min"},
                {"in_hot_standby", "off"},
                {"integer_datetimes", "on"},
                {"intervalstyle", "postgres"},
                {"is_superuser", "off"},
                {"lc_collate", "C"},
                {"lc_ctype", "C.UTF-8"},
                {"lc_monetary", "C"},
                {"max_identifier_length", "63"},
                {"max_index_keys", "32"},
                {"search_path", "baton, public"},
                {"server_encoding", "UTF8"},
                {"server_version", "15.0 (Baton " + version + ")"},
                {"server_version_num", "150000"},
                {"session_authorization", ""},
                {"standard_conforming_strings", "off"},
                {"statement_timeout", "0"},
                {"timezone", "UTC"},
                {"transaction_isolation", "serializable"},
                {"transaction_read_only", "off"}} {}

std::variant<Settings::Changed, pgwire::Report> Settings::set(const std::string& name,
                                                              std::optional<std::string> value) {
    if (!value) {
        values_.erase(name);
        value = defaults_.contains(name) ? defaults_.at(name) : "";
    } else {
        if (auto refused = objection(name, *value)) return *std::move(refused);
        if (value->size() > kValueBytesMax || values_.size() >= kNamesMax) {
            return pgwire::Report{.sqlstate = "53400", .message = "too many parameters were set"};
        }
    }
    Changed changed;
    if (is_fixed(name)) {
        const std::string& fixed = defaults_.at(name);
        if (name == "timezone" && pg::to_lower(*value) != "utc") {
            changed.warning = "times are shown in UTC, whatever the time zone";
        }
        value = fixed;
    } else {
        values_[name] = *value;
    }
    if (const auto reported = reported_name(name)) changed.reported = {*reported, *value};
    return changed;
}

void Settings::set_role(bool stands_by) {
    defaults_["in_hot_standby"] = stands_by ? "on" : "off";
}

void Settings::reset() {
    values_.clear();
}

Wait Settings::wait() const {
    Wait wait;
    wait.until = wait_of(pg::to_lower(value("baton.wait").value())).value();
    const auto timeout = milliseconds_of(value("baton.wait_timeout").value()).value();
    if (timeout.count() > 0) wait.timeout = timeout;
    return wait;
}

std::optional<Duration> Settings::idle_in_transaction() const {
    const auto time =
        time_of(pg::to_lower(value("idle_in_transaction_session_timeout").value())).value();
    if (time.count() == 0) return std::nullopt;
    return time;
}

bool Settings::tells_all() const {
    return pg::to_lower(value("baton.notices").value()) == "all";
}

std::optional<std::string> Settings::value(const std::string& name) const {
    if (const auto found = values_.find(name); found != values_.end()) return found->second;
    if (const auto found = defaults_.find(name); found != defaults_.end()) return found->second;
    return std::nullopt;
}

std::vector<std::pair<std::string, std::string>> Settings::all() const {
    std::map<std::string, std::string> merged = values_;
    merged.insert(defaults_.begin(), defaults_.end());
    return {merged.begin(), merged.end()};
}

}  // namespace baton::pgserver
