#include "catalog/views/view_query.h"

#include <algorithm>

#include "base/check.h"
#include "base/overload.h"
#include "base/text.h"
#include "catalog/kinds/values.h"
#include "core/descriptors/descriptors.h"
#include "sql/printer.h"
#include "sql/vocabulary.h"

namespace baton::views {

namespace {

Error unsupported(const std::string& clause, Position at) {
    return Error{.code = ErrorCode::not_supported,
                 .message = clause + " is not supported in a question to a view",
                 .at = at,
                 .hint = "the form is SELECT columns FROM baton.view [WHERE condition]"};
}

// "watch WORKERS, LINKS or QUERIES"
std::string watch_another() {
    std::vector<std::string> names;
    for (const kinds::View& view : views()) {
        if (view.entity) names.emplace_back(view.name);
    }
    const std::string last = names.back();
    names.pop_back();
    return "watch " + join(names, ", ") + " or " + last;
}

}  // namespace

void ViewQuery::take_all(bool brief_only) {
    for (std::size_t i = 0; i < view_->columns.size(); ++i) {
        if (brief_only && !view_->columns[i].brief) continue;
        items_.push_back({.column = i, .name = std::string(view_->columns[i].name)});
    }
}

Result<Done> ViewQuery::take(const sql::SelectItem& item) {
    if (std::holds_alternative<sql::Star>(item.expr.node)) {
        take_all(false);
        return Done{};
    }
    const auto* ref = std::get_if<sql::ColumnRef>(&item.expr.node);
    if (ref == nullptr) return unsupported(sql::print(item.expr), item.expr.at);
    const std::string& name = ref->parts.back();
    const auto column = view_->column(name);
    if (!column) {
        std::vector<std::string> known;
        for (const kinds::ViewColumn& c : view_->columns) known.emplace_back(c.name);
        std::string hint = did_you_mean(name, known);
        if (hint.empty()) hint = "the columns are " + join(known, ", ");
        return Error{.code = ErrorCode::unknown_field,
                     .message = "unknown column " + in_quotes(name) + " of BATON." +
                                std::string(view_->name),
                     .at = item.expr.at,
                     .hint = std::move(hint)};
    }
    items_.push_back({.column = *column, .name = item.alias.value_or(name), .by_name = true});
    return Done{};
}

Result<Done> ViewQuery::filter(const std::optional<sql::Expr>& where) {
    if (!where) return Done{};
    TRY_ASSIGN(predicate, Predicate::compile(*view_, *where));
    where_ =
        where_ ? Predicate::both(*std::move(where_), std::move(predicate)) : std::move(predicate);
    return Done{};
}

Result<ViewQuery> ViewQuery::from(const sql::Show& show) {
    CHECK(!is_static(show.what));
    TRY_ASSIGN(view, find_view(sql::row_of(show.what).view));
    ViewQuery query(*view);
    query.take_all(true);
    if (show.for_name) {
        TRY_ASSIGN(logical, Predicate::equal(*view, "LOGICAL", *show.for_name, {}));
        query.where_ = std::move(logical);
    }
    TRY(query.filter(show.where));
    return query;
}

Result<ViewQuery> ViewQuery::from(const sql::Query& tree) {
    const auto* select = std::get_if<sql::Select>(&tree.node);
    if (select == nullptr) return unsupported("UNION", tree.at);
    const auto* named = std::get_if<sql::NamedRelation>(&select->from.node);
    if (named == nullptr) return unsupported("a join, subquery or inline source", select->from.at);
    if (named->parts.size() != 2 || named->parts.front() != "BATON") {
        return Error{.code = ErrorCode::not_supported,
                     .message = "only views of schema BATON can be read this way, not " +
                                in_quotes(join(named->parts, ".")),
                     .at = select->from.at,
                     .hint = "ask baton.queries, baton.workers, ..."};
    }
    if (!select->group_by.empty()) return unsupported("GROUP BY", tree.at);
    if (select->window) return unsupported("WINDOW", select->window->at);
    if (select->having) return unsupported("HAVING", select->having->at);
    TRY_ASSIGN(view, find_view(named->parts.back()));
    ViewQuery query(*view);
    for (const sql::SelectItem& item : select->items) TRY(query.take(item));
    TRY(query.filter(select->where));
    return query;
}

Result<ViewQuery> ViewQuery::from(const sql::SelectOnce& select) {
    TRY_ASSIGN(query, from(select.query));
    query.limit_ = select.limit;
    return query;
}

namespace {

bool asks_views(const sql::Relation& relation) {
    return std::visit(
        Overload{
            [](const sql::NamedRelation& named) {
                return named.parts.size() == 2 && named.parts.front() == "BATON";
            },
            [](const sql::Subquery& sub) { return baton::views::asks_views(sub.query.front()); },
            [](const sql::InlineSource&) { return false; },
            [](const sql::Join& join) {
                return std::any_of(join.sides.begin(), join.sides.end(),
                                   [](const auto& side) { return asks_views(side); });
            },
        },
        relation.node);
}

}  // namespace

bool asks_views(const sql::Query& query) {
    return std::visit(Overload{
                          [](const sql::Select& select) { return asks_views(select.from); },
                          [](const sql::Union& all) {
                              return std::any_of(all.branches.begin(), all.branches.end(),
                                                 [](const auto& one) { return asks_views(one); });
                          },
                      },
                      query.node);
}

std::string in_words(const Stale& stale) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(stale.age).count();
    return "the database of the catalog is away: this is revision " + to_string(stale.revision) +
           ", as of " + std::to_string(seconds) + " s ago";
}

ViewQuery ViewQuery::everything(const kinds::View& view) {
    ViewQuery query(view);
    query.take_all(false);
    return query;
}

std::vector<TableColumn> ViewQuery::columns() const {
    std::vector<TableColumn> columns;
    for (const Item& item : items_) {
        columns.push_back({.name = item.name, .type = view_->columns[item.column].type});
    }
    return columns;
}

SqlRow ViewQuery::selected(const SqlRow& row) const {
    SqlRow result;
    result.reserve(items_.size());
    for (const Item& item : items_) result.push_back(row.at(item.column));
    return result;
}

namespace {

// The rows of an answer as they arrive. What is too much is not kept.
class Gathered {
public:
    explicit Gathered(std::size_t bytes_max) : bytes_max_(bytes_max) {}

    void add(SqlRow row) {
        bytes_ += sizeof(SqlRow) + row.size() * sizeof(SqlValue);
        for (const SqlValue& value : row) {
            if (const auto* text = std::get_if<std::string>(&value)) bytes_ += text->size();
        }
        if (bytes_ <= bytes_max_) return rows_.push_back(std::move(row));
        rows_ = {};
    }
    [[nodiscard]] std::size_t count() const { return rows_.size(); }
    Result<std::vector<SqlRow>> rows(const kinds::View& view) && {
        if (bytes_ <= bytes_max_) return std::move(rows_);
        return Error{.code = ErrorCode::too_large,
                     .message = "the rows of BATON." + std::string(view.name) +
                                " cannot be given at once: they are more than " +
                                std::to_string(bytes_max_ >> 20U) + " MB",
                     .hint = "WHERE or LIMIT, or fewer columns, make it smaller"};
    }

private:
    const std::size_t bytes_max_;
    std::vector<SqlRow> rows_;
    std::size_t bytes_ = 0;
};

}  // namespace

// Where the catalog knows nothing, because the fragment has not ended, what is known of it counts.
Result<Table> ViewQuery::run_live(Sql& sql, const LiveCounts& live, std::size_t bytes_max) const {
    Gathered gathered(bytes_max);
    const std::size_t fragment = *view_->column("FRAGMENT");
    const std::size_t query = *view_->column("QUERY");
    const std::size_t run = *view_->column("RUN");
    const std::size_t first = *view_->column(kCounters.front().name);
    const auto take = [&](SqlRow row) {
        const auto known = live.find({.query = kinds::value_in<QueryId>(row.at(query)),
                                      .run = kinds::value_in<std::uint64_t>(row.at(run)),
                                      .fragment = kinds::value_in<FragmentId>(row.at(fragment))});
        if (std::holds_alternative<std::monostate>(row.at(first)) && known != live.end()) {
            for (std::size_t i = 0; i < kCounters.size(); ++i) {
                row.at(first + i) = kinds::value_of(known->second.*kCounters.at(i).member);
            }
        }
        if (limit_ && gathered.count() >= *limit_) return;
        if (matches(row)) gathered.add(selected(row));
    };
    TRY(everything(*view_).read(sql, take));
    TRY_ASSIGN(rows, std::move(gathered).rows(*view_));
    return Table{.columns = columns(), .rows = std::move(rows)};
}

Table ViewQuery::over(const std::vector<SqlRow>& rows) const {
    Table result{.columns = columns(), .rows = {}};
    for (const SqlRow& row : rows) {
        if (limit_ && result.rows.size() >= *limit_) break;
        if (matches(row)) result.rows.push_back(selected(row));
    }
    return result;
}

Result<Table> ViewQuery::run(Sql& sql, const LiveCounts& live, std::size_t bytes_max) const {
    if (view_->live && !live.empty()) return run_live(sql, live, bytes_max);
    Gathered gathered(bytes_max);
    TRY(read(sql, [&](const SqlRow& row) { gathered.add(row); }));
    TRY_ASSIGN(rows, std::move(gathered).rows(*view_));
    return Table{.columns = columns(), .rows = std::move(rows)};
}

Result<Done> ViewQuery::read(Sql& sql, const SqlRowSink& sink) const {
    std::string text = "SELECT ";
    for (const Item& item : items_) {
        if (&item != &items_.front()) text += ", ";
        text += quoted_column(sql.dialect(), view_->columns[item.column].name);
    }
    text += " FROM " + std::string(view_->table);
    std::vector<SqlValue> parameters;
    if (where_) {
        Predicate::Fragment condition = where_->to_sql(sql.dialect());
        text += " WHERE " + condition.sql;
        parameters = std::move(condition.parameters);
    }
    text += " ORDER BY ";
    for (std::size_t i = 0; i < view_->key_columns; ++i) {
        if (i > 0) text += ", ";
        text += quoted_column(sql.dialect(), view_->columns[i].name);
    }
    if (limit_) {
        text += " LIMIT ?";
        constexpr std::uint64_t kMost = INT64_MAX;
        parameters.emplace_back(static_cast<std::int64_t>(std::min(*limit_, kMost)));
    }
    TRY(sql.run(text, parameters, sink));
    return Done{};
}

Result<ViewQuery> ViewQuery::watchable() const {
    if (!view_->entity) {
        return Error{.code = ErrorCode::not_supported,
                     .message = "BATON." + std::string(view_->name) + " cannot be watched",
                     .hint = watch_another()};
    }
    ViewQuery own = *this;
    for (const Item& item : items_) {
        const kinds::ViewColumn& column = view_->columns[item.column];
        if (!column.derived || !item.by_name) continue;
        return Error{.code = ErrorCode::not_supported,
                     .message = "column " + in_quotes(column.name) + " of BATON." +
                                std::string(view_->name) +
                                " cannot be watched: it is computed from other rows",
                     .hint = "leave it out, or watch those rows"};
    }
    std::erase_if(own.items_,
                  [&](const Item& item) { return view_->columns[item.column].derived; });
    if (where_ && where_->needs_derived()) {
        return Error{
            .code = ErrorCode::not_supported,
            .message = "the filter of a WATCH cannot use columns computed from other rows"};
    }
    return own;
}

// ---- what is not in the database ----------------------------------------------------------------

namespace {

std::string_view option_type_name(descriptors::OptionType type) {
    switch (type) {
        case descriptors::OptionType::text:
            return "text";
        case descriptors::OptionType::integer:
            return "integer";
        case descriptors::OptionType::real:
            return "real";
        case descriptors::OptionType::boolean:
            return "boolean";
        case descriptors::OptionType::choice:
            return "choice";
        case descriptors::OptionType::delimiter:
            return "delimiter";
    }
    CHECK(false && "an unknown option type");
}

std::string type_text(const descriptors::Option& option) {
    if (option.type != descriptors::OptionType::choice)
        return std::string(option_type_name(option.type));
    std::string text;
    for (const std::string_view choice : option.choices) {
        if (!text.empty()) text += "|";
        text += choice;
    }
    return text;
}

SqlValue default_text(const descriptors::Option& option) {
    if (!option.default_value) return std::monostate{};
    return std::visit(Overload{
                          [](bool v) { return std::string(v ? "true" : "false"); },
                          [](std::int64_t v) { return std::to_string(v); },
                          [](double v) { return std::to_string(v); },
                          [](const std::string& v) {
                              std::string text;
                              for (const char c : v) text += c == '\n' ? "\\n" : std::string(1, c);
                              return text;
                          },
                      },
                      *option.default_value);
}

const kinds::View& descriptor_view() {
    static const kinds::View kView{
        .name = "TYPES",
        .table = "",
        .key_columns = 2,
        .columns = {{.name = "TYPE", .type = kinds::ViewType::text},
                    {.name = "KEY", .type = kinds::ViewType::text},
                    {.name = "VALUE", .type = kinds::ViewType::text},
                    {.name = "REQUIRED", .type = kinds::ViewType::boolean},
                    {.name = "DEFAULT", .type = kinds::ViewType::text},
                    {.name = "SECRET", .type = kinds::ViewType::boolean},
                    {.name = "DESCRIPTION", .type = kinds::ViewType::text}}};
    return kView;
}

void add_descriptors(descriptors::DescriptorKind kind, const std::string& space,
                     std::vector<SqlRow>& rows) {
    for (const descriptors::Descriptor& descriptor : descriptors::descriptors(kind)) {
        const std::string name(descriptor.name);
        rows.push_back({name, std::monostate{}, std::monostate{}, std::monostate{},
                        std::monostate{}, std::monostate{}, std::string(descriptor.description)});
        for (const descriptors::Option& option : descriptor.options) {
            rows.push_back({name, space + "." + std::string(option.key), type_text(option),
                            std::int64_t{option.required ? 1 : 0}, default_text(option),
                            std::int64_t{option.secret ? 1 : 0}, std::string(option.description)});
        }
    }
}

}  // namespace

bool is_static(sql::ShowWhat what) {
    return sql::row_of(what).view.empty();
}

Result<Table> show_static(const sql::Show& show, const std::string& version) {
    CHECK(is_static(show.what));
    if (show.what == sql::ShowWhat::segments) {
        return Error{.code = ErrorCode::not_supported,
                     .message = "SHOW SEGMENTS is not supported yet",
                     .hint = "SHOW TABLES says how many objects and bytes a table has"};
    }
    if (show.what == sql::ShowWhat::version) {
        if (show.where) return unsupported("WHERE", show.where->at);
        return Table{.columns = {{.name = "VERSION"}}, .rows = {{version}}};
    }
    std::vector<SqlRow> rows;
    if (show.what == sql::ShowWhat::source_types) {
        add_descriptors(descriptors::DescriptorKind::source, "SOURCE", rows);
    } else if (show.what == sql::ShowWhat::sink_types) {
        add_descriptors(descriptors::DescriptorKind::sink, "SINK", rows);
    } else {
        add_descriptors(descriptors::DescriptorKind::input_format, "INPUT_FORMATTER", rows);
        add_descriptors(descriptors::DescriptorKind::output_format, "OUTPUT_FORMATTER", rows);
    }
    const kinds::View& view = descriptor_view();
    if (show.where) {
        TRY_ASSIGN(predicate, Predicate::compile(view, *show.where));
        std::erase_if(rows, [&](const SqlRow& row) { return !predicate.matches(row); });
    }
    Table table{.columns = {}, .rows = std::move(rows)};
    for (const kinds::ViewColumn& column : view.columns) {
        table.columns.push_back({.name = std::string(column.name), .type = column.type});
    }
    return table;
}

}  // namespace baton::views
