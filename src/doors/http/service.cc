#include "doors/http/service.h"

#include "adapters/system/digest.h"
#include "base/overload.h"
#include "base/text.h"
#include "doors/http/manual.h"
#include "doors/http/metrics_page.h"
#include "doors/http/problems.h"
#include "doors/http/row_events.h"
#include "sql/printer.h"

namespace baton::http {

namespace {

constexpr std::size_t kKeyMax = 255;
constexpr std::size_t kPlannedAtOnceMax = 64 * 1024;  // of a body; more of it takes its time
constexpr int kAttemptsMax = 5;

Response text_page(std::string text, std::string type = "text/plain; charset=utf-8") {
    return {.status = 200, .content_type = std::move(type), .headers = {}, .body = std::move(text)};
}

std::string digest_of(const Request& request) {
    const std::string* type = request.header("content-type");
    const std::string text = request.method + "\n" + request.target + "\n" +
                             (type == nullptr ? "" : *type) + "\n" + request.body;
    return system::sha256_hex(text);
}

// Whether the same request may be run again as if it had not been run.
bool nothing_happened(const coordinator::Execution& execution) {
    if (!execution.error || !execution.results.empty()) return false;
    const Reaction reaction = execution.error->reaction();
    return reaction == Reaction::unavailable || reaction == Reaction::conflict ||
           execution.error->code == ErrorCode::cancelled;
}

// Without what was asked, which may hold anything.
std::string path_of(const Request& request) {
    return request.target.substr(0, request.target.find('?'));
}

Response unauthenticated() {
    return problem({.code = ErrorCode::not_authenticated,
                    .message = "a valid token is needed",
                    .hint = "send it as Authorization: Bearer .."});
}

}  // namespace

void Underway::cancel(bool must) {
    std::shared_ptr<desk::Visitor> visitor;
    {
        const std::lock_guard lock(mutex_);
        if (keeps_on_ && !must) return;
        cancelled_ = true;
        visitor = visitor_;
    }
    if (visitor) visitor->cancel();
}

struct Service::Job {
    Request request;
    Reply reply;
    Instant since;
    std::string_view kind = "none";
    std::optional<desk::Principal> who;
    std::string once;  // its Idempotency-Key, if it is being done under one
    std::shared_ptr<const void> holds;
    std::shared_ptr<Underway> underway = std::make_shared<Underway>();
};

Service::Service(desk::Desk& desk, const desk::Access& access, desk::Metrics& metrics,
                 const ServiceOptions& options)
    : desk_(desk),
      access_(access),
      metrics_(metrics),
      counts_(metrics, "http"),
      options_(options),
      ids_(system::hex_of(system::random_bytes(4))),
      answers_(options.idempotency),
      hub_(desk.coordinator(), options.watches) {}

std::optional<desk::Principal> Service::who(const Request& request) const {
    if (access_.trusts_everybody()) {
        return desk::Principal{.name = "http", .role = desk::Role::admin};
    }
    const std::string* header = request.header("authorization");
    constexpr std::string_view kScheme = "bearer ";
    if (header == nullptr || header->size() <= kScheme.size()) return std::nullopt;
    if (!equal_ignoring_case(header->substr(0, kScheme.size()), kScheme)) return std::nullopt;
    return access_.bearer(std::string_view(*header).substr(kScheme.size()));
}

// A token that is known is let in whatever failed before it: nobody guesses one, and behind a proxy
// all have the same address. Those that are not known wait for the answer, and then some.
Response Service::unknown_token(const Request& head, Duration& wait) const {
    if (options_.logins == nullptr) return unauthenticated();
    const Duration held = options_.logins->refusal("http", head.peer, "");
    if (held > Duration::zero()) {
        const auto seconds = std::chrono::ceil<std::chrono::seconds>(held).count();
        Response refused = problem({.code = ErrorCode::slow_down,
                                    .message = "too many unknown tokens were shown",
                                    .hint = "try again in " + std::to_string(seconds) + " s"},
                                   429);
        refused.headers.emplace_back("Retry-After", std::to_string(seconds));
        return refused;
    }
    wait = options_.logins->failed("http", head.peer, "");
    return unauthenticated();
}

bool Service::is_open(const Request& head) {
    const std::string path = path_of(head);
    return path == "/healthz" || path == "/readyz";
}

bool Service::still_admits(const std::string& known_as) const {
    return access_.trusts_everybody() || access_.has_token(known_as);
}

std::optional<Response> Service::refusal(const Request& head, std::string& known_as,
                                         Duration& wait) {
    if (is_open(head)) return std::nullopt;
    if (auto refused = refused_site(head, access_.trusts_everybody() ? &options_.site : nullptr)) {
        counts_.count("none", std::to_string(refused->status), Duration::zero());
        return refused;
    }
    const auto somebody = who(head);
    const bool shown = head.header("authorization") != nullptr;
    if (!somebody) {
        Response refused = shown ? unknown_token(head, wait) : unauthenticated();
        counts_.count("none", std::to_string(refused.status), Duration::zero());
        if (refused.status == 401) {
            log_stranger(head, shown ? "no such token" : "no token was shown");
        }
        return refused;
    }
    const bool is_new = !access_.trusts_everybody() && somebody->name != known_as;
    if (is_new && options_.log != nullptr) {
        options_.log->info("a client showed its token",
                           {{"door", "http"},
                            {"user", somebody->name},
                            {"role", std::string(to_string(somebody->role))},
                            {"peer", head.peer},
                            {"request", head.id}});
    }
    known_as = somebody->name;
    return std::nullopt;
}

std::shared_ptr<Underway> Service::serve(Request request, Reply reply,
                                         std::shared_ptr<const void> holds) {
    const auto job = std::make_shared<Job>();
    job->holds = std::move(holds);
    job->request = std::move(request);
    if (job->request.id.empty()) job->request.id = ids_.id_for(job->request);
    job->reply = std::move(reply);
    job->since = desk_.coordinator().clock().now();
    job->who = who(job->request);
    const auto underway = job->underway;
    if (job->request.body.size() <= kPlannedAtOnceMax) {
        start(job);
        return underway;
    }
    if (!job->who) {
        answer(job, unauthenticated());
        return underway;
    }
    visitor_of(job)->run([this, job](bool may) {
        if (may) return start(job);
        answer(job, problem({.code = ErrorCode::slow_down, .message = "too much is waiting"}));
    });
    return underway;
}

void Service::start(const JobPtr& job) {
    {
        const std::lock_guard lock(job->underway->mutex_);
        job->underway->visitor_.reset();  // the one that waited for this
    }
    if (is_cancelled(*job)) {
        return answer(job, problem({.code = ErrorCode::cancelled,
                                    .message = "the client left before the request began"}));
    }
    Planned planned = plan(job->request, options_.api);
    job->kind = planned.kind;
    if (!planned.open && !job->who) return answer(job, unauthenticated());
    run(job, std::move(planned));
}

bool Service::is_cancelled(const Job& job) {
    const std::lock_guard lock(job.underway->mutex_);
    return job.underway->cancelled_;
}

void Service::run(const JobPtr& job, Planned planned) {
    const bool asks = std::holds_alternative<Ask>(planned.what);
    if (asks && !begin_once(job)) return;
    job->request.body = {};  // the statements of it are in the plan
    std::visit(Overload{
                   [&](Response& response) { answer(job, std::move(response)); },
                   [&](Ask& ask) { run_ask(job, std::move(ask)); },
                   [&](const Follow& wanted) { follow(job, wanted); },
                   [&](const Rows& wanted) { stream(job, wanted); },
                   [&](Page page) { run_page(job, page); },
               },
               planned.what);
}

bool Service::begin_once(const JobPtr& job) {
    const std::string* key = job->request.header("idempotency-key");
    if (key == nullptr || job->request.method != "POST") return true;
    if (key->empty() || key->size() > kKeyMax) {
        answer(job, problem({.code = ErrorCode::malformed_message,
                             .message = "an Idempotency-Key has 1 to 255 characters"}));
        return false;
    }
    const auto verdict = answers_.begin(job->since, job->who->name, *key, digest_of(job->request));
    return std::visit(
        Overload{
            [&](const Idempotency::Go&) {
                job->once = *key;
                const std::lock_guard lock(job->underway->mutex_);
                job->underway->keeps_on_ = true;
                return true;
            },
            [&](const Idempotency::Underway&) {
                answer(job, problem({.code = ErrorCode::conflict,
                                     .message = "a request with this Idempotency-Key is under way",
                                     .hint = "ask again when it is answered"}));
                return false;
            },
            [&](const Idempotency::Misused&) {
                answer(job, problem({.code = ErrorCode::malformed_message,
                                     .message = "this Idempotency-Key was used for another request",
                                     .hint = "each request needs a key of its own"},
                                    422));
                return false;
            },
            [&](Response response) {
                response.headers.emplace_back("Idempotency-Replayed", "true");
                answer(job, std::move(response));
                return false;
            },
        },
        verdict);
}

std::shared_ptr<desk::Visitor> Service::visitor_of(const JobPtr& job, desk::Line line) {
    auto visitor = desk_.visitor(
        job->who.value_or(desk::Principal{.name = "nobody", .role = desk::Role::reader}), line);
    const std::lock_guard lock(job->underway->mutex_);
    job->underway->visitor_ = visitor;
    return visitor;
}

void Service::run_page(const JobPtr& job, Page page) {
    if (page == Page::health) return answer(job, text_page("ok\n"));
    if (page == Page::manual) {
        return answer(job, text_page(std::string(manual()), "application/yaml"));
    }
    if (page == Page::ready && closing_) {
        return answer(job, problem({.code = ErrorCode::cancelled,
                                    .message = "the coordinator is shutting down"}));
    }
    if (page == Page::ready) {
        if (auto trouble = desk_.coordinator().commit_trouble()) {
            trouble->message = "no change can be committed: " + trouble->message;
            return answer(job, problem(*trouble, 503));
        }
    }
    const std::string text = page == Page::metrics
                                 ? metrics_questions()
                                 : "SELECT name FROM baton.workers WHERE name = ''";
    const desk::Line line = page == Page::ready ? desk::Line::probes : desk::Line::pages;
    visitor_of(job, line)->ask(
        {.text = text}, [this, job, page](const coordinator::Execution& execution) {
            if (execution.error) return answer(job, problem(*execution.error));
            if (page == Page::ready) return answer(job, text_page("ready\n"));
            answer(job, text_page(metrics_page(metrics_, desk_, execution),
                                  "text/plain; version=0.0.4; charset=utf-8"));
        });
}

void Service::run_ask(const JobPtr& job, Ask ask) {
    if (ask.precondition) {
        return run_change(job, std::make_shared<const Ask>(std::move(ask)), 1);
    }
    desk::Request request{
        .text = std::move(ask.text), .parameters = std::move(ask.parameters), .wait = ask.wait};
    visitor_of(job)->ask(std::move(request), [this, job, shape = std::move(ask.shape)](
                                                 const coordinator::Execution& execution) {
        answer(job, told(shape, execution), nothing_happened(execution));
    });
}

// Looks and changes in one transaction: if what was looked at changes in between, the commit fails,
// and it is looked at again.
void Service::run_change(const JobPtr& job, const std::shared_ptr<const Ask>& ask, int attempt) {
    const auto visitor = visitor_of(job);
    visitor->ask({.text = ask->precondition->look}, [this, job, ask, attempt, visitor](
                                                        const coordinator::Execution& looked) {
        if (auto violated = violation(*ask->precondition, looked)) {
            return answer(job, *std::move(violated), nothing_happened(looked));
        }
        visitor->ask({.text = ask->text, .parameters = ask->parameters, .wait = ask->wait},
                     [this, job, ask, attempt](const coordinator::Execution& execution) {
                         const bool raced =
                             execution.error && execution.error->code == ErrorCode::conflict;
                         if (raced && attempt < kAttemptsMax) {
                             return run_change(job, ask, attempt + 1);
                         }
                         answer(job, told(ask->shape, execution), nothing_happened(execution));
                     });
    });
}

void Service::follow(const JobPtr& job, const Follow& wanted) {
    visitor_of(job)->ask(
        {.text = sql::print(wanted.statement)},
        [this, job, statement = wanted.statement](coordinator::Execution execution) {
            if (execution.error) return answer(job, problem(*execution.error));
            auto& value = execution.results.front().value;
            auto stream = hub_.follow(
                statement, std::move(std::get<std::unique_ptr<coordinator::Watch>>(value)));
            if (!stream) return answer(job, problem(stream.error()));
            answer(job, *std::move(stream));
        });
}

void Service::stream(const JobPtr& job, const Rows& wanted) {
    const auto visitor = visitor_of(job);
    visitor->ask(
        {.text = wanted.text, .parameters = wanted.parameters},
        [this, job, visitor](coordinator::Execution execution) {
            if (execution.error) return answer(job, problem(*execution.error));
            auto& value = execution.results.front().value;
            if (auto* feed = std::get_if<std::unique_ptr<coordinator::RowStream>>(&value)) {
                return answer(job, row_events(std::move(*feed), visitor));
            }
            answer(job, row_events(std::get<views::Table>(std::move(value))));
        });
}

void Service::answer(const JobPtr& job, Answered answered, bool again) {
    const auto* response = std::get_if<Response>(&answered);
    const unsigned status = response == nullptr ? 200 : response->status;
    if (!job->once.empty()) {
        answers_.finish(job->who->name, job->once,
                        again || response == nullptr ? std::nullopt : std::optional(*response));
    }
    const Instant now = desk_.coordinator().clock().now();
    counts_.count(job->kind, std::to_string(status), now - job->since);
    log_answer(*job, status, now - job->since);
    {
        // The visitor ends with the last who holds it, which may be its own turn.
        const std::lock_guard lock(job->underway->mutex_);
        job->underway->visitor_.reset();
    }
    job->request.body = {};
    job->holds.reset();
    const Reply reply = std::exchange(job->reply, nullptr);
    reply(std::move(answered));
}

// On the thread of the network alone.
void Service::log_stranger(const Request& head, const char* reason) {
    if (options_.log == nullptr) return;
    const auto left_out = strangers_logged_.take(desk_.coordinator().clock().now());
    if (!left_out) return;
    std::vector<LogField> fields = {{"door", "http"},
                                    {"reason", reason},
                                    {"path", desk::shown(path_of(head))},
                                    {"peer", head.peer},
                                    {"request", head.id}};
    if (*left_out > 0) fields.push_back({"left_out_before", std::to_string(*left_out)});
    options_.log->warn("a request was refused: its client is unknown", fields);
}

// Each at the level of debugging; those that are our fault are warned of.
void Service::log_answer(const Job& job, unsigned status, Duration took) const {
    if (options_.log == nullptr) return;
    const bool ours = status >= 500 && status != 503 && status != 504;
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(took);
    options_.log->write(ours ? LogLevel::warn : LogLevel::debug, "a request was answered",
                        {{"door", "http"},
                         {"request", job.request.id},
                         {"user", job.who ? job.who->name : std::string()},
                         {"method", job.request.method},
                         {"path", desk::shown(path_of(job.request))},
                         {"status", std::to_string(status)},
                         {"took_us", std::to_string(us.count())},
                         {"peer", job.request.peer}});
}

}  // namespace baton::http
