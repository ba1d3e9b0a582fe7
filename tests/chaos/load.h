// The queries that the cluster is given, and what each must have written when it has ended by
// itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/prng.h"

namespace baton::chaos {

enum class Kind : std::uint8_t {
    filtered_file,     // a file, in part
    windowed_file,     // sums per key and second of its time
    joined_files,      // of two workers, by key and window
    filtered_numbers,  // made up, slowly enough to be hit while it runs
    windowed_numbers,
    endless,
};

struct Query {
    std::string name;
    Kind kind = Kind::endless;
    std::size_t from = 0;  // the worker of its source
    std::size_t to = 0;    // and of its sink
    std::uint64_t least = 0;
    std::uint64_t numbers = 0;  // made up
    std::string path;           // of what it writes
    bool fails = false;         // ON_FAILURE FAIL

    // What was asked and what was answered: without an answer anything may have happened.
    enum class Asked : std::uint8_t { no, unanswered, done };
    Asked created = Asked::no;
    Asked stopped = Asked::no;
    Asked dropped = Asked::no;

    [[nodiscard]] bool finite() const { return kind != Kind::endless; }
};

class Load {
public:
    // Writes the file that the queries read.
    explicit Load(std::string directory);

    [[nodiscard]] Query draw(Prng& prng);
    [[nodiscard]] std::string statement(const Query& query) const;
    // What is wrong with what it has written; empty: nothing.
    [[nodiscard]] std::string verify(const Query& query) const;

private:
    [[nodiscard]] std::string select(const Query& query) const;
    [[nodiscard]] std::string file_on(const std::string& worker) const;
    [[nodiscard]] static std::vector<std::string> expected(const Query& query);

    const std::string directory_;
    std::uint64_t drawn_ = 0;
};

}  // namespace baton::chaos
