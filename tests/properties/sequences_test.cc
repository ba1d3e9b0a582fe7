// Random sequences of requests, given to the catalog and to the model.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "properties/world.h"

namespace baton::properties {

namespace {

RC_GTEST_PROP(Sequences, GiveTheAnswersAndTheStateOfTheModel, ()) {
    const Sequence sequence = *any_sequence(60);
    World world;
    for (std::size_t i = 0; i < sequence.items.size(); ++i) {
        world.perform(sequence.items[i]);
        world.compare();
        constexpr std::size_t kNowAndThen = 8;
        if (i % kNowAndThen == 0) world.check_soundness();
    }
    world.check_soundness();
}

}  // namespace

}  // namespace baton::properties
