// Any bytes as what a sender of an exchange says: an inbox takes it or refuses it, and whoever
// receives gets rows or an error.
#include <cstddef>
#include <cstdint>
#include <string>

#include <baton/exchange.pb.h>

#include "adapters/grpc/exchange_inbox.h"
#include "adapters/grpc/exchange_wire.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const baton::Schema schema{{{.name = "N", .type = baton::DataType::int64},
                                {.name = "T", .type = baton::DataType::varsized},
                                {.name = "B", .type = baton::DataType::boolean}}};
    baton::rpc::SharedInbox inbox({}, {"A"}, schema, {.items = 4, .bytes = 1 << 20});
    // Messages one after the other, each behind a byte with its length.
    for (std::size_t at = 0; at < size;) {
        const std::size_t length = std::min<std::size_t>(data[at] * 4U, size - at - 1);
        baton::wire::ToReceiver message;
        const bool parsed = message.ParseFromArray(data + at + 1, static_cast<int>(length));
        at += 1 + length;
        if (!parsed) continue;
        auto said = baton::rpc::read(message);
        if (!said) continue;
        auto* item = std::get_if<baton::rpc::NumberedItem>(&*said);
        if (item == nullptr) continue;
        (void)inbox.put(0, item->number, std::move(item->item));
        const auto arrived = inbox.next(baton::Duration(0));
        if (!arrived || arrived->what != baton::engine::Arrival::frame) continue;
        CHECK(arrived->frame.batch.columns.size() == schema.columns.size());
        for (const auto& column : arrived->frame.batch.columns) {
            if (column.size() > 0) (void)value_at(column, column.size() - 1);
        }
    }
    return 0;
}
