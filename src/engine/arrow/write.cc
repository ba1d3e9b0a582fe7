#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include <arrow_ipc_generated.h>
#include <flatbuffers/flatbuffers.h>

#include "engine/arrow/arrow_ipc.h"
#include "engine/columns/elements.h"

namespace baton::arrow {

static_assert(std::endian::native == std::endian::little, "buffers are copied as they are");

namespace {

constexpr std::uint32_t kContinuation = 0xffffffffU;
constexpr std::size_t kTextsMax = 1 << 30;

std::size_t aligned(std::size_t size) {
    return (size + kArrowAlignment - 1) / kArrowAlignment * kArrowAlignment;
}

std::size_t bitmap_size(std::size_t rows) {
    return (rows + 7) / 8;
}

struct BodyPlan {
    std::vector<ipc::FieldNode> nodes;
    std::vector<ipc::Buffer> buffers;
    std::size_t size = 0;

    void add(std::size_t length) {
        buffers.emplace_back(static_cast<std::int64_t>(size), static_cast<std::int64_t>(length));
        size += aligned(length);
    }
};

std::size_t nulls_in(const engine::ColumnVector& column) {
    if (column.valid() == nullptr) return 0;
    std::size_t nulls = 0;
    for (std::size_t row = 0; row < column.size(); ++row) nulls += column.valid()[row] == 0;
    return nulls;
}

Result<BodyPlan> plan_body(const engine::Batch& batch) {
    BodyPlan plan;
    for (const engine::ColumnVector& column : batch.columns) {
        const std::size_t nulls = nulls_in(column);
        plan.nodes.emplace_back(static_cast<std::int64_t>(batch.rows),
                                static_cast<std::int64_t>(nulls));
        plan.add(nulls == 0 ? 0 : bitmap_size(batch.rows));
        if (!is_text(column.type())) {
            plan.add(column.type() == DataType::boolean
                         ? bitmap_size(batch.rows)
                         : batch.rows * engine::width_of(column.type()));
            continue;
        }
        std::size_t bytes = 0;
        for (std::size_t row = 0; row < batch.rows; ++row) bytes += column.texts()[row].size();
        if (bytes > kTextsMax) {
            return Error{
                .code = ErrorCode::too_large,
                .message = "cannot send a batch: the texts of a column have more than 1 GB",
                .at = {},
                .hint = "make smaller batches"};
        }
        plan.add((batch.rows + 1) * sizeof(std::int32_t));
        plan.add(bytes);
    }
    return plan;
}

// Bytes that are 0 or 1 as bits, the first in the lowest.
void pack(const std::uint8_t* from, std::size_t count, char* to) {
    for (std::size_t i = 0; i < count; i += 8) {
        unsigned bits = 0;
        for (std::size_t bit = 0; bit < std::min<std::size_t>(8, count - i); ++bit) {
            bits |= static_cast<unsigned>(from[i + bit] & 1U) << bit;
        }
        to[i / 8] = static_cast<char>(bits);
    }
}

void put_texts(const engine::ColumnVector& column, std::size_t rows, char* offsets, char* bytes) {
    std::int32_t end = 0;
    std::memcpy(offsets, &end, sizeof end);
    for (std::size_t row = 0; row < rows; ++row) {
        const std::string_view text = column.texts()[row];
        if (!text.empty()) std::memcpy(bytes + end, text.data(), text.size());
        end += static_cast<std::int32_t>(text.size());
        std::memcpy(offsets + (row + 1) * sizeof end, &end, sizeof end);
    }
}

// Into a body of zeros.
void put_body(const engine::Batch& batch, const BodyPlan& plan, char* body) {
    std::size_t next = 0;
    for (const engine::ColumnVector& column : batch.columns) {
        const ipc::Buffer* buffer = &plan.buffers[next];
        if (buffer[0].length() != 0) pack(column.valid(), batch.rows, body + buffer[0].offset());
        char* data = body + buffer[1].offset();
        next += is_text(column.type()) ? 3 : 2;
        if (batch.rows == 0) continue;
        if (is_text(column.type())) {
            put_texts(column, batch.rows, data, body + buffer[2].offset());
        } else if (column.type() == DataType::boolean) {
            pack(column.data<std::uint8_t>(), batch.rows, data);
        } else {
            engine::with_element(column.type(), [&](auto* none) {
                using T = std::remove_pointer_t<decltype(none)>;
                std::memcpy(data, column.data<T>(), batch.rows * sizeof(T));
            });
        }
    }
}

// A message with room for a body of zeros.
std::string envelope(flatbuffers::FlatBufferBuilder& builder, std::size_t body) {
    const std::size_t metadata = aligned(builder.GetSize());
    std::string bytes(2 * sizeof(std::uint32_t) + metadata + body, '\0');
    const auto length = static_cast<std::int32_t>(metadata);
    std::memcpy(bytes.data(), &kContinuation, sizeof kContinuation);
    std::memcpy(bytes.data() + sizeof kContinuation, &length, sizeof length);
    std::memcpy(bytes.data() + 2 * sizeof length, builder.GetBufferPointer(), builder.GetSize());
    return bytes;
}

void finish(flatbuffers::FlatBufferBuilder& builder, ipc::MessageHeader kind,
            flatbuffers::Offset<void> header, std::size_t body) {
    builder.Finish(ipc::CreateMessage(builder, ipc::MetadataVersion::V5, kind, header,
                                      static_cast<std::int64_t>(body)));
}

struct ArrowType {
    ipc::Type kind = ipc::Type::NONE;
    flatbuffers::Offset<void> type;
};

ArrowType arrow_type(flatbuffers::FlatBufferBuilder& builder, DataType type) {
    if (is_text(type)) return {ipc::Type::Utf8, ipc::CreateUtf8(builder).Union()};
    if (type == DataType::boolean) return {ipc::Type::Bool, ipc::CreateBool(builder).Union()};
    if (is_float(type)) {
        const auto precision =
            type == DataType::float32 ? ipc::Precision::Single : ipc::Precision::Double;
        return {ipc::Type::FloatingPoint, ipc::CreateFloatingPoint(builder, precision).Union()};
    }
    const auto bits = static_cast<std::int32_t>(8 * engine::width_of(type));
    return {ipc::Type::Int, ipc::CreateInt(builder, bits, is_signed(type)).Union()};
}

}  // namespace

std::string write_arrow_schema(const Schema& schema) {
    flatbuffers::FlatBufferBuilder builder;
    std::vector<flatbuffers::Offset<ipc::Field>> fields;
    for (const Column& column : schema.columns) {
        const auto name = builder.CreateString(column.name);
        const ArrowType type = arrow_type(builder, column.type);
        const auto children = builder.CreateVector(std::vector<flatbuffers::Offset<ipc::Field>>());
        fields.push_back(
            ipc::CreateField(builder, name, column.nullable, type.kind, type.type, 0, children));
    }
    const auto list = builder.CreateVector(fields);
    finish(builder, ipc::MessageHeader::Schema,
           ipc::CreateSchema(builder, ipc::Endianness::Little, list).Union(), 0);
    return envelope(builder, 0);
}

Result<std::string> write_arrow_batch(const Schema& schema, const engine::Batch& batch) {
    CHECK(schema.columns.size() == batch.columns.size());
    for (std::size_t i = 0; i < batch.columns.size(); ++i) {
        CHECK(batch.columns[i].type() == schema.columns[i].type);
        CHECK(batch.columns[i].size() >= batch.rows);
    }
    TRY_ASSIGN(plan, plan_body(batch));
    flatbuffers::FlatBufferBuilder builder;
    const auto nodes = builder.CreateVectorOfStructs(plan.nodes);
    const auto buffers = builder.CreateVectorOfStructs(plan.buffers);
    const auto record =
        ipc::CreateRecordBatch(builder, static_cast<std::int64_t>(batch.rows), nodes, buffers);
    finish(builder, ipc::MessageHeader::RecordBatch, record.Union(), plan.size);
    std::string bytes = envelope(builder, plan.size);
    put_body(batch, plan, bytes.data() + bytes.size() - plan.size);
    return bytes;
}

std::string_view arrow_end() {
    return {"\xff\xff\xff\xff\0\0\0\0", 8};
}

}  // namespace baton::arrow
