// The properties of the catalog. rapidcheck makes up the cases and shrinks those that fail. They
// are the same in every run, some half a minute of them, unless RC_PARAMS asks for others:
//
//     RC_PARAMS="max_success=5000" build/dev/tests/catalog_properties       many, and new ones
//     RC_PARAMS="seed=42" build/dev/tests/catalog_properties                those of this seed
//
// A property that fails prints the shrunk case, and a line `reproduce=..` to see just that again:
//
//     RC_PARAMS="reproduce=BQ1..." build/dev/tests/catalog_properties --gtest_filter=Sequences.*
#include <cstdlib>

#include <gtest/gtest.h>

int main(int argc, char** argv) {
    constexpr int kKeepWhatIsSet = 0;
    setenv("RC_PARAMS", "seed=1 max_success=50", kKeepWhatIsSet);
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
