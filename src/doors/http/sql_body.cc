#include "doors/http/sql_body.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "doors/http/problems.h"
#include "sql/lexer.h"

namespace baton::http {

namespace {

constexpr std::size_t kShownMax = 64;  // bytes of a name in a message

// Answers to nlohmann's reader, which stops where it is answered false.
class BodyReader {
public:
    bool null() { return take(sql::Literal(sql::Null{})); }
    bool boolean(bool value) { return take(sql::Literal(value)); }
    bool number_integer(std::int64_t value) {
        const auto bits = static_cast<std::uint64_t>(value);
        return take(sql::Literal(
            sql::Integer{.negative = value < 0, .magnitude = value < 0 ? 0 - bits : bits}));
    }
    bool number_unsigned(std::uint64_t value) {
        if (where_ == Where::member && member_ == "timeout_ms") {
            body.timeout_ms = value;
            return true;
        }
        return take(sql::Literal(sql::Integer{.magnitude = value}));
    }
    bool number_float(double value, const std::string& /*text*/) {
        return take(sql::Literal(value));
    }
    bool string(std::string& value) {
        if (where_ == Where::member && member_ == "sql") {
            body.sql = std::move(value);
            return true;
        }
        if (where_ == Where::member && member_ == "wait" && value.size() <= kShownMax) {
            body.wait = std::move(value);
            return true;
        }
        return take(sql::Literal(std::move(value)));
    }
    bool binary(std::vector<std::uint8_t>& /*value*/) { return false; }

    bool start_object(std::size_t /*size*/) {
        if (where_ != Where::outside) return misfit();
        where_ = Where::member;
        return true;
    }
    bool key(std::string& name) {
        member_ = std::move(name);
        return true;
    }
    bool end_object() {
        where_ = Where::outside;
        return true;
    }
    bool start_array(std::size_t /*size*/) {
        if (where_ != Where::member || member_ != "parameters") return misfit();
        where_ = Where::parameters;
        body.parameters.clear();
        return true;
    }
    bool end_array() {
        where_ = Where::member;
        return true;
    }
    bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                     const nlohmann::json::exception& /*what*/) {
        return false;
    }

    SqlBody body;
    std::optional<Error> error;

private:
    enum class Where : std::uint8_t { outside, member, parameters };

    bool take(sql::Literal value) {
        if (where_ != Where::parameters) return misfit();
        if (body.parameters.size() == sql::kParametersMax) {
            error = Error{.code = ErrorCode::too_large,
                          .message = "the body has more than " +
                                     std::to_string(sql::kParametersMax) + " parameters",
                          .hint = "send the statements in several requests"};
            return false;
        }
        body.parameters.push_back(std::move(value));
        return true;
    }

    bool misfit() {
        if (where_ == Where::outside) return false;
        if (where_ == Where::parameters) {
            error = malformed("a parameter is null, a boolean, a number or a string");
            return false;
        }
        const std::string which =
            member_.size() > kShownMax
                ? " with a name of " + std::to_string(member_.size()) + " bytes"
                : " " + in_quotes(member_) + " of the body";
        error = malformed("the member" + which + " is unknown or misfits",
                          "the members are sql, parameters, wait and timeout_ms");
        return false;
    }

    Where where_ = Where::outside;
    std::string member_;
};

}  // namespace

Result<SqlBody> read_sql_body(std::string_view json) {
    BodyReader reader;
    if (!nlohmann::json::sax_parse(json, &reader)) {
        if (reader.error) return *std::move(reader.error);
        return malformed("the body is not a JSON object");
    }
    if (reader.body.sql.empty()) return malformed("the body has no member \"sql\"");
    return std::move(reader.body);
}

}  // namespace baton::http
