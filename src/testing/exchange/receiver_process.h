// ReceiverProcess is the process of the receiver in a simulated exchange: its directory, the
// receiver of the present run, and its ends of the streams.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "testing/exchange/checks.h"
#include "testing/exchange/parts.h"
#include "testing/exchange/stage.h"

namespace baton::testing {

class ReceiverProcess {
public:
    // How it acts on the network; and that its receiver is closed.
    struct Wires {
        std::function<void(std::uint64_t stream, const exchange::ToSender& said)> write;
        std::function<void(std::uint64_t stream)> finish;
        std::function<void()> closed;
    };
    ReceiverProcess(const ExchangeScenario& scenario, ExchangeStage& stage, ExchangeChecks& checks,
                    std::map<std::uint64_t, SimStream>& streams, Wires wires)
        : scenario_(scenario),
          stage_(stage),
          checks_(checks),
          streams_(streams),
          wires_(std::move(wires)) {}

    void open(const std::shared_ptr<ExchangeRecord>& record);
    // Of that run, if it is open.
    void close(std::uint64_t run);
    [[nodiscard]] bool is_open() const { return receiver_ != nullptr; }
    void pause_until(Instant end) { paused_until_ = end; }
    void kill();  // another process begins, with nothing

    // ---- streams --------------------------------------------------------------------------------
    void hear_opening(std::uint64_t id, std::uint64_t run);
    void hear_item(std::uint64_t id, std::uint64_t number, const SimItem& item);
    void written(std::uint64_t id);
    void ends(std::uint64_t id);  // nothing more arrives

private:
    void perform(std::uint64_t id, const std::optional<exchange::AnswersEffect>& effect);
    void finish(std::uint64_t id, SimStream& stream);
    void take_soon(const std::shared_ptr<SimReceiver>& receiver);
    void take(SimReceiver& receiver);
    void make_room(const SimReceiver& receiver, std::size_t sender);

    const ExchangeScenario& scenario_;
    ExchangeStage& stage_;
    ExchangeChecks& checks_;
    std::map<std::uint64_t, SimStream>& streams_;
    const Wires wires_;
    Instant paused_until_;
    std::optional<SimDirectory> directory_{std::in_place};
    std::shared_ptr<SimReceiver> receiver_;  // while it is open
};

// The receiver of a run, and a sender.
[[nodiscard]] exchange::ReceiverId receiver_of(std::uint64_t run);
[[nodiscard]] std::string sender_name(std::size_t sender);

}  // namespace baton::testing
