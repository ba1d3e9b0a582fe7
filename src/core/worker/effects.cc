#include "core/worker/effects.h"

#include "base/overload.h"

namespace baton::worker {

namespace {

std::string text_of(const control::FragmentStatus& status) {
    std::string text = to_string(status.key) + " is ";
    text += status.state ? std::string(to_string(*status.state)) : "gone";
    if (status.stopping) text += " stopping " + std::string(to_string(*status.stopping));
    return status.reason.empty() ? text : text + " (" + status.reason + ")";
}

std::string text_of(const control::Grant& grant) {
    return to_string(grant.partition) + " by " + to_string(grant.epoch);
}

template <class T>
std::string text_of(const std::vector<T>& list) {
    std::string text;
    for (const T& one : list) text += (text.empty() ? "" : ", ") + text_of(one);
    return text.empty() ? "nothing" : text;
}

std::string text_of(const control::Up& message) {
    return std::visit(Overload{
                          [](const control::Pulse& p) {
                              return "pulse " + std::to_string(p.beat) + " through " +
                                     std::to_string(p.through) + ": " + text_of(p.changed) +
                                     (p.draining ? ", draining" : "");
                          },
                          [](const control::CommandAnswer& a) {
                              const std::string to = "answer " + std::to_string(a.request) + ": ";
                              if (const auto* refusal = std::get_if<control::Refusal>(&a.outcome)) {
                                  return to + "refused, " + refusal->why;
                              }
                              return to + text_of(std::get<control::FragmentStatus>(a.outcome));
                          },
                          [](const control::Holding& h) {
                              return "holding " + std::to_string(h.number) + ": " + text_of(h.held);
                          },
                      },
                      message);
}

}  // namespace

std::string station::to_string(const Effect& effect) {
    return std::visit(
        Overload{
            [](const AnswerGreeting& e) {
                if (const auto* refusal = std::get_if<control::Refusal>(&e.answer)) {
                    return "refuse: " + refusal->why;
                }
                const auto& welcome = std::get<control::Welcome>(e.answer);
                return "welcome as " + baton::to_string(welcome.incarnation) + ": " +
                       text_of(welcome.fragments);
            },
            [](const Keep& e) {
                const std::string& catalog = e.allegiance.catalog;
                return "keep " + baton::to_string(e.allegiance.epoch) +
                       (catalog.empty() ? "" : " of " + catalog);
            },
            [](const Reply& e) { return text_of(e.message); },
            [](const engine_calls::Prepare& e) { return "prepare " + baton::to_string(e.key); },
            [](const engine_calls::Start& e) { return "start " + baton::to_string(e.key); },
            [](const engine_calls::Drain& e) { return "drain " + baton::to_string(e.key); },
            [](const engine_calls::Abort& e) { return "abort " + baton::to_string(e.key); },
            [](const holdings::Take& e) { return "take " + text_of(e.grant); },
            [](const holdings::Release& e) { return "let go of " + baton::to_string(e.partition); },
        },
        effect);
}

}  // namespace baton::worker
