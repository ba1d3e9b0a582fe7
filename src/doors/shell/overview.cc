#include "doors/shell/overview.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "catalog/kinds/encode.h"
#include "catalog/views/views.h"

namespace baton::shell {

namespace {

std::string cell(const views::Table& table, const SqlRow& row, std::size_t column) {
    return kinds::shown(row[column], table.columns[column].type);
}

std::int64_t number_in(const SqlRow& row, std::size_t column) {
    const auto* number = std::get_if<std::int64_t>(&row[column]);
    return number != nullptr ? *number : 0;
}

std::string in_seconds(Duration duration) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f s",
                  std::chrono::duration<double>(duration).count());
    return text.data();
}

std::string with_reason(const std::string& reason) {
    return reason.empty() ? "" : ": " + reason;
}

std::string counted(const std::map<std::string, std::size_t>& by_state) {
    std::size_t total = 0;
    std::string parts;
    for (const auto& [state, count] : by_state) {
        total += count;
        parts += (parts.empty() ? ": " : ", ") + std::to_string(count) + " " + state;
    }
    return std::to_string(total) + parts;
}

std::string json_of(const std::map<std::string, std::size_t>& by_state) {
    std::string text;
    for (const auto& [state, count] : by_state) {
        text += (text.empty() ? "" : ",") + kinds::json_string(state) + ":" + std::to_string(count);
    }
    return "{" + text + "}";
}

std::string in_words(const Leader& leader) {
    if (leader.remaining == Duration::zero()) return "none";
    return leader.owner + ", epoch " + std::to_string(leader.epoch) + " since " + leader.since +
           ", " + in_seconds(leader.remaining) + " left";
}

std::string json_of(const Leader& leader) {
    return "{\"owner\":" + kinds::json_string(leader.owner) +
           ",\"epoch\":" + std::to_string(leader.epoch) +
           ",\"since\":" + kinds::json_string(leader.since) +
           ",\"remaining_us\":" + std::to_string(leader.remaining.count()) + "}";
}

}  // namespace

// ---- status -------------------------------------------------------------------------------------

State state_of(const std::array<views::Table, 6>& answers) {
    const auto& [workers, queries, sources, sinks, locks, lists] = answers;
    State state;
    for (const SqlRow& row : workers.rows) {
        const std::string is = cell(workers, row, 1);
        state.workers[is] += 1;
        if (is == "ACTIVE") continue;
        state.problems.push_back("worker " + cell(workers, row, 0) + " is " + is + " since " +
                                 cell(workers, row, 5) + with_reason(cell(workers, row, 4)));
    }
    for (const SqlRow& row : queries.rows) {
        const std::string is = cell(queries, row, 1);
        state.queries[is] += 1;
        const std::string desired = cell(queries, row, 2);
        const bool well = is == desired || is == "TERMINATED" || desired == "DROPPED";
        if (well && is != "FAILED") continue;
        const std::string lagging = cell(queries, row, 3);
        const bool waits = !lagging.empty() && lagging != "[]";
        state.problems.push_back("query " + cell(queries, row, 0) + " is " + is + " since " +
                                 cell(queries, row, 5) + with_reason(cell(queries, row, 4)) +
                                 (waits ? ", waiting for " + lagging : ""));
    }
    state.logical_sources = sources.rows.size();
    for (const SqlRow& row : sources.rows) {
        state.physical_sources += static_cast<std::size_t>(number_in(row, 1));
    }
    state.sinks = sinks.rows.size();
    state.task_lists = lists.rows.size();
    for (const SqlRow& row : lists.rows) {
        const std::int64_t partitions = number_in(row, 1);
        const std::int64_t owned = number_in(row, 2);
        state.partitions += static_cast<std::size_t>(partitions);
        state.owned += static_cast<std::size_t>(owned);
        if (owned == partitions) continue;
        state.problems.push_back("task list " + cell(lists, row, 0) + ": " + std::to_string(owned) +
                                 " of its " + std::to_string(partitions) + " partitions are OWNED");
    }
    for (const views::Table& answer : answers) {
        if (answer.note.empty()) continue;
        state.problems.push_back(answer.note);
        break;
    }
    for (const SqlRow& row : locks.rows) {
        const std::string owner = cell(locks, row, 0);
        if (owner.empty()) continue;
        state.leader = Leader{.owner = owner,
                              .epoch = number_in(row, 1),
                              .since = cell(locks, row, 2),
                              .remaining = Duration(number_in(row, 3))};
        if (state.leader->remaining == Duration::zero()) {
            state.problems.push_back("no coordinator leads; the last was " + owner + ", epoch " +
                                     std::to_string(state.leader->epoch));
        }
    }
    return state;
}

std::string as_text(const State& state, std::string_view version) {
    std::string text = std::string(version) + "\n";
    if (state.leader) text += "leader   " + in_words(*state.leader) + "\n";
    text += "workers  " + counted(state.workers) + "\n";
    text += "queries  " + counted(state.queries) + "\n";
    text += "sources  " + std::to_string(state.logical_sources) + " logical, " +
            std::to_string(state.physical_sources) + " physical\n";
    text += "sinks    " + std::to_string(state.sinks) + "\n";
    if (state.task_lists > 0) {
        text += "lists    " + std::to_string(state.task_lists) + " task lists, " +
                std::to_string(state.owned) + " of " + std::to_string(state.partitions) +
                " partitions OWNED\n";
    }
    for (const std::string& problem : state.problems) text += "! " + problem + "\n";
    return text;
}

std::string as_json(const State& state, std::string_view version) {
    std::string problems;
    for (const std::string& problem : state.problems) {
        problems += (problems.empty() ? "" : ",") + kinds::json_string(problem);
    }
    return "{\"version\":" + kinds::json_string(std::string(version)) +
           (state.leader ? ",\"leader\":" + json_of(*state.leader) : "") +
           ",\"workers\":" + json_of(state.workers) + ",\"queries\":" + json_of(state.queries) +
           ",\"logical_sources\":" + std::to_string(state.logical_sources) +
           ",\"physical_sources\":" + std::to_string(state.physical_sources) +
           ",\"sinks\":" + std::to_string(state.sinks) +
           ",\"task_lists\":" + std::to_string(state.task_lists) +
           ",\"partitions\":" + std::to_string(state.partitions) +
           ",\"partitions_owned\":" + std::to_string(state.owned) + ",\"problems\":[" + problems +
           "]}\n";
}

// ---- top ----------------------------------------------------------------------------------------

namespace {

// "1.2M"
std::string short_number(double value) {
    constexpr std::array<const char*, 5> kUnits = {"", "k", "M", "G", "T"};
    std::size_t unit = 0;
    for (; value >= 1'000 && unit + 1 < kUnits.size(); ++unit) value /= 1'000;
    std::array<char, 32> text{};
    const int digits = unit == 0 || value >= 100 ? 0 : 1;
    std::snprintf(text.data(), text.size(), "%.*f%s", digits, value, kUnits[unit]);
    return text.data();
}

std::vector<views::TableColumn> named(std::initializer_list<const char*> names) {
    std::vector<views::TableColumn> columns;
    for (const char* name : names) columns.push_back({.name = name, .type = kinds::ViewType::text});
    return columns;
}

std::string first_lines(const std::string& text, std::size_t lines) {
    if (lines == 0) return text;
    std::size_t end = 0;
    for (std::size_t i = 0; i < lines && end != std::string::npos; ++i) {
        end = text.find('\n', end);
        if (end != std::string::npos) ++end;
    }
    return text.substr(0, end);
}

}  // namespace

Top::Sums Top::grown(const views::Table& counters) {
    Sums sums;
    std::map<Fragment, Counted> now;
    for (const SqlRow& row : counters.rows) {
        const Fragment fragment{number_in(row, 0), number_in(row, 1)};
        const Counted total{.rows_in = number_in(row, 4),
                            .rows_out = number_in(row, 5),
                            .late = number_in(row, 6),
                            .busy_us = number_in(row, 7),
                            .memory = number_in(row, 8)};
        now[fragment] = total;
        const auto found = before_.find(fragment);
        const Counted& was = found != before_.end() ? found->second : total;
        const auto add = [&](Counted& sum) {
            sum.rows_in += std::max<std::int64_t>(0, total.rows_in - was.rows_in);
            sum.rows_out += std::max<std::int64_t>(0, total.rows_out - was.rows_out);
            sum.late += std::max<std::int64_t>(0, total.late - was.late);
            sum.busy_us += std::max<std::int64_t>(0, total.busy_us - was.busy_us);
            sum.memory += total.memory;
        };
        add(sums.by_query[number_in(row, 2)]);
        add(sums.by_worker[cell(counters, row, 3)]);
    }
    before_ = std::move(now);
    return sums;
}

std::string Top::screen(Duration at, const std::array<views::Table, 3>& answers, std::size_t lines,
                        const Look& look) {
    const auto& [workers, queries, counters] = answers;
    Sums sums = grown(counters);
    const double seconds = before_at_ ? std::chrono::duration<double>(at - *before_at_).count() : 0;
    before_at_ = at;
    const auto rate = [&](std::int64_t count) {
        return seconds > 0 ? short_number(static_cast<double>(count) / seconds) : std::string("-");
    };
    constexpr double kMicroseconds = 1e6;
    const auto percent = [&](std::int64_t busy_us) {
        if (seconds <= 0) return std::string("-");
        return short_number(100 * static_cast<double>(busy_us) / kMicroseconds / seconds) + "%";
    };
    const auto bytes = [](std::int64_t count) { return short_number(static_cast<double>(count)); };

    views::Table of_workers{named({"WORKER", "STATE", "SLOTS", "IN/S", "OUT/S", "CPU", "MEMORY"}),
                            {}};
    for (const SqlRow& row : workers.rows) {
        const Counted& sum = sums.by_worker[cell(workers, row, 0)];
        const std::string capacity = cell(workers, row, 4);
        of_workers.rows.push_back(
            {cell(workers, row, 0),
             cell(workers, row, 1) + (cell(workers, row, 2) == "true" ? ", draining" : ""),
             cell(workers, row, 3) + (capacity.empty() ? "" : "/" + capacity), rate(sum.rows_in),
             rate(sum.rows_out), percent(sum.busy_us), bytes(sum.memory)});
    }
    views::Table of_queries{named({"ID", "QUERY", "STATE", "RUN", "FRAGMENTS", "IN/S", "OUT/S",
                                   "LATE/S", "CPU", "MEMORY", "REASON"}),
                            {}};
    for (const SqlRow& row : queries.rows) {
        const Counted& sum = sums.by_query[number_in(row, 0)];
        of_queries.rows.push_back(
            {cell(queries, row, 0), cell(queries, row, 1), cell(queries, row, 2),
             cell(queries, row, 3), cell(queries, row, 4), rate(sum.rows_in), rate(sum.rows_out),
             rate(sum.late), percent(sum.busy_us), bytes(sum.memory), cell(queries, row, 5)});
    }
    // What does the most comes first.
    std::stable_sort(of_queries.rows.begin(), of_queries.rows.end(),
                     [&](const SqlRow& a, const SqlRow& b) {
                         const auto busy = [&](const SqlRow& row) {
                             const auto& id = std::get<std::string>(row[0]);
                             return sums.by_query[std::stoll(id)].busy_us;
                         };
                         return busy(a) > busy(b);
                     });
    return first_lines(render(of_workers, look) + "\n" + render(of_queries, look), lines);
}

// ---- logs ---------------------------------------------------------------------------------------

namespace {

// The columns of a changed row by their names; none: it is gone, or of a kind that is not known
// here.
class ChangedRow {
public:
    ChangedRow(const std::string& entity, const std::string& text) {
        const auto kind = kinds::entity_of(entity);
        if (!kind || text.empty()) return;
        view_ = &views::view_of(*kind);
        if (auto row = kinds::row_from_json(*view_, text)) row_ = *std::move(row);
    }
    [[nodiscard]] bool is_known() const { return !row_.empty(); }
    [[nodiscard]] std::string text(std::string_view name) const {
        if (!is_known()) return {};
        const auto column = view_->column(name);
        if (!column || *column >= row_.size()) return {};
        return kinds::shown(row_[*column], view_->columns[*column].type);
    }

private:
    const kinds::View* view_ = nullptr;
    SqlRow row_;
};

}  // namespace

views::Table history_of(const views::Table& changes) {
    views::Table history;
    for (const char* name : {"AT", "REVISION", "WHAT", "WORKER", "RUN", "STATE", "REASON"}) {
        history.columns.push_back({.name = name, .type = kinds::ViewType::text});
    }
    for (const SqlRow& change : changes.rows) {
        const auto told = [&](std::size_t i) { return cell(changes, change, i); };
        const ChangedRow row(told(2), told(5));
        history.rows.push_back({told(0), told(1), told(2) + " " + told(3), row.text("WORKER"),
                                row.text("RUN"), row.is_known() ? row.text("STATE") : told(4),
                                row.text("REASON")});
    }
    return history;
}

}  // namespace baton::shell
