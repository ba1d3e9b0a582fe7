// Fields one after the other in one text, for what coordinators of one catalog say to each other:
// each with its length before it, so that no byte in it means anything. The text is printable ASCII
// whatever the fields hold, and can go where texts go.
//
// The reader is strict: a field that is not there, or not of its kind, fails with malformed_message
// and everything after it fails, too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace baton::coordinator {

class Packer {
public:
    void text(std::string_view field);
    void number(std::uint64_t field) { text(std::to_string(field)); }
    void integer(std::int64_t field) { text(std::to_string(field)); }
    void flag(bool field) { text(field ? "1" : "0"); }
    void real(double field);

    [[nodiscard]] const std::string& packed() const { return packed_; }

private:
    std::string packed_;
};

class Unpacker {
public:
    // The text outlives it.
    explicit Unpacker(std::string_view packed) : rest_(packed) {}

    [[nodiscard]] Result<std::string> text();
    [[nodiscard]] Result<std::uint64_t> number();
    // A number below a bound: of a list, of a kind.
    [[nodiscard]] Result<std::uint64_t> number_below(std::uint64_t bound);
    [[nodiscard]] Result<std::int64_t> integer();
    [[nodiscard]] Result<bool> flag();
    [[nodiscard]] Result<double> real();
    // Nothing may be left.
    [[nodiscard]] Result<Done> end() const;

private:
    std::string_view rest_;
};

}  // namespace baton::coordinator
