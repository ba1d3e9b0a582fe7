// Random sequences of requests, given to the catalog and to the model.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "properties/world.h"

namespace baton::properties {

namespace {

RC_GTEST_PROP(Sequences, GiveTheAnswersAndTheStateOfTheModel, ()) {
    const Sequence sequence = *any_sequence(60);
    World world;
    for (const Item& item : sequence.items) {
        world.perform(item);
        world.compare();
    }
    world.check_soundness();
}

}  // namespace

}  // namespace baton::properties
