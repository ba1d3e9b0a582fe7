// LogLines keeps what is written to a log: "warn: message key=value key=value", a line each.
#pragma once

#include <array>
#include <mutex>
#include <string>

#include "ports/log.h"

namespace baton::testing {

class LogLines final : public Log {
public:
    void write(LogLevel level, std::string_view message,
               const std::vector<LogField>& fields) override {
        constexpr std::array<std::string_view, 4> kLevels = {"debug", "info", "warn", "error"};
        const std::lock_guard lock(mutex_);
        text_ += std::string(kLevels.at(static_cast<std::size_t>(level))) + ": ";
        text_ += message;
        for (const LogField& field : fields) {
            text_ += " " + std::string(field.key) + "=" + field.value;
        }
        text_ += "\n";
    }
    [[nodiscard]] std::string text() const {
        const std::lock_guard lock(mutex_);
        return text_;
    }
    [[nodiscard]] std::size_t count(std::string_view what) const {
        const std::lock_guard lock(mutex_);
        std::size_t found = 0;
        for (std::size_t at = 0; (at = text_.find(what, at)) != std::string::npos; ++at) ++found;
        return found;
    }

private:
    mutable std::mutex mutex_;
    std::string text_;
};

}  // namespace baton::testing
