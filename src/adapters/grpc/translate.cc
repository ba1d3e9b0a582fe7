#include "adapters/grpc/translate.h"

#include <utility>

#include <baton/control.pb.h>

#include "base/overload.h"
#include "base/text.h"
#include "ports/sql_values.h"

namespace baton::rpc {

using control::FragmentCounts;
using control::FragmentStatus;

namespace {

constexpr std::size_t kPlanMax = 12 << 20;
constexpr std::size_t kNameMax = 1024;
constexpr std::size_t kIdMax = 64;  // of a catalog, of a plan
constexpr std::uint32_t kProtocolOfCatalogs = 2;
constexpr std::uint64_t kLeaseMax = 1ULL << 50U;  // of microseconds, so that sums fit

Error lacks(const std::string& field) {
    return malformed_control("it has no " + field);
}

Result<std::string> text_of(const std::string& text, std::size_t most, const std::string& what) {
    if (text.size() > most) return malformed_control("its " + what + " is too long");
    if (!is_plain_text(text)) return malformed_control("its " + what + " is not text");
    return text;
}

// Cut to `most` bytes, and what is no text is '?': a reason may hold whatever a library said.
std::string fitting(std::string_view text, std::size_t most) {
    std::string result;
    while (!text.empty()) {
        const std::size_t size = plain_character_size(text);
        if (result.size() + std::max<std::size_t>(size, 1) > most) break;
        result += size == 0 ? std::string_view("?") : text.substr(0, size);
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return result;
}

// ---- enums --------------------------------------------------------------------------------------

wire::FragmentState wire_of(FragmentState state) {
    switch (state) {
        case FragmentState::pending:
            return wire::FRAGMENT_STATE_PENDING;
        case FragmentState::registered:
            return wire::FRAGMENT_STATE_REGISTERED;
        case FragmentState::started:
            return wire::FRAGMENT_STATE_STARTED;
        case FragmentState::running:
            return wire::FRAGMENT_STATE_RUNNING;
        case FragmentState::stopped:
            return wire::FRAGMENT_STATE_STOPPED;
        case FragmentState::terminated:
            return wire::FRAGMENT_STATE_TERMINATED;
        case FragmentState::failed:
            return wire::FRAGMENT_STATE_FAILED;
    }
    CHECK(false && "an unknown state");
}

Result<std::optional<FragmentState>> read(wire::FragmentState state) {
    if (state == wire::FRAGMENT_STATE_NONE) return std::optional<FragmentState>();
    for (const auto& [known, name] : StateNames<FragmentState>::kNames) {
        if (wire_of(known) == state) return std::optional(known);
    }
    return malformed_control("no fragment has the state " + std::to_string(state));
}

wire::StopMode wire_of(StopMode mode) {
    return mode == StopMode::graceful ? wire::STOP_MODE_GRACEFUL : wire::STOP_MODE_FORCEFUL;
}

Result<std::optional<StopMode>> read(wire::StopMode mode) {
    if (mode == wire::STOP_MODE_NONE) return std::optional<StopMode>();
    if (mode == wire::STOP_MODE_GRACEFUL) return std::optional(StopMode::graceful);
    if (mode == wire::STOP_MODE_FORCEFUL) return std::optional(StopMode::forceful);
    return malformed_control("no way to stop has the number " + std::to_string(mode));
}

wire::Fault wire_of(control::Fault fault) {
    return fault == control::Fault::transient ? wire::FAULT_TRANSIENT : wire::FAULT_TERMINAL;
}

Result<control::Fault> read(wire::Fault fault) {
    if (fault == wire::FAULT_TRANSIENT) return control::Fault::transient;
    if (fault == wire::FAULT_TERMINAL) return control::Fault::terminal;
    return malformed_control("no fault has the number " + std::to_string(fault));
}

// ---- parts --------------------------------------------------------------------------------------

void write(const FragmentKey& key, wire::FragmentKey& to) {
    to.set_query(key.query.value());
    to.set_run(key.run);
    to.set_fragment(key.fragment.value());
}

template <class Message>
Result<FragmentKey> key_of(const Message& message) {
    if (!message.has_key()) return lacks("key");
    const wire::FragmentKey& key = message.key();
    if (!key.has_query() || !key.has_run() || !key.has_fragment()) return lacks("whole key");
    return FragmentKey{
        .query = QueryId(key.query()), .run = key.run(), .fragment = FragmentId(key.fragment())};
}

void write(const Counts& counts, wire::Counts& to) {
    to.set_rows_in(counts.rows_in);
    to.set_bytes_in(counts.bytes_in);
    to.set_rows_out(counts.rows_out);
    to.set_bytes_out(counts.bytes_out);
    to.set_late(counts.late);
    to.set_skipped(counts.skipped);
    to.set_stalls(counts.stalls);
    to.set_busy_us(counts.busy_us);
    to.set_memory(counts.memory);
}

Counts read(const wire::Counts& message) {
    return {.rows_in = message.rows_in(),
            .bytes_in = message.bytes_in(),
            .rows_out = message.rows_out(),
            .bytes_out = message.bytes_out(),
            .late = message.late(),
            .skipped = message.skipped(),
            .stalls = message.stalls(),
            .busy_us = message.busy_us(),
            .memory = message.memory()};
}

void write(const FragmentStatus& status, wire::FragmentStatus& to) {
    write(status.key, *to.mutable_key());
    if (status.state) to.set_state(wire_of(*status.state));
    if (status.stopping) to.set_stopping(wire_of(*status.stopping));
    to.set_fault(wire_of(status.fault));
    to.set_reason(fitting(status.reason, kReasonMax));
    to.set_error(status.error);
    to.set_event(status.event);
    if (status.counts != Counts{}) write(status.counts, *to.mutable_counts());
    to.set_fingerprint(fitting(status.fingerprint, kIdMax));
}

Result<FragmentStatus> read(const wire::FragmentStatus& message) {
    FragmentStatus status;
    TRY_ASSIGN(key, key_of(message));
    status.key = key;
    TRY_ASSIGN(state, read(message.state()));
    status.state = state;
    TRY_ASSIGN(stopping, read(message.stopping()));
    status.stopping = stopping;
    TRY_ASSIGN(fault, read(message.fault()));
    status.fault = fault;
    TRY_ASSIGN(reason, text_of(message.reason(), kReasonMax, "reason"));
    status.reason = std::move(reason);
    status.error = message.error();
    if (!message.has_event()) return lacks("event");
    status.event = message.event();
    status.counts = read(message.counts());
    TRY_ASSIGN(fingerprint, text_of(message.fingerprint(), kIdMax, "fingerprint"));
    status.fingerprint = std::move(fingerprint);
    return status;
}

void write(const FragmentCounts& counts, wire::FragmentCounts& to) {
    write(counts.key, *to.mutable_key());
    write(counts.counts, *to.mutable_counts());
}

Result<FragmentCounts> read(const wire::FragmentCounts& message) {
    TRY_ASSIGN(key, key_of(message));
    return FragmentCounts{.key = key, .counts = read(message.counts())};
}

void write(const control::Grant& grant, wire::Grant& to) {
    to.set_list(fitting(grant.partition.list, kNameMax));
    to.set_number(grant.partition.number);
    to.set_epoch(grant.epoch.value());
}

Result<control::Grant> read(const wire::Grant& message) {
    if (!message.has_list() || !message.has_number()) return lacks("partition");
    if (!message.has_epoch()) return lacks("epoch");
    TRY_ASSIGN(list, text_of(message.list(), kNameMax, "task list"));
    return control::Grant{.partition = {.list = std::move(list), .number = message.number()},
                          .epoch = Epoch(message.epoch())};
}

template <class Value, class List>
Result<std::vector<Value>> read_list(const List& list) {
    if (static_cast<std::size_t>(list.size()) > kListMax)
        return malformed_control("a list is too long");
    std::vector<Value> values;
    values.reserve(static_cast<std::size_t>(list.size()));
    for (const auto& one : list) {
        TRY_ASSIGN(value, read(one));
        values.push_back(std::move(value));
    }
    return values;
}

void write(const control::Refusal& refusal, wire::Refusal& to) {
    to.set_highest(refusal.highest.value());
    to.set_why(fitting(refusal.why, kReasonMax));
}

Result<control::Refusal> read(const wire::Refusal& message) {
    if (!message.has_highest()) return lacks("highest epoch");
    TRY_ASSIGN(why, text_of(message.why(), kReasonMax, "reason"));
    return control::Refusal{.highest = Epoch(message.highest()), .why = std::move(why)};
}

// ---- down ---------------------------------------------------------------------------------------

void write(const control::WorkerCommand& order, wire::Command& to) {
    std::visit(Overload{
                   [&](const control::RegisterFragment& o) {
                       write(o.key, *to.mutable_register_()->mutable_key());
                       to.mutable_register_()->set_plan(o.plan);
                       to.mutable_register_()->set_fingerprint(fitting(o.fingerprint, kIdMax));
                   },
                   [&](const control::StartFragment& o) {
                       write(o.key, *to.mutable_start()->mutable_key());
                   },
                   [&](const control::StopFragment& o) {
                       write(o.key, *to.mutable_stop()->mutable_key());
                       to.mutable_stop()->set_mode(wire_of(o.mode));
                   },
                   [&](const control::ForgetFragment& o) {
                       write(o.key, *to.mutable_forget()->mutable_key());
                   },
               },
               order);
}

Result<control::WorkerCommand> read_order(const wire::Command& message) {
    switch (message.order_case()) {
        case wire::Command::kRegister: {
            TRY_ASSIGN(key, key_of(message.register_()));
            if (!message.register_().has_plan()) return lacks("plan");
            TRY_ASSIGN(plan, text_of(message.register_().plan(), kPlanMax, "plan"));
            if (!message.register_().has_fingerprint()) return lacks("fingerprint");
            TRY_ASSIGN(fingerprint,
                       text_of(message.register_().fingerprint(), kIdMax, "fingerprint"));
            return control::WorkerCommand(control::RegisterFragment{
                .key = key, .plan = std::move(plan), .fingerprint = std::move(fingerprint)});
        }
        case wire::Command::kStart: {
            TRY_ASSIGN(key, key_of(message.start()));
            return control::WorkerCommand(control::StartFragment{key});
        }
        case wire::Command::kStop: {
            TRY_ASSIGN(key, key_of(message.stop()));
            TRY_ASSIGN(mode, read(message.stop().mode()));
            if (!mode) return lacks("way to stop");
            return control::WorkerCommand(control::StopFragment{.key = key, .mode = *mode});
        }
        case wire::Command::kForget: {
            TRY_ASSIGN(key, key_of(message.forget()));
            return control::WorkerCommand(control::ForgetFragment{key});
        }
        case wire::Command::ORDER_NOT_SET:
            break;
    }
    return lacks("order that is known here");
}

Result<SaidToWorker> read(const wire::Hello& message) {
    if (!message.has_epoch()) return lacks("epoch");
    if (!message.has_worker()) return lacks("worker");
    if (!message.has_protocol()) return lacks("protocol");
    if (message.catalog().empty() && message.protocol() >= kProtocolOfCatalogs) {
        return lacks("catalog");
    }
    TRY_ASSIGN(worker, text_of(message.worker(), kNameMax, "worker"));
    TRY_ASSIGN(catalog, text_of(message.catalog(), kIdMax, "catalog"));
    return SaidToWorker(control::Hello{.epoch = Epoch(message.epoch()),
                                       .worker = std::move(worker),
                                       .protocol = message.protocol(),
                                       .catalog = std::move(catalog)});
}

Result<SaidToWorker> read(const wire::Beat& message) {
    if (!message.has_number() || !message.has_seen() || !message.has_answered()) {
        return lacks("number");
    }
    SaidToWorker said = control::Beat{
        .number = message.number(), .seen = message.seen(), .answered = message.answered()};
    return said;
}

Result<SaidToWorker> read(const wire::Command& message) {
    if (!message.has_request()) return lacks("request number");
    if (!message.has_epoch()) return lacks("epoch");
    TRY_ASSIGN(order, read_order(message));
    return SaidToWorker(control::Command{
        .request = message.request(), .epoch = Epoch(message.epoch()), .what = std::move(order)});
}

void write(const control::Assign& assign, wire::Assign& to) {
    to.set_epoch(assign.epoch.value());
    to.set_number(assign.number);
    to.set_lease_us(static_cast<std::uint64_t>(assign.lease.count()));
    for (const control::Grant& grant : assign.owned) write(grant, *to.add_owned());
}

Result<SaidToWorker> read(const wire::Assign& message) {
    if (!message.has_epoch()) return lacks("epoch");
    if (!message.has_number()) return lacks("number");
    if (!message.has_lease_us()) return lacks("lease");
    if (message.lease_us() > kLeaseMax) return malformed_control("its lease is too long");
    TRY_ASSIGN(owned, read_list<control::Grant>(message.owned()));
    SaidToWorker said =
        control::Assign{.epoch = Epoch(message.epoch()),
                        .number = message.number(),
                        .lease = Duration(static_cast<std::int64_t>(message.lease_us())),
                        .owned = std::move(owned)};
    return said;
}

// ---- up -----------------------------------------------------------------------------------------

void write(const Greeting& greeting, wire::Greeting& to) {
    to.set_worker(fitting(greeting.worker, kNameMax));
    std::visit(Overload{
                   [&](const control::Welcome& welcome) {
                       wire::Welcome& message = *to.mutable_welcome();
                       message.set_incarnation(welcome.incarnation.value());
                       message.set_last_event(welcome.last_event);
                       for (const FragmentStatus& status : welcome.fragments) {
                           write(status, *message.add_fragments());
                       }
                       for (const control::Grant& grant : welcome.held) {
                           write(grant, *message.add_held());
                       }
                   },
                   [&](const control::Refusal& refusal) { write(refusal, *to.mutable_refusal()); },
               },
               greeting.outcome);
}

Result<SaidToCoordinator> read(const wire::Greeting& message) {
    if (!message.has_worker()) return lacks("worker");
    TRY_ASSIGN(worker, text_of(message.worker(), kNameMax, "worker"));
    Greeting greeting{.worker = std::move(worker), .outcome = {}};
    if (message.has_refusal()) {
        TRY_ASSIGN(refusal, read(message.refusal()));
        greeting.outcome = std::move(refusal);
        return SaidToCoordinator(std::move(greeting));
    }
    if (!message.has_welcome()) return lacks("outcome");
    const wire::Welcome& welcome = message.welcome();
    if (!welcome.has_incarnation()) return lacks("incarnation");
    if (!welcome.has_last_event()) return lacks("last event");
    TRY_ASSIGN(fragments, read_list<FragmentStatus>(welcome.fragments()));
    TRY_ASSIGN(held, read_list<control::Grant>(welcome.held()));
    greeting.outcome = control::Welcome{.incarnation = Incarnation(welcome.incarnation()),
                                        .last_event = welcome.last_event(),
                                        .fragments = std::move(fragments),
                                        .held = std::move(held)};
    return SaidToCoordinator(std::move(greeting));
}

void write(const control::Pulse& pulse, wire::Pulse& to) {
    to.set_beat(pulse.beat);
    to.set_from(pulse.from);
    to.set_through(pulse.through);
    for (const FragmentStatus& status : pulse.changed) write(status, *to.add_changed());
    for (const FragmentCounts& counts : pulse.counts) write(counts, *to.add_counts());
    to.set_draining(pulse.draining);
}

Result<SaidToCoordinator> read(const wire::Pulse& message) {
    if (!message.has_beat()) return lacks("beat");
    if (!message.has_from() || !message.has_through()) return lacks("range of events");
    TRY_ASSIGN(changed, read_list<FragmentStatus>(message.changed()));
    TRY_ASSIGN(counts, read_list<FragmentCounts>(message.counts()));
    return SaidToCoordinator(control::Pulse{.beat = message.beat(),
                                            .from = message.from(),
                                            .through = message.through(),
                                            .changed = std::move(changed),
                                            .counts = std::move(counts),
                                            .draining = message.draining()});
}

void write(const control::CommandAnswer& answer, wire::CommandAnswer& to) {
    to.set_request(answer.request);
    std::visit(Overload{
                   [&](const FragmentStatus& status) { write(status, *to.mutable_status()); },
                   [&](const control::Refusal& refusal) { write(refusal, *to.mutable_refusal()); },
               },
               answer.outcome);
}

Result<SaidToCoordinator> read(const wire::CommandAnswer& message) {
    if (!message.has_request()) return lacks("request number");
    control::CommandAnswer answer{.request = message.request(), .outcome = {}};
    if (message.has_status()) {
        TRY_ASSIGN(status, read(message.status()));
        answer.outcome = std::move(status);
    } else if (message.has_refusal()) {
        TRY_ASSIGN(refusal, read(message.refusal()));
        answer.outcome = std::move(refusal);
    } else {
        return lacks("outcome");
    }
    return SaidToCoordinator(std::move(answer));
}

Result<SaidToCoordinator> read(const wire::Holding& message) {
    if (!message.has_number()) return lacks("number");
    TRY_ASSIGN(held, read_list<control::Grant>(message.held()));
    return SaidToCoordinator(control::Holding{.number = message.number(), .held = std::move(held)});
}

}  // namespace

// ---- whole messages -----------------------------------------------------------------------------

void write(const SaidToWorker& said, wire::ToWorker& message) {
    std::visit(Overload{
                   [&](const control::Hello& hello) {
                       wire::Hello& to = *message.mutable_hello();
                       to.set_epoch(hello.epoch.value());
                       to.set_worker(fitting(hello.worker, kNameMax));
                       to.set_protocol(hello.protocol);
                       to.set_catalog(fitting(hello.catalog, kIdMax));
                   },
                   [&](const control::Beat& beat) {
                       message.mutable_beat()->set_number(beat.number);
                       message.mutable_beat()->set_seen(beat.seen);
                       message.mutable_beat()->set_answered(beat.answered);
                   },
                   [&](const control::Command& command) {
                       wire::Command& to = *message.mutable_command();
                       to.set_request(command.request);
                       to.set_epoch(command.epoch.value());
                       write(command.what, to);
                   },
                   [&](const control::Assign& a) { write(a, *message.mutable_assign()); },
               },
               said);
}

void write(const SaidToCoordinator& said, wire::ToCoordinator& message) {
    std::visit(Overload{
                   [&](const Greeting& g) { write(g, *message.mutable_greeting()); },
                   [&](const control::Pulse& p) { write(p, *message.mutable_pulse()); },
                   [&](const control::CommandAnswer& a) { write(a, *message.mutable_answer()); },
                   [&](const control::Holding& h) {
                       message.mutable_holding()->set_number(h.number);
                       for (const control::Grant& grant : h.held) {
                           write(grant, *message.mutable_holding()->add_held());
                       }
                   },
               },
               said);
}

Result<SaidToWorker> read(const wire::ToWorker& message) {
    switch (message.what_case()) {
        case wire::ToWorker::kHello:
            return read(message.hello());
        case wire::ToWorker::kBeat:
            return read(message.beat());
        case wire::ToWorker::kCommand:
            return read(message.command());
        case wire::ToWorker::kAssign:
            return read(message.assign());
        case wire::ToWorker::WHAT_NOT_SET:
            break;
    }
    return malformed_control("it says nothing that is known here");
}

Result<SaidToCoordinator> read(const wire::ToCoordinator& message) {
    switch (message.what_case()) {
        case wire::ToCoordinator::kGreeting:
            return read(message.greeting());
        case wire::ToCoordinator::kPulse:
            return read(message.pulse());
        case wire::ToCoordinator::kAnswer:
            return read(message.answer());
        case wire::ToCoordinator::kHolding:
            return read(message.holding());
        case wire::ToCoordinator::WHAT_NOT_SET:
            break;
    }
    return malformed_control("it says nothing that is known here");
}

}  // namespace baton::rpc
