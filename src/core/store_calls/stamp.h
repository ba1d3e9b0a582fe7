// A stamp tells one put() from all others, and is kept beside the object's bytes. By it a put()
// whose answer was lost is settled by looking at the object:
//
//     7f..2c;new           made where nothing was (if-absent)
//     7f..2c;over;v17      replaced the version with this etag (if-unchanged)
//     7f..2c;any           made whatever was there
//
// The object itself is not enough: its bytes may be those of another put(), and an etag is a digest
// of them in some stores. A nonce in the bytes would burden every format with it, and with objects
// of many megabytes the whole object would have to be fetched.
//
// Limit: an object that others made and removed, or ours that others removed before they made
// their own, is not noticed. Nothing in Baton makes a key again that it has removed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace baton::store_calls {

enum class Wanted : std::uint8_t { always, if_absent, if_unchanged };

struct Put {
    Wanted wanted = Wanted::always;
    std::string etag;  // of if_unchanged
    std::string stamp;
    std::uint64_t size = 0;  // of the object
};

// `nonce` is unlike that of any other put(), in printable ASCII without semicolons.
[[nodiscard]] std::string stamp_of(std::string_view nonce, Wanted wanted, std::string_view etag);

// The object as a look finds it after attempts of which one may have happened.
struct Sight {
    std::string stamp;  // empty: it has none
    std::uint64_t size = 0;
};
enum class Finding : std::uint8_t {
    ours,     // the put() has happened
    others,   // it has not, and cannot happen later: another one met the condition
    unclear,  // nothing is there, or it may have replaced ours
};
[[nodiscard]] Finding judge(const Put& put, const std::optional<Sight>& sight);

}  // namespace baton::store_calls
