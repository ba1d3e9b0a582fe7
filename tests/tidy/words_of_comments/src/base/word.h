// What a word is. It has letters: nobody counts them.
//
// Who reads it is told so. A listener that was
// told of the end lets go; the word was let gone.
#pragma once

// A caller learns what follows from "What", "Who" and `is told`, which are quoted here.
struct Word {
    int letters = 0;  // Whoever asks gets them
    int lines = 0;    // and not any more than those
};
