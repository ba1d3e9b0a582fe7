// A word, with rules.
//
// Rules:
//   - A first one, which is whole
//     over two lines.
//   - A second one, which the formatter has broken where the line had
//   ended
//     too late.
// The end.
#pragma once

//     *       is no bullet
//     word    is none either
struct Word {};
