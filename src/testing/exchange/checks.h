// ExchangeChecks look from outside whether a simulated exchange keeps what world.h says.
#pragma once

#include "testing/exchange/parts.h"
#include "testing/exchange/stage.h"

namespace baton::testing {

class ExchangeChecks {
public:
    ExchangeChecks(const ExchangeScenario& scenario, ExchangeStage& stage)
        : scenario_(scenario), stage_(stage) {}

    // ---- of a sender ----
    void dials(const SimSender& sender);
    void writes(const SimSender& sender, const SimStream& stream,
                const exchange::Write<SimItem>& write);
    void sleeps(Duration pause);
    void keeps(const SimSender& sender);
    void pushes(ExchangeRecord::Row& row, const SimItem& item);
    void finishes(ExchangeRecord::Row& row, const Result<Done>& outcome);

    // ---- of the receiver ----
    // Of a stream of the sender: the newest one, or an older one.
    void arrives(SimReceiver& receiver, const SimStream& stream, std::uint64_t number, bool newest);
    void takes(ExchangeRecord& record, const SimInbox::Taken& taken);
    void takes_end(ExchangeRecord& record, const SimInbox::SenderEnded& ended);

private:
    const ExchangeScenario& scenario_;
    ExchangeStage& stage_;
};

}  // namespace baton::testing
