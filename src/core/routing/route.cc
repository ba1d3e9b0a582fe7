#include "core/routing/route.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace baton::routing {

using namespace routing;  // NOLINT: its events and steps

namespace {

// After so many plans outside of the writer others wait until it has made one itself.
constexpr unsigned kPlansOutside = 8;

Step refuse(ErrorCode code, std::string message, std::string hint) {
    return End(Refuse{{.code = code, .message = std::move(message), .hint = std::move(hint)}});
}

Error nobody_leads() {
    return {.code = ErrorCode::fenced,
            .message = "no coordinator leads now, so nothing is changed",
            .hint = "try again in a moment"};
}

}  // namespace

Error not_leading(const std::optional<Leader>& leader) {
    return {.code = ErrorCode::fenced,
            .message = "this coordinator does not lead, so it changes nothing",
            .hint = leader ? "ask the coordinator that leads: " + leader->address
                           : "no coordinator leads now; try again in a moment"};
}

Step Route::step(const Sight& sight, const Event& event) {
    return std::visit([&](const auto& told) { return on(sight, told); }, event);
}

// ---- in a term of this coordinator --------------------------------------------------------------

Step Route::on(const Sight& sight, const Begun& /*event*/) {
    return begin(sight);
}

Step Route::begin(const Sight& sight) {
    news_ = sight.news;
    if (only_leader()) return beyond_term(sight);
    if (!sight.own_term) return without_term(sight);
    term_ = sight.own_term;
    replanned_ = 0;
    return Here(Plan{});
}

Step Route::on(const Sight& /*sight*/, const Planned& /*event*/) {
    return Here(Commit{.writer_plans = writer_plans_});
}

Step Route::on(const Sight& /*sight*/, const Happened& /*event*/) {
    return End(Answer{});
}

Step Route::on(const Sight& /*sight*/, const NeedsPlan& event) {
    CHECK(!writer_plans_);
    replanned_ += 1;
    writer_plans_ = replanned_ > kPlansOutside;
    return Here(PlanAgain{event.step});
}

// It came too late if the term was over. Without a term this is the end of it here.
Step Route::on(const Sight& sight, const RefusedHere& event) {
    const bool still_there = sight.own_term && sight.own_term == term_;
    const bool too_late = event.code == ErrorCode::fenced ||
                          (event.code == ErrorCode::catalog_unavailable && !still_there);
    if (!too_late || request_.reach == Reach::here) return End(Answer{});
    if (!still_there || request_.reach != Reach::anywhere) return without_term(sight);
    // Deposed, and not told so yet.
    if (sight.cancelled || sight.now >= request_.deadline) {
        return End(Refuse{not_leading(sight.leader)});
    }
    return There(Wait{.news = news_, .until = sight.now + timing_.pause, .doubts_leader = false});
}

// ---- where another coordinator leads ------------------------------------------------------------

Step Route::without_term(const Sight& sight) {
    switch (request_.reach) {
        case Reach::here:
        case Reach::passed_on:
            return End(Refuse{not_leading(sight.leader)});
        case Reach::here_now:
            return End(Elsewhere{});
        case Reach::anywhere:
        case Reach::leader_alone:
            return beyond_term(sight);
    }
    CHECK(false && "a reach that is not in the list");
}

// Nobody can come to lead while the database is away: that is said soon.
Step Route::beyond_term(const Sight& sight) {
    term_.reset();
    if (!sight.leader && !only_leader()) return Here(LookAtDatabase{});
    return look_for_leader(sight);
}

Step Route::on(const Sight& sight, const DatabaseLooked& event) {
    if (event.failure && event.failure->code == ErrorCode::catalog_unavailable) {
        return End(Refuse{*event.failure});
    }
    return look_for_leader(sight);
}

Step Route::look_for_leader(const Sight& sight) {
    slice_end_ = request_.deadline;
    if (!only_leader()) slice_end_ = std::min(slice_end_, sight.now + timing_.slice);
    return written_ ? attempt(sight) : Step(There(WriteOrder{}));
}

Step Route::on(const Sight& sight, const OrderWritten& /*event*/) {
    written_ = true;
    return attempt(sight);
}

Step Route::on(const Sight& /*sight*/, const OrderNotWritten& event) {
    return End(Refuse{event.why});
}

Step Route::attempt(const Sight& sight) {
    if (sight.own_term) return only_leader() ? Step(End(Elsewhere{})) : begin(sight);
    if (sight.cancelled) {
        return refuse(ErrorCode::cancelled, "it was cancelled before it was forwarded",
                      "nothing has happened");
    }
    news_ = sight.news;
    if (!sight.leader) return try_again(sight, nobody_leads());
    asked_ = sight.leader->address;
    return There(Forward{.address = asked_, .patience = timing_.answer});
}

Step Route::try_again(const Sight& sight, Error why_not) {
    if (sight.now >= request_.deadline) return End(Refuse{std::move(why_not)});
    if (sight.now >= slice_end_) return begin(sight);
    return There(Wait{.news = news_,
                      .until = std::min(slice_end_, sight.now + timing_.pause),
                      .doubts_leader = true});
}

Step Route::on(const Sight& sight, const Woken& /*event*/) {
    if (term_) return begin(sight);
    if (sight.now >= slice_end_ && slice_end_ < request_.deadline) return begin(sight);
    return attempt(sight);
}

Step Route::on(const Sight& /*sight*/, const HappenedThere& /*event*/) {
    return End(Answer{});
}

Step Route::on(const Sight& sight, const RefusedThere& event) {
    if (event.why.code != ErrorCode::fenced) return End(Answer{});
    return try_again(sight, event.why);
}

Step Route::on(const Sight& sight, const NotSent& event) {
    Error why{.code = ErrorCode::fenced,
              .message = "the coordinator that leads, at " + asked_ +
                         ", cannot be asked: " + event.why.message,
              .hint = "nothing has happened; try again in a moment"};
    const bool for_good = event.why.code == ErrorCode::not_authenticated ||
                          event.why.code == ErrorCode::not_supported;
    return for_good ? Step(End(Refuse{std::move(why)})) : try_again(sight, std::move(why));
}

Step Route::on(const Sight& sight, const AnswerLost& event) {
    if (request_.trial && !sight.cancelled) {
        return try_again(sight, {.code = ErrorCode::fenced,
                                 .message = event.why.message,
                                 .hint = "nothing has happened"});
    }
    return refuse(ErrorCode::unknown_outcome,
                  "it was forwarded to the coordinator that leads, at " + asked_ +
                      ", and no answer came: " + event.why.message,
                  "look before it is tried again: it may or may not have happened");
}

}  // namespace baton::routing
