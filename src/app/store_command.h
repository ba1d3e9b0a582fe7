// `baton store`: commands about object stores.
#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

namespace baton::app {

struct StoreCommand {
    std::string url;
    std::string format = "text";  // text, json
    std::uint64_t seconds = 30;   // of patience, for each request
};

// The command and its options. Both words and status outlive the app.
void add_store(CLI::App& app, StoreCommand& command, int& status);

// Tries out whether a store keeps the promises that Baton needs, and prints its abilities and
// latencies. The exit status is 0 only if it does.
[[nodiscard]] int run_store_probe(const StoreCommand& command);

}  // namespace baton::app
