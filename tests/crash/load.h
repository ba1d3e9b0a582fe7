// The process that gets killed: it opens a catalog, sends it requests from several threads and
// tells of everything on a pipe, one write() per line, so that nothing said is lost with it.
//
//     opened              the catalog is open
//     > 2 +L0,+S0         thread 2 is about to ask for this
//     < 2 + 417           and it was done, as revision 417
//     < 2 - 2031          or it was refused, with this error
//     backup NAME         a backup is complete
//     unlimited           from here on the disk is no longer full
//     ! TEXT              it cannot go on
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "adapters/sqlite/sqlite.h"
#include "crash/model.h"

namespace baton::crash {

struct Load {
    std::string path;  // of the catalog
    std::uint64_t seed = 0;
    std::vector<Facts> facts;         // what each thread owns; none: the catalog is only opened
    std::uint64_t changes_max = 0;    // how much history is kept
    int log_pages_step = 2'000;       // how often the log is copied into the file
    std::optional<std::string> copy;  // beside the requests, back up to this name, -0, -1, ..
    std::optional<std::uint64_t> file_size_max;  // for all files, until requests were refused
    std::uint64_t operations_max = UINT64_MAX;   // of each thread; then it ends by itself
};

// How the catalog is opened, by the load and by who verifies it.
[[nodiscard]] sqlite::SqliteOptions catalog_options(const std::string& path);

// Exit status: 0 if all operations were done, 1 if the catalog could not be opened.
[[noreturn]] void run_load(const Load& load, int report);

}  // namespace baton::crash
