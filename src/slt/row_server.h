// Serves bytes to each caller, then closes: the server for the TCP sources of a script.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "base/result.h"

namespace baton::slt {

class RowServer {
public:
    // On a free port of this machine.
    explicit RowServer(std::string bytes);
    ~RowServer();
    RowServer(const RowServer&) = delete;
    RowServer& operator=(const RowServer&) = delete;

    [[nodiscard]] unsigned port() const { return port_; }

private:
    void run() const;
    void serve(int connection) const;

    const std::string bytes_;
    int listening_ = -1;
    int stop_ = -1;  // readable when it is over
    unsigned port_ = 0;
    std::thread thread_;
};

}  // namespace baton::slt
