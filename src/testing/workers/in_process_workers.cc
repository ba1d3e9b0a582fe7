#include "testing/workers/in_process_workers.h"

#include <utility>

#include "base/overload.h"

namespace baton::testing {

namespace {

std::string text_of(const control::WorkerCommand& order) {
    const std::string key = to_string(control::key_of(order));
    return std::visit(Overload{
                          [&](const control::RegisterFragment&) { return "register " + key; },
                          [&](const control::StartFragment&) { return "start " + key; },
                          [&](const control::StopFragment& o) {
                              return "stop " + key + " " + std::string(baton::to_string(o.mode));
                          },
                          [&](const control::ForgetFragment&) { return "forget " + key; },
                      },
                      order);
}

}  // namespace

// ---- the transport ------------------------------------------------------------------------------

void InProcessWorkers::listen(Listener listener) {
    const std::lock_guard lock(mutex_);
    listener_ = std::move(listener);
}

void InProcessWorkers::tell(transport::Event event) {
    if (listener_) listener_(std::move(event));
}

void InProcessWorkers::dial(const std::string& name, const std::optional<Address>& /*address*/,
                            transport::Attempt attempt, const control::Hello& hello) {
    const std::lock_guard lock(mutex_);
    const auto found = workers_.find(name);
    if (found == workers_.end() || found->second.cut || !found->second.process) {
        tell(transport::DialFailed{
            .worker = name, .attempt = attempt, .why = "connection refused", .highest = Epoch(0)});
        return;
    }
    Process& process = *found->second.process;
    process.stream = attempt;
    process.session += 1;
    step(name, found->second, sessions::Greeted{.session = process.session, .hello = hello});
}

void InProcessWorkers::send(const std::string& name, transport::Attempt attempt,
                            const control::Down& message) {
    const std::lock_guard lock(mutex_);
    const auto found = workers_.find(name);
    if (found == workers_.end() || found->second.cut || !found->second.process) return;
    if (found->second.process->stream != attempt) return;
    if (const auto* command = std::get_if<control::Command>(&message)) {
        commands_.push_back(name + " " + text_of(command->what));
    }
    step(name, found->second,
         sessions::MessageArrived{.session = found->second.process->session, .message = message});
}

void InProcessWorkers::hang_up(const std::string& name, transport::Attempt attempt) {
    const std::lock_guard lock(mutex_);
    const auto found = workers_.find(name);
    if (found == workers_.end() || !found->second.process) return;
    if (found->second.process->stream != attempt) return;
    found->second.process->stream.reset();
    step(name, found->second, sessions::HungUp{found->second.process->session});
}

// ---- the workers --------------------------------------------------------------------------------

void InProcessWorkers::step(const std::string& name, Worker& worker,
                            const worker::station::Event& event) {
    std::vector<worker::station::Event> events = {event};
    for (std::size_t i = 0; i < events.size(); ++i) {
        const worker::station::Event next = events[i];
        for (const worker::station::Effect& effect :
             worker.process->machine.step(Instant(), next)) {
            perform(name, worker, effect, events);
        }
    }
}

void InProcessWorkers::perform(const std::string& name, Worker& worker,
                               const worker::station::Effect& effect,
                               std::vector<worker::station::Event>& next) {
    const auto order = [&](const worker::engine_calls::EngineCommand& given) {
        const auto reports = worker.process->engine.obey(given);
        next.insert(next.end(), reports.begin(), reports.end());
    };
    std::visit(
        Overload{
            [&](const worker::station::AnswerGreeting& e) {
                if (const auto* refusal = std::get_if<control::Refusal>(&e.answer)) {
                    tell(transport::DialFailed{.worker = name,
                                               .attempt = *worker.process->stream,
                                               .why = refusal->why,
                                               .highest = refusal->highest,
                                               .refused = true});
                    return;
                }
                tell(transport::Dialled{.worker = name,
                                        .attempt = *worker.process->stream,
                                        .welcome = std::get<control::Welcome>(e.answer)});
            },
            [&](const worker::station::Keep& e) {
                worker.kept = e.allegiance;
                next.emplace_back(worker::station::AllegianceKept{e.allegiance});
            },
            [&](const worker::station::Reply& e) {
                if (worker.cut || !worker.process->stream) return;
                tell(transport::MessageArrived{
                    .worker = name, .attempt = *worker.process->stream, .message = e.message});
            },
            [&](const worker::engine_calls::Prepare& e) { order(e); },
            [&](const worker::engine_calls::Start& e) { order(e); },
            [&](const worker::engine_calls::Drain& e) { order(e); },
            [&](const worker::engine_calls::Abort& e) { order(e); },
            [](const worker::holdings::Take&) {},
            [&](const worker::holdings::Release& e) {
                next.emplace_back(worker::holdings::Released{.partitions = {e.partition}});
            },
        },
        effect);
}

void InProcessWorkers::stop(const std::string& name, Worker& worker) {
    if (!worker.process) return;
    const auto stream = worker.process->stream;
    worker.process.reset();
    if (stream && !worker.cut) {
        tell(transport::Broken{.worker = name, .attempt = *stream, .why = "connection reset"});
    }
}

void InProcessWorkers::start(const std::string& name) {
    const std::lock_guard lock(mutex_);
    Worker& worker = workers_[name];
    auto next = std::make_unique<Process>(Incarnation(next_incarnation_++), worker.kept);
    auto last = std::exchange(worker.process, std::move(next));
    if (last && last->stream && !worker.cut) {
        tell(
            transport::Broken{.worker = name, .attempt = *last->stream, .why = "connection reset"});
    }
}

void InProcessWorkers::kill(const std::string& name) {
    const std::lock_guard lock(mutex_);
    stop(name, workers_[name]);
}

void InProcessWorkers::cut(const std::string& name) {
    const std::lock_guard lock(mutex_);
    workers_[name].cut = true;
}

void InProcessWorkers::mend(const std::string& name) {
    const std::lock_guard lock(mutex_);
    workers_[name].cut = false;
}

void InProcessWorkers::with_engine(const std::string& name,
                                   const std::function<DoubleEngine::Reports(DoubleEngine&)>& act) {
    const std::lock_guard lock(mutex_);
    Worker& worker = workers_.at(name);
    if (!worker.process) return;
    for (const fragments::Event& report : act(worker.process->engine)) step(name, worker, report);
}

std::map<FragmentKey, control::FragmentStatus> InProcessWorkers::held(
    const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = workers_.find(name);
    if (found == workers_.end() || !found->second.process) return {};
    return found->second.process->machine.held();
}

std::set<FragmentKey> InProcessWorkers::running(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = workers_.find(name);
    if (found == workers_.end() || !found->second.process) return {};
    return found->second.process->engine.running();
}

std::vector<std::string> InProcessWorkers::commands() const {
    const std::lock_guard lock(mutex_);
    return commands_;
}

}  // namespace baton::testing
