#include "engine/run/terminals.h"

namespace baton::engine {

namespace {

Error stopped() {
    return Error{.code = ErrorCode::cancelled, .message = "the fragment was stopped"};
}

}  // namespace

Result<Done> SinkTerminal::push(std::size_t, Frame frame) {
    if (context_.stopped) return stopped();
    if (frame.batch.rows == 0) return Done{};
    TRY(sink_->write(frame.batch));
    unflushed_ = true;
    return Done{};
}

Result<Done> SinkTerminal::tick() {
    if (!unflushed() || context_.stopped) return Done{};
    unflushed_ = false;
    return sink_->flush();
}

void SinkTerminal::count(Counts& into) const {
    const SinkCounts counts = sink_->counts();
    into.rows_out += counts.rows;
    into.bytes_out += counts.bytes;
}

Result<Done> SendTerminal::push(std::size_t, Frame frame) {
    if (context_.stopped) return stopped();
    return sender_->send(std::move(frame));
}

void SendTerminal::count(Counts& into) const {
    const ExchangeCounts counts = sender_->counts();
    into.rows_out += counts.rows;
    into.bytes_out += counts.bytes;
    into.stalls += counts.stalls;
}

}  // namespace baton::engine
