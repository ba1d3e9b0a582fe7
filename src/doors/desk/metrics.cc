#include "doors/desk/metrics.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/check.h"

namespace baton::desk {

namespace {

constexpr MetricFamily family(std::string_view name, MetricKind kind, std::string_view labels,
                              std::string_view help) {
    return {.name = name, .kind = kind, .labels = labels, .help = help};
}

using enum MetricKind;

constexpr std::array kFamilies = {
    family("baton_requests_total", counter, "door, kind, outcome", "requests that were answered"),
    family("baton_request_seconds", histogram, "door, kind", "how long answers took"),
    family("baton_connections", gauge, "door", "connections that are open"),
    family("baton_connections_refused_total", counter, "door", "connections beyond the limit"),
    family("baton_logins_failed_total", counter, "door", "logins that were refused"),
    family("baton_logins_held_up_total", counter, "door",
           "logins that were refused unchecked: too many had failed"),
    family("baton_streams", gauge, "door", "streams of events that are followed"),
    family("baton_desk_waiting", gauge, "", "requests that wait for a thread"),
    family("baton_desk_running", gauge, "", "requests that are being run"),
    family("baton_desk_visitors", gauge, "", "sessions that are open"),
    family("baton_desk_standing", gauge, "", "statements that wait for a query, without a thread"),
    family("baton_desk_forwarding", gauge, "",
           "statements that wait to be forwarded to the leader"),
    family("baton_commit_failures", gauge, "", "commits that failed in a row; 5: not ready"),
    family("baton_statement_log_dropped_total", counter, "",
           "lines that were lost from the statement log"),
    family("baton_transaction_snapshots", gauge, "", "snapshots kept for open transactions"),
    family("baton_catalog_revision", gauge, "", "the newest revision of the catalog"),
    family("baton_leading", gauge, "", "1 if this coordinator leads, else 0"),
    family("baton_leader_epoch", gauge, "", "the epoch of the last term of a leader"),
    family("baton_leader_since_seconds", gauge, "", "when that term began, since 1970"),
    family("baton_leader_remaining_seconds", gauge, "", "time left of its lease; 0: no leader"),
    family("baton_partitions", gauge, "list", "partitions of each task list"),
    family("baton_partitions_owned", gauge, "list",
           "partitions of each task list that a worker has"),
    family("baton_workers", gauge, "state", "workers in each state"),
    family("baton_queries", gauge, "state", "queries in each state"),
    family("baton_rows_in_total", counter, "query, worker", "rows from sources and other workers"),
    family("baton_bytes_in_total", counter, "query, worker", "bytes of them"),
    family("baton_rows_out_total", counter, "query, worker", "rows to sinks and other workers"),
    family("baton_bytes_out_total", counter, "query, worker", "bytes of them"),
    family("baton_late_rows_total", counter, "query, worker", "rows whose window was closed"),
    family("baton_skipped_records_total", counter, "query, worker",
           "records that could not be read"),
    family("baton_stalls_total", counter, "query, worker", "waits for the consumer of the rows"),
    family("baton_busy_seconds_total", counter, "query, worker", "processor time"),
    family("baton_memory_bytes", gauge, "query, worker", "bytes held in windows and joins"),
    family("baton_tables", gauge, "", "tables in the catalog"),
    family("baton_table_version", gauge, "table",
           "the newest version of each table that was noted"),
    family("baton_table_rows", gauge, "table", "rows of that version"),
    family("baton_table_objects", gauge, "table", "objects of that version"),
    family("baton_table_bytes", gauge, "table", "bytes of its objects"),
    family("baton_table_commits_total", counter, "",
           "commits of rows that clients of this coordinator added"),
    family("baton_upkeep_looks_total", counter, "", "looks at tables to find what is due"),
    family("baton_upkeep_failures_total", counter, "",
           "looks, and deletions of folders, that failed"),
    family("baton_upkeep_notes_total", counter, "",
           "versions of tables that were noted in the catalog"),
    family("baton_upkeep_merges_total", counter, "", "merges of small objects"),
    family("baton_upkeep_merged_objects_total", counter, "", "objects that merges replaced"),
    family("baton_upkeep_conflicts_total", counter, "",
           "merges and removals that other writers made void"),
    family("baton_upkeep_expired_objects_total", counter, "", "objects whose rows were too old"),
    family("baton_upkeep_checkpoints_total", counter, "", "checkpoints that were written"),
    family("baton_upkeep_deleted_files_total", counter, "", "files that no reader needed"),
    family("baton_upkeep_deleted_folders_total", counter, "",
           "folders of tables that were dropped"),
    family("baton_store_requests_total", counter, "store, request",
           "requests to each store of tables: get, put, list, remove"),
    family("baton_store_bytes_in_total", counter, "store", "bytes fetched from each store"),
    family("baton_store_bytes_out_total", counter, "store", "bytes sent to each store"),
    family("baton_store_repeats_total", counter, "store", "requests that were repeated"),
    family("baton_store_throttles_total", counter, "store",
           "requests that a store refused for their number"),
    family("baton_build_info", gauge, "version", "1, for the version that runs"),
    family("process_cpu_seconds_total", counter, "", "processor time of this process"),
    family("process_resident_memory_bytes", gauge, "", "memory of this process"),
    family("process_open_fds", gauge, "", "descriptors that are open"),
    family("process_max_fds", gauge, "", "descriptors that may be open"),
    family("process_start_time_seconds", gauge, "", "when this process began, since 1970"),
};

std::string_view kind_text(MetricKind kind) {
    switch (kind) {
        case counter:
            return "counter";
        case gauge:
            return "gauge";
        case histogram:
            return "histogram";
    }
    return "untyped";
}

// door="http",kind="sql"
std::string printed(const Labels& labels) {
    std::string text;
    for (const auto& [name, value] : labels) {
        if (!text.empty()) text += ',';
        text += name + "=\"";
        for (const char c : value) {
            if (c == '\\' || c == '"') text += '\\';
            if (c == '\n') {
                text += "\\n";
            } else {
                text += c;
            }
        }
        text += '"';
    }
    return text;
}

std::string number_text(double value) {
    if (std::isnan(value)) return "NaN";
    std::array<char, 64> digits{};
    const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    return {digits.data(), written.ptr};
}

void append_line(std::string& page, std::string_view name, const std::string& labels,
                 double value) {
    page += name;
    if (!labels.empty()) page += "{" + labels + "}";
    page += " " + number_text(value) + "\n";
}

std::string with(const std::string& labels, const std::string& more) {
    return labels.empty() ? more : labels + "," + more;
}

template <class Known>
auto& found(Known& known, std::string_view family, const Labels& labels) {
    (void)family_of(family);
    auto& slot = known[std::string(family)][printed(labels)];
    using T = typename std::remove_reference_t<decltype(slot)>::element_type;
    if (!slot) slot = std::make_unique<T>();
    return *slot;
}

}  // namespace

std::span<const MetricFamily> metric_families() {
    return kFamilies;
}

const MetricFamily& family_of(std::string_view name) {
    const auto known = std::find_if(kFamilies.begin(), kFamilies.end(),
                                    [&](const MetricFamily& f) { return f.name == name; });
    CHECK(known != kFamilies.end());
    return *known;
}

void Histogram::observe(Duration took) {
    const auto us = std::max<std::int64_t>(took.count(), 0);
    const auto bucket = static_cast<std::size_t>(
        std::lower_bound(kBoundsUs.begin(), kBoundsUs.end(), us) - kBoundsUs.begin());
    buckets_.at(bucket).fetch_add(1, std::memory_order_relaxed);
    sum_us_.fetch_add(static_cast<std::uint64_t>(us), std::memory_order_relaxed);
}

Counter& Metrics::counter(std::string_view family, const Labels& labels) {
    const std::lock_guard lock(mutex_);
    return found(counters_, family, labels);
}

Gauge& Metrics::gauge(std::string_view family, const Labels& labels) {
    const std::lock_guard lock(mutex_);
    return found(gauges_, family, labels);
}

Histogram& Metrics::histogram(std::string_view family, const Labels& labels) {
    const std::lock_guard lock(mutex_);
    return found(histograms_, family, labels);
}

void DoorAnswers::count(std::string_view kind, std::string_view outcome, Duration took) {
    const std::lock_guard lock(mutex_);
    auto known = std::find_if(known_.begin(), known_.end(), [&](const Known& one) {
        return one.kind == kind && one.outcome == outcome;
    });
    if (known == known_.end()) {
        const Labels labels = {{"door", door_}, {"kind", std::string(kind)}};
        Labels with_outcome = labels;
        with_outcome.emplace_back("outcome", outcome);
        known = known_.insert(known_.end(),
                              {.kind = std::string(kind),
                               .outcome = std::string(outcome),
                               .requests = &metrics_.counter("baton_requests_total", with_outcome),
                               .seconds = &metrics_.histogram("baton_request_seconds", labels)});
    }
    known->requests->add();
    known->seconds->observe(took);
}

void Metrics::append_histogram(std::string& page, const std::string& name,
                               const std::string& labels, const Histogram& histogram) {
    double count = 0;
    for (std::size_t i = 0; i < histogram.buckets_.size(); ++i) {
        count += static_cast<double>(histogram.buckets_.at(i).load());
        const bool last = i == Histogram::kBoundsUs.size();
        const std::string bound =
            last ? "+Inf" : number_text(static_cast<double>(Histogram::kBoundsUs.at(i)) / 1e6);
        append_line(page, name + "_bucket", with(labels, "le=\"" + bound + "\""), count);
    }
    append_line(page, name + "_sum", labels, static_cast<double>(histogram.sum_us_.load()) / 1e6);
    append_line(page, name + "_count", labels, count);
}

std::string Metrics::text(const std::vector<Sample>& collected) const {
    const std::lock_guard lock(mutex_);
    std::string page;
    for (const MetricFamily& f : kFamilies) {
        std::string lines;
        if (const auto known = counters_.find(f.name); known != counters_.end()) {
            for (const auto& [labels, value] : known->second) {
                append_line(lines, f.name, labels, static_cast<double>(value->value()));
            }
        }
        if (const auto known = gauges_.find(f.name); known != gauges_.end()) {
            for (const auto& [labels, value] : known->second) {
                append_line(lines, f.name, labels, static_cast<double>(value->value()));
            }
        }
        if (const auto known = histograms_.find(f.name); known != histograms_.end()) {
            for (const auto& [labels, value] : known->second) {
                append_histogram(lines, std::string(f.name), labels, *value);
            }
        }
        for (const Sample& sample : collected) {
            if (sample.family != f.name) continue;
            append_line(lines, f.name, printed(sample.labels), sample.value);
        }
        if (lines.empty()) continue;
        page += "# HELP " + std::string(f.name) + " " + std::string(f.help) + "\n# TYPE " +
                std::string(f.name) + " " + std::string(kind_text(f.kind)) + "\n" + lines;
    }
    return page;
}

}  // namespace baton::desk
