#include "adapters/duckdb/tree_reader.h"

#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include <duckdb/common/exception.hpp>
#include <duckdb/common/serializer/deserializer.hpp>
#include <duckdb/common/types/blob.hpp>

namespace baton::duckdb_engine {

namespace {

// The counterpart of the serializer behind json_serialize_sql. DuckDB reports a failure of its
// readers by exceptions, and so does this; statement_of() catches them.
class TreeReader final : public duckdb::Deserializer {
public:
    explicit TreeReader(const json::Value& tree) {
        deserialize_enum_from_string = true;
        open_.push_back({.value = &tree});
    }

private:
    struct Open {
        const json::Value* value = nullptr;
        std::size_t next = 0;  // of an array
    };

    [[noreturn]] void fail(std::string_view wanted) const {
        throw duckdb::SerializationException("the tree has no " + std::string(wanted) + " at \"" +
                                             tag_ + "\"");
    }

    const json::Value& next() {
        Open& open = open_.back();
        if (const auto* items = std::get_if<json::Array>(&open.value->value)) {
            if (open.next >= items->size()) fail("further element");
            return (*items)[open.next++];
        }
        const json::Value* value = json::find(*open.value, tag_);
        if (value == nullptr) fail("value");
        return *value;
    }

    template <class T>
    T integer() {
        const json::Value& value = next();
        if (const auto* negative = std::get_if<std::int64_t>(&value.value)) {
            if (std::in_range<T>(*negative)) return static_cast<T>(*negative);
        } else if (const auto* positive = std::get_if<std::uint64_t>(&value.value)) {
            if (std::in_range<T>(*positive)) return static_cast<T>(*positive);
        }
        fail("integer");
    }

    // Two words of 64 bits in an object.
    template <class T, class Upper>
    T wide() {
        const json::Value& object = next();
        open_.push_back({.value = &object});
        T wide;
        const std::string tag = std::exchange(tag_, "upper");
        wide.upper = integer<Upper>();
        tag_ = "lower";
        wide.lower = integer<std::uint64_t>();
        tag_ = tag;
        open_.pop_back();
        return wide;
    }

    void OnPropertyBegin(duckdb::field_id_t /*field*/, const char* tag) override { tag_ = tag; }
    void OnPropertyEnd() override {}
    bool OnOptionalPropertyBegin(duckdb::field_id_t /*field*/, const char* tag) override {
        tag_ = tag;
        return json::find(*open_.back().value, tag_) != nullptr;
    }
    void OnOptionalPropertyEnd(bool /*present*/) override {}

    void OnObjectBegin() override {
        const json::Value& value = next();
        if (!std::holds_alternative<json::Object>(value.value)) fail("object");
        open_.push_back({.value = &value});
    }
    void OnObjectEnd() override { open_.pop_back(); }
    duckdb::idx_t OnListBegin() override {
        const json::Value& value = next();
        const auto* items = std::get_if<json::Array>(&value.value);
        if (items == nullptr) fail("list");
        open_.push_back({.value = &value});
        return items->size();
    }
    void OnListEnd() override { open_.pop_back(); }
    // The value is looked at, and read afterwards.
    bool OnNullableBegin() override {
        Open& open = open_.back();
        const auto* items = std::get_if<json::Array>(&open.value->value);
        if (items == nullptr) return !std::holds_alternative<std::monostate>(next().value);
        if (open.next >= items->size()) fail("further element");
        const bool present = !std::holds_alternative<std::monostate>((*items)[open.next].value);
        if (!present) open.next += 1;
        return present;
    }
    void OnNullableEnd() override {}

    bool ReadBool() override {
        const auto* flag = std::get_if<bool>(&next().value);
        if (flag == nullptr) fail("boolean");
        return *flag;
    }
    std::int8_t ReadSignedInt8() override { return integer<std::int8_t>(); }
    std::uint8_t ReadUnsignedInt8() override { return integer<std::uint8_t>(); }
    std::int16_t ReadSignedInt16() override { return integer<std::int16_t>(); }
    std::uint16_t ReadUnsignedInt16() override { return integer<std::uint16_t>(); }
    std::int32_t ReadSignedInt32() override { return integer<std::int32_t>(); }
    std::uint32_t ReadUnsignedInt32() override { return integer<std::uint32_t>(); }
    std::int64_t ReadSignedInt64() override { return integer<std::int64_t>(); }
    std::uint64_t ReadUnsignedInt64() override { return integer<std::uint64_t>(); }
    duckdb::hugeint_t ReadHugeInt() override { return wide<duckdb::hugeint_t, std::int64_t>(); }
    duckdb::uhugeint_t ReadUhugeInt() override { return wide<duckdb::uhugeint_t, std::uint64_t>(); }
    float ReadFloat() override { return static_cast<float>(ReadDouble()); }
    double ReadDouble() override {
        const json::Value& value = next();
        if (const auto* real = std::get_if<double>(&value.value)) return *real;
        if (const auto* whole = std::get_if<std::uint64_t>(&value.value)) {
            return static_cast<double>(*whole);
        }
        if (const auto* whole = std::get_if<std::int64_t>(&value.value)) {
            return static_cast<double>(*whole);
        }
        fail("number");
    }
    std::string ReadString() override {
        const auto* text = std::get_if<std::string>(&next().value);
        if (text == nullptr) fail("text");
        return *text;
    }
    void ReadDataPtr(duckdb::data_ptr_t& /*to*/, duckdb::idx_t /*count*/) override {
        fail("bytes that can be read");  // no parsed statement has any
    }

    std::vector<Open> open_;
    std::string tag_;
};

Error unreadable(const std::string& why) {
    return {.code = ErrorCode::defect, .message = "cannot read the tree of a question: " + why};
}

}  // namespace

Result<duckdb::unique_ptr<duckdb::SelectStatement>> statement_of(const json::Value& tree) {
    try {
        TreeReader reader(tree);
        return duckdb::SelectStatement::Deserialize(reader);
    } catch (const std::exception& problem) {
        return unreadable(duckdb::ErrorData(problem).RawMessage());
    }
}

Result<duckdb::unique_ptr<duckdb::SelectStatement>> statement_of(const std::string& tree) {
    TRY_ASSIGN(value, json::parse(tree, {.bytes = kTreeBytesMax,
                                         .depth = kTreeDepthMax,
                                         .damaged = ErrorCode::defect}));
    return statement_of(value);
}

}  // namespace baton::duckdb_engine
