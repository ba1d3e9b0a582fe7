// Linked into every program with properties: rapidcheck draws the same cases in each run, so that a
// test does not depend on luck. RC_PARAMS takes precedence; without a seed in it the cases are new:
//
//     RC_PARAMS="max_success=5000" build/dev/baton_sql_test
#include <cstdlib>

namespace {

constexpr int kKeepWhatIsSet = 0;
[[maybe_unused]] const int kSet = setenv("RC_PARAMS", "seed=1", kKeepWhatIsSet);

}  // namespace
