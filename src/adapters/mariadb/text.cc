// What of talking to MariaDB is only text and numbers.
#include "base/text.h"

#include <charconv>

#include "adapters/mariadb/wire.h"
#include "adapters/server_sql/placeholders.h"

namespace baton::mariadb {

namespace {

Error invalid(const std::string& why) {
    return {.code = ErrorCode::invalid_configuration,
            .message = "the address of a MariaDB catalog " + why,
            .hint = "mysql://user:password@host:3306/database"};
}

// %40 is @.
Result<std::string> decoded(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            result += text[i];
            continue;
        }
        unsigned code = 0;
        const char* const start = text.data() + i + 1;
        if (i + 2 >= text.size() || std::from_chars(start, start + 2, code, 16).ptr != start + 2) {
            return invalid("has a % that two hexadecimal digits do not follow");
        }
        result += static_cast<char>(code);
        i += 2;
    }
    return result;
}

}  // namespace

std::string Place::name() const {
    return "mysql://" + (user.empty() ? "" : user + "@") + host + ":" + std::to_string(port) + "/" +
           database;
}

namespace {

bool is_loopback(const std::string& host) {
    return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// Named as PostgreSQL names them. Beyond this machine whoever wants TLS gets it verified.
Result<Done> read_options(std::string_view options, Place& place) {
    std::string mode;
    while (!options.empty()) {
        const std::string_view pair = options.substr(0, options.find('&'));
        options.remove_prefix(std::min(pair.size() + 1, options.size()));
        const std::size_t equals = pair.find('=');
        if (equals == std::string_view::npos)
            return invalid("has options as key=value after its ?");
        const std::string_view key = pair.substr(0, equals);
        TRY_ASSIGN(value, decoded(pair.substr(equals + 1)));
        if (key == "sslmode") {
            mode = std::move(value);
        } else if (key == "sslrootcert") {
            place.ca = std::move(value);
        } else if (key == "sslcert") {
            place.cert = std::move(value);
        } else if (key == "sslkey") {
            place.key = std::move(value);
        } else {
            return invalid(
                "has no options after its ? but sslmode, sslrootcert, sslcert and sslkey");
        }
    }
    const bool files = !place.ca.empty() || !place.cert.empty() || !place.key.empty();
    if (mode.empty()) mode = files ? "verify-full" : "disable";
    if (mode != "disable" && mode != "require" && mode != "verify-full") {
        return invalid("has an sslmode of disable, require or verify-full");
    }
    if (mode == "disable" && files) return invalid("has certificates and an sslmode of disable");
    if (place.cert.empty() != place.key.empty())
        return invalid("has sslcert and sslkey, or neither");
    place.tls = mode != "disable";
    place.verified = mode == "verify-full" ||
                     (mode == "require" && (!is_loopback(place.host) || !place.ca.empty()));
    return Done{};
}

}  // namespace

Result<Place> place_of(const std::string& url) {
    std::string_view rest = url;
    if (rest.starts_with("mysql://")) {
        rest.remove_prefix(8);
    } else if (rest.starts_with("mariadb://")) {
        rest.remove_prefix(10);
    } else {
        return invalid("begins with mysql:// or mariadb://");
    }
    Place place;
    std::string_view options;
    if (const std::size_t mark = rest.find('?'); mark != std::string_view::npos) {
        options = rest.substr(mark + 1);
        rest = rest.substr(0, mark);
    }
    const std::size_t slash = rest.find('/');
    if (slash == std::string_view::npos || slash + 1 == rest.size()) {
        return invalid("names a database after its host");
    }
    TRY_ASSIGN(database, decoded(rest.substr(slash + 1)));
    place.database = std::move(database);
    rest = rest.substr(0, slash);
    if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
        const std::string_view who = rest.substr(0, at);
        const std::size_t colon = std::min(who.find(':'), who.size());
        TRY_ASSIGN(user, decoded(who.substr(0, colon)));
        place.user = std::move(user);
        if (colon < who.size()) {
            TRY_ASSIGN(password, decoded(who.substr(colon + 1)));
            place.password = std::move(password);
        }
        rest.remove_prefix(at + 1);
    }
    if (const std::size_t colon = rest.rfind(':'); colon != std::string_view::npos) {
        const std::string_view port = rest.substr(colon + 1);
        const char* const end = port.data() + port.size();
        if (std::from_chars(port.data(), end, place.port).ptr != end || place.port == 0) {
            return invalid("has a port that is none");
        }
        rest = rest.substr(0, colon);
    }
    if (rest.empty()) return invalid("names a host");
    place.host = std::string(rest);
    TRY(read_options(options, place));
    return place;
}

std::string with_values(std::string_view sql,
                        const std::function<std::string(std::size_t)>& literal) {
    std::string result;
    std::size_t parameters = 0;
    server_sql::at_placeholders(
        sql, [&](std::string_view text) { result += text; },
        [&] { result += literal(parameters++); });
    return result;
}

ErrorCode code_of(unsigned number) {
    using enum ErrorCode;
    switch (number) {
        case 1062:
        case 1586:
            return unique_violation;
        case 1216:
        case 1217:
        case 1451:
        case 1452:
            return foreign_key_violation;
        case 1048:  // NULL where there must be something
        case 1264:  // out of range
        case 1364:
        case 1366:
        case 1406:  // too long
        case 1792:  // it only reads
        case 4025:  // CHECK
            return write_rejected;
        case 1021:  // disk full
        case 1114:  // table full
            return catalog_full;
        case 1034:
        case 1194:
        case 1712:
            return catalog_corrupt;
        case 1020:  // the row was changed since it was read
        case 1040:  // too many connections
        case 1044:
        case 1045:
        case 1049:
        case 1053:  // shutting down
        case 1205:  // waited for a lock
        case 1213:  // deadlock
        case 1290:  // read-only server
        case 1317:  // interrupted
        case 1836:
        case 1969:  // took too long
            return catalog_unavailable;
        default:
            break;
    }
    return ends_connection(number) ? catalog_unavailable : defect;
}

bool ends_connection(unsigned number) {
    // 2000 and more are the library's own: lost, refused, timed out.
    return (number >= 2000 && number <= 2060) || number == 1927 || number == 1053 ||
           number == 4031 || number == 5012;
}

}  // namespace baton::mariadb
