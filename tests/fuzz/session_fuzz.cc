// Any bytes as statements of a client: a session on a coordinator with a real catalog answers, with
// no error that is a defect, and a write succeeds after it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/canary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto& canary = baton::fuzz::Canary::shared();
    canary.run({reinterpret_cast<const char*>(data), size});
    canary.write();
    return 0;
}
