// The commands that query or change a running coordinator.
#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include "app/ctl_commands.h"

namespace baton::app {

// --wait and --timeout
struct WaitWords {
    std::string until = "accepted";
    std::uint64_t timeout_s = 0;
};
void add_wait(CLI::App& command, WaitWords& words);

// The parts of the command line.
struct CtlWords {
    CtlCommand command{
        .reach = {.connect = kDefaultAddress, .data = {}}, .format = "text", .wait = {}};
    WaitWords wait;
    std::string name;
    std::string file;
    bool flag = false;  // --follow, --forceful, --dry-run, --once
    double interval_s = 1;
};

// `worker` is the command that has those about workers below it. Both words and status outlive the
// app.
void add_ctl(CLI::App& app, CLI::App& worker, CtlWords& words, int& status);

}  // namespace baton::app
