#include "stores/sure_store.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <thread>

#include "base/check.h"
#include "base/overload.h"
#include "base/text.h"
#include "stores/check_key.h"
#include "threads/waiting.h"

namespace baton::stores {

using store_calls::AttemptEnded;
using store_calls::CallEffect;
using store_calls::CallEvent;
using store_calls::Ending;
using store_calls::Finding;
using store_calls::Reply;
using store_calls::SureCall;

namespace {

constexpr Duration kPatienceMax = std::chrono::hours(24);

std::string hex(std::uint64_t number) {
    std::array<char, 16> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number, 16).ptr;
    return {text.data(), end};
}

Reply reply_of(AttemptTrouble trouble) {
    switch (trouble) {
        case AttemptTrouble::not_sent:
            return Reply::not_sent;
        case AttemptTrouble::throttled:
            return Reply::throttled;
        case AttemptTrouble::server:
            return Reply::server;
        case AttemptTrouble::unknown:
            return Reply::unknown;
        case AttemptTrouble::refused:
            return Reply::refused;
        case AttemptTrouble::too_large:
            return Reply::too_large;
        case AttemptTrouble::full:
            return Reply::full;
        case AttemptTrouble::given_up:
            return Reply::given_up;
    }
    CHECK(false);
}

ErrorCode code_of(AttemptTrouble trouble) {
    switch (trouble) {
        case AttemptTrouble::not_sent:
        case AttemptTrouble::throttled:
        case AttemptTrouble::server:
        case AttemptTrouble::unknown:
            return ErrorCode::store_unavailable;
        case AttemptTrouble::refused:
            return ErrorCode::store_refused;
        case AttemptTrouble::too_large:
            return ErrorCode::too_large;
        case AttemptTrouble::full:
            return ErrorCode::store_full;
        case AttemptTrouble::given_up:
            return ErrorCode::cancelled;
    }
    CHECK(false);
}

store_calls::Wanted wanted_of(const PutCondition& condition) {
    return std::visit(
        Overload{[](const Always&) { return store_calls::Wanted::always; },
                 [](const IfAbsent&) { return store_calls::Wanted::if_absent; },
                 [](const IfUnchanged&) { return store_calls::Wanted::if_unchanged; }},
        condition);
}

std::string etag_of(const PutCondition& condition) {
    const auto* unchanged = std::get_if<IfUnchanged>(&condition);
    return unchanged == nullptr ? "" : unchanged->etag;
}

// As a whole, GCC 12 takes the moved variant for one that is not initialised.
template <class Variant>
Result<Variant> moved(Variant& from) {
    return std::visit([](auto& member) -> Result<Variant> { return Variant(std::move(member)); },
                      from);
}

std::string seconds_text(Duration time) {
    const auto tenths = time / std::chrono::milliseconds(100);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

}  // namespace

void sleep_on_thread(Duration time) {
    const threads::Waiting waiting;
    std::this_thread::sleep_for(time);
}

// One call: its machine, its account, and what its last attempt said.
class SureStore::Caller {
public:
    Caller(SureStore& store, std::string what, StoreRequest kind, const StoreCall& call)
        : store_(store),
          what_(std::move(what)),
          kind_(kind),
          call_(call),
          begun_(store.clock_.now()),
          machine_({.is_put = kind == StoreRequest::put,
                    .patience = std::clamp(call.patience, Duration(0), kPatienceMax),
                    .seed = store.draw()},
                   begun_) {}

    // `attempt` takes an AttemptCall and returns an Attempted<T>; `look` a Finding or a failure.
    template <class T, class Attempt, class Look>
    Ending run(const Attempt& attempt, const Look& look, std::optional<T>& answer) {
        CallEffect effect = store_.step(machine_, store_calls::CallBegun{});
        while (true) {
            if (const auto* end = std::get_if<store_calls::EndCall>(&effect)) return end->ending;
            CallEvent event = store_calls::CallGivenUp{};
            if (!has_given_up()) {
                event = std::visit(
                    Overload{[&](const store_calls::SendAttempt& send) -> CallEvent {
                                 return sent(attempt(limits(send.deadlines)), answer);
                             },
                             [&](const store_calls::LookAtObject& send) -> CallEvent {
                                 return look(*this, limits(send.deadlines));
                             },
                             [&](const store_calls::WaitUntil& wait) -> CallEvent {
                                 return wait_until(wait.time);
                             },
                             [](const store_calls::EndCall&) -> CallEvent { CHECK(false); }},
                    effect);
            }
            effect = store_.step(machine_, event);
        }
    }

    template <class T>
    void count(StoreRequest kind, const Attempted<T>& attempted) {
        StoreUse use;
        use.requests[static_cast<std::size_t>(kind)] = attempted.cost.requests;
        use.bytes_in = attempted.cost.bytes_in;
        use.bytes_out = attempted.cost.bytes_out;
        use.repeats = asked_before_ ? 1 : 0;
        asked_before_ = true;
        const auto* failure = std::get_if<AttemptFailure>(&attempted.outcome);
        const bool throttled = failure != nullptr && failure->trouble == AttemptTrouble::throttled;
        use.throttles = throttled ? 1 : 0;
        store_.account_.add(use);
        if (call_.account != nullptr) call_.account->add(use);
    }

    CallEvent failed(const AttemptFailure& failure) {
        last_ = failure;
        return AttemptEnded{.reply = reply_of(failure.trouble)};
    }

    [[nodiscard]] Error error(Ending ending) const {
        Error error{.code = code_of(last_.trouble), .hint = last_.hint};
        std::string why = last_.why.empty() ? "there was no time to try" : last_.why;
        if (ending == Ending::cancelled) {
            error.code = ErrorCode::cancelled;
            why = "the caller gave up";
        } else if (ending == Ending::unknown) {
            error.code = ErrorCode::unknown_outcome;
            why += "; it may have happened";
            if (error.hint.empty()) error.hint = "read the object before you try again";
        } else if (error.code == ErrorCode::cancelled) {
            error.code = ErrorCode::store_unavailable;
        }
        error.message = "cannot " + what_ + " in " + in_quotes(store_.url()) + ": " + why + tries();
        return error;
    }

private:
    [[nodiscard]] bool has_given_up() const { return call_.given_up && call_.given_up(); }

    [[nodiscard]] AttemptCall limits(const store_calls::Deadlines& deadlines) const {
        return {.connect_max = deadlines.connect,
                .silence_max = deadlines.silence,
                .time_max = deadlines.whole,
                .given_up = call_.given_up};
    }

    template <class T>
    CallEvent sent(Attempted<T> attempted, std::optional<T>& answer) {
        count(kind_, attempted);
        if (const auto* failure = std::get_if<AttemptFailure>(&attempted.outcome)) {
            return failed(*failure);
        }
        answer = std::get<T>(std::move(attempted.outcome));
        return AttemptEnded{.reply = reply_of_answer(*answer)};
    }
    static Reply reply_of_answer(const PutOutcome& outcome) {
        return std::holds_alternative<Stored>(outcome) ? Reply::done : Reply::condition_failed;
    }
    template <class T>
    static Reply reply_of_answer(const T& /*answer*/) {
        return Reply::done;
    }

    CallEvent wait_until(Instant time) {
        constexpr Duration kSlice = std::chrono::milliseconds(50);
        while (!has_given_up()) {
            const Instant now = store_.clock_.now();
            if (now >= time) return store_calls::WaitOver{};
            store_.sleep_(std::min<Duration>(time - now, kSlice));
        }
        return store_calls::CallGivenUp{};
    }

    [[nodiscard]] std::string tries() const {
        if (machine_.repeats() == 0) return "";
        return " (" + std::to_string(machine_.repeats() + 1) + " attempts in " +
               seconds_text(store_.clock_.now() - begun_) + ")";
    }

    SureStore& store_;
    const std::string what_;
    const StoreRequest kind_;
    const StoreCall& call_;
    const Instant begun_;
    SureCall machine_;
    AttemptFailure last_{.trouble = AttemptTrouble::not_sent};
    bool asked_before_ = false;
};

namespace {

// Of a call that changes nothing, or that may be done twice: there is nothing to look at.
constexpr auto kNothingToSettle = [](auto& /*caller*/, const AttemptCall& /*call*/) -> CallEvent {
    CHECK(false);
};

}  // namespace

SureStore::SureStore(std::unique_ptr<StoreAttempts> attempts, const Clock& clock,
                     std::uint64_t seed, Sleep sleep)
    : attempts_(std::move(attempts)),
      clock_(clock),
      sleep_(std::move(sleep)),
      process_(hex(seed)),
      prng_(seed) {}

SureStore::~SureStore() = default;

std::uint64_t SureStore::draw() {
    const std::lock_guard lock(mutex_);
    return prng_.next();
}

CallEffect SureStore::step(SureCall& machine, const CallEvent& event) {
    const Instant now = clock_.now();
    const std::lock_guard lock(mutex_);
    return machine.step(now, event, pace_);
}

Result<Got> SureStore::get(const std::string& key, const GetOptions& options,
                           const StoreCall& call) {
    TRY(check_key(key));
    Caller caller(*this, "read " + shown_key(key), StoreRequest::get, call);
    std::optional<GotWithStamp> answer;
    const Ending ending = caller.run<GotWithStamp>(
        [&](const AttemptCall& attempt) { return attempts_->get(key, options, attempt); },
        kNothingToSettle, answer);
    if (ending != Ending::done) return caller.error(ending);
    return moved<Got>(answer->got);
}

Result<PutOutcome> SureStore::put(const std::string& key, std::string_view bytes,
                                  const PutCondition& condition, const StoreCall& call) {
    return put_body(key, {.body = bytes, .condition = condition, .stamp = {}}, bytes.size(), call);
}

Result<PutOutcome> SureStore::put_file(const std::string& key, const std::string& path,
                                       const PutCondition& condition, const StoreCall& call) {
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    if (error) {
        return Error{.code = ErrorCode::cannot_read,
                     .message = "cannot read " + in_quotes(path) + " to store it as " +
                                shown_key(key) + ": " + error.message()};
    }
    return put_body(key, {.body = PutFile{path}, .condition = condition, .stamp = {}}, size, call);
}

Result<PutOutcome> SureStore::put_body(const std::string& key, const PutAttempt& put,
                                       std::uint64_t size, const StoreCall& call) {
    TRY(check_key(key));
    const std::string nonce = process_ + "-" + hex(draw());
    const store_calls::Wanted wanted = wanted_of(put.condition);
    const store_calls::Put mine{
        .wanted = wanted,
        .etag = etag_of(put.condition),
        .stamp = store_calls::stamp_of(nonce, wanted, etag_of(put.condition)),
        .size = size};
    const PutAttempt stamped{.body = put.body, .condition = put.condition, .stamp = mine.stamp};
    std::string found_etag;
    const auto look = [&](Caller& caller, const AttemptCall& attempt) -> CallEvent {
        const GetOptions first_byte{.range = ByteRange{.offset = 0, .length = 1},
                                    .unless_etag = {}};
        const auto got = attempts_->get(key, first_byte, attempt);
        caller.count(StoreRequest::get, got);
        if (const auto* failure = std::get_if<AttemptFailure>(&got.outcome)) {
            return caller.failed(*failure);
        }
        const auto& answer = std::get<GotWithStamp>(got.outcome);
        const auto* object = std::get_if<StoredObject>(&answer.got);
        std::optional<store_calls::Sight> sight;
        if (object != nullptr) {
            sight = store_calls::Sight{.stamp = answer.stamp, .size = object->size};
            found_etag = object->etag;
        }
        return store_calls::ObjectSeen{.finding = store_calls::judge(mine, sight)};
    };
    Caller caller(*this, "write " + shown_key(key), StoreRequest::put, call);
    std::optional<PutOutcome> answer;
    const Ending ending = caller.run<PutOutcome>(
        [&](const AttemptCall& attempt) { return attempts_->put(key, stamped, attempt); }, look,
        answer);
    if (ending == Ending::done) return moved<PutOutcome>(*answer);
    if (ending == Ending::found_done) return PutOutcome(Stored{.etag = found_etag});
    if (ending == Ending::condition_failed) return PutOutcome(ConditionFailed{});
    return caller.error(ending);
}

Result<ListPage> SureStore::list(const ListOptions& options, const StoreCall& call) {
    TRY(check_prefix(options.prefix));
    if (options.after.size() > kKeyBytesMax + 1) TRY(check_prefix(options.after));
    ListOptions bounded = options;
    bounded.entries_max = std::clamp<std::size_t>(options.entries_max, 1, 1'000);
    Caller caller(*this, "list " + shown_key(options.prefix), StoreRequest::list, call);
    std::optional<ListPage> answer;
    const Ending ending = caller.run<ListPage>(
        [&](const AttemptCall& attempt) { return attempts_->list(bounded, attempt); },
        kNothingToSettle, answer);
    if (ending != Ending::done) return caller.error(ending);
    return Result<ListPage>(*std::move(answer));
}

Result<Done> SureStore::remove(const std::vector<std::string>& keys, const StoreCall& call) {
    for (const std::string& key : keys) TRY(check_key(key));
    const std::span<const std::string> all(keys);
    for (std::size_t at = 0; at < all.size(); at += StoreAttempts::kKeysOfRemoveMax) {
        const std::size_t count = std::min(StoreAttempts::kKeysOfRemoveMax, all.size() - at);
        TRY(remove_page(all.subspan(at, count), call));
    }
    return Done{};
}

Result<Done> SureStore::remove_page(std::span<const std::string> keys, const StoreCall& call) {
    const std::string more =
        keys.size() == 1 ? "" : " and " + std::to_string(keys.size() - 1) + " more objects";
    Caller caller(*this, "remove " + shown_key(keys.front()) + more, StoreRequest::remove, call);
    std::optional<Done> answer;
    const Ending ending = caller.run<Done>(
        [&](const AttemptCall& attempt) { return attempts_->remove(keys, attempt); },
        kNothingToSettle, answer);
    if (ending != Ending::done) return caller.error(ending);
    return Done{};
}

std::optional<std::string> SureStore::path_of(const std::string& key) const {
    if (!check_key(key)) return std::nullopt;
    return attempts_->path_of(key);
}

}  // namespace baton::stores
