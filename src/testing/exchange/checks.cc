#include "testing/exchange/checks.h"

#include <algorithm>

namespace baton::testing {

namespace {

using namespace std::chrono_literals;

constexpr Duration kPauseFirst = 50ms;
constexpr Duration kPauseMax = 2s;

}  // namespace

void ExchangeChecks::dials(const SimSender& sender) {
    if (sender.stream) stage_.fail("a sender dials while it has a stream");
    if (sender.stream_ended && stage_.now() - *sender.stream_ended < kPauseFirst) {
        stage_.fail("a sender dials again at once");
    }
}

void ExchangeChecks::writes(const SimSender& sender, const SimStream& stream,
                            const exchange::Write<SimItem>& write) {
    if (!sender.stream) stage_.fail("an item is written on no stream");
    if (stream.number != write.stream) stage_.fail("an item is written on an older stream");
    if (stream.client_writes) stage_.fail("two writes at a time");
    if (write.number <= stream.last_written) stage_.fail("an item is written twice on a stream");
    if (write.item.place + 1 != write.number) stage_.fail("an item has another number");
}

void ExchangeChecks::sleeps(Duration pause) {
    if (pause > kPauseMax) stage_.fail("a sender sleeps too long");
}

void ExchangeChecks::keeps(const SimSender& sender) {
    if (sender.outbox.kept() > scenario_.limits.items) {
        stage_.fail("a sender keeps more items than it may");
    }
}

void ExchangeChecks::pushes(ExchangeRecord::Row& row, const SimItem& item) {
    if (row.pushed >= row.taken + scenario_.limits.items ||
        row.pushed_bytes >= row.taken_bytes + scenario_.limits.bytes) {
        stage_.fail("more is under way than may be");
    }
    row.pushed += 1;
    row.pushed_bytes += item.bytes;
}

void ExchangeChecks::finishes(ExchangeRecord::Row& row, const Result<Done>& outcome) {
    if (!outcome) return stage_.fail("a finish fails: " + outcome.error().message);
    if (row.arrived != row.frames + 2) stage_.fail("a sender ends before all has arrived");
    row.finished = true;
}

void ExchangeChecks::arrives(SimReceiver& receiver, const SimStream& stream, std::uint64_t number,
                             bool newest) {
    auto& row = receiver.record->rows[stream.position];
    row.arrived += 1;
    if (row.arrived != number) stage_.fail("an item is kept out of its order");
    if (!newest) stage_.run.late += 1;
    if (receiver.inbox.waiting() > scenario_.limits.items * scenario_.senders) {
        stage_.fail("more items wait than may");
    }
}

void ExchangeChecks::takes(ExchangeRecord& record, const SimInbox::Taken& taken) {
    auto& row = record.rows[taken.sender];
    stage_.mix(taken.item.place);
    stage_.run.taken += 1;
    if (taken.item.run != record.run) stage_.fail("an item of another run is taken");
    if (taken.item.sender != taken.sender) stage_.fail("an item of another sender is taken");
    if (taken.item.place < row.taken) stage_.fail("an item is taken twice, or out of order");
    if (taken.item.place > row.taken) stage_.fail("an item is lost, or out of order");
    row.taken += 1;
    row.taken_bytes += taken.item.bytes;
}

void ExchangeChecks::takes_end(ExchangeRecord& record, const SimInbox::SenderEnded& ended) {
    auto& row = record.rows[ended.sender];
    if (row.taken != row.frames + 1) stage_.fail("a sender ends before its last frame");
    row.taken += 1;
    row.ended = true;
    const auto& rows = record.rows;
    record.all_taken =
        std::all_of(rows.begin(), rows.end(), [](const auto& one) { return one.ended; });
    if (record.all_taken != ended.all) stage_.fail("the end is not that of all senders");
}

}  // namespace baton::testing
