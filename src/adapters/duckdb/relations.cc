#include "adapters/duckdb/relations.h"

#include <utility>

#include <duckdb/catalog/catalog.hpp>
#include <duckdb/catalog/catalog_entry/table_function_catalog_entry.hpp>
#include <duckdb/common/multi_file/multi_file_list.hpp>
#include <duckdb/common/multi_file/multi_file_reader.hpp>
#include <duckdb/function/replacement_scan.hpp>
#include <duckdb/function/table_function.hpp>
#include <duckdb/main/extension/extension_loader.hpp>
#include <duckdb/parser/expression/columnref_expression.hpp>
#include <duckdb/parser/expression/comparison_expression.hpp>
#include <duckdb/parser/expression/constant_expression.hpp>
#include <duckdb/parser/expression/function_expression.hpp>
#include <duckdb/parser/expression/star_expression.hpp>
#include <duckdb/parser/query_node/select_node.hpp>
#include <duckdb/parser/statement/select_statement.hpp>
#include <duckdb/parser/tableref/column_data_ref.hpp>
#include <duckdb/parser/tableref/subqueryref.hpp>
#include <duckdb/parser/tableref/table_function_ref.hpp>
#include <duckdb/storage/statistics/node_statistics.hpp>

#include "adapters/duckdb/types.h"
#include "base/text.h"

namespace baton::duckdb_engine {

namespace {

using duckdb::MultiFileColumnDefinition;
using duckdb::Value;

constexpr const char* kFunction = "baton_relation_files";

// A column that is absent from a file is NULL, and so is a part of a structure.
void default_to_null(MultiFileColumnDefinition& column) {
    column.default_expression = duckdb::make_uniq<duckdb::ConstantExpression>(Value(column.type));
    for (MultiFileColumnDefinition& part : column.children) default_to_null(part);
}

// Files by their names, without any pattern in them, and with the number of their rows.
class FileList final : public duckdb::SimpleMultiFileList {
public:
    FileList(duckdb::vector<duckdb::OpenFileInfo> files, std::uint64_t rows)
        : SimpleMultiFileList(std::move(files)), rows_(rows) {}

    duckdb::unique_ptr<duckdb::NodeStatistics> GetCardinality(
        duckdb::ClientContext& /*context*/) override {
        if (rows_ == 0) return nullptr;
        return duckdb::make_uniq<duckdb::NodeStatistics>(rows_, rows_);
    }
    duckdb::unique_ptr<duckdb::MultiFileList> Copy() override {
        return duckdb::make_uniq<FileList>(GetAllFiles(), rows_);
    }

private:
    std::uint64_t rows_;
};

// Of all files of the relation; 0: some of them is unknown.
std::uint64_t rows_of(const RelationFiles& files) {
    std::uint64_t rows = 0;
    for (const RelationFile& file : files.files) {
        if (!file.rows) return 0;
        rows += *file.rows;
    }
    return rows;
}

class RelationReader final : public duckdb::MultiFileReader {
public:
    explicit RelationReader(const Relations* relations) : relations_(relations) {}

    duckdb::shared_ptr<duckdb::MultiFileList> CreateFileList(
        duckdb::ClientContext& /*context*/, const duckdb::vector<duckdb::string>& /*names*/,
        const duckdb::FileGlobInput& /*glob*/) override {
        const auto& files = std::get<RelationFiles>(relation_->content);
        duckdb::vector<duckdb::OpenFileInfo> paths;
        for (const RelationFile& file : files.files) paths.emplace_back(file.path);
        return duckdb::make_shared_ptr<FileList>(std::move(paths), rows_of(files));
    }

    duckdb::unique_ptr<duckdb::MultiFileReader> Copy() const override {
        auto copy = duckdb::make_uniq<RelationReader>(relations_);
        copy->relation_ = relation_;
        return copy;
    }

    // Asked with the name of the relation in place of a path.
    duckdb::vector<duckdb::string> ParsePaths(const Value& input) override {
        relation_ = relations_->find(input.GetValue<std::string>());
        if (relation_ == nullptr) throw duckdb::InvalidInputException("no such relation");
        return {};
    }

    bool Bind(duckdb::MultiFileOptions& /*options*/, duckdb::MultiFileList& /*files*/,
              duckdb::vector<duckdb::LogicalType>& types, duckdb::vector<duckdb::string>& names,
              duckdb::MultiFileReaderBindData& bind_data) override {
        for (const SqlField& column : relation_->columns) {
            names.push_back(column.name);
            types.push_back(logical_type_of(column.type));
        }
        bind_data.schema = MultiFileColumnDefinition::ColumnsFromNamesAndTypes(names, types);
        for (MultiFileColumnDefinition& column : bind_data.schema) default_to_null(column);
        bind_data.mapping = duckdb::MultiFileColumnMappingMode::BY_NAME;
        return true;
    }

    void FinalizeBind(
        duckdb::MultiFileReaderData& reader_data, const duckdb::MultiFileOptions& options,
        const duckdb::MultiFileReaderBindData& bind_data,
        const duckdb::vector<MultiFileColumnDefinition>& columns,
        const duckdb::vector<duckdb::ColumnIndex>& wanted, duckdb::ClientContext& context,
        duckdb::optional_ptr<duckdb::MultiFileReaderGlobalState> global_state) override {
        MultiFileReader::FinalizeBind(reader_data, options, bind_data, columns, wanted, context,
                                      global_state);
        const auto& files = std::get<RelationFiles>(relation_->content).files;
        const std::uint64_t place = reader_data.reader->file_list_idx.GetIndex();
        const RelationFile* file = place < files.size() ? &files[place] : nullptr;
        if (file == nullptr || file->path != reader_data.reader->file.path) {
            throw duckdb::InternalException("a file of the relation is not in its place");
        }
        for (duckdb::idx_t i = 0; i < wanted.size(); ++i) {
            if (wanted[i].IsVirtualColumn()) continue;
            const auto& column = columns[wanted[i].GetPrimaryIndex()];
            const auto* value = partition_value(*file, column.name);
            if (value == nullptr) continue;
            Value constant = *value ? Value(**value) : Value();
            reader_data.constant_map.Add(duckdb::MultiFileGlobalIndex(i),
                                         constant.CastAs(context, column.type));
        }
    }

private:
    static const std::optional<std::string>* partition_value(const RelationFile& file,
                                                             const std::string& column) {
        for (const auto& [name, value] : file.partition) {
            if (equal_ignoring_case(name, column)) return &value;
        }
        return nullptr;
    }

    const Relations* relations_;
    const QuestionRelation* relation_ = nullptr;
};

duckdb::unique_ptr<duckdb::MultiFileReader> make_reader(const duckdb::TableFunction& function) {
    return duckdb::make_uniq<RelationReader>(&function.function_info->Cast<Relations>());
}

struct ScanData final : public duckdb::ReplacementScanData {
    explicit ScanData(duckdb::shared_ptr<Relations> all) : relations(std::move(all)) {}
    duckdb::shared_ptr<Relations> relations;
};

duckdb::unique_ptr<duckdb::TableRef> replace(
    duckdb::ClientContext& /*context*/, duckdb::ReplacementScanInput& input,
    duckdb::optional_ptr<duckdb::ReplacementScanData> data) {
    if (!input.catalog_name.empty() || !input.schema_name.empty()) return nullptr;
    return data->Cast<ScanData>().relations->reference(input.table_name);
}

Value value_of(const SqlValue& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return Value::BIGINT(*number);
    if (const auto* real = std::get_if<double>(&value)) return Value::DOUBLE(*real);
    if (const auto* text = std::get_if<std::string>(&value)) return Value(*text);
    return Value();
}

// The bytes of PostgreSQL's form, \x0aff.
std::string bytes_of(const std::string& text) {
    const auto digit = [](char c) -> int {
        if (c >= '0' && c <= '9') return c - '0';
        if (c >= 'a' && c <= 'f') return c - 'a' + 10;
        return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    };
    if (!text.starts_with("\\x") || text.size() % 2 != 0) {
        throw duckdb::ConversionException("bytes that are not in the form of PostgreSQL");
    }
    std::string bytes;
    for (std::size_t i = 2; i < text.size(); i += 2) {
        const int high = digit(text[i]);
        const int low = digit(text[i + 1]);
        if (high < 0 || low < 0) throw duckdb::ConversionException("a byte without two digits");
        bytes += static_cast<char>(high * 16 + low);
    }
    return bytes;
}

// Rows hold lists and structures in forms that only people read: they come in files.
Value converted(const SqlValue& value, const duckdb::LogicalType& type,
                duckdb::ClientContext& context) {
    if (type.IsNested()) {
        throw duckdb::NotImplementedException("lists and structures cannot come as rows");
    }
    const auto* text = std::get_if<std::string>(&value);
    if (text != nullptr && type.id() == duckdb::LogicalTypeId::BLOB) {
        return Value::BLOB_RAW(bytes_of(*text));
    }
    return value_of(value).CastAs(context, type);
}

duckdb::shared_ptr<duckdb::ColumnDataCollection> collected(const SqlColumns& columns,
                                                           const std::vector<SqlRow>& rows,
                                                           duckdb::ClientContext& context) {
    duckdb::vector<duckdb::LogicalType> types;
    for (const SqlField& column : columns) types.push_back(logical_type_of(column.type));
    auto all = duckdb::make_shared_ptr<duckdb::ColumnDataCollection>(context, types);
    duckdb::DataChunk chunk;
    chunk.Initialize(context, types);
    duckdb::ColumnDataAppendState state;
    all->InitializeAppend(state);
    for (const SqlRow& row : rows) {
        if (row.size() != columns.size()) throw duckdb::InternalException("a row of another width");
        const duckdb::idx_t at = chunk.size();
        for (std::size_t i = 0; i < row.size(); ++i) {
            chunk.SetValue(i, at, converted(row[i], types[i], context));
        }
        chunk.SetCardinality(at + 1);
        if (chunk.size() < STANDARD_VECTOR_SIZE) continue;
        all->Append(state, chunk);
        chunk.Reset();
    }
    all->Append(state, chunk);
    return all;
}

}  // namespace

void Relations::set(const std::vector<QuestionRelation>& relations,
                    duckdb::ClientContext& context) {
    relations_.clear();
    static const std::vector<SqlRow> kNone;
    for (const QuestionRelation& relation : relations) {
        Entry entry{.relation = &relation};
        const auto* files = std::get_if<RelationFiles>(&relation.content);
        const auto* rows = std::get_if<RelationRows>(&relation.content);
        if (rows != nullptr) entry.rows = collected(relation.columns, *rows->rows, context);
        if (files != nullptr && files->files.empty()) {
            entry.rows = collected(relation.columns, kNone, context);
        }
        relations_.emplace(relation.name, std::move(entry));
    }
}

const QuestionRelation* Relations::find(std::string_view name) const {
    const auto found = relations_.find(name);
    return found == relations_.end() ? nullptr : found->second.relation;
}

duckdb::unique_ptr<duckdb::TableRef> Relations::reference(const std::string& name) const {
    const auto found = relations_.find(to_lower(name));
    if (found == relations_.end()) return nullptr;
    const Entry& entry = found->second;
    if (entry.rows != nullptr) {
        duckdb::vector<duckdb::string> names;
        for (const SqlField& column : entry.relation->columns) names.push_back(column.name);
        auto select = duckdb::make_uniq<duckdb::SelectNode>();
        select->select_list.push_back(duckdb::make_uniq<duckdb::StarExpression>());
        select->from_table = duckdb::make_uniq<duckdb::ColumnDataRef>(
            duckdb::optionally_owned_ptr<duckdb::ColumnDataCollection>(*entry.rows),
            std::move(names));
        select->from_table->alias = found->first;
        auto statement = duckdb::make_uniq<duckdb::SelectStatement>();
        statement->node = std::move(select);
        return duckdb::make_uniq<duckdb::SubqueryRef>(std::move(statement));
    }
    duckdb::vector<duckdb::unique_ptr<duckdb::ParsedExpression>> arguments;
    arguments.push_back(duckdb::make_uniq<duckdb::ConstantExpression>(Value(found->first)));
    // Names of folders are no values of columns.
    arguments.push_back(duckdb::make_uniq<duckdb::ComparisonExpression>(
        duckdb::ExpressionType::COMPARE_EQUAL,
        duckdb::make_uniq<duckdb::ColumnRefExpression>("hive_partitioning"),
        duckdb::make_uniq<duckdb::ConstantExpression>(Value::BOOLEAN(false))));
    auto reference = duckdb::make_uniq<duckdb::TableFunctionRef>();
    reference->function =
        duckdb::make_uniq<duckdb::FunctionExpression>(kFunction, std::move(arguments));
    return reference;
}

void install(duckdb::DatabaseInstance& instance, duckdb::shared_ptr<Relations> relations) {
    auto& catalog = duckdb::Catalog::GetSystemCatalog(instance);
    auto transaction = duckdb::CatalogTransaction::GetSystemTransaction(instance);
    auto& schema = catalog.GetSchema(transaction, DEFAULT_SCHEMA);
    auto entry =
        schema.GetEntry(transaction, duckdb::CatalogType::TABLE_FUNCTION_ENTRY, "parquet_scan");
    if (!entry) throw duckdb::InternalException("this DuckDB cannot read Parquet");
    auto functions = entry->Cast<duckdb::TableFunctionCatalogEntry>().functions;
    duckdb::TableFunctionSet ours(kFunction);
    for (duckdb::TableFunction function : functions.functions) {
        function.name = kFunction;
        function.function_info = relations;
        function.get_multi_file_reader = make_reader;
        function.serialize = nullptr;
        function.deserialize = nullptr;
        ours.AddFunction(function);
    }
    duckdb::ExtensionLoader loader(instance, "baton");
    loader.RegisterFunction(ours);
    auto& scans = duckdb::DBConfig::GetConfig(instance).replacement_scans;
    scans.clear();  // the ways to read a file by its name
    scans.emplace_back(replace, duckdb::make_uniq<ScanData>(std::move(relations)));
}

}  // namespace baton::duckdb_engine
