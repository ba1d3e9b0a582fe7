#include "sim/leader_lines.h"

#include <memory>

namespace baton::sim {

using namespace std::chrono_literals;

// One bundle under way. The agenda keeps it.
class LeaderLines::Call : public std::enable_shared_from_this<LeaderLines::Call> {
public:
    Call(World& world, RequestChecks& checks, ForwardedBundle bundle, Answered answered)
        : world_(world),
          checks_(checks),
          bundle_(std::move(bundle)),
          answered_(std::move(answered)) {}

    void refuse() {
        after(world_.up_to(5ms), [](Call& call) {
            call.end(NotSent{{.code = ErrorCode::cannot_connect, .message = "nobody is there"}});
        });
    }

    void send_to(const Host& host) {
        after(bundle_.patience, [](Call& call) { call.lose("no answer came in time"); });
        after(travel(), [&host](Call& call) { call.arrive(host); });
    }

private:
    void after(Duration delay, const std::function<void(Call&)>& action) {
        world_.agenda.after(delay, [self = shared_from_this(), action] { action(*self); });
    }
    Duration travel() {
        constexpr Duration kSlowMax = 20s;
        if (!world_.happens(world_.unkindness.line_slow)) return world_.up_to(5ms);
        return world_.up_to(world_.prng.chance(3, 4) ? Duration(1s) : kSlowMax);
    }
    // The connection breaks, or there is silence.
    void lose_or_keep_silent() {
        if (world_.prng.chance(1, 2)) lose("the connection was lost");
    }
    void lose(const std::string& why) {
        end(AnswerLost{{.code = ErrorCode::unknown_outcome, .message = why}});
    }

    void arrive(const Host& host) {
        if (!host.is_up()) return lose("the connection was lost");
        if (world_.happens(world_.unkindness.line_lost)) return lose_or_keep_silent();
        host.take(bundle_.text,
                  [self = shared_from_this()](const std::string& answer) { self->bring(answer); });
    }

    void bring(const std::string& answer) {
        if (world_.happens(world_.unkindness.line_lost)) {
            if (world_.prng.chance(2, 3)) return lose_or_keep_silent();
            return after(travel(), [part = answer.substr(0, answer.size() / 2)](Call& call) {
                call.end(part);
            });
        }
        after(travel(), [answer](Call& call) { call.end(answer); });
    }

    void end(const LineAnswer& answer) {
        if (over_) return;
        over_ = true;
        const auto* text = std::get_if<std::string>(&answer);
        const bool unsent = std::holds_alternative<NotSent>(answer);
        checks_.came_back(bundle_.text, unsent ? std::nullopt : std::optional(text ? *text : ""));
        answered_(answer);
    }

    World& world_;
    RequestChecks& checks_;
    const ForwardedBundle bundle_;
    const Answered answered_;
    bool over_ = false;
};

void LeaderLines::ask(const ForwardedBundle& bundle, const Answered& answered) {
    checks_.sent(bundle.from, bundle.text);
    const auto call = std::make_shared<Call>(world_, checks_, bundle, answered);
    const auto host = hosts_.find(bundle.to);
    const bool reached = host != hosts_.end() && host->second.is_up() &&
                         !world_.happens(world_.unkindness.line_refused);
    if (reached) return call->send_to(host->second);
    call->refuse();
}

}  // namespace baton::sim
