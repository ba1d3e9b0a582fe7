// Shared by the files of Session. Internal to it.
#pragma once

#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "sql/ast.h"

namespace baton::coordinator::session_parts {

inline constexpr std::size_t kTransactionStatementsMax = 10'000;
inline constexpr std::size_t kTransactionBytesMax = std::size_t{16} << 20U;

inline Error transaction_state(std::string message, std::string hint = {}) {
    return Error{.code = ErrorCode::transaction_state,
                 .message = std::move(message),
                 .hint = std::move(hint)};
}

// Long enough that it cannot be guessed.
inline std::string made_up_token() {
    std::random_device dice;
    std::string token;
    constexpr std::string_view kTokenDigits = "0123456789abcdef";
    for (int i = 0; i < 32; ++i) token += kTokenDigits[dice() % kTokenDigits.size()];
    return token;
}

inline bool is_commit(const sql::Statement& statement) {
    return std::holds_alternative<sql::Commit>(statement.node);
}

inline Error at_statement(Error error, const sql::Statement& statement) {
    if (!error.at) error.at = statement.at;
    return error;
}

}  // namespace baton::coordinator::session_parts
