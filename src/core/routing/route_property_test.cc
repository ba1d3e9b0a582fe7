// Whatever happens around a request, its route keeps what it promises.
#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "core/routing/route.h"

namespace baton::routing {
namespace {

using namespace routing;  // NOLINT: its events and steps
using std::chrono::milliseconds;
using std::chrono::seconds;

std::uint64_t below(std::uint64_t limit) {
    return *rc::gen::inRange<std::uint64_t>(0, limit);
}

// A world of dice around one request, and what is seen of it from outside.
class Walk {
public:
    Walk() {
        request_.reach = static_cast<Reach>(below(5));
        request_.trial = below(4) == 0;
        request_.deadline = start_ + seconds(15);
        sight_.now = start_;
        change();
    }

    void go() {
        Route route(request_);
        Event event = Begun{};
        for (int steps = 0;; ++steps) {
            RC_ASSERT(steps < 5'000);
            const Step step = route.step(sight_, event);
            if (const auto* end = std::get_if<End>(&step)) return check(*end);
            pass();
            event = std::holds_alternative<Here>(step) ? taken(std::get<Here>(step))
                                                       : taken(std::get<There>(step));
        }
    }

private:
    static Error error(ErrorCode code) { return {.code = code, .message = "why"}; }

    void change() {
        sight_.news += 1;
        sight_.own_term.reset();
        sight_.leader.reset();
        const std::uint64_t dice = below(4);
        if (dice == 0) sight_.own_term = TermNumber(++terms_);
        if (dice == 1) sight_.leader = Leader{.address = "a:1", .epoch = Epoch(1)};
        if (dice == 2) sight_.leader = Leader{.address = "b:2", .epoch = Epoch(2)};
    }
    void pass() {
        sight_.now += milliseconds(below(20));
        if (below(3) == 0) change();
        if (below(30) == 0) sight_.cancelled = true;
    }

    Event taken(const Here& step) {
        if (std::holds_alternative<LookAtDatabase>(step)) {
            if (below(10) > 0) return DatabaseLooked{};
            return DatabaseLooked{error(ErrorCode::catalog_unavailable)};
        }
        RC_ASSERT(request_.reach != Reach::leader_alone);
        RC_ASSERT(request_.trial || (happened_ == 0 && !lost_));
        const auto* commit = std::get_if<Commit>(&step);
        if (commit == nullptr && below(5) > 0) return Planned{};
        if (commit != nullptr && below(3) == 0) {
            happened_ += 1;
            return Happened{};
        }
        if (commit != nullptr && below(8) == 0) {
            lost_ = true;
            happened_ += below(2);
            return RefusedHere{ErrorCode::unknown_outcome};
        }
        if (commit != nullptr && !commit->writer_plans && below(2) == 0) return NeedsPlan{};
        return RefusedHere{pick({ErrorCode::fenced, ErrorCode::fenced, ErrorCode::unknown_sink,
                                 ErrorCode::catalog_unavailable})};
    }

    Event taken(const There& step) {
        RC_ASSERT(request_.reach == Reach::anywhere || request_.reach == Reach::leader_alone);
        if (const auto* wait = std::get_if<Wait>(&step)) {
            RC_ASSERT(sight_.now - milliseconds(20) < request_.deadline);
            if (wait->news == sight_.news) sight_.now = std::max(sight_.now, wait->until);
            return Woken{};
        }
        if (std::holds_alternative<WriteOrder>(step)) {
            written_ = true;
            return OrderWritten{};
        }
        return forwarded(std::get<Forward>(step));
    }

    Event forwarded(const Forward& step) {
        RC_ASSERT(written_);
        RC_ASSERT(step.address == "a:1" || step.address == "b:2");
        RC_ASSERT(request_.trial || (happened_ == 0 && !lost_));
        RC_ASSERT(asked_ == 0 || sight_.now - milliseconds(100) < request_.deadline);
        asked_ += 1;
        if (below(10) == 0) sight_.now += seconds(below(20));
        switch (below(4)) {
            case 0:
                happened_ += 1;
                answered_ = true;
                return HappenedThere{};
            case 1:
                lost_ = true;
                happened_ += below(2);
                return AnswerLost{{.message = "it broke"}};
            case 2:
                return RefusedThere{
                    error(pick({ErrorCode::fenced, ErrorCode::fenced, ErrorCode::unknown_sink}))};
            default:
                return NotSent{
                    error(pick({ErrorCode::cannot_connect, ErrorCode::not_authenticated}))};
        }
    }

    static ErrorCode pick(const std::vector<ErrorCode>& codes) {
        return codes.at(below(codes.size()));
    }

    void check(const End& end) {
        if (std::holds_alternative<Elsewhere>(end)) {
            RC_ASSERT(happened_ == 0 || request_.trial);
            RC_ASSERT(request_.reach == Reach::here_now || request_.reach == Reach::leader_alone);
        }
        const auto* refuse = std::get_if<Refuse>(&end);
        if (refuse == nullptr) return;
        RC_ASSERT(!answered_);
        if (refuse->why.code == ErrorCode::unknown_outcome) {
            RC_ASSERT(lost_);
        } else {
            RC_ASSERT(happened_ == 0 || request_.trial);
        }
    }

    const Instant start_ = Instant(seconds(100));
    Request request_;
    Sight sight_;
    std::uint64_t terms_ = 0;
    std::uint64_t happened_ = 0;
    std::uint64_t asked_ = 0;
    bool written_ = false;
    bool lost_ = false;
    bool answered_ = false;
};

RC_GTEST_PROP(RouteProperty, ARequestHappensAtMostOnceAndIsAnswered, ()) {
    Walk().go();
}

}  // namespace
}  // namespace baton::routing
