#include "doors/http/metrics_page.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

#include "adapters/system/memory.h"
#include "base/check.h"
#include "base/time.h"
#include "coordinator/sessions/version.h"

namespace baton::http {

namespace {

using desk::Sample;

double number_in(const SqlValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    return 0;
}

std::string text_in(const SqlValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    return text == nullptr ? std::string() : *text;
}

// Every state is there, also with 0: an alert on a series that is missing never fires.
void count_states(const views::Table& table, std::string_view family,
                  std::initializer_list<const char*> states, std::vector<Sample>& samples) {
    std::map<std::string, double> counts;
    for (const char* state : states) counts[state] = 0;
    for (const SqlRow& row : table.rows) counts[text_in(row.front())] += 1;
    for (const auto& [state, count] : counts) {
        samples.push_back({.family = family, .labels = {{"state", state}}, .value = count});
    }
}

struct CounterColumn {
    const char* column;
    std::string_view family;
    double unit = 1;
};
constexpr std::array kCounterColumns = {
    CounterColumn{"ROWS_IN", "baton_rows_in_total"},
    CounterColumn{"BYTES_IN", "baton_bytes_in_total"},
    CounterColumn{"ROWS_OUT", "baton_rows_out_total"},
    CounterColumn{"BYTES_OUT", "baton_bytes_out_total"},
    CounterColumn{"LATE", "baton_late_rows_total"},
    CounterColumn{"SKIPPED", "baton_skipped_records_total"},
    CounterColumn{"STALLS", "baton_stalls_total"},
    CounterColumn{"BUSY_US", "baton_busy_seconds_total", 1e-6},
    CounterColumn{"MEMORY", "baton_memory_bytes"},
};

void add_counters(const views::Table& table, std::vector<Sample>& samples) {
    using Sums = std::array<double, kCounterColumns.size()>;
    std::map<std::pair<std::string, std::string>, Sums> sums;
    for (const SqlRow& row : table.rows) {
        Sums& sum = sums[{text_in(row[0]), text_in(row[1])}];
        for (std::size_t i = 0; i < sum.size(); ++i) sum.at(i) += number_in(row[2 + i]);
    }
    for (std::size_t i = 0; i < kCounterColumns.size(); ++i) {
        for (const auto& [of, sum] : sums) {
            samples.push_back({.family = kCounterColumns.at(i).family,
                               .labels = {{"query", of.first}, {"worker", of.second}},
                               .value = sum.at(i) * kCounterColumns.at(i).unit});
        }
    }
}

// The time of the processor and the start, from /proc/self/stat, counted in ticks.
void add_times(std::vector<Sample>& samples) {
    std::ifstream file("/proc/self/stat");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return;
    std::istringstream rest(text.substr(name_end + 1));
    std::vector<std::string> fields{std::istream_iterator<std::string>(rest), {}};
    constexpr std::size_t kUser = 11;  // after the name
    constexpr std::size_t kStart = 19;
    if (fields.size() <= kStart) return;
    const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    const double busy = std::stod(fields[kUser]) + std::stod(fields[kUser + 1]);
    samples.push_back({.family = "process_cpu_seconds_total", .labels = {}, .value = busy / ticks});
    std::ifstream stat("/proc/stat");
    for (std::string word; stat >> word;) {
        if (word != "btime") continue;
        double booted = 0;
        stat >> booted;
        samples.push_back({.family = "process_start_time_seconds",
                           .labels = {},
                           .value = booted + std::stod(fields[kStart]) / ticks});
    }
}

void add_process(std::vector<Sample>& samples) {
    add_times(samples);
    samples.push_back({.family = "process_resident_memory_bytes",
                       .labels = {},
                       .value = static_cast<double>(system::resident_bytes())});
    std::error_code error;
    double open = 0;
    const std::filesystem::directory_iterator fds("/proc/self/fd", error);
    for (const auto& fd : fds) open += fd.path().empty() ? 0 : 1;
    samples.push_back({.family = "process_open_fds", .labels = {}, .value = open});
    rlimit most{};
    getrlimit(RLIMIT_NOFILE, &most);
    samples.push_back(
        {.family = "process_max_fds", .labels = {}, .value = static_cast<double>(most.rlim_cur)});
}

void add_load(desk::Desk& desk, std::vector<Sample>& samples) {
    const desk::Desk::Load load = desk.load();
    const auto add = [&](std::string_view family, double value) {
        samples.push_back({.family = family, .labels = {}, .value = value});
    };
    add("baton_desk_waiting", static_cast<double>(load.waiting));
    add("baton_desk_running", static_cast<double>(load.running));
    add("baton_desk_visitors", static_cast<double>(load.visitors));
    add("baton_desk_standing", static_cast<double>(load.standing));
    add("baton_desk_forwarding", static_cast<double>(load.forwarding));
    const coordinator::CoordinatorRuntime::CommitCounts commits =
        desk.coordinator().commit_counts();
    add("baton_commit_failures", static_cast<double>(commits.failures_in_a_row));
    add("baton_statement_log_dropped_total", static_cast<double>(commits.log_lines_dropped));
    add("baton_transaction_snapshots",
        static_cast<double>(desk.coordinator().transaction_views().kept()));
    add("baton_catalog_revision", static_cast<double>(desk.coordinator().feed().last().value()));
    add("baton_leading", desk.coordinator().term() ? 1 : 0);
}

// What was true some time ago tells nothing of a lease.
void add_leader(const views::Table& table, std::vector<Sample>& samples) {
    if (table.stale) return;
    for (const SqlRow& row : table.rows) {
        const auto since = wall_time_of(text_in(row[1]));
        if (!since) continue;  // nobody ever led: the file of the catalog has one process
        const auto add = [&](std::string_view family, double value) {
            samples.push_back({.family = family, .labels = {}, .value = value});
        };
        add("baton_leader_epoch", number_in(row[0]));
        add("baton_leader_since_seconds",
            std::chrono::duration<double>(since->time_since_epoch()).count());
        add("baton_leader_remaining_seconds", number_in(row[2]) * 1e-6);
    }
}

void add_task_lists(const views::Table& table, std::vector<Sample>& samples) {
    for (const SqlRow& row : table.rows) {
        const desk::Labels list = {{"list", text_in(row[0])}};
        samples.push_back(
            {.family = "baton_partitions", .labels = list, .value = number_in(row[1])});
        samples.push_back(
            {.family = "baton_partitions_owned", .labels = list, .value = number_in(row[2])});
    }
}

// A page of more tables than that would be too long: the overview counts all of them.
constexpr std::size_t kTablesMax = 1'000;

void add_tables(const views::Table& table, std::vector<Sample>& samples) {
    constexpr std::array kFamilies = {"baton_table_version", "baton_table_rows",
                                      "baton_table_objects", "baton_table_bytes"};
    samples.push_back(
        {.family = "baton_tables", .labels = {}, .value = static_cast<double>(table.rows.size())});
    for (std::size_t family = 0; family < kFamilies.size(); ++family) {
        for (std::size_t i = 0; i < std::min(table.rows.size(), kTablesMax); ++i) {
            const SqlRow& row = table.rows[i];
            if (std::holds_alternative<std::monostate>(row[family + 1])) continue;
            samples.push_back({.family = kFamilies.at(family),
                               .labels = {{"table", text_in(row[0])}},
                               .value = number_in(row[family + 1])});
        }
    }
}

void add_upkeep(const coordinator::UpkeepCounts& counts, std::vector<Sample>& samples) {
    const auto add = [&](std::string_view family, const std::atomic<std::uint64_t>& count) {
        samples.push_back(
            {.family = family, .labels = {}, .value = static_cast<double>(count.load())});
    };
    add("baton_table_commits_total", counts.commits);
    add("baton_upkeep_looks_total", counts.looks);
    add("baton_upkeep_failures_total", counts.failures);
    add("baton_upkeep_notes_total", counts.notes);
    add("baton_upkeep_merges_total", counts.merges);
    add("baton_upkeep_merged_objects_total", counts.merged_objects);
    add("baton_upkeep_conflicts_total", counts.conflicts);
    add("baton_upkeep_expired_objects_total", counts.expired_objects);
    add("baton_upkeep_checkpoints_total", counts.checkpoints);
    add("baton_upkeep_deleted_files_total", counts.deleted_files);
    add("baton_upkeep_deleted_folders_total", counts.deleted_folders);
}

void add_stores(const std::vector<StoreMeter>& meters, std::vector<Sample>& samples) {
    constexpr std::array kRequests = {
        std::pair{StoreRequest::get, "get"}, std::pair{StoreRequest::put, "put"},
        std::pair{StoreRequest::list, "list"}, std::pair{StoreRequest::remove, "remove"}};
    const auto add = [&](std::string_view family, auto count_of) {
        for (const StoreMeter& meter : meters) {
            samples.push_back({.family = family,
                               .labels = {{"store", meter.url}},
                               .value = static_cast<double>(count_of(meter.use))});
        }
    };
    for (const StoreMeter& meter : meters) {
        for (const auto& [request, name] : kRequests) {
            samples.push_back({.family = "baton_store_requests_total",
                               .labels = {{"store", meter.url}, {"request", name}},
                               .value = static_cast<double>(meter.use.of(request))});
        }
    }
    add("baton_store_bytes_in_total", [](const StoreUse& use) { return use.bytes_in; });
    add("baton_store_bytes_out_total", [](const StoreUse& use) { return use.bytes_out; });
    add("baton_store_repeats_total", [](const StoreUse& use) { return use.repeats; });
    add("baton_store_throttles_total", [](const StoreUse& use) { return use.throttles; });
}

}  // namespace

std::string metrics_questions() {
    std::string text =
        "SELECT state FROM baton.workers;SELECT state FROM baton.queries;"
        "SELECT epoch, since, remaining_us FROM baton.locks WHERE name = 'leader';"
        "SELECT name, partitions, owned FROM baton.task_lists;"
        "SELECT name, version, rows, objects, bytes FROM baton.tables;"
        "SELECT query_name, worker";
    for (const CounterColumn& column : kCounterColumns) text += std::string(", ") + column.column;
    return text + " FROM baton.counters";
}

std::string metrics_page(const desk::Metrics& metrics, desk::Desk& desk,
                         const coordinator::Execution& answers) {
    std::vector<Sample> samples;
    samples.push_back({.family = "baton_build_info",
                       .labels = {{"version", std::string(coordinator::kVersion)}},
                       .value = 1});
    add_process(samples);
    add_load(desk, samples);
    add_upkeep(desk.coordinator().upkeep_counts(), samples);
    add_stores(desk.coordinator().store_meters(), samples);
    if (answers.results.size() == 6) {
        const auto table = [&](std::size_t i) -> const views::Table& {
            return std::get<views::Table>(answers.results[i].value);
        };
        count_states(table(0), "baton_workers", {"ACTIVE", "UNREACHABLE"}, samples);
        count_states(
            table(1), "baton_queries",
            {"PENDING", "DEPLOYING", "RUNNING", "STOPPING", "STOPPED", "TERMINATED", "FAILED"},
            samples);
        add_leader(table(2), samples);
        add_task_lists(table(3), samples);
        add_tables(table(4), samples);
        add_counters(table(5), samples);
    }
    return metrics.text(samples);
}

}  // namespace baton::http
