#include "app/store_command.h"

#include <iomanip>
#include <iostream>
#include <sstream>

#include "adapters/system/system_clock.h"
#include "app/counterparts.h"
#include "app/object_stores.h"
#include "base/text.h"
#include "stores/probe.h"

namespace baton::app {

namespace {

std::string milliseconds_text(Duration time) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(2) << static_cast<double>(time.count()) / 1'000;
    return text.str();
}

std::string clock_text(const stores::StoreReport& report) {
    if (!report.says_time) return "not known";
    const Duration apart = report.clock_ahead;
    const std::string way = apart < Duration(0) ? " behind" : " ahead of";
    return milliseconds_text(apart < Duration(0) ? -apart : apart) + " ms" + way + " this machine";
}

std::string as_text(const stores::StoreReport& report) {
    std::string text = report.url + " keeps the promises of a store\n";
    const auto line = [&](std::string name, const std::string& value) {
        name.resize(12, ' ');
        text += "  " + name + value + "\n";
    };
    line("in place", report.in_place ? "yes: objects are files of this machine" : "no");
    line("clock", clock_text(report));
    line("read", milliseconds_text(report.get) + " ms (median)");
    line("write", milliseconds_text(report.put) + " ms");
    line("list", milliseconds_text(report.list) + " ms");
    line("remove", milliseconds_text(report.remove) + " ms");
    line("requests", std::to_string(report.requests));
    return text;
}

std::string as_json(const stores::StoreReport& report) {
    std::string text = "{\"url\":";
    append_json_string(text, report.url);
    text += std::string(",\"fit\":true,\"in_place\":") + (report.in_place ? "true" : "false");
    const auto field = [&](const char* name, const std::string& value) {
        text += std::string(",\"") + name + "\":" + value;
    };
    field("clock_ahead_ms",
          report.says_time ? milliseconds_text(report.clock_ahead) : std::string("null"));
    field("read_ms", milliseconds_text(report.get));
    field("write_ms", milliseconds_text(report.put));
    field("list_ms", milliseconds_text(report.list));
    field("remove_ms", milliseconds_text(report.remove));
    field("requests", std::to_string(report.requests));
    return text + "}\n";
}

}  // namespace

int run_store_probe(const StoreCommand& command) {
    const system::SystemClock clock;
    const auto stores = make_object_stores(clock);
    auto store = stores->open(command.url);
    if (!store) return fail(store.error());
    StoreCall call;
    call.patience = std::chrono::seconds(command.seconds);
    const auto report = stores::probe(**store, clock, random_seed(), call);
    if (!report) return fail(report.error());
    std::cout << (command.format == "json" ? as_json(*report) : as_text(*report));
    return 0;
}

void add_store(CLI::App& app, StoreCommand& command, int& status) {
    CLI::App* store = app.add_subcommand("store", "object stores: folders and S3 buckets");
    store->require_subcommand(1);
    CLI::App* probe = store->add_subcommand(
        "probe", "try out whether a store keeps the promises that Baton needs");
    probe
        ->add_option("url", command.url,
                     "./folder, /folder, file:///folder, or\n"
                     "s3://bucket/prefix?endpoint=https://host:9000&region=..")
        ->required();
    probe->add_option("--format", command.format, "the format of the output")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    constexpr std::uint64_t kSecondsMax = 3'600;
    probe->add_option("--timeout", command.seconds, "seconds until a request has failed")
        ->check(CLI::Range(std::uint64_t{1}, kSecondsMax))
        ->capture_default_str();
    probe->footer(
        "It writes some forty small objects below a prefix of their own, and removes them.\n"
        "The exit status is 0 only if every promise was kept.");
    probe->callback([&command, &status] { status = run_store_probe(command); });
}

}  // namespace baton::app
