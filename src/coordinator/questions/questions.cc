#include "coordinator/questions/questions.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "catalog/views/views.h"
#include "core/json/json.h"
#include "core/questions/bounds.h"
#include "core/questions/column_names.h"
#include "core/questions/tree.h"
#include "core/tables/prune.h"
#include "model/entities.h"

namespace baton::coordinator {

namespace {

using kinds::ViewType;

// "2026-01-01 00:00:00.5+00"
std::string timestamp_text(WallTime time) {
    std::string text = to_string(time);  // 2026-01-01T00:00:00.500000Z
    std::replace(text.begin(), text.end(), 'T', ' ');
    text.pop_back();
    return text + "+00";
}

SqlType sql_type_of(ViewType type) {
    using Kind = SqlType::Kind;
    switch (type) {
        case ViewType::text:
            return {.kind = Kind::varchar};
        case ViewType::integer:
            return {.kind = Kind::bigint};
        case ViewType::boolean:
            return {.kind = Kind::boolean};
        case ViewType::time:
            return {.kind = Kind::timestamptz};
        case ViewType::json:
            return {.kind = Kind::json};
        case ViewType::unsigned_integer:
            return {.kind = Kind::ubigint};
        case ViewType::float32:
            return {.kind = Kind::real};
        case ViewType::float64:
            return {.kind = Kind::double_precision};
    }
    return {};
}

// In which of the forms of rows for clients a value of this type comes.
ViewType view_type_of(SqlType::Kind kind) {
    using Kind = SqlType::Kind;
    switch (kind) {
        case Kind::boolean:
            return ViewType::boolean;
        case Kind::tinyint:
        case Kind::smallint:
        case Kind::integer:
        case Kind::bigint:
        case Kind::utinyint:
        case Kind::usmallint:
        case Kind::uinteger:
            return ViewType::integer;
        case Kind::ubigint:
            return ViewType::unsigned_integer;
        case Kind::real:
            return ViewType::float32;
        case Kind::double_precision:
            return ViewType::float64;
        case Kind::json:
        case Kind::structure:  // the engine writes them as JSON
        case Kind::map:
            return ViewType::json;
        case Kind::decimal:
        case Kind::varchar:
        case Kind::blob:
        case Kind::date:
        case Kind::timestamp:
        case Kind::timestamptz:
        case Kind::list:
        case Kind::hugeint:
        case Kind::uhugeint:
        case Kind::time:
        case Kind::interval:
        case Kind::uuid:
        case Kind::other:
            return ViewType::text;
    }
    return ViewType::text;
}

Error mixed(const questions::Mention& stream) {
    return Error{.code = ErrorCode::not_supported,
                 .message = "source " + in_quotes(stream.name) +
                            " is a stream: a SELECT reads either streams or tables and views",
                 .at = stream.at,
                 .hint =
                     "fill a table from the stream with CREATE QUERY .. INTO table, and ask the "
                     "table"};
}

}  // namespace

std::vector<views::TableColumn> shown_columns(const SqlColumns& columns) {
    std::vector<views::TableColumn> shown;
    for (const SqlField& column : columns) {
        shown.push_back(
            {.name = column.name, .type = view_type_of(column.type.kind), .sql = column.type});
    }
    return shown;
}

// From a text to a task.
class Questions::Preparation {
public:
    Preparation(const QuestionsParts& parts, const AskedQuestion& asked)
        : parts_(parts), asked_(asked) {}

    Result<PreparedQuestion> prepare() {
        TRY(parse());
        TRY_ASSIGN(mentions, questions::mentioned(tree_, asked_.text));
        TRY_ASSIGN(snapshot, parts_.snapshot());
        for (const questions::Mention& mention : mentions) TRY(resolve(mention, snapshot));
        if (stream_) return asked_.otherwise ? *asked_.otherwise : mixed(*stream_);
        TRY(questions::gate(tree_, constants(), asked_.text));
        questions::name_columns(tree_);
        std::vector<SqlColumns> columns;
        for (const Found& found : found_) columns.push_back(found.columns);
        const auto bounds = questions::bounds(tree_, columns);
        std::vector<std::string> names;
        QuestionTask task{.parameters = asked_.parameters, .text = asked_.text};
        for (std::size_t i = 0; i < found_.size(); ++i) {
            names.push_back(std::string(questions::kTaskPrefix) + std::to_string(i));
            TRY_ASSIGN(relation, relation_of(found_[i], bounds[i], snapshot));
            relation.name = names.back();
            task.relations.push_back(std::move(relation));
        }
        TRY(questions::bind_relations(tree_, names));
        task.tree = json::to_text(tree_);
        if (asked_.halt) {
            task.given_up = [halt = asked_.halt] { return halt->raised(); };
        }
        return PreparedQuestion{
            .task = std::move(task), .tree = std::move(tree_), .columns = std::move(columns)};
    }

private:
    // The relation that a mention names.
    struct Found {
        SqlColumns columns;
        const kinds::View* view = nullptr;  // none: it is a table
        std::shared_ptr<tables::OpenTable> table;
        tables::SharedSnapshot version;  // of the table
    };

    Result<Done> parse() {
        const auto own = [&](Error error) {
            return asked_.otherwise && error.code == ErrorCode::syntax ? *asked_.otherwise : error;
        };
        if (auto checked = questions::check_text(asked_.text); !checked) {
            return own(checked.error());
        }
        auto text = parts_.engine->parse(asked_.text);
        if (!text) return own(text.error());
        TRY_ASSIGN(tree, json::parse(*text, questions::tree_limits()));
        tree_ = std::move(tree);
        return Done{};
    }

    [[nodiscard]] questions::Constants constants() const {
        return {.version = "PostgreSQL 15.0 (Baton " + parts_.version + ")",
                .database = "baton",
                .user = asked_.user,
                .now = timestamp_text(parts_.clock->wall_now())};
    }

    Result<Done> resolve(const questions::Mention& mention, const Snapshot& snapshot) {
        if (!mention.catalog.empty() && !equal_ignoring_case(mention.catalog, "baton")) {
            return unknown(mention, snapshot);
        }
        if (equal_ignoring_case(mention.schema, "baton")) return resolve_view(mention);
        if (!mention.schema.empty() && !equal_ignoring_case(mention.schema, "public")) {
            return unknown(mention, snapshot);
        }
        for (const std::string& name : {to_upper(mention.name), mention.name}) {
            TRY_ASSIGN(table, snapshot.read().find<Table>(name));
            if (table) return resolve_table(mention, *table);
        }
        for (const std::string& name : {to_upper(mention.name), mention.name}) {
            TRY_ASSIGN(source, snapshot.read().logical_source(name));
            if (!source) continue;
            if (!stream_) stream_ = mention;
            return Done{};
        }
        return unknown(mention, snapshot);
    }

    Result<Done> unknown(const questions::Mention& mention, const Snapshot& snapshot) const {
        std::vector<std::string> known;
        TRY_ASSIGN(tables, snapshot.read().all<Table>());
        for (const Table& table : tables) known.push_back(table.name);
        for (const kinds::View& view : views::views()) {
            known.push_back("baton." + to_lower(view.name));
        }
        std::string name = mention.name;
        if (!mention.schema.empty()) name = mention.schema + "." + name;
        return Error{.code = ErrorCode::unknown_table,
                     .message = "unknown table " + in_quotes(name),
                     .at = mention.at,
                     .hint = did_you_mean(name, known)};
    }

    Result<Done> resolve_view(const questions::Mention& mention) {
        auto view = views::find_view(to_upper(mention.name));
        if (!view) {
            Error error = view.error();
            error.at = mention.at;
            return error;
        }
        if (mention.moment) {
            return Error{.code = ErrorCode::not_supported,
                         .message = "AT is for tables: views show the present",
                         .at = mention.at};
        }
        Found found{.view = *view};
        for (const kinds::ViewColumn& column : (*view)->columns) {
            found.columns.push_back(
                {.name = to_lower(column.name), .type = sql_type_of(column.type)});
        }
        found_.push_back(std::move(found));
        return Done{};
    }

    Result<Done> resolve_table(const questions::Mention& mention, const Table& table) {
        if (table.type != "Delta") {
            return Error{.code = ErrorCode::not_supported,
                         .message = "table " + in_quotes(table.name) + " is of type " + table.type +
                                    ", which cannot be read yet",
                         .at = mention.at};
        }
        Found found;
        TRY_ASSIGN(opened, parts_.tables->open(table));
        found.table = std::move(opened);
        TRY_ASSIGN(version, version_of(*found.table->log, mention));
        found.version = std::move(version);
        found.columns = found.version->layout().columns;
        found_.push_back(std::move(found));
        return Done{};
    }

    [[nodiscard]] StoreCall call() const {
        StoreCall call;
        if (asked_.halt) {
            call.given_up = [halt = asked_.halt] { return halt->raised(); };
        }
        return call;
    }

    Result<tables::SharedSnapshot> version_of(tables::TableLog& log,
                                              const questions::Mention& mention) const {
        if (!mention.moment) return log.newest(call());
        const auto refused = [&](const std::string& why) {
            return Error{.code = ErrorCode::invalid_question,
                         .message = why,
                         .at = mention.at,
                         .hint = "write AT (VERSION => 12)"};
        };
        if (mention.moment->unit != questions::Mention::Moment::Unit::version) {
            return refused("a table is read AT a VERSION");
        }
        const std::string& text = mention.moment->value;
        constexpr std::size_t kDigitsMax = 18;
        const bool digits = !text.empty() && text.size() <= kDigitsMax &&
                            text.find_first_not_of("0123456789") == std::string::npos;
        if (!digits) return refused("a version is a whole number, not " + in_quotes(text));
        return log.at_version(std::stoll(text), call());
    }

    Result<QuestionRelation> relation_of(const Found& found, const std::vector<ColumnBound>& bounds,
                                         const Snapshot& snapshot) const {
        QuestionRelation relation{.columns = found.columns, .content = RelationFiles{}};
        if (found.view != nullptr) {
            const views::LiveCounts live =
                found.view->live ? parts_.live_counts() : views::LiveCounts{};
            TRY_ASSIGN(table, views::ViewQuery::everything(*found.view).run(snapshot.sql(), live));
            relation.content = RelationRows{
                .rows = std::make_shared<const std::vector<SqlRow>>(std::move(table.rows))};
            return relation;
        }
        std::vector<TableObject> objects;
        for (const tables::ObjectPlace place : tables::prune(*found.version, bounds)) {
            objects.push_back(found.version->object(place));
        }
        TRY_ASSIGN(local, parts_.tables->local_files(*found.table, objects, call()));
        RelationFiles files;
        for (std::size_t i = 0; i < objects.size(); ++i) {
            files.files.push_back({.path = std::move(local[i].path),
                                   .partition = std::move(objects[i].partition),
                                   .rows = objects[i].rows,
                                   .bytes = objects[i].bytes,
                                   .held = std::move(local[i].held)});
        }
        relation.content = std::move(files);
        return relation;
    }

    const QuestionsParts& parts_;
    const AskedQuestion& asked_;
    json::Value tree_;
    std::vector<Found> found_;
    std::optional<questions::Mention> stream_;  // the first one
};

Questions::Questions(QuestionsParts parts, std::size_t threads)
    : parts_(std::move(parts)), leaves_(threads, 1'000), lane_(threads, 1'000) {}

Questions::~Questions() {
    closing_ = true;
    lane_.close();
    leaves_.close();
}

Result<Done> Questions::check_syntax(const std::string& text,
                                     const std::optional<Error>& otherwise) {
    const auto own = [&](const Error& error) {
        return otherwise && error.code == ErrorCode::syntax ? *otherwise : error;
    };
    if (auto checked = questions::check_text(text); !checked) return own(checked.error());
    auto tree = parts_.engine->parse(text);
    if (!tree) return own(tree.error());
    return Done{};
}

Result<QuestionTask> Questions::prepare(const AskedQuestion& asked) {
    TRY_ASSIGN(prepared, Preparation(parts_, asked).prepare());
    return std::move(prepared.task);
}

Result<SqlColumns> Questions::columns_of(const AskedQuestion& asked) {
    TRY_ASSIGN(task, prepare(asked));
    TRY_ASSIGN(described, parts_.engine->describe(task));
    return std::move(described.columns);
}

Result<DescribedQuestion> Questions::describe(const AskedQuestion& asked) {
    TRY_ASSIGN(task, prepare(asked));
    TRY_ASSIGN(described, parts_.engine->describe(task));
    return DescribedQuestion{.columns = shown_columns(described.columns),
                             .parameters = std::move(described.parameters)};
}

std::shared_ptr<FirstRowsLater> Questions::ask(AskedQuestion asked) {
    auto later = std::make_shared<FirstRowsLater>();
    if (!asked.halt) asked.halt = std::make_shared<threads::Halt>();
    const std::string user = asked.user;
    const auto work = [this, later, asked = std::move(asked)](bool may) {
        if (may && !closing_) return later->give(answer(asked));
        later->give(Error{.code = ErrorCode::cancelled, .message = "the coordinator shuts down"});
    };
    if (!lane_.post(user, work)) {
        later->give(Error{.code = ErrorCode::slow_down,
                          .message = "too many questions wait to be answered",
                          .hint = "try again in a moment"});
    }
    return later;
}

Result<std::unique_ptr<QuestionAnswer>> Questions::begin(const AskedQuestion& asked) {
    TRY_ASSIGN(question, Preparation(parts_, asked).prepare());
    TRY_ASSIGN(plan, in_parts(*parts_.engine, question, parts_.parts));
    if (plan.parts) {
        auto answer =
            answer_parts(*parts_.tables, leaves_, asked.user, question, *std::move(plan.parts));
        // A partial value that does not fit: the whole question knows larger ones.
        if (answer || answer.error().code != ErrorCode::cannot_convert) return answer;
    }
    return parts_.engine->answer(std::move(question.task));
}

Result<FirstRows> Questions::answer(const AskedQuestion& asked) {
    TRY_ASSIGN(rest, begin(asked));
    FirstRows first{.columns = shown_columns(rest->columns()), .rows = {}, .rest = nullptr};
    auto next = [&] {
        const threads::Halt::Acting acting(*asked.halt, [&rest] { rest->interrupt(); });
        return rest->next();
    }();
    TRY_ASSIGN(batch, std::move(next));
    first.rows = std::move(batch.rows);
    if (!batch.ended) first.rest = std::move(rest);
    return first;
}

Result<bool> Questions::is_table(const std::vector<std::string>& names) {
    if (names.empty()) return false;
    TRY_ASSIGN(snapshot, parts_.snapshot());
    for (const std::string& name : names) {
        TRY_ASSIGN(table, snapshot.read().find<Table>(name));
        if (table) return true;
    }
    return false;
}

}  // namespace baton::coordinator
