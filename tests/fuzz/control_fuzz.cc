// Any bytes as a message of the control connection, in either direction: reading answers, and what
// it accepts is written and read again to the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "adapters/grpc/translate.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (data[0] % 2 == 0) {
        const auto said = baton::rpc::read_to_worker(bytes);
        if (!said) return 0;
        const auto again = baton::rpc::read_to_worker(baton::rpc::bytes_of(*said));
        CHECK(again && *again == *said);
    } else {
        const auto said = baton::rpc::read_to_coordinator(bytes);
        if (!said) return 0;
        const auto again = baton::rpc::read_to_coordinator(baton::rpc::bytes_of(*said));
        CHECK(again && *again == *said);
    }
    return 0;
}
