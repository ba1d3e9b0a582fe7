// Between control.h and the messages of proto/baton/control.proto.
//
// Reading is strict: a message that lacks a field, names an unknown state, holds a list or a text
// that is too long, or text that no catalog could store, is an error; the stream it came on is then
// not to be trusted. Writing makes text fit: bytes that are no text become '?', reasons are cut.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "model/control.h"

namespace baton::wire {
class ToCoordinator;
class ToWorker;
}  // namespace baton::wire

namespace baton::rpc {

inline constexpr std::size_t kControlBytesMax = 16 << 20;
inline constexpr std::size_t kListMax = 100'000;
inline constexpr std::size_t kReasonMax = 4096;

[[nodiscard]] Error malformed_control(const std::string& why);

// The first thing that a worker says.
struct Greeting {
    std::string worker;  // who is there
    std::variant<control::Welcome, control::Refusal> outcome;

    friend bool operator==(const Greeting&, const Greeting&) = default;
};

using SaidToWorker = std::variant<control::Hello, control::Beat, control::Command, control::Assign>;
using SaidToCoordinator =
    std::variant<Greeting, control::Pulse, control::CommandAnswer, control::Holding>;

void write(const SaidToWorker& said, wire::ToWorker& message);
void write(const SaidToCoordinator& said, wire::ToCoordinator& message);

// Fail with malformed_message.
[[nodiscard]] Result<SaidToWorker> read(const wire::ToWorker& message);
[[nodiscard]] Result<SaidToCoordinator> read(const wire::ToCoordinator& message);

// The same from and to bytes.
[[nodiscard]] Result<SaidToWorker> read_to_worker(std::string_view bytes);
[[nodiscard]] Result<SaidToCoordinator> read_to_coordinator(std::string_view bytes);
[[nodiscard]] std::string bytes_of(const SaidToWorker& said);
[[nodiscard]] std::string bytes_of(const SaidToCoordinator& said);

}  // namespace baton::rpc
