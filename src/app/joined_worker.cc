#include "app/joined_worker.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "adapters/certificates/openssl_certificates.h"
#include "adapters/system/epoch_file.h"
#include "adapters/system/private_directory.h"
#include "adapters/system/private_file.h"
#include "adapters/system/system_clock.h"
#include "base/text.h"
#include "core/identity/join_token.h"
#include "doors/joining/join_call.h"

namespace baton::app {

namespace {

std::string cluster_file(const std::string& directory) {
    return directory + "/cluster";
}

Error incomplete(const std::string& path) {
    return {.code = ErrorCode::unreadable_configuration,
            .message = "cannot use the certificate that the worker keeps: " + in_quotes(path) +
                       " is missing or broken",
            .at = {},
            .hint = "join again: `baton token worker NAME`, then `baton worker --join TOKEN`"};
}

Result<std::string> kept(const std::string& path) {
    TRY_ASSIGN(text, system::read_private_file(path));
    if (!text || text->empty()) return incomplete(path);
    return *std::move(text);
}

// Files of a membership are written beside those of the one before, and take their place together.
std::string next(const std::string& path) {
    return path + ".next";
}

Result<Done> put_in_place(const std::string& path) {
    if (std::rename(next(path).c_str(), path.c_str()) == 0) return Done{};
    return Error{.code = ErrorCode::unreadable_configuration,
                 .message = "cannot write " + in_quotes(path) + ": " + std::strerror(errno)};
}

joining::JoinCall call_of(const Joined& joined, const std::string& ca, const std::string& request) {
    return {.address = joined.address,
            .server_name = identity::host_name_of(identity::coordinator_of(joined.cluster)),
            .ca = ca,
            .shown = {},
            .token = {},
            .request = request};
}

// Asks for the next certificate with the one of now, and keeps it.
Result<Done> renew(const Joined& joined) {
    certificates::OpensslCertificates maker;
    const system::TlsFiles files = joined.files();
    TRY_ASSIGN(ca, kept(files.ca));
    TRY_ASSIGN(key, kept(files.key));
    TRY_ASSIGN(certificate, kept(files.cert));
    TRY_ASSIGN(asked, maker.ask(key));
    joining::JoinCall call = call_of(joined, ca, asked.request);
    call.shown = system::TlsTexts{.ca = ca, .cert = certificate, .key = key};
    TRY_ASSIGN(next, joining::ask_for_certificate(call));
    TRY(maker.look_at(next));
    return system::write_private_file(files.cert, next);
}

}  // namespace

system::TlsFiles Joined::files() const {
    return {.ca = directory + "/cluster-ca.pem",
            .cert = directory + "/worker.pem",
            .key = directory + "/worker.key"};
}

Result<std::optional<Joined>> joined_in(const std::string& directory) {
    const std::string path = cluster_file(directory);
    TRY_ASSIGN(text, system::read_private_file(path));
    if (!text) {
        // Without it the worker would take itself for one that never joined.
        TRY_ASSIGN(
            certificate,
            system::read_private_file(Joined{
                .directory = directory, .cluster = {}, .worker = {}, .address = {}, .nonce = {}}
                                          .files()
                                          .cert));
        if (certificate) return incomplete(path);
        return std::optional<Joined>();
    }
    std::array<std::string, 4> lines;
    std::size_t from = 0;
    for (std::string& line : lines) {
        const std::size_t end = text->find('\n', from);
        if (end == std::string::npos) return incomplete(path);
        line = text->substr(from, end - from);
        from = end + 1;
    }
    Joined joined{.directory = directory,
                  .cluster = lines[0],
                  .worker = lines[1],
                  .address = lines[2],
                  .nonce = lines[3]};
    const system::TlsFiles files = joined.files();
    for (const std::string& file : {files.ca, files.cert, files.key}) TRY(kept(file));
    return std::optional(std::move(joined));
}

Result<Joined> join_with(const std::string& text, const std::string& directory) {
    TRY_ASSIGN(token, identity::join_token_in(text));
    certificates::OpensslCertificates maker;
    TRY_ASSIGN(asked, maker.ask({}));
    const Joined joined{.directory = directory,
                        .cluster = token.cluster,
                        .worker = token.worker,
                        .address = token.address,
                        .nonce = token.nonce};
    joining::JoinCall call = call_of(joined, token.authority, asked.request);
    call.token = text;
    TRY(system::make_private_directory(directory, ErrorCode::unreadable_configuration));
    TRY_ASSIGN(alone, system::EpochFile::open(directory));  // no worker runs on it
    const system::TlsFiles files = joined.files();
    // The token is good once: a disk without room is found out before it is used.
    TRY(system::write_private_file(next(files.ca), token.authority));
    TRY(system::write_private_file(next(files.key), asked.key));
    TRY(system::write_private_file(next(cluster_file(directory)),
                                   joined.cluster + "\n" + joined.worker + "\n" + joined.address +
                                       "\n" + joined.nonce + "\n"));
    TRY(system::write_private_file(next(files.cert),
                                   token.authority));  // as much room as it will take
    TRY_ASSIGN(certificate, joining::ask_for_certificate(call));
    TRY(system::write_private_file(next(files.cert), certificate));
    for (const std::string& path : {files.ca, files.key, files.cert, cluster_file(directory)}) {
        TRY(put_in_place(path));
    }
    return joined;
}

Renewal::Renewal(Joined joined, std::function<void(const std::string&)> log)
    : joined_(std::move(joined)),
      log_(std::move(log)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Renewal::~Renewal() = default;

void Renewal::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        const auto wait = look();
        std::unique_lock lock(mutex_);
        woken_.wait_for(lock, stop, wait, [&] { return stop.stop_requested(); });
    }
}

std::chrono::milliseconds Renewal::look() {
    using std::chrono::milliseconds;
    constexpr milliseconds kLeast{1'000};
    constexpr milliseconds kMost{60'000};  // the clock may be set
    const auto bounded = [&](Duration time) {
        return std::clamp(std::chrono::duration_cast<milliseconds>(time), kLeast, kMost);
    };
    const auto certificate = kept(joined_.files().cert);
    const auto facts = certificate ? certificates::OpensslCertificates().look_at(*certificate)
                                   : Result<CertificateFacts>(certificate.error());
    if (!facts) {
        log_(to_string(facts.error()));
        return kMost;
    }
    const WallTime now = system::SystemClock().wall_now();
    const WallTime due = identity::renew_at(facts->from + identity::kClocksDifferMax, facts->until);
    if (now < due) return bounded(due - now);
    const auto renewed = renew(joined_);
    if (renewed) {
        log_("the certificate of this worker is renewed");
        return kLeast;
    }
    if (now >= facts->until) {
        log_("the certificate of this worker was over at " + to_string(facts->until) +
             ", and cannot be renewed: make a token with `baton token worker " + joined_.worker +
             "` and start the worker with --join TOKEN");
        return kMost;
    }
    log_("cannot renew the certificate of this worker, which ends at " + to_string(facts->until) +
         ": " + to_string(renewed.error()));
    return bounded((facts->until - now) / 10);
}

}  // namespace baton::app
