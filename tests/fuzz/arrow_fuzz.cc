// Any bytes as Arrow data: reading answers, every cell of what it accepts can be read, and is read
// again from what is written of it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/check.h"
#include "base/utf8.h"
#include "engine/arrow/arrow_ipc.h"

namespace {

using baton::Schema;
using baton::arrow::ArrowBytes;
using baton::engine::Batch;

void check(const Schema& schema, const Batch& batch) {
    const auto bytes = baton::arrow::write_arrow_batch(schema, batch);
    CHECK(bytes);
    const auto again =
        baton::arrow::read_arrow_batch(schema, std::make_shared<const std::string>(*bytes));
    CHECK(again && again->rows == batch.rows);
    for (std::size_t i = 0; i < batch.columns.size(); ++i) {
        CHECK(batch.columns[i].size() == batch.rows);
        for (std::size_t row = 0; row < batch.rows; ++row) {
            const baton::Value value = value_at(batch.columns[i], row);
            if (const auto* text = std::get_if<std::string>(&value))
                CHECK(baton::is_valid_utf8(*text));
            if (std::holds_alternative<double>(value)) continue;  // a NaN is not equal to itself
            CHECK(value == value_at(again->columns[i], row));
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes =
        std::make_shared<const std::string>(reinterpret_cast<const char*>(data), size);
    auto reader = baton::arrow::ArrowReader::open(bytes);
    if (!reader) return 0;
    while (true) {
        const auto batch = reader->next();
        if (!batch || !*batch) return 0;
        if ((*batch)->rows <= 10'000) check(reader->schema(), **batch);
    }
}
