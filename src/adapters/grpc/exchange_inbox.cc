#include "adapters/grpc/exchange_inbox.h"

#include <algorithm>
#include <utility>

#include "base/overload.h"
#include "base/text.h"

namespace baton {

namespace {

constexpr std::size_t kFinishedMax = 10'000;

Batch no_rows(const Schema& schema) {
    Batch batch;
    for (const Column& column : schema.columns) batch.columns.emplace_back(column.type, 0);
    return batch;
}

}  // namespace

std::string to_string(const ReceiverId& id) {
    return "exchange " + std::to_string(id.key.exchange) + " of run " + std::to_string(id.key.run) +
           " of query " + to_string(id.key.query) + " on worker " + in_quotes(id.worker);
}

Inbox::Inbox(ReceiverId id, std::vector<std::string> senders, Schema schema, ExchangeLimits limits)
    : id_(std::move(id)),
      names_(std::move(senders)),
      schema_(std::move(schema)),
      limits_(limits),
      senders_(names_.size()) {}

std::optional<std::size_t> Inbox::position_of(const std::string& sender) const {
    const auto found = std::find(names_.begin(), names_.end(), sender);
    if (found == names_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - names_.begin());
}

Error Inbox::mistrust(std::size_t sender, const std::string& why) const {
    return {.code = ErrorCode::malformed_message,
            .message = "cannot take what worker " + in_quotes(names_[sender]) + " sent to " +
                       to_string(id_) + ": " + why};
}

// ---- senders ------------------------------------------------------------------------------------

ExchangeProgress Inbox::progress_of(const Sender& sender) const {
    return {.arrived = sender.arrived,
            .items_max = sender.taken + limits_.items,
            .bytes_max = sender.taken_bytes + limits_.bytes};
}

bool Inbox::has_room(const Sender& sender) const {
    return sender.arrived < sender.taken + limits_.items &&
           sender.arrived_bytes < sender.taken_bytes + limits_.bytes;
}

ExchangeProgress Inbox::attach(std::size_t sender, std::shared_ptr<const OnRoom> on_room) {
    const std::lock_guard lock(mutex_);
    Sender& known = senders_[sender];
    known.on_room = std::move(on_room);
    if (known.attached++ > 0) counts_.reconnects += 1;
    return progress_of(known);
}

ExchangeProgress Inbox::progress(std::size_t sender) const {
    const std::lock_guard lock(mutex_);
    return progress_of(senders_[sender]);
}

Result<Done> Inbox::put(std::size_t sender, std::uint64_t number, ExchangeItem item) {
    const std::lock_guard lock(mutex_);
    Sender& known = senders_[sender];
    if (closed_) {
        return Error{.code = ErrorCode::cancelled, .message = to_string(id_) + " is closed"};
    }
    if (number <= known.arrived) return Done{};  // it was here before the connection broke
    std::string why;
    if (number != known.arrived + 1) why = "an item is missing";
    if (!has_room(known)) why = "it sends more than it may";
    if (known.finished) why = "it goes on after its end";
    if (!why.empty()) {
        if (!error_) error_ = mistrust(sender, why);
        filled_.notify_all();
        return *error_;
    }
    known.arrived = number;
    known.arrived_bytes += item.bytes;
    known.finished = std::holds_alternative<FinishMark>(item.what);
    waiting_.push_back({.sender = sender, .item = std::move(item)});
    filled_.notify_all();
    return Done{};
}

bool Inbox::wait_for_room(std::size_t sender, const std::atomic<bool>& interrupted,
                          bool& waited) const {
    std::unique_lock lock(mutex_);
    const auto ready = [&] { return interrupted || closed_ || has_room(senders_[sender]); };
    waited = !ready();
    room_.wait(lock, ready);
    return !interrupted && !closed_;
}

void Inbox::wake() const {
    { const std::lock_guard lock(mutex_); }  // whoever checked before this waits by now
    room_.notify_all();
}

// ---- the receiver -------------------------------------------------------------------------------

bool Inbox::all_ended() const {
    return std::all_of(senders_.begin(), senders_.end(), [](const Sender& s) { return s.ended; });
}

Result<Arrived> Inbox::next(Duration patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (;;) {
        TRY_ASSIGN(taken, take(deadline));
        if (taken) return *std::move(taken);
    }
}

// None: it was only the end of one of several senders.
Result<std::optional<Arrived>> Inbox::take(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    filled_.wait_until(lock, deadline,
                       [&] { return error_ || interrupted_ || !waiting_.empty() || all_ended(); });
    if (error_) return *error_;
    if (waiting_.empty()) {
        return std::optional(Arrived{.what = all_ended() ? Arrival::end : Arrival::nothing});
    }
    Waiting first = std::move(waiting_.front());
    waiting_.pop_front();
    Sender& sender = senders_[first.sender];
    sender.taken += 1;
    sender.taken_bytes += first.item.bytes;
    sender.ended = sender.ended || std::holds_alternative<FinishMark>(first.item.what);
    const bool all_over = all_ended();
    const auto on_room = sender.on_room;
    lock.unlock();
    room_.notify_all();
    if (on_room) (*on_room)();
    if (std::holds_alternative<FinishMark>(first.item.what)) {
        if (!all_over) return std::optional<Arrived>();
        return std::optional(Arrived{.what = Arrival::end, .sender = first.sender});
    }
    auto arrived = understand(first.sender, std::move(first.item));
    if (!arrived) {
        lock.lock();
        error_ = arrived.error();
        return arrived.error();
    }
    return std::optional(*std::move(arrived));
}

Result<Arrived> Inbox::understand(std::size_t sender, ExchangeItem item) {
    return std::visit(Overload{
                          [&](Announcement&& announced) -> Result<Arrived> {
                              std::optional<std::size_t>& known = senders_[sender].origins;
                              if (known) return mistrust(sender, "it announces its origins twice");
                              known = announced.origins.size();
                              return Arrived{.what = Arrival::announced,
                                             .sender = sender,
                                             .origins = std::move(announced.origins),
                                             .frame = {}};
                          },
                          [&](Frame&& frame) -> Result<Arrived> {
                              return understand_frame(sender, std::move(frame));
                          },
                          [&](EncodedFrame&& encoded) -> Result<Arrived> {
                              Frame frame{.origin = encoded.origin,
                                          .batch = {},
                                          .watermark = encoded.watermark,
                                          .end = encoded.end};
                              if (encoded.batch) {
                                  auto batch = read_arrow_batch(schema_, encoded.batch);
                                  if (!batch) return mistrust(sender, batch.error().message);
                                  frame.batch = *std::move(batch);
                              } else {
                                  frame.batch = no_rows(schema_);
                              }
                              return understand_frame(sender, std::move(frame));
                          },
                          [&](FinishMark&&) -> Result<Arrived> { return Arrived{}; },
                      },
                      std::move(item.what));
}

Result<Arrived> Inbox::understand_frame(std::size_t sender, Frame frame) {
    // Only the thread that takes reads and writes what was announced.
    if (frame.origin >= senders_[sender].origins.value_or(0)) {
        return mistrust(sender, "a frame has an origin that was not announced");
    }
    {
        const std::lock_guard lock(mutex_);
        counts_.frames += 1;
        counts_.rows += frame.batch.rows;
    }
    return Arrived{
        .what = Arrival::frame, .sender = sender, .origins = {}, .frame = std::move(frame)};
}

void Inbox::interrupt() {
    {
        const std::lock_guard lock(mutex_);
        interrupted_ = true;
    }
    filled_.notify_all();
}

void Inbox::close() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        waiting_.clear();
        for (Sender& sender : senders_) sender.on_room.reset();
    }
    room_.notify_all();
    filled_.notify_all();
}

ExchangeCounts Inbox::counts() const {
    const std::lock_guard lock(mutex_);
    ExchangeCounts counts = counts_;
    for (const Sender& sender : senders_) counts.bytes += sender.taken_bytes;
    return counts;
}

std::optional<std::map<std::string, std::uint64_t>> Inbox::finished() const {
    const std::lock_guard lock(mutex_);
    std::map<std::string, std::uint64_t> numbers;
    for (std::size_t i = 0; i < senders_.size(); ++i) {
        if (!senders_[i].finished) return std::nullopt;
        numbers[names_[i]] = senders_[i].arrived;
    }
    return numbers;
}

// ---- all receivers ------------------------------------------------------------------------------

Result<std::shared_ptr<Inbox>> Receivers::open(const ReceiverId& id,
                                               const std::vector<std::string>& senders,
                                               const Schema& schema, ExchangeLimits limits) {
    auto inbox = std::make_shared<Inbox>(id, senders, schema, limits);
    {
        const std::lock_guard lock(mutex_);
        if (!open_.emplace(id, inbox).second) {
            return Error{.code = ErrorCode::conflict,
                         .message = "cannot open " + to_string(id) + ": it is open already"};
        }
    }
    opened_.notify_all();
    return inbox;
}

void Receivers::close(const Inbox& inbox) {
    const auto finished = inbox.finished();
    const std::lock_guard lock(mutex_);
    open_.erase(inbox.id());
    if (!finished) return;
    if (finished_.emplace(inbox.id(), *finished).second) finished_order_.push_back(inbox.id());
    if (finished_order_.size() <= kFinishedMax) return;
    finished_.erase(finished_order_.front());
    finished_order_.pop_front();
}

std::shared_ptr<Inbox> Receivers::find(const ReceiverId& id) const {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(id);
    return found == open_.end() ? nullptr : found->second;
}

std::shared_ptr<Inbox> Receivers::await(const ReceiverId& id,
                                        const std::atomic<bool>& interrupted) const {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [&] { return interrupted || open_.contains(id); });
    return interrupted ? nullptr : open_.at(id);
}

void Receivers::wake() const {
    { const std::lock_guard lock(mutex_); }  // whoever checked before this waits by now
    opened_.notify_all();
}

std::optional<std::uint64_t> Receivers::finished(const ReceiverId& id,
                                                 const std::string& sender) const {
    const std::lock_guard lock(mutex_);
    const auto found = finished_.find(id);
    if (found == finished_.end()) return std::nullopt;
    const auto number = found->second.find(sender);
    if (number == found->second.end()) return std::nullopt;
    return number->second;
}

}  // namespace baton
