// Worker processes as users start them, and a coordinator of this process that looks after them,
// all with default settings.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "bench/measure.h"
#include "chaos/child.h"
#include "library/baton.h"

namespace baton::bench {

// Microseconds of the day: of a time in the catalog such as "2026-11-15T09:46:16.123456Z", and now.
[[nodiscard]] double time_of(const std::string& text);
[[nodiscard]] double time_now();

class Cluster {
public:
    enum class Links : std::uint8_t {
        chain,  // W1 -> W2 -> .. : data flows from each to the next
        star,   // W1, W2, .. -> the last one
    };
    // Waits until all of them were heard.
    Cluster(const Scratch& scratch, std::size_t workers, Links links);
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;
    ~Cluster();

    [[nodiscard]] Coordinator& coordinator() { return *coordinator_; }
    // What must succeed.
    embedded::Answers run(std::string_view sql, const Wait& wait = {});
    // The first cell of the first row.
    [[nodiscard]] std::string ask(std::string_view sql);

    [[nodiscard]] std::size_t size() const { return workers_.size(); }
    [[nodiscard]] static std::string name(std::size_t worker);
    [[nodiscard]] pid_t pid(std::size_t worker) const { return workers_[worker].process->pid(); }
    void signal(std::size_t worker, int number) const { workers_[worker].process->signal(number); }
    // Where it was before, once it is gone; does not wait until it is heard.
    void start_again(std::size_t worker);
    [[nodiscard]] double cpu_seconds() const;  // of the workers

private:
    struct One {
        std::unique_ptr<chaos::Child> process;
        std::string listen;
    };
    void start(std::size_t worker, const std::string& listen);

    const Scratch& scratch_;
    std::vector<One> workers_;
    std::unique_ptr<Coordinator> coordinator_;
};

}  // namespace baton::bench
