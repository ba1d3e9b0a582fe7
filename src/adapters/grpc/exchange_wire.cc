#include "adapters/grpc/exchange_wire.h"

#include <string_view>
#include <utility>

#include <baton/exchange.pb.h>

#include "base/overload.h"
#include "ports/sql_values.h"

namespace baton::rpc {

namespace {

constexpr int kOriginsMax = 10'000;
constexpr std::size_t kExchangeNameMax = 1024;

Error malformed_exchange(const std::string& why) {
    return {.code = ErrorCode::malformed_message,
            .message = "cannot understand a message of an exchange: " + why};
}

Error exchange_lacks(const std::string& field) {
    return malformed_exchange("it has no " + field);
}

bool is_name(const std::string& text) {
    return text.size() <= kExchangeNameMax && is_plain_text(text);
}

Result<SaidToReceiver> read(const wire::Open& open) {
    if (!open.has_query() || !open.has_run() || !open.has_exchange())
        return exchange_lacks("whole key");
    if (!open.has_from() || !open.has_to()) return exchange_lacks("sender or receiver");
    if (!open.has_schema() || !open.has_protocol()) return exchange_lacks("schema or protocol");
    if (!is_name(open.from()) || !is_name(open.to()))
        return malformed_exchange("a name is not one");
    return SaidToReceiver(OpenExchange{.receiver = {.key = {.query = QueryId(open.query()),
                                                            .run = open.run(),
                                                            .exchange = open.exchange()},
                                                    .worker = open.to()},
                                       .sender = open.from(),
                                       .schema = open.schema(),
                                       .protocol = open.protocol()});
}

Result<ExchangeItem> read(const wire::Announce& announce) {
    if (announce.origins_size() > kOriginsMax) return malformed_exchange("it has too many origins");
    Announcement announced;
    std::size_t bytes = kItemBytes;
    for (const std::string& origin : announce.origins()) {
        if (!is_name(origin)) return malformed_exchange("the name of an origin is not one");
        announced.origins.push_back(origin);
        bytes += origin.size();
    }
    return ExchangeItem{.what = std::move(announced), .bytes = bytes};
}

Result<ExchangeItem> read(wire::Rows& rows) {
    if (!rows.has_origin()) return exchange_lacks("origin");
    EncodedFrame frame{.origin = rows.origin(), .watermark = {}, .end = rows.end(), .batch = {}};
    if (rows.has_watermark()) frame.watermark = rows.watermark();
    const std::size_t bytes = kItemBytes + rows.batch().size();
    if (!rows.batch().empty()) {
        frame.batch = std::make_shared<const std::string>(std::move(*rows.mutable_batch()));
    }
    return ExchangeItem{.what = std::move(frame), .bytes = bytes};
}

Result<SaidToReceiver> read(wire::Item& item) {
    if (!item.has_number()) return exchange_lacks("number");
    const std::uint64_t number = item.number();
    switch (item.what_case()) {
        case wire::Item::kAnnounce: {
            TRY_ASSIGN(announced, read(item.announce()));
            return SaidToReceiver(NumberedItem{.number = number, .item = std::move(announced)});
        }
        case wire::Item::kRows: {
            TRY_ASSIGN(frame, read(*item.mutable_rows()));
            return SaidToReceiver(NumberedItem{.number = number, .item = std::move(frame)});
        }
        case wire::Item::kFinish:
            return SaidToReceiver(NumberedItem{
                .number = number, .item = {.what = FinishMark{}, .bytes = kItemBytes}});
        case wire::Item::WHAT_NOT_SET:
            break;
    }
    return exchange_lacks("content that is known here");
}

void write(const exchange::Progress& progress, wire::Progress& to) {
    to.set_arrived(progress.arrived);
    to.set_items_max(progress.items_max);
    to.set_bytes_max(progress.bytes_max);
}

Result<exchange::Progress> read(const wire::Progress& progress) {
    if (!progress.has_arrived() || !progress.has_items_max() || !progress.has_bytes_max()) {
        return exchange_lacks("whole progress");
    }
    return exchange::Progress{.arrived = progress.arrived(),
                              .items_max = progress.items_max(),
                              .bytes_max = progress.bytes_max()};
}

}  // namespace

std::uint64_t fingerprint(const Schema& schema) {
    std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
    const auto add = [&](std::string_view text) {
        for (const char c : text) {
            hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
        }
        hash *= 0x100000001b3U;  // as after a zero byte: where a name ends matters
    };
    for (const Column& column : schema.columns) {
        add(column.name);
        add(to_string(column.type));
    }
    return hash;
}

std::size_t bytes_of(const OutgoingItem& item) {
    std::size_t bytes = kItemBytes;
    if (const auto* announced = std::get_if<Announcement>(&item)) {
        for (const std::string& origin : announced->origins) bytes += origin.size();
    } else if (const auto* frame = std::get_if<OutgoingFrame>(&item)) {
        bytes += frame->batch.size();
    }
    return bytes;
}

void write(const OpenExchange& open, wire::ToReceiver& message) {
    wire::Open& to = *message.mutable_open();
    to.set_query(open.receiver.key.query.value());
    to.set_run(open.receiver.key.run);
    to.set_exchange(open.receiver.key.exchange);
    to.set_from(open.sender);
    to.set_to(open.receiver.worker);
    to.set_schema(open.schema);
    to.set_protocol(open.protocol);
}

void write(std::uint64_t number, OutgoingItem item, wire::ToReceiver& message) {
    wire::Item& to = *message.mutable_item();
    to.set_number(number);
    std::visit(Overload{
                   [&](const Announcement& announced) {
                       wire::Announce& announce = *to.mutable_announce();
                       for (const std::string& origin : announced.origins) {
                           announce.add_origins(origin);
                       }
                   },
                   [&](OutgoingFrame& frame) {
                       wire::Rows& rows = *to.mutable_rows();
                       rows.set_origin(frame.origin);
                       if (frame.watermark) rows.set_watermark(*frame.watermark);
                       rows.set_end(frame.end);
                       rows.set_batch(std::move(frame.batch));
                   },
                   [&](const FinishMark&) { (void)to.mutable_finish(); },
               },
               item);
}

void write(const exchange::ToSender& said, wire::ToSender& message) {
    std::visit(Overload{
                   [&](const exchange::Opened& opened) {
                       write(opened.progress, *message.mutable_opened());
                   },
                   [&](const exchange::Refused& refused) {
                       message.mutable_refused()->set_why(refused.why);
                       message.mutable_refused()->set_for_good(refused.for_good);
                   },
                   [&](const exchange::Progress& progress) {
                       write(progress, *message.mutable_progress());
                   },
               },
               said);
}

Result<SaidToReceiver> read(wire::ToReceiver& message) {
    switch (message.what_case()) {
        case wire::ToReceiver::kOpen:
            return read(message.open());
        case wire::ToReceiver::kItem:
            return read(*message.mutable_item());
        case wire::ToReceiver::WHAT_NOT_SET:
            break;
    }
    return malformed_exchange("it says nothing that is known here");
}

Result<exchange::ToSender> read(const wire::ToSender& message) {
    switch (message.what_case()) {
        case wire::ToSender::kOpened: {
            TRY_ASSIGN(progress, read(message.opened()));
            return exchange::ToSender(exchange::Opened{progress});
        }
        case wire::ToSender::kRefused:
            return exchange::ToSender(exchange::Refused{.why = message.refused().why(),
                                                        .for_good = message.refused().for_good()});
        case wire::ToSender::kProgress: {
            TRY_ASSIGN(progress, read(message.progress()));
            return exchange::ToSender(progress);
        }
        case wire::ToSender::WHAT_NOT_SET:
            break;
    }
    return malformed_exchange("it says nothing that is known here");
}

}  // namespace baton::rpc
