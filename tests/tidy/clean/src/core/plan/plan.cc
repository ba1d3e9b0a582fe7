// Words that are banned in code may stand in comments: throw, steady_clock, std::unordered_map.
/* Also in a comment of several lines:
   throw, rand(), mt19937. */
#include <map>
#include <string>

#include "base/word.h"

// TODO(#12): numbered, so somebody will come back to it.
const char* const kText = "throw \" a steady_clock"  // throw
                          R"x(rand() ")x";
const int kMillion = 1'000'000;
const char kQuote = '"';
const int throwing = 1;  // a longer word
