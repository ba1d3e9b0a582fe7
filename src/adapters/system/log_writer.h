// LogWriter writes lines to a file descriptor, for people or for programs:
//
//     2026-11-15T09:46:16.123456Z INFO  worker is UNREACHABLE worker=EDGE reason="no answer"
//     {"time":"2026-..","level":"info","message":"..","worker":"EDGE","reason":"no answer"}
//
// A line is one write, so that lines of several threads do not mix. A writer never waits for a slow
// reader of a pipe: lines are lost then, and the next line says how many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "adapters/system/line_writer.h"
#include "ports/clock.h"
#include "ports/log.h"

namespace baton::system {

enum class LogFormat : std::uint8_t { text, json };

class LogWriter final : public Log {
public:
    // The clock outlives it; the descriptor stays the caller's.
    LogWriter(int descriptor, LogFormat format, LogLevel least, const Clock& clock)
        : format_(format), least_(least), clock_(clock), lines_(descriptor) {}

    void write(LogLevel level, std::string_view message,
               const std::vector<LogField>& fields) override;

private:
    const LogFormat format_;
    const LogLevel least_;
    const Clock& clock_;
    LineWriter lines_;
};

}  // namespace baton::system
