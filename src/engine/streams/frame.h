// A Frame is what moves along a pipeline: rows of one origin, how far its time has come, or its
// end.
//
// An origin is where rows begin to have an order of time of their own: a source, or the output of a
// window. Every stream knows its origins before its first frame; rows keep theirs through filters,
// unions and exchanges, so that a window can tell for each how far it is: what one source says of
// the time, it says of no other.
//
// Rules:
//   - Within an origin frames keep their order, everywhere.
//   - `watermark`: the rows of this origin that follow have no business with windows that end at or
//     before it; those that do are late. It holds after the rows of its own frame, and never falls.
//   - `end` is the last frame of an origin, after the rows in it.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/columns/batch.h"

namespace baton::engine {

struct Frame {
    std::uint32_t origin = 0;                // position in the list of the stream's origins
    Batch batch;                             // possibly without rows
    std::optional<std::uint64_t> watermark;  // ms
    bool end = false;
};

}  // namespace baton::engine
