// Looks at a catalog whose process was killed, and says what is wrong with it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crash/replica.h"
#include "crash/story.h"

namespace baton::crash {

// What is in the catalog, as far as anybody was told.
struct Known {
    std::vector<Facts> facts;  // of each thread
    Replica replica;           // as it was at the last look
};

struct Tally {
    std::uint64_t acknowledged = 0;
    std::uint64_t refused = 0;
    std::uint64_t refused_for_space = 0;
    std::uint64_t in_doubt_done = 0;
    std::uint64_t in_doubt_undone = 0;
    std::uint64_t changes = 0;
    std::uint64_t backups = 0;
    std::uint64_t trimmed = 0;  // looks that found part of the history gone, as it should be
};

// Holds that
//   - the file and the catalog are sound, and nothing lies behind an acknowledged revision;
//   - every answer was the one that the model gives;
//   - the change feed has no gap, follows from what was there before, and leads to the tables;
//   - as of each acknowledged revision, its thread owns what the model says;
//   - at the end too, except that what was in doubt is there as a whole or not at all;
//   - every query reads the source that it was written for;
//   - the statements of each acknowledged request are in the log;
//   - a backup that was reported is sound.
// Then `known` is what was found. Problems are sentences.
[[nodiscard]] std::vector<std::string> verify(const std::string& path, const Story& story,
                                              Known& known, Tally& tally);

}  // namespace baton::crash
