#include "adapters/grpc/translate.h"

#include <baton/control.pb.h>
#include <gtest/gtest.h>

namespace baton::rpc {
namespace {

constexpr FragmentKey kFragmentKey{.query = QueryId(3), .run = 2, .fragment = FragmentId(7)};

const control::Grant kGrant{.partition = {.list = "ÄPFEL", .number = 3}, .epoch = Epoch(4)};

control::FragmentStatus status(std::optional<FragmentState> state) {
    return {.key = kFragmentKey,
            .state = state,
            .stopping = StopMode::forceful,
            .fault = control::Fault::terminal,
            .reason = "grün",
            .event = 12,
            .fingerprint = "0f"};
}

std::vector<SaidToWorker> all_down() {
    const auto command = [](control::WorkerCommand order) {
        return control::Command{.request = 9, .epoch = Epoch(4), .what = std::move(order)};
    };
    return {
        control::Hello{.epoch = Epoch(4), .worker = "EDGE", .protocol = 2, .catalog = "4a1f"},
        control::Beat{.number = 0, .seen = 17, .answered = 6},
        control::Assign{.epoch = Epoch(4), .number = 0, .lease = Duration(0), .owned = {}},
        control::Assign{.epoch = Epoch(4),
                        .number = 3,
                        .lease = std::chrono::seconds(22),
                        .owned = {kGrant, kGrant}},
        command(control::RegisterFragment{.key = kFragmentKey, .plan = "{}", .fingerprint = "0f"}),
        command(control::StartFragment{kFragmentKey}),
        command(control::StopFragment{.key = kFragmentKey, .mode = StopMode::graceful}),
        command(control::StopFragment{.key = kFragmentKey, .mode = StopMode::forceful}),
        command(control::ForgetFragment{kFragmentKey})};
}

std::vector<SaidToCoordinator> all_up() {
    const control::Welcome welcome{.incarnation = Incarnation(5),
                                   .last_event = 12,
                                   .fragments = {status(FragmentState::running), status({})},
                                   .held = {kGrant}};
    const control::Refusal refusal{.highest = Epoch(8), .why = "epoch 4 is over"};
    control::Pulse pulse{.beat = 3, .from = 1, .through = 12};
    for (const auto& [state, name] : StateNames<FragmentState>::kNames) {
        pulse.changed.push_back(status(state));
    }
    const Counts counts{.rows_in = 1,
                        .bytes_in = 2,
                        .rows_out = 3,
                        .bytes_out = 4,
                        .late = 5,
                        .skipped = 6,
                        .stalls = 7,
                        .busy_us = 8,
                        .memory = 9};
    pulse.counts.push_back({.key = kFragmentKey, .counts = counts});
    pulse.changed.back().counts = counts;
    pulse.draining = true;
    return {Greeting{.worker = "EDGE", .outcome = welcome},
            Greeting{.worker = "EDGE", .outcome = refusal},
            pulse,
            control::CommandAnswer{.request = 1, .outcome = status(FragmentState::failed)},
            control::CommandAnswer{.request = 1, .outcome = refusal},
            control::Holding{.number = 0, .held = {}},
            control::Holding{.number = 3, .held = {kGrant, kGrant}}};
}

TEST(Translate, WhatIsWrittenIsReadBackAsItWas) {
    for (const SaidToWorker& said : all_down()) {
        const auto read = read_to_worker(bytes_of(said));
        ASSERT_TRUE(read) << to_string(read.error());
        EXPECT_EQ(*read, said);
    }
    for (const SaidToCoordinator& said : all_up()) {
        const auto read = read_to_coordinator(bytes_of(said));
        ASSERT_TRUE(read) << to_string(read.error());
        EXPECT_EQ(*read, said);
    }
}

// Clears each field of the message in turn, also of messages inside it, and calls `act`.
void without_each(google::protobuf::Message& whole, google::protobuf::Message& part,
                  const std::function<void(const std::string&)>& act) {
    const auto* reflection = part.GetReflection();
    std::vector<const google::protobuf::FieldDescriptor*> fields;
    reflection->ListFields(part, &fields);
    for (const auto* field : fields) {
        if (field->is_repeated()) {
            for (int i = 0; i < reflection->FieldSize(part, field); ++i) {
                without_each(whole, *reflection->MutableRepeatedMessage(&part, field, i), act);
            }
            continue;
        }
        const std::unique_ptr<google::protobuf::Message> saved(part.New());
        saved->CopyFrom(part);
        reflection->ClearField(&part, field);
        act(field->full_name());
        part.CopyFrom(*saved);
        if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
        without_each(whole, *reflection->MutableMessage(&part, field), act);
    }
}

// Whether the field may be missing, as control.proto says.
bool may_lack(const std::string& field) {
    return field == "baton.wire.FragmentStatus.state" ||
           field == "baton.wire.FragmentStatus.stopping" ||
           field == "baton.wire.FragmentStatus.reason" ||
           field == "baton.wire.FragmentStatus.fingerprint" || field == "baton.wire.Refusal.why" ||
           field == "baton.wire.Pulse.draining" || field.ends_with(".counts") ||
           field.starts_with("baton.wire.Counts.");
}

TEST(Translate, AMessageThatLacksAFieldIsRefused) {
    for (const SaidToWorker& said : all_down()) {
        wire::ToWorker message;
        write(said, message);
        without_each(message, message, [&](const std::string& field) {
            EXPECT_EQ(read(message).has_value(), may_lack(field)) << field;
        });
    }
    for (const SaidToCoordinator& said : all_up()) {
        wire::ToCoordinator message;
        write(said, message);
        without_each(message, message, [&](const std::string& field) {
            EXPECT_EQ(read(message).has_value(), may_lack(field)) << field;
        });
    }
}

TEST(Translate, UnknownNumbersOfEnumsAreRefused) {
    wire::ToCoordinator message;
    write(all_up()[3], message);
    auto& status = *message.mutable_answer()->mutable_status();
    status.set_state(static_cast<wire::FragmentState>(99));
    EXPECT_FALSE(read(message));
    status.set_state(wire::FRAGMENT_STATE_FAILED);
    EXPECT_TRUE(read(message));
    status.set_fault(static_cast<wire::Fault>(99));
    EXPECT_FALSE(read(message));
    status.set_fault(wire::FAULT_TERMINAL);
    status.set_stopping(static_cast<wire::StopMode>(99));
    EXPECT_FALSE(read(message));
}

TEST(Translate, ListsAndTextsThatAreTooLongAreRefused) {
    wire::ToCoordinator message;
    write(all_up()[2], message);
    auto& pulse = *message.mutable_pulse();
    pulse.mutable_changed(0)->set_reason(std::string(kReasonMax + 1, 'x'));
    EXPECT_FALSE(read(message));
    pulse.mutable_changed(0)->set_reason(std::string("a\0b", 3));
    EXPECT_FALSE(read(message));
    pulse.mutable_changed(0)->clear_reason();
    EXPECT_TRUE(read(message));
    const wire::FragmentStatus one = pulse.changed(1);
    while (static_cast<std::size_t>(pulse.changed_size()) <= kListMax) *pulse.add_changed() = one;
    const auto refused = read(message);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "cannot understand a control message: a list is too long");
}

TEST(Translate, AReasonThatIsNoTextIsMadeOne) {
    control::FragmentStatus failed = status(FragmentState::failed);
    failed.reason = "caf\xe9 \xf0\x9f\x98\x80" + std::string(kReasonMax, 'x');
    const auto read = read_to_coordinator(
        bytes_of(SaidToCoordinator(control::CommandAnswer{.request = 1, .outcome = failed})));
    ASSERT_TRUE(read);
    const auto& answer = std::get<control::CommandAnswer>(*read);
    const std::string& reason = std::get<control::FragmentStatus>(answer.outcome).reason;
    EXPECT_TRUE(reason.starts_with("caf? \xf0\x9f\x98\x80x"));
    EXPECT_EQ(reason.size(), kReasonMax);
}

TEST(Translate, BytesOfAnyKindAreAnswered) {
    EXPECT_FALSE(read_to_worker(""));
    EXPECT_FALSE(read_to_worker("\xff\xff\xff"));
    EXPECT_FALSE(read_to_coordinator("hello"));
    EXPECT_FALSE(read_to_coordinator(std::string(kControlBytesMax + 1, '\0')));
}

}  // namespace
}  // namespace baton::rpc
