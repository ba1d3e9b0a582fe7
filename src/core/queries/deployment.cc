#include "core/queries/deployment.h"

#include <algorithm>

#include "base/overload.h"
#include "base/text.h"

namespace baton::queries {

Duration delay_after(const Pace& pace, unsigned failures, std::uint64_t jitter) {
    Duration delay = pace.retry_first;
    for (unsigned i = 1; i < failures && delay < pace.retry_max; ++i) delay *= 2;
    const auto half = static_cast<std::uint64_t>(delay.count() / 2);
    const auto extra = Duration(static_cast<Duration::rep>(jitter % (half + 1)));
    return std::min(delay + extra, pace.retry_max);
}

Settings settings_of(const Config& config) {
    Settings settings;
    if (const auto found = config.find("ON_FAILURE"); found != config.end()) {
        const auto* choice = std::get_if<std::string>(&found->second);
        if (choice != nullptr && equal_ignoring_case(*choice, "FAIL")) {
            settings.on_failure = OnFailure::fail;
        }
    }
    if (const auto found = config.find("DEPLOY_TIMEOUT_MS"); found != config.end()) {
        const auto* ms = std::get_if<std::int64_t>(&found->second);
        if (ms != nullptr && *ms == 0) settings.deploy_timeout.reset();
        if (ms != nullptr && *ms > 0) settings.deploy_timeout = std::chrono::milliseconds(*ms);
    }
    return settings;
}

namespace {

std::string with_reason(const std::string& text, const Reason& reason) {
    return reason.text.empty() ? text : text + " (" + reason.text + ")";
}

}  // namespace

std::string to_string(const Write& write) {
    return std::visit(Overload{
                          [](const ReportFragment& w) {
                              return with_reason("report " + to_string(w.fragment) + " " +
                                                     std::string(baton::to_string(w.state)),
                                                 w.reason);
                          },
                          [](const MarkQuery& w) {
                              const std::string lagging =
                                  w.lagging.empty() ? "" : " lagging " + join(w.lagging, ",");
                              return with_reason(
                                  "mark " + std::string(baton::to_string(w.state)) + lagging,
                                  w.reason);
                          },
                          [](const FailQuery& w) { return with_reason("fail", w.reason); },
                          [](const RestartQuery& w) { return with_reason("restart", w.reason); },
                          [](const ReleaseQuery&) { return std::string("release"); },
                      },
                      write);
}

std::string to_string(const Send& send) {
    const std::string what = baton::to_string(key_of(send.step)) + " on " + send.worker;
    return std::visit(Overload{
                          [&](const RegisterFragment&) { return "register " + what; },
                          [&](const StartFragment&) { return "start " + what; },
                          [&](const StopFragment& s) {
                              return "stop " + what + " " + std::string(baton::to_string(s.mode));
                          },
                          [&](const ForgetFragment&) { return "forget " + what; },
                      },
                      send.step);
}

}  // namespace baton::queries
