#include "config/settings.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/check.h"
#include "base/text.h"

namespace baton::config {

namespace {

constexpr std::string_view kPrefix = "BATON_";  // of variables in the environment

const std::vector<Setting>& known_list() {
    static const std::vector<Setting> kKnown = {
        {.key = "data", .fallback = "./baton-data", .meaning = "the directory of the catalog"},
        {.key = "catalog",
         .fallback = "",
         .meaning =
             "sqlite:PATH, or a database that coordinators share, postgres://.. or mysql://..; "
             "empty: a file in the data directory"},
        {.key = "lease_ttl",
         .type = Type::number,
         .fallback = "10",
         .meaning = "with such a database: seconds until another coordinator takes over from a "
                    "lost leader",
         .least = 1,
         .most = 600},
        {.key = "advertise",
         .fallback = "",
         .meaning =
             "host:port of this coordinator for clients and other coordinators; empty: that of "
             "pg.listen"},
        {.key = "forward_writes",
         .type = Type::flag,
         .fallback = "true",
         .meaning = "forward changes to the leader; false: refuse them, with its address"},
        {.key = "forward_wait",
         .type = Type::number,
         .fallback = "0",
         .meaning = "seconds that a change waits for a leader, and again for its answer; 0: 5 more "
                    "than lease_ttl",
         .most = 3600},
        {.key = "pg.listen",
         .fallback = "127.0.0.1:5433",
         .meaning = "host:port for psql and PostgreSQL drivers; empty: closed"},
        {.key = "pg.tls",
         .type = Type::choice,
         .fallback = "allow",
         .meaning = "with a certificate: whether clients may or must encrypt",
         .choices = {"allow", "require"}},
        {.key = "pg.connections_max",
         .type = Type::number,
         .fallback = "12000",
         .meaning = "connections at most",
         .least = 1},
        {.key = "http.listen",
         .fallback = "127.0.0.1:8080",
         .meaning = "host:port for HTTP; empty: closed"},
        {.key = "http.hosts",
         .fallback = "",
         .meaning = "host names that HTTP serves while there are no users and tokens, "
                    "beside localhost: a.example, b.example"},
        {.key = "http.body_max",
         .type = Type::number,
         .fallback = "16777216",
         .meaning = "bytes of a request at most",
         .least = 1024,
         .most = std::uint64_t{1} << 30U},
        {.key = "http.connections_max",
         .type = Type::number,
         .fallback = "12000",
         .meaning = "connections at most",
         .least = 1},
        {.key = "tls.cert", .fallback = "", .meaning = "the certificate shown to clients (PEM)"},
        {.key = "tls.key", .fallback = "", .meaning = "the key of that certificate"},
        {.key = "tls.ca",
         .fallback = "",
         .meaning = "the issuer of the certificates of other coordinators (PEM); empty: they are "
                    "not checked"},
        {.key = "auth.trust_remote",
         .type = Type::flag,
         .fallback = "false",
         .meaning = "listen beyond this machine although there are no users and tokens"},
        {.key = "workers.listen",
         .fallback = "",
         .meaning = "host:port at which workers join with a token and renew their certificates; "
                    "empty: closed"},
        {.key = "workers.certificate_seconds",
         .type = Type::number,
         .fallback = "2592000",
         .meaning = "how long the certificate of a worker lasts; it is renewed after two thirds",
         .least = 5},
        {.key = "workers.tls_ca",
         .fallback = "",
         .meaning = "the issuer of the certificates of coordinators and workers (PEM)"},
        {.key = "workers.tls_cert", .fallback = "", .meaning = "the coordinator's certificate"},
        {.key = "workers.tls_key", .fallback = "", .meaning = "the key of that certificate"},
        {.key = "files",
         .type = Type::list,
         .fallback = "",
         .meaning = "directories in which sources and sinks of the embedded worker may open files; "
                    "empty: none"},
        {.key = "connect_to",
         .type = Type::list,
         .fallback = "",
         .meaning = "HOST[:PORT] that its sources and sinks may connect to, such as "
                    "*.example.com, 10.0.0.0/8; empty: any but this machine and link-local ones"},
        {.key = "threads",
         .type = Type::number,
         .fallback = "64",
         .meaning = "statements that run at once, also those that wait for the disk",
         .least = 1,
         .most = 1024},
        {.key = "tables.store",
         .fallback = "",
         .meaning = "URL of the store for tables without a TABLE.LOCATION, the same for all "
                    "coordinators of a catalog; empty: a folder in the data directory, if the "
                    "catalog is a file there"},
        {.key = "tables.memory",
         .type = Type::number,
         .fallback = "1024",
         .meaning = "MB that questions take at most, all together; beyond it they use the disk",
         .least = 64,
         .most = 1'048'576},
        {.key = "tables.cache",
         .type = Type::number,
         .fallback = "10240",
         .meaning = "MB of disk in the data directory for copies of objects that questions read "
                    "from far stores, and at most half of the disk that is free at start",
         .least = 16,
         .most = 1'048'576'000},
        {.key = "tables.questions",
         .type = Type::number,
         .fallback = "4",
         .meaning = "questions that are computed at once",
         .least = 1,
         .most = 256},
        {.key = "log.format",
         .type = Type::choice,
         .fallback = "text",
         .meaning = "the format of lines on standard error",
         .choices = {"text", "json"}},
        {.key = "log.level",
         .type = Type::choice,
         .fallback = "info",
         .meaning = "the lowest level that is written",
         .choices = {"debug", "info", "warn", "error"}},
        {.key = "shutdown_seconds",
         .type = Type::number,
         .fallback = "30",
         .meaning = "seconds that clients have to finish when the daemon ends",
         .most = 3600},
    };
    return kKnown;
}

const Setting* find(std::string_view key) {
    for (const Setting& known : known_list()) {
        if (known.key == key) return &known;
    }
    return nullptr;
}

std::optional<std::uint64_t> number_of(const std::string& text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
    return number;
}

// What is wrong with the value; empty if nothing is.
std::string misfit(const Setting& known, const std::string& value) {
    switch (known.type) {
        case Type::text:
        case Type::list:
            return "";
        case Type::flag:
            return value == "true" || value == "false" ? "" : "it is true or false";
        case Type::number: {
            const auto number = number_of(value);
            if (number && *number >= known.least && *number <= known.most) return "";
            return "it is a whole number from " + std::to_string(known.least) +
                   (known.most == UINT64_MAX ? "" : " to " + std::to_string(known.most));
        }
        case Type::choice:
            break;
    }
    if (std::find(known.choices.begin(), known.choices.end(), value) != known.choices.end()) {
        return "";
    }
    std::vector<std::string> choices(known.choices.begin(), known.choices.end());
    return "it is one of " + join(choices, ", ");
}

// For each service Kubernetes sets NAME_SERVICE_HOST, NAME_SERVICE_PORT, NAME_SERVICE_PORT_HTTP,
// NAME_PORT, NAME_PORT_8080_TCP and more of the kind.
bool is_of_kubernetes(const std::string& ending) {
    const std::string words = "_" + ending + "_";
    const std::size_t port = words.find("_PORT_");
    const bool of_port = port != std::string::npos &&
                         (port + 6 == words.size() || std::isdigit(words[port + 6]) != 0);
    return of_port || words.find("_SERVICE_HOST_") != std::string::npos ||
           words.find("_SERVICE_PORT_") != std::string::npos;
}

Error refused(const std::string& origin, const std::string& message, std::string hint = {}) {
    return Error{.code = ErrorCode::invalid_configuration,
                 .message = origin + ": " + message,
                 .hint = std::move(hint)};
}

}  // namespace

std::span<const Setting> known_settings() {
    return known_list();
}

bool is_list(std::string_view key) {
    const Setting* known = find(key);
    return known != nullptr && known->type == Type::list;
}

std::string environment_name(std::string_view key) {
    std::string name = std::string(kPrefix) + to_upper(key);
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
}

Settings::Settings() {
    for (const Setting& known : known_list()) {
        values_[std::string(known.key)] = {.text = std::string(known.fallback),
                                           .origin = "default"};
    }
}

Result<Done> Settings::set(const std::string& key, std::string value, std::string origin) {
    const Setting* known = find(key);
    if (known == nullptr) {
        std::vector<std::string> keys;
        for (const Setting& one : known_list()) keys.emplace_back(one.key);
        std::string hint = did_you_mean(key, keys);
        if (hint.empty()) hint = "`baton config show` lists what can be set";
        return refused(origin, "unknown setting " + in_quotes(key), std::move(hint));
    }
    const std::string problem = misfit(*known, value);
    if (!problem.empty()) {
        return refused(origin, in_quotes(value) + " does not fit " + key + ": " + problem);
    }
    values_[key] = {.text = std::move(value), .origin = std::move(origin)};
    return Done{};
}

Result<std::vector<std::string>> Settings::set_from_environment(
    const std::map<std::string, std::string>& all) {
    const auto& list = known_list();
    std::vector<std::string> endings;  // what they all begin with is no likeness
    for (const Setting& one : list) {
        endings.push_back(environment_name(one.key).substr(kPrefix.size()));
    }
    std::vector<std::string> warnings;
    for (const auto& [name, value] : all) {
        if (!name.starts_with(kPrefix) || name == "BATON_CONNECT") continue;  // that is clients'
        const std::string ending = name.substr(kPrefix.size());
        const auto known = std::find(endings.begin(), endings.end(), ending);
        if (known != endings.end()) {
            const auto at = static_cast<std::size_t>(known - endings.begin());
            TRY(set(std::string(list[at].key), value, "environment " + name));
        } else if (const std::string near = nearest(ending, endings);
                   !near.empty() && !is_of_kubernetes(ending)) {
            warnings.push_back("the environment variable " + in_quotes(name) +
                               " is no setting and has no effect; did you mean " +
                               in_quotes(std::string(kPrefix) + near) + "?");
        }
    }
    return warnings;
}

const std::string& Settings::text(std::string_view key) const {
    const auto found = values_.find(key);
    CHECK(found != values_.end());
    return found->second.text;
}

std::uint64_t Settings::number(std::string_view key) const {
    const auto number = number_of(text(key));
    CHECK(number);
    return *number;
}

bool Settings::flag(std::string_view key) const {
    return text(key) == "true";
}

std::vector<std::string> Settings::list(std::string_view key) const {
    std::vector<std::string> items;
    std::string_view rest = text(key);
    while (!rest.empty()) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        std::string_view item = rest.substr(0, comma);
        rest.remove_prefix(std::min(comma + 1, rest.size()));
        while (item.starts_with(' ')) item.remove_prefix(1);
        while (item.ends_with(' ')) item.remove_suffix(1);
        if (!item.empty()) items.emplace_back(item);
    }
    return items;
}

std::vector<Settings::Shown> Settings::all() const {
    std::vector<Shown> shown;
    for (const Setting& known : known_list()) {
        const Value& value = values_.find(known.key)->second;
        shown.push_back({.key = std::string(known.key),
                         .value = value.text,
                         .origin = value.origin,
                         .meaning = std::string(known.meaning)});
    }
    return shown;
}

}  // namespace baton::config
