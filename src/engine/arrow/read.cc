#include <cstring>
#include <utility>

#include <arrow_ipc_generated.h>
#include <flatbuffers/flatbuffers.h>

#include "base/text.h"
#include "base/utf8.h"
#include "engine/arrow/arrow_ipc.h"
#include "engine/columns/elements.h"

namespace baton::arrow {

namespace {

constexpr std::size_t kPrefix = 8;  // the mark, and the length of the metadata
constexpr std::int64_t kRowsMax = 1 << 24;

Error malformed(const std::string& why) {
    return {.code = ErrorCode::malformed_message, .message = "cannot read Arrow data: " + why};
}

struct Envelope {
    const ipc::Message* message = nullptr;  // none: the end of the stream
    std::size_t body = 0;                   // where it begins
    std::size_t end = 0;                    // of the message
};

bool is_aligned(const void* pointer, std::size_t alignment) {
    return reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0;
}

// What begins at `at`, which is a multiple of 8 in bytes that are so aligned.
Result<Envelope> open_envelope(std::string_view bytes, std::size_t at) {
    const std::size_t left = bytes.size() - at;
    if (left < kPrefix) return malformed("it ends within a message");
    std::uint32_t mark = 0;
    std::uint32_t length = 0;
    std::memcpy(&mark, bytes.data() + at, sizeof mark);
    std::memcpy(&length, bytes.data() + at + sizeof mark, sizeof length);
    if (mark != 0xffffffffU) return malformed("a message does not begin with its mark");
    if (length == 0) return Envelope{.message = nullptr, .body = 0, .end = at + kPrefix};
    if (length > left - kPrefix) return malformed("it ends within the description of a message");
    if (length % kArrowAlignment != 0) return malformed("a description is not padded to 8 bytes");
    const auto* metadata = reinterpret_cast<const std::uint8_t*>(bytes.data() + at + kPrefix);
    flatbuffers::Verifier verifier(metadata, length);
    if (!ipc::VerifyMessageBuffer(verifier)) return malformed("a description is damaged");
    Envelope envelope{
        .message = ipc::GetMessage(metadata), .body = at + kPrefix + length, .end = 0};
    if (envelope.message->version() != ipc::MetadataVersion::V5) {
        return malformed("a message is not of version 5");
    }
    const std::int64_t body = envelope.message->body_length();
    if (body < 0 || static_cast<std::uint64_t>(body) > bytes.size() - envelope.body) {
        return malformed("it ends within the body of a message");
    }
    if (static_cast<std::size_t>(body) % kArrowAlignment != 0) {
        return malformed("a body is not padded to 8 bytes");
    }
    envelope.end = envelope.body + static_cast<std::size_t>(body);
    return envelope;
}

// ---- schemas ------------------------------------------------------------------------------------

Result<DataType> type_of_int(const ipc::Int& type) {
    for (const DataType known : all_data_types()) {
        if (!is_integer(known) || is_signed(known) != type.is_signed()) continue;
        if (static_cast<std::int32_t>(8 * engine::width_of(known)) == type.bit_width())
            return known;
    }
    return malformed("a whole number has " + std::to_string(type.bit_width()) + " bits");
}

Result<DataType> type_of(const ipc::Field& field) {
    if (field.dictionary() != nullptr) return malformed("dictionaries are not supported");
    switch (field.type_type()) {
        case ipc::Type::Int:
            if (field.type_as_Int() == nullptr) break;
            return type_of_int(*field.type_as_Int());
        case ipc::Type::FloatingPoint: {
            if (field.type_as_FloatingPoint() == nullptr) break;
            const auto precision = field.type_as_FloatingPoint()->precision();
            if (precision == ipc::Precision::Single) return DataType::float32;
            if (precision == ipc::Precision::Double) return DataType::float64;
            break;
        }
        case ipc::Type::Utf8:
            return DataType::varsized;
        case ipc::Type::Bool:
            return DataType::boolean;
        case ipc::Type::NONE:
        case ipc::Type::Null:
        case ipc::Type::Binary:
            break;
    }
    return malformed("a column has a type that is not supported");
}

Result<Schema> read_schema(const ipc::Message& message) {
    const ipc::Schema* header = message.header_as_Schema();
    if (header == nullptr) return malformed("it does not begin with a schema");
    if (header->endianness() != ipc::Endianness::Little) return malformed("it is big-endian");
    Schema schema;
    if (header->fields() == nullptr) return schema;
    for (const ipc::Field* field : *header->fields()) {
        if (field->children() != nullptr && field->children()->size() != 0) {
            return malformed("columns inside columns are not supported");
        }
        TRY_ASSIGN(type, type_of(*field));
        const auto* name = field->name();
        schema.columns.push_back({.name = name == nullptr ? std::string() : name->str(),
                                  .type = type,
                                  .nullable = field->nullable()});
        if (!is_valid_utf8(schema.columns.back().name)) return malformed("a name is not text");
    }
    return schema;
}

// ---- batches ------------------------------------------------------------------------------------

class BodyReader {
public:
    BodyReader(const ArrowBytes& bytes, const Envelope& envelope, const ipc::RecordBatch& record)
        : holder_(bytes),
          body_(std::string_view(*bytes).substr(envelope.body, envelope.end - envelope.body)),
          record_(record),
          rows_(static_cast<std::size_t>(record.length())) {}

    Result<engine::ColumnVector> column(DataType type, std::size_t number) {
        const ipc::FieldNode& node =
            *record_.nodes()->Get(static_cast<flatbuffers::uoffset_t>(number));
        if (node.length() != record_.length()) return malformed("columns differ in length");
        if (node.null_count() < 0 || node.null_count() > node.length()) {
            return malformed("a column has more NULLs than rows");
        }
        TRY_ASSIGN(bitmap, buffer());
        TRY_ASSIGN(column, is_text(type) ? texts(type) : elements(type));
        TRY(mark_nulls(column, bitmap, static_cast<std::size_t>(node.null_count())));
        return column;
    }

private:
    // The next one.
    Result<std::string_view> buffer() {
        const ipc::Buffer& found = *record_.buffers()->Get(next_++);
        if (found.offset() < 0 || found.length() < 0 ||
            static_cast<std::size_t>(found.offset()) > body_.size() ||
            static_cast<std::size_t>(found.length()) >
                body_.size() - static_cast<std::size_t>(found.offset())) {
            return malformed("a buffer lies outside of its message");
        }
        if (static_cast<std::size_t>(found.offset()) % kArrowAlignment != 0) {
            return malformed("a buffer is not aligned to 8 bytes");
        }
        return body_.substr(static_cast<std::size_t>(found.offset()),
                            static_cast<std::size_t>(found.length()));
    }

    Result<engine::ColumnVector> elements(DataType type) {
        TRY_ASSIGN(data, buffer());
        if (type == DataType::boolean) {
            if (data.size() < (rows_ + 7) / 8) return malformed("a column is too short");
            engine::ColumnVector column(type, rows_);
            unpack(data, column.mutable_data<std::uint8_t>());
            return column;
        }
        const std::size_t width = engine::width_of(type);
        if (data.size() < rows_ * width) return malformed("a column is too short");
        if (is_aligned(data.data(), width)) {
            const auto* where = reinterpret_cast<const std::byte*>(data.data());
            return engine::ColumnVector(type, rows_,
                                        std::shared_ptr<const std::byte[]>(holder_, where));
        }
        engine::ColumnVector column(type, rows_);
        engine::with_element(type, [&](auto* none) {
            using T = std::remove_pointer_t<decltype(none)>;
            if (rows_ > 0) std::memcpy(column.mutable_data<T>(), data.data(), rows_ * sizeof(T));
        });
        return column;
    }

    Result<engine::ColumnVector> texts(DataType type) {
        TRY_ASSIGN(offsets, buffer());
        TRY_ASSIGN(bytes, buffer());
        engine::ColumnVector column(type, rows_);
        if (rows_ == 0) return column;
        if (offsets.size() < (rows_ + 1) * sizeof(std::int32_t)) {
            return malformed("a column of texts is too short");
        }
        const auto offset = [&](std::size_t row) {
            std::int32_t value = 0;
            std::memcpy(&value, offsets.data() + row * sizeof value, sizeof value);
            return value;
        };
        const std::int32_t first = offset(0);
        const std::int32_t last = offset(rows_);
        if (first < 0 || last < first || static_cast<std::size_t>(last) > bytes.size()) {
            return malformed("texts lie outside of their buffer");
        }
        const auto whole = bytes.substr(0, static_cast<std::size_t>(last));
        if (!is_valid_utf8(whole.substr(static_cast<std::size_t>(first)))) {
            return malformed("a text is not valid UTF-8");
        }
        std::int32_t begin = first;
        for (std::size_t row = 0; row < rows_; ++row) {
            const std::int32_t end = offset(row + 1);
            if (end < begin || end > last) return malformed("texts overlap");
            if (end < last && !begins_character(whole[static_cast<std::size_t>(end)])) {
                return malformed("a character is cut in two");
            }
            column.mutable_data<std::string_view>()[row] = whole.substr(
                static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
            begin = end;
        }
        column.hold(holder_);
        return column;
    }

    Result<Done> mark_nulls(engine::ColumnVector& column, std::string_view bitmap,
                            std::size_t nulls) {
        if (bitmap.empty() && nulls == 0) return Done{};
        if (bitmap.size() < (rows_ + 7) / 8) return malformed("a bitmap of NULLs is too short");
        std::size_t found = 0;
        for (std::size_t row = 0; row < rows_; ++row) found += bit(bitmap, row) == 0;
        if (found != nulls) return malformed("a column has not as many NULLs as it says");
        if (nulls == 0) return Done{};
        // What stands where there is NULL must be nothing, also if somebody left something there.
        if (!is_text(column.type())) column = own(column);
        for (std::size_t row = 0; row < rows_; ++row) {
            if (bit(bitmap, row) == 0) column.set_null(row);
        }
        return Done{};
    }

    static engine::ColumnVector own(const engine::ColumnVector& shared) {
        engine::ColumnVector column(shared.type(), shared.size());
        engine::with_element(shared.type(), [&](auto* none) {
            using T = std::remove_pointer_t<decltype(none)>;
            std::copy_n(shared.data<T>(), shared.size(), column.mutable_data<T>());
        });
        return column;
    }

    static unsigned bit(std::string_view bits, std::size_t at) {
        return (static_cast<unsigned char>(bits[at / 8]) >> (at % 8)) & 1U;
    }
    void unpack(std::string_view bits, std::uint8_t* to) const {
        for (std::size_t row = 0; row < rows_; ++row) {
            to[row] = static_cast<std::uint8_t>(bit(bits, row));
        }
    }

    const ArrowBytes holder_;
    const std::string_view body_;
    const ipc::RecordBatch& record_;
    const std::size_t rows_;
    flatbuffers::uoffset_t next_ = 0;
};

Result<engine::Batch> read_record(const Schema& schema, const ArrowBytes& bytes,
                                  const Envelope& envelope) {
    const ipc::RecordBatch* record = envelope.message->header_as_RecordBatch();
    if (record == nullptr) return malformed("a message is not a batch");
    if (record->compression() != nullptr) return malformed("compression is not supported");
    if (record->length() < 0 || record->length() > kRowsMax) return malformed("too many rows");
    std::size_t buffers = 0;
    for (const Column& column : schema.columns) buffers += is_text(column.type) ? 3 : 2;
    const std::size_t nodes_there = record->nodes() == nullptr ? 0 : record->nodes()->size();
    const std::size_t buffers_there = record->buffers() == nullptr ? 0 : record->buffers()->size();
    if (nodes_there != schema.columns.size() || buffers_there != buffers) {
        return malformed("a batch has not the columns of its schema");
    }
    BodyReader reader(bytes, envelope, *record);
    engine::Batch batch{.rows = static_cast<std::size_t>(record->length()), .columns = {}};
    for (std::size_t i = 0; i < schema.columns.size(); ++i) {
        TRY_ASSIGN(column, reader.column(schema.columns[i].type, i));
        batch.columns.push_back(std::move(column));
    }
    return batch;
}

ArrowBytes in_place(ArrowBytes bytes) {
    if (is_aligned(bytes->data(), kArrowAlignment)) return bytes;
    auto moved = std::make_shared<std::string>();
    moved->reserve(bytes->size() + 64);  // not inside of the string itself
    *moved += *bytes;
    return moved;
}

}  // namespace

Result<engine::Batch> read_arrow_batch(const Schema& schema, const ArrowBytes& bytes) {
    const ArrowBytes here = in_place(bytes);
    TRY_ASSIGN(envelope, open_envelope(*here, 0));
    if (envelope.message == nullptr) return malformed("there is no batch");
    if (envelope.end != here->size()) return malformed("something follows the batch");
    return read_record(schema, here, envelope);
}

Result<ArrowReader> ArrowReader::open(ArrowBytes bytes) {
    bytes = in_place(std::move(bytes));
    TRY_ASSIGN(envelope, open_envelope(*bytes, 0));
    if (envelope.message == nullptr) return malformed("it does not begin with a schema");
    TRY_ASSIGN(schema, read_schema(*envelope.message));
    return ArrowReader(std::move(bytes), std::move(schema), envelope.end);
}

Result<std::optional<engine::Batch>> ArrowReader::next() {
    if (at_ == bytes_->size()) return std::optional<engine::Batch>();
    TRY_ASSIGN(envelope, open_envelope(*bytes_, at_));
    if (envelope.message == nullptr) {
        at_ = bytes_->size();
        return std::optional<engine::Batch>();
    }
    TRY_ASSIGN(batch, read_record(schema_, bytes_, envelope));
    at_ = envelope.end;
    return std::optional<engine::Batch>(std::move(batch));
}

}  // namespace baton::arrow
