// The parameters of a session that PostgreSQL's clients set and ask for. Only few mean anything
// here; the others are kept and returned. A value that would make either side misread the other is
// refused.
//
// Pure: no I/O.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"
#include "doors/pg/wire/replies.h"
#include "model/wait.h"

namespace baton::pgserver {

class Settings {
public:
    explicit Settings(const std::string& version);

    struct Changed {  // the change that clients see, if any
        std::optional<std::pair<std::string, std::string>> reported;
        std::string warning;
    };
    // `name` in lower case; no value: its default.
    [[nodiscard]] std::variant<Changed, pgwire::Report> set(const std::string& name,
                                                            std::optional<std::string> value);
    void reset();
    // Whether this coordinator follows another: in_hot_standby.
    void set_role(bool stands_by);
    // The state that statements wait for: baton.wait (accepted, running, ended), baton.wait_timeout
    // (ms).
    [[nodiscard]] Wait wait() const;
    // How long a transaction may be open while nothing runs: idle_in_transaction_session_timeout;
    // none: for ever.
    [[nodiscard]] std::optional<Duration> idle_in_transaction() const;
    // Whether a notice describes every change, not only where the tag leaves something out:
    // baton.notices (some, all).
    [[nodiscard]] bool tells_all() const;
    [[nodiscard]] std::optional<std::string> value(const std::string& name) const;
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> all() const;

private:
    std::map<std::string, std::string> defaults_;
    std::map<std::string, std::string> values_;  // that differ
};

}  // namespace baton::pgserver
