// Any bytes as what a client of PostgreSQL's protocol says: the connection answers in whole
// messages, keeps no more than it may, and what it says and wants done does not depend on where the
// bytes were cut or how long the answers of the runner took. Its effects run as
// statements, and a write succeeds after it. The first bytes choose the options, the cuts and what
// happens meanwhile.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/prng.h"
#include "doors/pg/wire/connection.h"
#include "doors/pg/wire/scripted_test.h"
#include "fuzz/canary.h"

namespace {

using namespace baton::pgwire;           // NOLINT
using namespace baton::pgwire::testing;  // NOLINT

constexpr std::size_t kPieceMax = 64;

ConnectionOptions options_of(unsigned bits) {
    ConnectionOptions options;
    options.tls = static_cast<Tls>((bits & 3U) % 3);
    options.authentication = (bits & 4U) != 0 ? Authentication::scram : Authentication::trust;
    options.scram = {.nonce = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0", .mock = "mock"};
    options.version = "0";
    options.frames.message_bytes_max = 1000;
    options.parameters_max = 10;
    options.prepared_max = 3;
    options.portals_max = 3;
    options.input_bytes_ahead_max = 100;
    options.output_bytes_max = 500;
    return options;
}

Scripted scripted_with(const ConnectionOptions& options) {
    static const ScramVerifier kVerifier = make_verifier(
        "pencil", "\x5b\x6d\x99\x68\x9d\x12\x35\x8e\xec\xa0\x4b\x14\x12\x36\xfa\x81", 1);
    Scripted scripted(options);
    scripted.runner.verifier = kVerifier;
    return scripted;
}

// Whole messages, after at most two answers to requests for encryption.
void check_sent(std::string_view sent) {
    for (int i = 0; i < 2 && (sent.starts_with('N') || sent.starts_with("S")); ++i) {
        const bool lone = sent.size() == 1 || sent[1] != '\0';
        if (!lone) break;
        sent.remove_prefix(1);
    }
    while (!sent.empty()) {
        CHECK(sent.size() >= 5);
        std::size_t size = 0;
        for (const char c : sent.substr(1, 4)) size = size << 8U | static_cast<unsigned char>(c);
        CHECK(size >= 4 && size < sent.size());
        sent.remove_prefix(size + 1);
    }
}

void disturb(Scripted& scripted, baton::Prng& dice) {
    namespace events = connection;
    if (dice.chance(1, 8)) scripted.step(events::CancelAsked{});
    if (dice.chance(1, 200)) scripted.step(events::Vanished{});
    if (dice.chance(1, 200)) scripted.step(events::Expelled{{.sqlstate = "57P01"}});
}

void receive_in_pieces(Scripted& scripted, std::string_view bytes, baton::Prng& dice, bool calm) {
    scripted.answers_held = true;
    const ConnectionOptions limits = options_of(0);
    while (!bytes.empty() || scripted.has_answers()) {
        if (!bytes.empty() && scripted.reading) {
            const std::size_t size =
                std::min<std::size_t>(bytes.size(), dice.between(1, kPieceMax));
            scripted.receive(bytes.substr(0, size));
            bytes.remove_prefix(size);
        }
        const std::size_t message_max =
            std::max(limits.frames.message_bytes_max, limits.frames.startup_bytes_max);
        CHECK(scripted.machine.input_waiting() <= message_max + kPieceMax);
        scripted.answer(dice.between(scripted.reading && !bytes.empty() ? 0 : 1, 3));
        if (!calm) disturb(scripted, dice);
        if (scripted.machine.is_closed()) return;
        if (!scripted.reading && !scripted.has_answers()) return;  // something runs for ever
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 3) return 0;
    const ConnectionOptions options = options_of(data[0]);
    const bool calm = (data[0] & 8U) == 0;
    std::string bytes(reinterpret_cast<const char*>(data) + 3, size - 3);
    if ((data[0] & 16U) != 0) bytes.insert(0, startup());  // or much would not get beyond it
    baton::Prng dice(data[1] * 256U + data[2]);

    Scripted parts = scripted_with(options);
    receive_in_pieces(parts, bytes, dice, calm);
    check_sent(parts.sent);
    auto& canary = baton::fuzz::Canary::shared();
    for (const std::string& wanted : parts.wanted) {
        canary.run(std::string_view(wanted).substr(std::min(wanted.size(), wanted.find(' '))));
    }
    canary.write();
    if (!calm || options.tls != Tls::off) return 0;

    Scripted whole = scripted_with(options);
    whole.receive(bytes);
    CHECK(parts.sent == whole.sent);
    CHECK(parts.wanted == whole.wanted);
    return 0;
}
