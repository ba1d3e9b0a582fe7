// Picks whose odds do not depend on rapidcheck's size, which grows from case to case.
#pragma once

#include <rapidcheck.h>

namespace baton::properties {

// From `least` to below `end`, each as likely as the others; shrinks to `least`.
template <class Number>
Number between(Number least, Number end) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<Number>(least, end));
}

inline bool chance(int percent) {
    return between(0, 100) < percent;
}

}  // namespace baton::properties
