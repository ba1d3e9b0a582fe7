// Renewal decides when temporary credentials are asked for again, and by which caller.
//
// Input:   each caller asks for its turn() before it signs; one that gets `renew` fetches new
//          credentials and reports renewed() or failed().
// Rules:   one caller renews at a time. From five minutes before the end (a quarter of the life,
//          if that is less) one caller renews while the others use the old ones. After the end all
//          wait for it. A failure keeps the old ones until their end; the next try comes after a
//          pause of 1 s, doubled up to 30 s.
// Credentials without an end are never renewed, unless the store rejects them.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"

namespace baton::s3 {

class Renewal {
public:
    enum class Turn : std::uint8_t {
        use,    // the credentials that are there
        renew,  // fetch new ones, and report
        wait,   // another caller fetches the first, or new ones in place of those that ended
        fail,   // there are none, and the last failure is too young to try again
    };

    [[nodiscard]] Turn turn(Instant now);

    // Of the caller that has got `renew`.
    void renewed(Instant now, std::optional<Instant> ends);
    void failed(Instant now);

    // The store says that the credentials are over, earlier than they should be.
    void rejected() { has_ = false; }

private:
    [[nodiscard]] Turn without_any(Instant now);

    bool has_ = false;
    bool renewing_ = false;
    std::optional<Instant> ends_;
    Instant renew_from_;  // counts where ends_ is there
    Instant try_from_;    // after a failure
    Duration pause_ = Duration::zero();
};

}  // namespace baton::s3
