#include "adapters/system/log_writer.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace baton::system {

namespace {

constexpr std::array<std::string_view, 4> kWords = {"DEBUG", "INFO ", "WARN ", "ERROR"};
constexpr std::array<std::string_view, 4> kNames = {"debug", "info", "warn", "error"};

// As it is, if no reader could take it for something else.
void append_value(std::string& line, const std::string& value) {
    const bool plain = !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
        return c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\';
    });
    if (plain) {
        line += value;
    } else {
        append_json_string(line, value);
    }
}

std::string text_line(const std::string& time, LogLevel level, std::string_view message,
                      const std::vector<LogField>& fields) {
    std::string line = time + " ";
    line += kWords.at(static_cast<std::size_t>(level));
    line += ' ';
    // A message of several lines stays one.
    for (const char c : message) line += c == '\n' || c == '\r' ? ' ' : c;
    for (const LogField& field : fields) {
        line += ' ';
        line += field.key;
        line += '=';
        append_value(line, field.value);
    }
    return line + "\n";
}

std::string json_line(const std::string& time, LogLevel level, std::string_view message,
                      const std::vector<LogField>& fields) {
    std::string line = "{\"time\":\"" + time + "\",\"level\":\"";
    line += kNames.at(static_cast<std::size_t>(level));
    line += "\",\"message\":";
    append_json_string(line, message);
    for (const LogField& field : fields) {
        line += ',';
        append_json_string(line, field.key);
        line += ':';
        append_json_string(line, field.value);
    }
    return line + "}\n";
}

}  // namespace

void LogWriter::write(LogLevel level, std::string_view message,
                      const std::vector<LogField>& fields) {
    if (level < least_) return;
    const std::string time = to_string(clock_.wall_now());
    const auto line_of = format_ == LogFormat::json ? json_line : text_line;
    const std::string line = line_of(time, level, message, fields);
    lines_.write(line, [&](std::size_t lost) {
        return line_of(time, LogLevel::warn,
                       "lines of this log were lost: their reader was too slow",
                       {{"lines", std::to_string(lost)}});
    });
}

}  // namespace baton::system
