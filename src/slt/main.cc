// `baton-slt`: runs test scripts of the dialect.
#include "slt/program.h"

int main(int argc, char** argv) {
    using namespace baton;  // NOLINT
    return slt::program(argc, argv,
                        [](coordinator::CoordinatorRuntime& coordinator, Duration patience) {
                            return Result<std::unique_ptr<slt::Client>>(
                                std::make_unique<slt::SessionClient>(coordinator, patience));
                        });
}
