#include "doors/shell/render.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "catalog/kinds/encode.h"
#include "sql/parser.h"

namespace baton::shell {

namespace {

constexpr std::string_view kCut = "…";

bool continues(char c) {
    constexpr unsigned kMask = 0xc0;
    constexpr unsigned kContinuation = 0x80;
    return (static_cast<unsigned char>(c) & kMask) == kContinuation;
}

// How many columns of a screen the text takes, counting a character as one.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string cut_to(const std::string& text, std::size_t width) {
    if (width_of(text) <= width) return text;
    std::string result;
    std::size_t taken = 0;
    for (const char c : text) {
        if (!continues(c) && taken++ + 1 >= width) break;
        result += c;
    }
    return result + std::string(kCut);
}

// The last `width` columns of the text.
std::string end_of(const std::string& text, std::size_t width) {
    std::size_t start = text.size();
    for (std::size_t taken = 0; start > 0 && taken < width;) {
        start -= 1;
        if (!continues(text[start])) taken += 1;
    }
    return text.substr(start);
}

// Control characters would move the cursor.
std::string on_one_line(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '\n') {
            result += "\\n";
        } else if (c == '\t') {
            result += ' ';
        } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
            result += '?';
        } else {
            result += c;
        }
    }
    return result;
}

using Cells = std::vector<std::vector<std::string>>;  // the header first

Cells cells_of(const std::vector<views::TableColumn>& columns, const std::vector<SqlRow>& rows) {
    Cells cells(1);
    for (const views::TableColumn& column : columns) cells[0].push_back(column.name);
    for (const SqlRow& row : rows) {
        std::vector<std::string> line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            line.push_back(on_one_line(kinds::shown(row[i], columns[i].type)));
        }
        cells.push_back(std::move(line));
    }
    return cells;
}

// The widest columns give way until the line fits.
std::vector<std::size_t> widths_of(const Cells& cells, std::size_t width_max) {
    constexpr std::size_t kLeast = 12;
    constexpr std::size_t kGap = 2;
    std::vector<std::size_t> widths(cells[0].size());
    for (const auto& line : cells) {
        for (std::size_t i = 0; i < line.size(); ++i) {
            widths[i] = std::max(widths[i], width_of(line[i]));
        }
    }
    const auto total = [&] {
        std::size_t sum = 0;
        for (const std::size_t width : widths) sum += width + kGap;
        return sum;
    };
    while (width_max > 0 && total() > width_max + kGap) {
        const auto widest = std::max_element(widths.begin(), widths.end());
        if (*widest <= kLeast) break;
        *widest -= 1;
    }
    return widths;
}

std::string line_of(const std::vector<std::string>& values,
                    const std::vector<std::size_t>& widths) {
    std::string line;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string value = cut_to(values[i], widths[i]);
        line += value + std::string(widths[i] - width_of(value) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

std::string value_json(const SqlValue& value, kinds::ViewType type) {
    if (std::holds_alternative<std::monostate>(value)) return "null";
    const auto* real = std::get_if<double>(&value);
    if (real != nullptr && !std::isfinite(*real))
        return kinds::json_string(kinds::shown(value, type));
    if (type == kinds::ViewType::unsigned_integer) return kinds::shown(value, type);
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) return kinds::shown(value, type);
    return type == kinds::ViewType::json && !text->empty() ? *text : kinds::json_string(*text);
}

std::string row_json(const std::vector<views::TableColumn>& columns, const SqlRow& row) {
    std::string text = "{";
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (i > 0) text += ",";
        text += kinds::json_string(columns[i].name) + ":" + value_json(row[i], columns[i].type);
    }
    return text + "}";
}

std::string row_text(const std::vector<views::TableColumn>& columns, const SqlRow& row) {
    std::string text;
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (i > 0) text += "  ";
        text += columns[i].name + "=" + on_one_line(kinds::shown(row[i], columns[i].type));
    }
    return text;
}

std::string cell_csv(std::string_view cell) {
    if (cell.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(cell);
    std::string text = "\"";
    for (const char c : cell) text += c == '"' ? "\"\"" : std::string(1, c);
    return text + "\"";
}

std::string row_csv(const std::vector<views::TableColumn>& columns, const SqlRow& row) {
    std::string text;
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (i > 0) text += ",";
        // What is not there is empty; a text that is empty is told from it by its quotes.
        const auto* value = std::get_if<std::string>(&row[i]);
        const bool empty = value != nullptr && value->empty();
        text += empty ? "\"\"" : cell_csv(kinds::shown(row[i], columns[i].type));
    }
    return text;
}

std::string csv_names(const std::vector<views::TableColumn>& columns) {
    std::string text;
    for (const views::TableColumn& column : columns) {
        text += (text.empty() ? "" : ",") + cell_csv(column.name);
    }
    return text;
}

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kRed = "\x1b[1;31m";

std::string painted(const std::string& text, std::string_view colour, bool colours) {
    if (!colours) return text;
    const bool line = text.ends_with('\n');
    return std::string(colour) + (line ? text.substr(0, text.size() - 1) : text) + "\x1b[0m" +
           (line ? "\n" : "");
}

}  // namespace

std::optional<Format> format_of(std::string_view name) {
    if (name == "text") return Format::text;
    if (name == "json") return Format::json;
    if (name == "csv") return Format::csv;
    return std::nullopt;
}

// ---- rows ---------------------------------------------------------------------------------------

std::string RowLines::text_head(const std::vector<SqlRow>& rows) {
    const Cells cells = cells_of(columns_, rows);
    widths_ = widths_of(cells, look_.width_max);
    std::vector<std::string> rule;
    for (const std::size_t width : widths_) rule.emplace_back(width, '-');
    return painted(line_of(cells[0], widths_), kBold, look_.colours) + line_of(rule, widths_);
}

std::string RowLines::csv_head() {
    if (std::exchange(has_head_, true)) return {};
    return csv_names(columns_) + "\n";
}

std::string RowLines::next(const std::vector<SqlRow>& rows) {
    std::string text;
    count_ += rows.size();
    if (look_.format == Format::json) {
        for (const SqlRow& row : rows) text += row_json(columns_, row) + "\n";
        return text;
    }
    if (look_.format == Format::csv) {
        text = csv_head();
        for (const SqlRow& row : rows) text += row_csv(columns_, row) + "\n";
        return text;
    }
    if (rows.empty()) return text;
    if (widths_.empty()) text = text_head(rows);
    const Cells cells = cells_of(columns_, rows);
    const std::vector<std::size_t> needed = widths_of(cells, look_.width_max);
    for (std::size_t i = 0; i < widths_.size(); ++i) widths_[i] = std::max(widths_[i], needed[i]);
    for (std::size_t i = 1; i < cells.size(); ++i) text += line_of(cells[i], widths_);
    return text;
}

std::string RowLines::end() {
    if (look_.format == Format::json) return {};
    if (look_.format == Format::csv) return csv_head();
    const std::string text = widths_.empty() ? text_head({}) : std::string();
    return text + "(" + std::to_string(count_) + (count_ == 1 ? " row)\n" : " rows)\n");
}

std::string render(const views::Table& table, const Look& look) {
    RowLines lines(table.columns, look);
    std::string text = lines.next(table.rows);
    return text + lines.end();
}

// ---- events -------------------------------------------------------------------------------------

namespace {

std::string snapshot_json(const coordinator::WatchSnapshot& snapshot,
                          const std::vector<views::TableColumn>& columns) {
    std::string rows;
    for (const SqlRow& row : snapshot.table.rows) {
        rows += (rows.empty() ? "" : ",") + row_json(columns, row);
    }
    return R"({"type":"SNAPSHOT","revision":)" + to_string(snapshot.revision) +
           (snapshot.reason.empty() ? "" : ",\"reason\":" + kinds::json_string(snapshot.reason)) +
           ",\"data\":[" + rows + "]}\n";
}

std::string change_json(const coordinator::WatchChange& change,
                        const std::vector<views::TableColumn>& columns) {
    return R"({"type":"EVENT","revision":)" + to_string(change.revision) + ",\"op\":\"" +
           std::string(to_string(change.op)) + "\"" +
           (change.key.empty() ? "" : ",\"key\":" + kinds::json_string(change.key)) +
           ",\"data\":" + row_json(columns, change.row) + "}\n";
}

}  // namespace

std::string EventLines::csv(const coordinator::WatchEvent& event) {
    std::string text;
    if (!std::exchange(has_head_, true)) text = "OP,REVISION," + csv_names(columns_) + "\n";
    const auto add = [&](std::string_view op, Revision revision, const SqlRow& row) {
        text += std::string(op) + "," + to_string(revision) + "," + row_csv(columns_, row) + "\n";
    };
    if (const auto* snapshot = std::get_if<coordinator::WatchSnapshot>(&event)) {
        for (const SqlRow& row : snapshot->table.rows) add("SNAPSHOT", snapshot->revision, row);
    } else {
        const auto& change = std::get<coordinator::WatchChange>(event);
        add(to_string(change.op), change.revision, change.row);
    }
    return text;
}

std::string EventLines::next(const coordinator::WatchEvent& event) {
    if (look_.format == Format::csv) return csv(event);
    const bool json = look_.format == Format::json;
    if (const auto* snapshot = std::get_if<coordinator::WatchSnapshot>(&event)) {
        if (json) return snapshot_json(*snapshot, columns_);
        std::string head = "-- snapshot at revision " + to_string(snapshot->revision);
        if (!snapshot->reason.empty()) head += ": " + snapshot->reason;
        return head + "\n" + render(snapshot->table, look_);
    }
    const auto& change = std::get<coordinator::WatchChange>(event);
    if (json) return change_json(change, columns_);
    return to_string(change.revision) + "  " + std::string(to_string(change.op)) + "  " +
           row_text(columns_, change.row) + "\n";
}

// ---- errors -------------------------------------------------------------------------------------

std::string render_error(const Error& error, std::string_view text, bool colours) {
    std::string message = to_string(error) + "\n";
    // "error 2030 at 1:15", then the rest.
    const std::size_t head = message.find(": ");
    if (colours && head != std::string::npos) {
        message = painted(message.substr(0, head), kRed, true) + message.substr(head);
    }
    if (!error.at || error.at->offset > text.size()) return message;
    const std::size_t end = std::min(text.find('\n', error.at->offset), text.size());
    std::string before = sql::without_strings(text.substr(0, error.at->offset));
    const std::string all = sql::without_strings(text.substr(0, end));
    if (!all.starts_with(before)) return message;  // it points into the midst of something
    std::string after = all.substr(before.size());
    before.erase(0, before.rfind('\n') + 1);
    // A whole statement needs no mark, unless there are others before it.
    if (before.find_first_not_of(" \t") == std::string::npos && before.size() == error.at->offset) {
        return message;
    }
    constexpr std::size_t kShownMax = 60;  // on either side
    before = on_one_line(before);
    if (width_of(before) > kShownMax) before = std::string(kCut) + end_of(before, kShownMax - 1);
    after = cut_to(on_one_line(after), kShownMax);
    return message + "  " + before + after + "\n  " + std::string(width_of(before), ' ') +
           painted("^", kRed, colours) + "\n";
}

}  // namespace baton::shell
