// `pgwire_scripts simple|extended ..`: baton-slt over the wire; the rest of its arguments are those
// of baton-slt.
#include <iostream>
#include <string_view>

#include "pgwire/wire_client.h"
#include "slt/program.h"

int main(int argc, char** argv) {
    using namespace baton;  // NOLINT
    const std::string_view how = argc > 1 ? argv[1] : "";
    if (how != "simple" && how != "extended") {
        std::cerr << "the first argument is simple or extended\n";
        return 2;
    }
    const auto protocol =
        how == "simple" ? WireClient::Protocol::simple : WireClient::Protocol::extended;
    return slt::program(
        argc - 1, argv + 1,
        [protocol](coordinator::CoordinatorRuntime& coordinator, Duration patience) {
            return WireClient::open(coordinator, patience, protocol);
        });
}
