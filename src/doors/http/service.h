// Service answers requests: it identifies the client, runs the statements of the request at the
// desk, and builds the answer. It knows no sockets.
//
// serve() never waits. The reply comes once, on a thread of the desk, or before serve() returns.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

#include "doors/desk/access.h"
#include "doors/desk/desk.h"
#include "doors/desk/log_limit.h"
#include "doors/desk/logins.h"
#include "doors/desk/metrics.h"
#include "doors/http/api.h"
#include "doors/http/event_stream.h"
#include "doors/http/idempotency.h"
#include "doors/http/message.h"
#include "doors/http/request_ids.h"
#include "doors/http/site_check.h"
#include "doors/http/watch_hub.h"
#include "ports/log.h"

namespace baton::http {

struct ServiceOptions {
    ApiOptions api;
    IdempotencyOptions idempotency;
    WatchHubOptions watches;
    SitePolicy site;                 // while there are no users and tokens
    Log* log = nullptr;              // outlives the service; none: nothing is logged
    desk::Logins* logins = nullptr;  // outlives it; none: no login is delayed
};

// A request that is being served.
class Underway {
public:
    // It ends as soon as it can; its changes stay. One with an Idempotency-Key goes on unless it
    // must not: its client may come back for the answer.
    void cancel(bool must = false);

private:
    friend class Service;
    std::mutex mutex_;
    std::shared_ptr<desk::Visitor> visitor_;
    bool keeps_on_ = false;
    bool cancelled_ = false;
};

class Service {
public:
    // The desk and the metrics outlive it.
    Service(desk::Desk& desk, const desk::Access& access, desk::Metrics& metrics,
            const ServiceOptions& options = {});

    using Answered = std::variant<Response, std::shared_ptr<EventStream>>;
    using Reply = std::function<void(Answered)>;

    // The id of the request, in the log and for the client.
    [[nodiscard]] std::string id_for(const Request& head) { return ids_.id_for(head); }
    // Whether every client may make it: a request for the health of the coordinator. It has no
    // body.
    [[nodiscard]] static bool is_open(const Request& head);
    // The name under which a known caller has its share of the limits; empty: callers are not told
    // apart.
    [[nodiscard]] std::string whose(const std::string& known_as) const {
        return access_.trusts_everybody() ? std::string() : known_as;
    }
    // By the header alone, before the body is read: none: go on. `known_as` is the client that was
    // served on the same connection before: a different one is noted there, and in the log. `wait`:
    // how long to hold the answer back.
    [[nodiscard]] std::optional<Response> refusal(const Request& head, std::string& known_as,
                                                  Duration& wait);
    // From now on these may come in. Not beside refusal(), serve() and still_admits().
    void use(desk::Access access) { access_ = std::move(access); }
    // Whether who was known by this name may go on.
    [[nodiscard]] bool still_admits(const std::string& known_as) const;
    // `holds` ends when the request has ended, and nothing of its body is left.
    [[nodiscard]] std::shared_ptr<Underway> serve(Request request, Reply reply,
                                                  std::shared_ptr<const void> holds = nullptr);
    // From now on it is not ready.
    void begin_to_close() { closing_ = true; }

private:
    struct Job;
    using JobPtr = std::shared_ptr<Job>;

    [[nodiscard]] std::optional<desk::Principal> who(const Request& request) const;
    [[nodiscard]] Response unknown_token(const Request& head, Duration& wait) const;
    void start(const JobPtr& job);
    [[nodiscard]] static bool is_cancelled(const Job& job);
    void run(const JobPtr& job, Planned planned);
    void run_page(const JobPtr& job, Page page);
    void run_ask(const JobPtr& job, Ask ask);
    void run_change(const JobPtr& job, const std::shared_ptr<const Ask>& ask, int attempt);
    void follow(const JobPtr& job, const Follow& follow);
    void stream(const JobPtr& job, const Rows& rows);
    // False: it was answered from memory, or refused.
    [[nodiscard]] bool begin_once(const JobPtr& job);
    [[nodiscard]] std::shared_ptr<desk::Visitor> visitor_of(const JobPtr& job,
                                                            desk::Line line = {});
    // `again`: nothing has happened, so the same may be tried again under its key.
    void answer(const JobPtr& job, Answered answered, bool again = false);

    void log_stranger(const Request& head, const char* reason);
    void log_answer(const Job& job, unsigned status, Duration took) const;

    desk::Desk& desk_;
    desk::Access access_;
    desk::Metrics& metrics_;
    desk::DoorAnswers counts_;
    const ServiceOptions options_;
    RequestIds ids_;
    Idempotency answers_;
    std::atomic<bool> closing_{false};
    desk::LogLimit strangers_logged_;
    WatchHub hub_;
};

}  // namespace baton::http
