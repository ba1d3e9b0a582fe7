#include "adapters/s3/credentials.h"

#include <chrono>
#include <utility>

#include "adapters/s3/file_text.h"
#include "base/overload.h"
#include "core/s3/documents.h"
#include "core/s3/encoding.h"

namespace baton::s3 {

namespace {

constexpr Duration kLook = std::chrono::milliseconds(50);
constexpr std::size_t kTokenBytesMax = std::size_t{64} << 10U;

// A metadata service that is there answers at once; elsewhere nothing answers.
AttemptCall shortened(const AttemptCall& call, Duration connect_max, Duration time_max) {
    AttemptCall shorter = call;
    shorter.connect_max = std::min(call.connect_max, connect_max);
    shorter.time_max = std::min(call.time_max, time_max);
    return shorter;
}

bool is_https(std::string_view url) {
    return url.starts_with("https://");
}

std::string without_line_end(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    return text;
}

bool is_header_value(std::string_view text) {
    for (const char c : text) {
        if (c < ' ' || c > '~') return false;
    }
    return true;
}

}  // namespace

Credentials::Credentials(CredentialSource source, HttpClient& http, const Clock& clock)
    : source_(std::move(source)), http_(http), clock_(clock) {}

AttemptFailure Credentials::failure(const std::string& why, AttemptTrouble trouble) const {
    return {.trouble = trouble,
            .why = "no credentials from " + name_of(source_) + ": " + why,
            .hint = std::holds_alternative<MachineMetadata>(source_)
                        ? "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or see docs/STORES.md"
                        : ""};
}

std::variant<NumberedKeys, AttemptFailure> Credentials::get(const AttemptCall& call) {
    if (const auto* fixed = std::get_if<FixedKeys>(&source_)) return NumberedKeys{fixed->keys, 0};
    const Instant deadline = clock_.now() + call.time_max;
    std::unique_lock lock(mutex_);
    while (true) {
        switch (renewal_.turn(clock_.now())) {
            case Renewal::Turn::use:
                return keys_;
            case Renewal::Turn::fail:
                return last_failure_;
            case Renewal::Turn::wait:
                if (call.given_up && call.given_up()) {
                    return AttemptFailure{AttemptTrouble::given_up, "the caller gave up", ""};
                }
                if (clock_.now() >= deadline) {
                    return failure("no answer yet", AttemptTrouble::not_sent);
                }
                changed_.wait_for(lock, kLook);
                continue;
            case Renewal::Turn::renew:
                break;
        }
        lock.unlock();
        auto fetched = fetch(call);
        lock.lock();
        if (auto* keys = std::get_if<Fetched>(&fetched)) {
            renewal_.renewed(clock_.now(), keys->ends);
            keys_ = {std::move(keys->keys), keys_.number + 1};
            changed_.notify_all();
            return keys_;
        }
        renewal_.failed(clock_.now());
        last_failure_ = std::get<AttemptFailure>(std::move(fetched));
        changed_.notify_all();
        if (last_failure_.trouble == AttemptTrouble::given_up) {
            const AttemptFailure given_up = std::move(last_failure_);
            last_failure_ = failure("the caller that asked gave up", AttemptTrouble::not_sent);
            return given_up;
        }
        // The old ones may still do: the next turn says so, or gives the failure.
    }
}

bool Credentials::rejected(std::uint64_t number) {
    if (std::holds_alternative<FixedKeys>(source_)) return false;
    const std::lock_guard lock(mutex_);
    if (keys_.number == number) renewal_.rejected();
    return true;
}

std::variant<Credentials::Fetched, AttemptFailure> Credentials::fetch(const AttemptCall& call) {
    using Outcome = std::variant<Fetched, AttemptFailure>;
    return std::visit(
        Overload{
            [&](const FixedKeys& fixed) -> Outcome {
                return Fetched{fixed.keys, std::nullopt};
            },
            [&](const WebIdentity& web) { return fetch_role(web, call); },
            [&](const ContainerEndpoint& container) { return fetch_container(container, call); },
            [&](const MachineMetadata& machine) { return fetch_machine(machine, call); }},
        source_);
}

std::variant<HttpAnswer, AttemptFailure> Credentials::ask(HttpRequest request,
                                                          const AttemptCall& call) {
    HttpOutcome outcome = http_.exchange(request, call);
    if (auto* failed = std::get_if<HttpFailure>(&outcome)) {
        // For the caller's request it is the same: nothing of it was sent.
        const AttemptTrouble trouble = failed->failure.trouble;
        const bool final =
            trouble == AttemptTrouble::given_up || trouble == AttemptTrouble::refused;
        return failure(failed->failure.why, final ? trouble : AttemptTrouble::not_sent);
    }
    auto answer = std::get<HttpAnswer>(std::move(outcome));
    if (answer.status == 200) return answer;
    const StoreError error = read_error(answer.body);
    const bool passing = answer.status >= 500 || answer.status == 429;
    std::string why = "it answers " + std::to_string(answer.status);
    if (is_header_value(error.code) && error.code.size() < 64) why += " " + error.code;
    return failure(why, passing ? AttemptTrouble::not_sent : AttemptTrouble::refused);
}

std::variant<Credentials::Fetched, AttemptFailure> Credentials::accept(
    const HttpAnswer& answer, Result<TemporaryKeys> keys) const {
    if (!keys) return failure(keys.error().message, AttemptTrouble::not_sent);
    Fetched fetched{.keys = keys->keys, .ends = std::nullopt};
    if (keys->expires) {
        // How long they last by the clock of the service that says when they end, not by ours.
        const auto date = time_of_header(answer.header("date"));
        fetched.ends = clock_.now() + (*keys->expires - date.value_or(clock_.wall_now()));
    }
    return fetched;
}

std::variant<Credentials::Fetched, AttemptFailure> Credentials::fetch_role(
    const WebIdentity& web, const AttemptCall& call) {
    Result<std::string> token = read_text_file(web.token_file, kTokenBytesMax);
    if (!token) return failure(token.error().message, AttemptTrouble::not_sent);
    const std::string form =
        "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=" + encode_query(web.role) +
        "&RoleSessionName=" + encode_query(web.session) +
        "&WebIdentityToken=" + encode_query(without_line_end(*token));
    auto answer = ask({.method = "POST",
                       .url = web.endpoint + "/",
                       .headers = {{"content-type", "application/x-www-form-urlencoded"},
                                   {"accept", "application/xml"}},
                       .body = std::string_view(form)},
                      shortened(call, std::chrono::seconds(2), std::chrono::seconds(10)));
    if (auto* failed = std::get_if<AttemptFailure>(&answer)) return std::move(*failed);
    const auto& got = std::get<HttpAnswer>(answer);
    return accept(got, read_role_keys(got.body));
}

std::variant<Credentials::Fetched, AttemptFailure> Credentials::fetch_container(
    const ContainerEndpoint& container, const AttemptCall& call) {
    std::string token = container.token;
    if (!container.token_file.empty()) {
        Result<std::string> text = read_text_file(container.token_file, kTokenBytesMax);
        if (!text) return failure(text.error().message, AttemptTrouble::not_sent);
        token = without_line_end(*text);
    }
    if (!is_header_value(token)) {
        return failure("its token is not printable", AttemptTrouble::refused);
    }
    HttpRequest request{.method = "GET", .url = container.url, .headers = {}, .body = {}};
    request.through_proxy = is_https(container.url);
    if (!token.empty()) request.headers.push_back({"authorization", token});
    auto answer =
        ask(std::move(request), shortened(call, std::chrono::seconds(2), std::chrono::seconds(5)));
    if (auto* failed = std::get_if<AttemptFailure>(&answer)) return std::move(*failed);
    const auto& got = std::get<HttpAnswer>(answer);
    return accept(got, read_json_keys(got.body));
}

std::variant<Credentials::Fetched, AttemptFailure> Credentials::fetch_machine(
    const MachineMetadata& machine, const AttemptCall& call) {
    const AttemptCall brief = shortened(call, std::chrono::seconds(1), std::chrono::seconds(2));
    const auto get = [&](HttpRequest request) {
        request.through_proxy = false;
        return ask(std::move(request), brief);
    };
    auto token = get({.method = "PUT",
                      .url = machine.endpoint + "/latest/api/token",
                      .headers = {{"x-aws-ec2-metadata-token-ttl-seconds", "21600"}},
                      .body = std::string_view()});
    if (auto* failed = std::get_if<AttemptFailure>(&token)) return std::move(*failed);
    const std::string& word = std::get<HttpAnswer>(token).body;
    if (word.empty() || !is_header_value(word)) {
        return failure("its token is not printable", AttemptTrouble::not_sent);
    }
    const std::vector<HttpHeader> headers = {{"x-aws-ec2-metadata-token", word}};
    const std::string roles = machine.endpoint + "/latest/meta-data/iam/security-credentials/";
    auto role = get({.method = "GET", .url = roles, .headers = headers, .body = {}});
    if (auto* failed = std::get_if<AttemptFailure>(&role)) return std::move(*failed);
    const std::string& list = std::get<HttpAnswer>(role).body;
    const std::string name = list.substr(0, list.find_first_of("\r\n"));
    if (name.empty() || name.size() > 128) {
        return failure("the machine has no role", AttemptTrouble::refused);
    }
    auto answer =
        get({.method = "GET", .url = roles + encode_query(name), .headers = headers, .body = {}});
    if (auto* failed = std::get_if<AttemptFailure>(&answer)) return std::move(*failed);
    const auto& got = std::get<HttpAnswer>(answer);
    return accept(got, read_json_keys(got.body));
}

}  // namespace baton::s3
