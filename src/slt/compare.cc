#include "slt/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>

namespace baton::slt {

namespace {

struct Cells {
    std::vector<std::string> cells;
    std::size_t row = 0;  // where it stands in its list
};

std::string folded(std::string cell) {
    if (cell.empty()) return "NULL";
    if (cell == "true" || cell == "TRUE" || cell == "True") return "1";
    if (cell == "false" || cell == "FALSE" || cell == "False") return "0";
    return cell;
}

std::vector<std::string> cells_of(const std::string& row) {
    std::vector<std::string> cells;
    std::string cell;
    bool after_comma = true;  // an empty cell counts only where a comma says that it is there
    for (const char c : row) {
        if (c == ',') {
            if (after_comma || !cell.empty()) cells.push_back(folded(cell));
            cell.clear();
            after_comma = true;
        } else if (c == ' ' || c == '\t') {
            if (cell.empty()) continue;
            cells.push_back(folded(cell));
            cell.clear();
            after_comma = false;
        } else {
            cell += c;
        }
    }
    if (after_comma || !cell.empty()) cells.push_back(folded(cell));
    return cells;
}

// The number, if it has a fraction or an exponent, or is none that digits can say.
std::optional<double> real_of(const std::string& cell) {
    if (cell.find_first_not_of("0123456789+-.eEinfINFnaNA") != std::string::npos) {
        return std::nullopt;
    }
    char* end = nullptr;
    const double value = std::strtod(cell.c_str(), &end);
    if (end != cell.c_str() + cell.size() || cell.empty()) return std::nullopt;
    return value;
}

bool has_fraction(const std::string& cell) {
    return cell.find_first_of(".eEnN") != std::string::npos;
}

bool same_cell(const std::string& a, const std::string& b) {
    if (a == b) return true;
    if (!has_fraction(a) && !has_fraction(b)) return false;
    const auto x = real_of(a);
    const auto y = real_of(b);
    if (!x || !y) return false;
    if (std::isnan(*x) || std::isnan(*y)) return std::isnan(*x) && std::isnan(*y);
    if (std::isinf(*x) || std::isinf(*y)) return *x == *y;
    constexpr double kNear = 1e-5;
    return std::abs(*x - *y) <= kNear * std::max(std::abs(*x), std::abs(*y));
}

// The same for rows that may be equal: everything but numbers with a fraction.
std::string sort_of(const std::vector<std::string>& cells) {
    std::string key;
    for (const std::string& cell : cells) {
        const bool number = real_of(cell).has_value();
        key += (number ? "#" : cell) + "\x1f";
    }
    return key;
}

bool same_row(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_cell);
}

using Groups = std::map<std::string, std::vector<Cells>>;

Groups grouped(const std::vector<std::string>& rows) {
    Groups groups;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Cells cells{.cells = cells_of(rows[i]), .row = i};
        groups[sort_of(cells.cells)].push_back(std::move(cells));
    }
    return groups;
}

// Takes pairs of equal rows out of both.
void cancel_out(std::vector<Cells>& expected, std::vector<Cells>& actual) {
    const auto by_cells = [](const Cells& a, const Cells& b) { return a.cells < b.cells; };
    std::sort(expected.begin(), expected.end(), by_cells);
    std::sort(actual.begin(), actual.end(), by_cells);
    std::vector<Cells> missing;
    std::vector<bool> taken(actual.size());
    std::size_t next = 0;  // usually the rows come in the same order
    for (Cells& row : expected) {
        const auto free = [&](std::size_t i) {
            return !taken[i] && same_row(row.cells, actual[i].cells);
        };
        std::size_t found = actual.size();
        if (next < actual.size() && free(next)) found = next;
        for (std::size_t i = 0; found == actual.size() && i < actual.size(); ++i) {
            if (free(i)) found = i;
        }
        if (found == actual.size()) {
            missing.push_back(std::move(row));
            continue;
        }
        taken[found] = true;
        next = found + 1;
    }
    std::vector<Cells> unexpected;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        if (!taken[i]) unexpected.push_back(std::move(actual[i]));
    }
    expected = std::move(missing);
    actual = std::move(unexpected);
}

}  // namespace

Difference compare_rows(const std::vector<std::string>& expected,
                        const std::vector<std::string>& actual) {
    Groups wanted = grouped(expected);
    Groups given = grouped(actual);
    for (auto& [key, rows] : wanted) {
        const auto found = given.find(key);
        if (found != given.end()) cancel_out(rows, found->second);
    }
    Difference difference;
    for (const auto& [key, rows] : wanted) {
        for (const Cells& row : rows) difference.missing.push_back(expected[row.row]);
    }
    for (const auto& [key, rows] : given) {
        for (const Cells& row : rows) difference.unexpected.push_back(actual[row.row]);
    }
    return difference;
}

std::string to_string(const Difference& difference, std::size_t lines_max) {
    std::string text;
    std::size_t lines = 0;
    const auto add = [&](const char* sign, const std::vector<std::string>& rows) {
        for (const std::string& row : rows) {
            if (++lines <= lines_max) text += "    " + std::string(sign) + " " + row + "\n";
        }
    };
    add("-", difference.missing);
    add("+", difference.unexpected);
    if (lines > lines_max) {
        text += "    and " + std::to_string(lines - lines_max) + " more lines\n";
    }
    return text;
}

}  // namespace baton::slt
