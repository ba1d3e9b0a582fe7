// Word is a word.
#pragma once

namespace baton {

struct Word {};

}  // namespace baton
