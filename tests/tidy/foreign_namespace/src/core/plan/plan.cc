#include "base/word.h"

namespace baton {
struct Stage;
}

namespace other {
struct Step;
}

namespace baton::plan {

struct Leaf {};

namespace leaf {
struct Opened {};
}  // namespace leaf

}  // namespace baton::plan

namespace baton::plans {
struct Root {};
}  // namespace baton::plans
