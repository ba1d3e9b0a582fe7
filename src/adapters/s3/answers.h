// The meaning of a store's answers: from status and S3 code to the trouble that a caller has.
//
// Pure. Texts of the store are hostile: they are cut and cleaned before they are shown.
#pragma once

#include <string>
#include <string_view>

#include "adapters/s3/http_client.h"
#include "core/s3/documents.h"

namespace baton::s3 {

// The failure that an answer is; it has been found not to be the success that was hoped for.
[[nodiscard]] AttemptFailure failure_of(int status, const StoreError& error,
                                        const std::string& bucket);

// A success that lacks what it must have, or has what it cannot.
[[nodiscard]] AttemptFailure strange_answer(const std::string& bucket, std::string_view why);

// Printable UTF-8 of at most so many bytes, on one line.
[[nodiscard]] std::string cleaned(std::string_view text, std::size_t bytes_max);

// Whether the store says by this that keys of a session have ended, or are unknown.
[[nodiscard]] bool rejects_keys(const StoreError& error);

}  // namespace baton::s3
