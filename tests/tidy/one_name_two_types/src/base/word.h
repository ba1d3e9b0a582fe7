// Word is a word.
#pragma once

namespace baton {

struct Word;

struct Word {
    struct Letter {};
};

}  // namespace baton
