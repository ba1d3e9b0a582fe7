// The SQLSTATE of each of our errors, and an error as a client sees it.
//
// Drivers and pools act by the class: 08 and 57P mean that the connection is useless, 40 that the
// transaction may be run again, 53 that the server lacks something. A failure of a source or sink
// to connect is therefore 58, not 08.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "doors/pg/wire/replies.h"

namespace baton::pgwire {

// `status` is what it was when the statement came: transaction_state means something else in each.
[[nodiscard]] std::string_view sqlstate_of(ErrorCode code,
                                           TransactionStatus status = TransactionStatus::idle);

// `text` is what the error's position counts in, as the client gave it.
[[nodiscard]] Report report_of(const Error& error, std::string_view text = {},
                               TransactionStatus status = TransactionStatus::idle);

// A place in a text as reports tell it: in characters, from 1.
[[nodiscard]] std::uint32_t character_at(std::string_view text, std::size_t offset);

}  // namespace baton::pgwire
