// The properties of the catalog. rapidcheck makes up the cases and shrinks those that fail.
//
//     build/dev/tests/catalog_properties                                    as always: half a
//     minute RC_PARAMS="max_success=5000" build/dev/tests/catalog_properties       more cases
//     RC_PARAMS="seed=42" build/dev/tests/catalog_properties                other cases: it is
//     random
//                                                                           unless one is given
// A property that fails prints the shrunk case, and a line `reproduce=..` to see just that again:
//
//     RC_PARAMS="reproduce=BQ1..." build/dev/tests/catalog_properties --gtest_filter=Sequences.*
#include <cstdlib>

#include <gtest/gtest.h>

int main(int argc, char** argv) {
    constexpr int kKeepWhatIsSet = 0;
    setenv("RC_PARAMS", "max_success=50", kKeepWhatIsSet);
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
