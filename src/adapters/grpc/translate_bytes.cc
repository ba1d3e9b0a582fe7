// Control messages as bytes.
#include <baton/control.pb.h>

#include "adapters/grpc/translate.h"

namespace baton::rpc {

Error malformed_control(const std::string& why) {
    return {.code = ErrorCode::malformed_message,
            .message = "cannot understand a control message: " + why};
}

namespace {

template <class Message>
Result<Message> parsed(std::string_view bytes) {
    if (bytes.size() > kControlBytesMax) return malformed_control("it is too long");
    Message message;
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        return malformed_control("it is not of the form of control.proto");
    }
    return message;
}

}  // namespace

Result<SaidToWorker> read_to_worker(std::string_view bytes) {
    TRY_ASSIGN(message, parsed<wire::ToWorker>(bytes));
    return read(message);
}

Result<SaidToCoordinator> read_to_coordinator(std::string_view bytes) {
    TRY_ASSIGN(message, parsed<wire::ToCoordinator>(bytes));
    return read(message);
}

std::string bytes_of(const SaidToWorker& said) {
    wire::ToWorker message;
    write(said, message);
    return message.SerializeAsString();
}

std::string bytes_of(const SaidToCoordinator& said) {
    wire::ToCoordinator message;
    write(said, message);
    return message.SerializeAsString();
}

}  // namespace baton::rpc
