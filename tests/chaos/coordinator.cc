#include "chaos/coordinator.h"

#include <csignal>
#include <iostream>
#include <utility>

#include "adapters/system/system_clock.h"
#include "base/error.h"
#include "library/baton.h"
#include "worker/node/embedded_worker.h"

namespace baton::chaos {

namespace {

constexpr char kCellEnd = '\x1f';
constexpr std::chrono::seconds kPatience{20};

std::string text_of(const embedded::Answers& answers) {
    std::string text;
    for (const embedded::Answer& answer : answers.done) {
        for (const embedded::Row& row : answer.rows) {
            text += "row ";
            for (const auto& cell : row) text += cell.value_or("") + kCellEnd;
            text += "\n";
        }
    }
    return text + (answers.error ? "error " + to_string(*answers.error) : "ok") + "\n";
}

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    std::size_t at = 0;
    for (std::size_t end = 0; (end = line.find(kCellEnd, at)) != std::string::npos; at = end + 1) {
        cells.push_back(line.substr(at, end - at));
    }
    return cells;
}

}  // namespace

int run_coordinator(const std::string& data) {
    const system::SystemClock clock;
    auto worker = worker::EmbeddedWorker::start(
        clock, {.log = [](const std::string& line) { std::cerr << line + "\n"; }});
    if (!worker) {
        std::cerr << to_string(worker.error()) << "\n";
        return 1;
    }
    auto coordinator = embedded::Coordinator::open(
        {.data = data, .transport = &(*worker)->transport(), .results = &(*worker)->results()});
    if (!coordinator) {
        std::cout << to_string(coordinator.error()) << "\n";
        return 1;
    }
    std::cout << "ok\n" << std::flush;
    std::string line;
    while (std::getline(std::cin, line)) {
        std::cout << text_of((*coordinator)->execute(line)) << std::flush;
    }
    return 0;
}

Coordinator::Coordinator(std::string program, std::string data, std::string log, int space)
    : program_(std::move(program)), data_(std::move(data)), log_(std::move(log)), space_(space) {}

std::string Coordinator::start() {
    child_ = std::make_unique<Child>(std::vector<std::string>{program_, "--coordinator", data_},
                                     log_, space_);
    const auto said = child_->read_line(kPatience);
    if (said == "ok") return "";
    kill();
    return "the coordinator does not start: " + said.value_or("see " + log_);
}

void Coordinator::kill() {
    child_.reset();
    paused_ = false;
}

void Coordinator::pause() {
    child_->signal(SIGSTOP);
    paused_ = true;
}

void Coordinator::go_on() {
    if (paused_) child_->signal(SIGCONT);
    paused_ = false;
}

std::optional<Reply> Coordinator::ask(const std::string& statement) {
    if (!child_ || !child_->write(statement + "\n")) return std::nullopt;
    Reply reply;
    for (;;) {
        const auto line = child_->read_line(kPatience);
        if (!line) return std::nullopt;
        if (line->starts_with("row ")) {
            reply.rows.push_back(cells_of(line->substr(4)));
            continue;
        }
        if (*line != "ok") reply.error = *line;
        return reply;
    }
}

void Coordinator::ask_and_kill(const std::string& statement) {
    if (child_) (void)child_->write(statement + "\n");
    kill();
}

}  // namespace baton::chaos
