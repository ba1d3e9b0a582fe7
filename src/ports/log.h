// Log takes lines for the operator of Baton. A line has a level, a message and fields that say what
// it concerns: query, fragment, worker, epoch, request. Any thread; never fails.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

enum class LogLevel : std::uint8_t { debug, info, warn, error };

struct LogField {
    std::string_view key;  // "worker"
    std::string value;
};

class Log {
public:
    virtual ~Log() = default;

    virtual void write(LogLevel level, std::string_view message,
                       const std::vector<LogField>& fields) = 0;

    void debug(std::string_view message, const std::vector<LogField>& fields = {}) {
        write(LogLevel::debug, message, fields);
    }
    void info(std::string_view message, const std::vector<LogField>& fields = {}) {
        write(LogLevel::info, message, fields);
    }
    void warn(std::string_view message, const std::vector<LogField>& fields = {}) {
        write(LogLevel::warn, message, fields);
    }
    void error(std::string_view message, const std::vector<LogField>& fields = {}) {
        write(LogLevel::error, message, fields);
    }
};

}  // namespace baton
