#include "adapters/system/log_writer.h"

#include <algorithm>
#include <array>
#include <climits>

#include <poll.h>
#include <unistd.h>

#include "base/text.h"

namespace baton {

namespace {

constexpr std::array<std::string_view, 4> kWords = {"DEBUG", "INFO ", "WARN ", "ERROR"};
constexpr int kPatienceMs = 100;
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
    const std::lock_guard lock(mutex_);
    if (lost_ > 0) {
        const std::vector<LogField> how_many = {{"lines", std::to_string(lost_)}};
        if (!put(line_of(time, LogLevel::warn, "lines of this log were lost: nobody read them",
                         how_many))) {
            lost_ += 1;
            return;
        }
        lost_ = 0;
    }
    if (!put(line)) lost_ += 1;
}

bool LogWriter::put(std::string_view line) {
    // A pipe that can be written to takes so much without waiting.
    constexpr std::size_t kAtOnce = PIPE_BUF;
    while (!line.empty()) {
        pollfd ready{.fd = descriptor_, .events = POLLOUT, .revents = 0};
        // A reader gets a moment; one that has let lines be lost gets none.
        const int polled = ::poll(&ready, 1, lost_ > 0 ? 0 : kPatienceMs);
        if (polled <= 0) return false;
        const ssize_t written =
            ::write(descriptor_, line.data(), std::min<std::size_t>(line.size(), kAtOnce));
        if (written <= 0) return true;  // it is closed: there is nobody to tell
        line.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

}  // namespace baton
