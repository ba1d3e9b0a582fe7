#include "adapters/grpc/exchange_inbox.h"

#include <utility>

#include "adapters/grpc/exchange_wire.h"
#include "base/overload.h"
#include "base/text.h"

namespace baton::rpc {

namespace {

engine::Batch no_rows(const Schema& schema) {
    engine::Batch batch;
    for (const Column& column : schema.columns) batch.columns.emplace_back(column.type, 0);
    return batch;
}

exchange::Content content_of(const ExchangeItem& item) {
    return std::visit(
        Overload{
            [](const Announcement& announced) -> exchange::Content {
                return exchange::Announces{announced.origins.size()};
            },
            [](const engine::Frame& frame) -> exchange::Content {
                return exchange::Carries{frame.origin};
            },
            [](const EncodedFrame& frame) -> exchange::Content {
                return exchange::Carries{frame.origin};
            },
            [](const FinishMark&) -> exchange::Content { return exchange::Finishes{}; },
        },
        item.what);
}

}  // namespace

SharedInbox::SharedInbox(exchange::ReceiverId id, std::vector<std::string> senders, Schema schema,
                         exchange::Limits limits)
    : id_(std::move(id)),
      names_(std::move(senders)),
      schema_(std::move(schema)),
      inbox_(names_.size(), limits) {}

Error SharedInbox::mistrust(const exchange::Fault& fault) const {
    return {.code = ErrorCode::malformed_message,
            .message = "cannot take the items that worker " + in_quotes(names_[fault.sender]) +
                       " sent to " + to_string(id_) + ": " + fault.why};
}

// ---- senders ------------------------------------------------------------------------------------

SharedInbox::Attached SharedInbox::attach(std::size_t sender,
                                          std::shared_ptr<const OnRoom> on_room) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t stream = inbox_.attach(sender);
    on_room_[{sender, stream}] = std::move(on_room);
    return {.stream = stream, .progress = inbox_.progress(sender)};
}

void SharedInbox::detach(std::size_t sender, std::uint64_t stream) {
    const std::lock_guard lock(mutex_);
    inbox_.detach(sender, stream);
    on_room_.erase({sender, stream});
}

exchange::Progress SharedInbox::progress(std::size_t sender) const {
    const std::lock_guard lock(mutex_);
    return inbox_.progress(sender);
}

Result<Done> SharedInbox::put(std::size_t sender, std::uint64_t number, ExchangeItem item) {
    const exchange::Content content = content_of(item);
    const std::lock_guard lock(mutex_);
    const auto put = inbox_.put(
        sender,
        {.number = number, .bytes = item.bytes, .content = content, .item = std::move(item.what)});
    switch (put) {
        case exchange::Put::known:
            return Done{};
        case exchange::Put::kept:
            filled_.notify_all();
            return Done{};
        case exchange::Put::faulty:
            filled_.notify_all();
            return mistrust(*inbox_.fault());
        case exchange::Put::closed:
            break;
    }
    return Error{.code = ErrorCode::cancelled, .message = to_string(id_) + " is closed"};
}

bool SharedInbox::wait_for_room(std::size_t sender, const std::atomic<bool>& interrupted,
                                bool& waited) const {
    std::unique_lock lock(mutex_);
    const auto ready = [&] { return interrupted || inbox_.is_closed() || inbox_.has_room(sender); };
    waited = !ready();
    room_.wait(lock, ready);
    return !interrupted && !inbox_.is_closed();
}

void SharedInbox::wake() const {
    { const std::lock_guard lock(mutex_); }  // a sender that checked before this waits by now
    room_.notify_all();
}

// ---- the receiver -------------------------------------------------------------------------------

Result<engine::Arrived> SharedInbox::next(Duration patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (;;) {
        TRY_ASSIGN(taken, take(deadline));
        if (taken) return *std::move(taken);
    }
}

// None: it was only the end of one of several senders.
Result<std::optional<engine::Arrived>> SharedInbox::take(
    std::chrono::steady_clock::time_point deadline) {
    using Outcome = Result<std::optional<engine::Arrived>>;
    std::unique_lock lock(mutex_);
    filled_.wait_until(lock, deadline, [&] { return !inbox_.must_wait(); });
    Inbox::Next next = inbox_.take();
    const auto tell = [&](std::size_t sender) {
        std::vector<std::shared_ptr<const OnRoom>> told;
        for (const std::uint64_t stream : inbox_.streams(sender)) {
            const auto found = on_room_.find({sender, stream});
            if (found != on_room_.end()) told.push_back(found->second);
        }
        lock.unlock();
        room_.notify_all();
        for (const auto& on_room : told) (*on_room)();
    };
    return std::visit(
        Overload{
            [&](Inbox::Taken& taken) -> Outcome {
                tell(taken.sender);
                TRY_ASSIGN(arrived, understand(taken.sender, std::move(taken.item)));
                return std::optional(std::move(arrived));
            },
            [&](Inbox::SenderEnded& ended) -> Outcome {
                tell(ended.sender);
                if (!ended.all) return std::optional<engine::Arrived>();
                return std::optional(
                    engine::Arrived{.what = engine::Arrival::end, .sender = ended.sender});
            },
            [](Inbox::AllEnded&) -> Outcome {
                return std::optional(engine::Arrived{.what = engine::Arrival::end});
            },
            [](Inbox::Nothing&) -> Outcome { return std::optional(engine::Arrived{}); },
            [&](exchange::Fault& fault) -> Outcome { return mistrust(fault); },
        },
        next);
}

Result<engine::Arrived> SharedInbox::understand(std::size_t sender, Contents contents) {
    return std::visit(Overload{
                          [&](Announcement&& announced) -> Result<engine::Arrived> {
                              return engine::Arrived{.what = engine::Arrival::announced,
                                                     .sender = sender,
                                                     .origins = std::move(announced.origins),
                                                     .frame = {}};
                          },
                          [&](engine::Frame&& frame) -> Result<engine::Arrived> {
                              return count(sender, std::move(frame));
                          },
                          [&](EncodedFrame&& encoded) -> Result<engine::Arrived> {
                              engine::Frame frame{.origin = encoded.origin,
                                                  .batch = {},
                                                  .watermark = encoded.watermark,
                                                  .end = encoded.end};
                              if (!encoded.batch) {
                                  frame.batch = no_rows(schema_);
                                  return count(sender, std::move(frame));
                              }
                              auto batch = arrow::read_arrow_batch(schema_, encoded.batch);
                              if (!batch) {
                                  const std::lock_guard lock(mutex_);
                                  inbox_.distrust(sender, batch.error().message);
                                  return mistrust(*inbox_.fault());
                              }
                              frame.batch = *std::move(batch);
                              return count(sender, std::move(frame));
                          },
                          [](FinishMark&&) -> Result<engine::Arrived> { return engine::Arrived{}; },
                      },
                      std::move(contents));
}

engine::Arrived SharedInbox::count(std::size_t sender, engine::Frame frame) {
    const std::lock_guard lock(mutex_);
    counts_.frames += 1;
    counts_.rows += frame.batch.rows;
    return {
        .what = engine::Arrival::frame, .sender = sender, .origins = {}, .frame = std::move(frame)};
}

void SharedInbox::interrupt() {
    {
        const std::lock_guard lock(mutex_);
        inbox_.interrupt();
    }
    filled_.notify_all();
}

void SharedInbox::close() {
    {
        const std::lock_guard lock(mutex_);
        inbox_.close();
        on_room_.clear();
    }
    room_.notify_all();
    filled_.notify_all();
}

engine::ExchangeCounts SharedInbox::counts() const {
    const std::lock_guard lock(mutex_);
    engine::ExchangeCounts counts = counts_;
    counts.bytes = inbox_.taken_bytes();
    counts.reconnects = inbox_.reconnects();
    return counts;
}

std::optional<std::vector<std::uint64_t>> SharedInbox::finished() const {
    const std::lock_guard lock(mutex_);
    return inbox_.finished();
}

// ---- all receivers ------------------------------------------------------------------------------

Result<std::shared_ptr<SharedInbox>> Receivers::open(const exchange::ReceiverId& id,
                                                     const std::vector<std::string>& senders,
                                                     const Schema& schema,
                                                     exchange::Limits limits) {
    auto inbox = std::make_shared<SharedInbox>(id, senders, schema, limits);
    {
        const std::lock_guard lock(mutex_);
        if (!directory_.open(id, {.senders = senders, .schema = fingerprint(schema)}, inbox)) {
            return Error{.code = ErrorCode::conflict,
                         .message = "cannot open " + to_string(id) + ": it is open already"};
        }
    }
    opened_.notify_all();
    return inbox;
}

void Receivers::close(const SharedInbox& inbox) {
    const auto finished = inbox.finished();
    const std::lock_guard lock(mutex_);
    directory_.close(inbox.id(), finished);
}

Receivers::Directory::Admission Receivers::admit(const exchange::ReceiverId& id,
                                                 const std::string& sender,
                                                 std::uint64_t schema) const {
    const std::lock_guard lock(mutex_);
    return directory_.admit(id, sender, schema);
}

std::optional<Receivers::Directory::Admission> Receivers::await(
    const exchange::ReceiverId& id, const std::string& sender, std::uint64_t schema,
    const std::atomic<bool>& interrupted) const {
    std::unique_lock lock(mutex_);
    for (;;) {
        if (interrupted) return std::nullopt;
        auto admission = directory_.admit(id, sender, schema);
        if (std::holds_alternative<Directory::Admitted>(admission)) return admission;
        const auto* refused = std::get_if<exchange::Refused>(&admission);
        if (refused != nullptr && refused->for_good) return admission;
        opened_.wait(lock);
    }
}

void Receivers::wake() const {
    { const std::lock_guard lock(mutex_); }  // a sender that checked before this waits by now
    opened_.notify_all();
}

}  // namespace baton::rpc
