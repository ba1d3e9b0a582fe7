// FragmentDuty looks after the fragments of a worker: it carries out commands about them, keeps
// their states, and reports every change to the coordinator.
//
// Input:   the commands of the coordinator that is listened to, and the reports of the engine.
// Output:  orders to the engine, answers and changes.
//
// Rules:
//   - A repeated command does nothing and is answered with the status of the fragment.
//   - An outcome is remembered until the coordinator says that it may be forgotten: a lost message
//     loses no outcome.
//   - Each change of a fragment takes the next event number. A change is reported at once, one by a
//     command in the answer to it, and again in the answers to beats until a beat says that it was
//     seen.
//   - Fragments do not depend on being commanded: without a coordinator they go on as they are.
//   - A worker that was asked to leave takes no new fragment.
// Pure: no clock, no I/O, no threads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/worker/duty.h"
#include "model/control.h"
#include "model/fragment_events.h"

namespace baton::worker {

class FragmentDuty final : public Duty {
public:
    void welcome(Instant at, control::Welcome& welcome, duty::Effects& effects) override;
    void beat(Instant at, const control::Beat& beat, control::Pulse& pulse,
              duty::Effects& effects) override;
    [[nodiscard]] bool has_news() const override { return told_ != last_event_; }
    void tell_news(control::Pulse& pulse) override;
    void leave() override { leaving_ = true; }
    [[nodiscard]] bool may_leave(bool is_heard) const override;

    // A command of the epoch that is obeyed. Always answered.
    void obey(const control::Command& command, duty::Effects& effects);

    void on(const fragments::Prepared& event);
    void on(const fragments::PrepareFailed& event);
    void on(const fragments::BeganToRun& event);
    void on(const fragments::Ended& event);
    void on(const fragments::Halted& event);
    void on(const fragments::Broke& event);

    [[nodiscard]] const std::map<FragmentKey, control::FragmentStatus>& held() const {
        return held_;
    }

private:
    void obey(const control::RegisterFragment& order, duty::Effects& effects);
    void obey(const control::StartFragment& order, duty::Effects& effects);
    void obey(const control::StopFragment& order, duty::Effects& effects);
    void obey(const control::ForgetFragment& order, duty::Effects& effects);

    [[nodiscard]] bool is_new(const control::WorkerCommand& order) const;
    // The fragment if it lives; a report of the engine about another one comes too late.
    [[nodiscard]] control::FragmentStatus* living(const FragmentKey& key);
    // Gives the status, which differs from the one that was reported last, the next number.
    void changed(control::FragmentStatus& status);
    void end(control::FragmentStatus& status, FragmentState state, control::Fault fault,
             std::string reason, std::uint32_t error = 0);
    void tell_after(std::uint64_t from, control::Pulse& pulse);

    bool leaving_ = false;
    std::map<FragmentKey, control::FragmentStatus> held_;
    std::map<std::uint64_t, control::FragmentStatus> unseen_;  // the last change of each, by number
    std::uint64_t last_event_ = 0;
    std::uint64_t told_ = 0;  // on this session
};

}  // namespace baton::worker
