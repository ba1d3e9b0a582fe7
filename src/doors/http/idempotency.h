// Idempotency remembers how requests with an Idempotency-Key were answered, so that one that is
// repeated is answered the same and not done again.
//
// In memory, bounded for each principal: the oldest answers are forgotten first, all of them after
// 24 hours and with the process. The time is an argument. Any thread.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

#include "base/time.h"
#include "doors/http/message.h"

namespace baton::http {

struct IdempotencyOptions {
    Duration kept = std::chrono::hours(24);
    std::size_t answers_max = 10'000;          // of one principal
    std::size_t bytes_max = 16 * 1024 * 1024;  // of one principal
};

class Idempotency {
public:
    explicit Idempotency(const IdempotencyOptions& options = {}) : options_(options) {}

    struct Go {};        // it is new: do it, then finish() it
    struct Underway {};  // the same is being done
    struct Misused {};   // the key was used for something else
    using Verdict = std::variant<Go, Underway, Misused, Response>;
    // `request` is the whole request, or a digest of it.
    [[nodiscard]] Verdict begin(Instant now, const std::string& who, const std::string& key,
                                const std::string& request);
    // How it ended; none: nothing happened, so that it may be tried again.
    void finish(const std::string& who, const std::string& key, std::optional<Response> answer);

private:
    struct Entry {
        std::string key;
        std::string request;
        Instant since;
        std::optional<Response> answer;  // none: under way
    };
    struct Book {
        std::list<Entry> entries;  // the oldest first
        std::map<std::string, std::list<Entry>::iterator> by_key;
        std::size_t bytes = 0;
    };
    static void forget(Book& book, std::list<Entry>::iterator entry);
    void trim(Book& book, Instant now) const;

    const IdempotencyOptions options_;
    std::mutex mutex_;
    std::map<std::string, Book> books_;  // by principal
};

}  // namespace baton::http
