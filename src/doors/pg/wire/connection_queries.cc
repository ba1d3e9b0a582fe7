// The query cycles of a connection, simple and extended. The rest is in connection.cc.
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "doors/pg/wire/connection.h"

namespace baton::pgwire {

using namespace connection;  // NOLINT: its own events and effects

namespace {

const std::string kUnnamed;

Report unknown_prepared(const std::string& name) {
    return {.sqlstate = "26000",
            .message = name.empty() ? "there is no unnamed prepared statement"
                                    : "unknown prepared statement " + in_quotes(name)};
}

Report unknown_portal(const std::string& name) {
    return {.sqlstate = "34000",
            .message =
                name.empty() ? "there is no unnamed portal" : "unknown portal " + in_quotes(name)};
}

Report too_many(std::string_view what, std::size_t limit) {
    return {.sqlstate = "53400",
            .message = "more than " + std::to_string(limit) + " " + std::string(what),
            .hint = "close what is no longer used"};
}

// What a prepared statement or a portal takes beside what the client sent.
constexpr std::size_t kOverhead = 1'024;

Report too_large(std::string_view what, std::size_t limit) {
    return {.sqlstate = "53200",
            .message = "the " + std::string(what) + " of this connection would take more than " +
                       std::to_string(limit) + " bytes",
            .hint = "close what is no longer used"};
}

std::size_t bytes_of(const std::vector<Value>& values) {
    std::size_t bytes = kOverhead + values.size() * sizeof(Value);
    for (const Value& value : values) {
        if (const auto* text = std::get_if<std::string>(&value)) bytes += text->size();
    }
    return bytes;
}

// One for each of `count`, from none, one for all, or one each.
std::variant<std::vector<Format>, Report> formats_for(std::size_t count, std::string_view what,
                                                      const std::vector<std::uint16_t>& given) {
    if (given.size() > 1 && given.size() != count) {
        return Report{.sqlstate = "08P01",
                      .message = std::to_string(given.size()) + " formats were given for " +
                                 std::to_string(count) + " " + std::string(what)};
    }
    std::vector<Format> formats(count, Format::text);
    for (std::size_t i = 0; i < given.size(); ++i) {
        if (given[i] > 1) {
            return Report{.sqlstate = "22023",
                          .message = "unknown format " + std::to_string(given[i])};
        }
    }
    for (std::size_t i = 0; i < count && !given.empty(); ++i) {
        formats[i] = static_cast<Format>(given[given.size() == 1 ? 0 : i]);
    }
    return formats;
}

std::variant<std::vector<Value>, Report> parameters_of(const Bind& bind,
                                                       const std::vector<TypeId>& types) {
    if (bind.parameters.size() != types.size()) {
        return Report{.sqlstate = "08P01",
                      .message = std::to_string(bind.parameters.size()) +
                                 " parameters were given, but the statement has " +
                                 std::to_string(types.size())};
    }
    const auto formats = formats_for(types.size(), "parameters", bind.parameter_formats);
    if (const auto* refused = std::get_if<Report>(&formats)) return *refused;
    std::vector<Value> values;
    for (std::size_t i = 0; i < types.size(); ++i) {
        if (!bind.parameters[i]) {
            values.emplace_back();
            continue;
        }
        const Format format = std::get<std::vector<Format>>(formats)[i];
        auto value = parameter_of(types[i], format, *bind.parameters[i]);
        if (auto* refused = std::get_if<Report>(&value)) {
            refused->message = "parameter $" + std::to_string(i + 1) + ": " + refused->message;
            return std::move(*refused);
        }
        values.push_back(std::get<Value>(std::move(value)));
    }
    return values;
}

}  // namespace

// ---- series -------------------------------------------------------------------------------------

void Connection::refuse(const Report& report) {
    append_error(out_, report);
    state_ = Skipping{};
}

void Connection::end_series(bool failed, Effects& effects) {
    if (!ran_ && !(failed && status_ == TransactionStatus::open)) return become_ready(effects);
    effects.emplace_back(EndSeries{failed});
    state_ = Settling{};
}

void Connection::become_ready(Effects& effects) {
    if (status_ != TransactionStatus::open) {
        for (const auto& [name, portal] : portals_) effects.emplace_back(ClosePortal{portal.id});
        portals_.clear();
        portal_bytes_ = 0;
    }
    append_ready_for_query(out_, status_);
    ran_ = false;
    state_ = Ready{};
}

void Connection::take(const Sync& /*sync*/, Effects& effects) {
    end_series(std::holds_alternative<Skipping>(state_), effects);
}

void Connection::take(const Flush& /*flush*/, Effects& /*effects*/) {}  // nothing is held back

void Connection::take(const Terminate& /*terminate*/, Effects& effects) {
    hang_up(effects);
}

void Connection::take(const LoginResponse& /*response*/, Effects& effects) {
    die({.sqlstate = "08P01", .message = "a password came that was not asked for"}, effects);
}

// Those of a copy that has failed mean nothing: the client could not know.
void Connection::take(CopyData data, Effects& effects) {
    if (copies_in()) effects.emplace_back(GiveCopied{std::move(data.bytes)});
}

void Connection::take(const CopyDone& /*done*/, Effects& effects) {
    if (copies_in()) end_copy(std::nullopt, effects);
}

void Connection::take(const CopyFail& fail, Effects& effects) {
    if (copies_in()) end_copy(fail.why, effects);
}

void Connection::take(const FunctionCall& /*call*/, Effects& effects) {
    refuse({.sqlstate = "0A000", .message = "function calls are not supported"});
    end_series(true, effects);
}

// ---- requests -----------------------------------------------------------------------------------

void Connection::take(Query query, Effects& effects) {
    close_portal(kUnnamed, effects);
    close_prepared(kUnnamed, effects);
    interrupted_ = false;
    effects.emplace_back(RunSimple{std::move(query.text)});
    state_ = Running{};
}

void Connection::take(Parse parse, Effects& effects) {
    if (!parse.statement.empty() && prepared_.contains(parse.statement)) {
        return refuse(
            {.sqlstate = "42P05",
             .message = "prepared statement " + in_quotes(parse.statement) + " is already there"});
    }
    close_prepared(parse.statement, effects);  // the unnamed one
    if (prepared_.size() >= options_.prepared_max) {
        return refuse(too_many("prepared statements", options_.prepared_max));
    }
    const std::size_t bytes = kOverhead + parse.statement.size() + parse.text.size() +
                              parse.parameter_types.size() * sizeof(TypeId);
    if (prepared_bytes_ + bytes > options_.prepared_bytes_max) {
        return refuse(too_large("prepared statements", options_.prepared_bytes_max));
    }
    last_prepared_ = last_prepared_.next();
    interrupted_ = false;
    effects.emplace_back(Prepare{.prepared = last_prepared_,
                                 .text = std::move(parse.text),
                                 .parameter_types = std::move(parse.parameter_types)});
    state_ = Preparing{.name = std::move(parse.statement), .id = last_prepared_, .bytes = bytes};
}

void Connection::take(const Bind& bind, Effects& effects) {
    const auto found = prepared_.find(bind.statement);
    if (found == prepared_.end()) return refuse(unknown_prepared(bind.statement));
    if (!bind.portal.empty() && portals_.contains(bind.portal)) {
        return refuse({.sqlstate = "42P03",
                       .message = "portal " + in_quotes(bind.portal) + " is already there"});
    }
    const Statement& statement = found->second;
    auto values = parameters_of(bind, statement.parameter_types);
    if (const auto* refused = std::get_if<Report>(&values)) return refuse(*refused);
    const std::size_t columns = statement.columns ? statement.columns->size() : 0;
    auto formats = formats_for(columns, "columns", bind.result_formats);
    if (const auto* refused = std::get_if<Report>(&formats)) return refuse(*refused);

    close_portal(bind.portal, effects);  // the unnamed one
    if (portals_.size() >= options_.portals_max) {
        return refuse(too_many("portals", options_.portals_max));
    }
    const std::size_t bytes =
        bytes_of(std::get<std::vector<Value>>(values)) + bind.portal.size() + columns;
    if (portal_bytes_ + bytes > options_.portal_bytes_max) {
        return refuse(too_large("portals", options_.portal_bytes_max));
    }
    last_portal_ = last_portal_.next();
    interrupted_ = false;
    const auto& chosen = std::get<std::vector<Format>>(formats);
    effects.emplace_back(BindPortal{.portal = last_portal_,
                                    .prepared = statement.id,
                                    .parameters = std::get<std::vector<Value>>(std::move(values)),
                                    .formats = chosen});
    state_ = Binding{.name = bind.portal,
                     .portal = {.id = last_portal_,
                                .prepared = statement.id,
                                .columns = statement.columns,
                                .formats = chosen,
                                .bytes = bytes}};
}

void Connection::take(const Describe& describe, Effects& /*effects*/) {
    if (describe.target == Target::portal) {
        const auto found = portals_.find(describe.name);
        if (found == portals_.end()) return refuse(unknown_portal(describe.name));
        return describe_rows(found->second.columns, found->second.formats);
    }
    const auto found = prepared_.find(describe.name);
    if (found == prepared_.end()) return refuse(unknown_prepared(describe.name));
    append_parameter_description(out_, found->second.parameter_types);
    describe_rows(found->second.columns, {});
}

void Connection::describe_rows(const Columns& columns, const std::vector<Format>& formats) {
    if (!columns) return append_no_data(out_);
    std::vector<FieldDescription> fields;
    for (std::size_t i = 0; i < columns->size(); ++i) {
        const Column& column = (*columns)[i];
        fields.push_back({.name = column.name,
                          .type = type_id_of(column),
                          .size = size_of(column),
                          .modifier = column.modifier,
                          .format = formats.empty() ? Format::text : formats[i]});
    }
    append_row_description(out_, fields);
}

void Connection::take(const Execute& execute, Effects& effects) {
    const auto found = portals_.find(execute.portal);
    if (found == portals_.end()) return refuse(unknown_portal(execute.portal));
    if (found->second.ended) {
        return refuse({.sqlstate = "55000",
                       .message = "portal " + in_quotes(execute.portal) + " has come to its end"});
    }
    ran_ = true;
    interrupted_ = false;
    effects.emplace_back(RunPortal{.portal = found->second.id, .rows_max = execute.rows_max});
    state_ = Running{.portal = execute.portal,
                     .rows_max = execute.rows_max,
                     .phase = found->second.columns ? Running::Phase::rows : Running::Phase::fresh};
}

void Connection::take(const Close& close, Effects& effects) {
    if (close.target == Target::portal) {
        close_portal(close.name, effects);
    } else if (const auto found = prepared_.find(close.name); found != prepared_.end()) {
        close_portals_of(found->second.id, effects);
        close_prepared(close.name, effects);
    }
    append_close_complete(out_);  // also of what was never there
}

void Connection::close_prepared(const std::string& name, Effects& effects) {
    const auto found = prepared_.find(name);
    if (found == prepared_.end()) return;
    effects.emplace_back(ClosePrepared{found->second.id});
    prepared_bytes_ -= found->second.bytes;
    prepared_.erase(found);
}

void Connection::close_portal(const std::string& name, Effects& effects) {
    const auto found = portals_.find(name);
    if (found == portals_.end()) return;
    effects.emplace_back(ClosePortal{found->second.id});
    portal_bytes_ -= found->second.bytes;
    portals_.erase(found);
}

void Connection::close_portals_of(PreparedId prepared, Effects& effects) {
    std::erase_if(portals_, [&](const auto& entry) {
        const Portal& portal = entry.second;
        if (portal.prepared != prepared) return false;
        effects.emplace_back(ClosePortal{portal.id});
        portal_bytes_ -= portal.bytes;
        return true;
    });
}

// ---- answers ------------------------------------------------------------------------------------

Connection::Running& Connection::running() {
    auto* run = std::get_if<Running>(&state_);
    CHECK(run != nullptr);
    return *run;
}

void Connection::on(Prepared event, Effects& /*effects*/) {
    auto* preparing = std::get_if<Preparing>(&state_);
    CHECK(preparing != nullptr);
    prepared_.emplace(std::move(preparing->name),
                      Statement{.id = preparing->id,
                                .parameter_types = std::move(event.parameter_types),
                                .columns = std::move(event.columns),
                                .bytes = preparing->bytes});
    prepared_bytes_ += preparing->bytes;
    append_parse_complete(out_);
    state_ = Ready{};
}

void Connection::on(const Bound& /*event*/, Effects& /*effects*/) {
    auto* binding = std::get_if<Binding>(&state_);
    CHECK(binding != nullptr);
    portal_bytes_ += binding->portal.bytes;
    portals_.emplace(std::move(binding->name), std::move(binding->portal));
    append_bind_complete(out_);
    state_ = Ready{};
}

void Connection::on(const RowsBegan& event, Effects& /*effects*/) {
    Running& run = running();
    CHECK(!run.portal && run.phase == Running::Phase::fresh);
    run.phase = Running::Phase::rows;
    describe_rows(event.columns, {});
}

void Connection::on(RowsCame event, Effects& /*effects*/) {
    Running& run = running();
    CHECK(run.phase == Running::Phase::rows);
    run.rows += event.rows.count();
    CHECK(run.rows_max == 0 || run.rows <= run.rows_max);
    if (out_.empty()) {
        out_ = std::move(event.rows).release();
    } else {
        out_ += event.rows.bytes();
    }
}

void Connection::on(const CopyBegan& event, Effects& /*effects*/) {
    Running& run = running();
    CHECK(run.phase == Running::Phase::fresh);
    run.phase = Running::Phase::copy;
    append_copy_out_response(out_, event.columns, event.format);
}

void Connection::on(const CopyCame& event, Effects& /*effects*/) {
    CHECK(running().phase == Running::Phase::copy);
    for (const std::string& row : event.rows) append_copy_data(out_, row);
}

void Connection::on(const CopyInBegan& event, Effects& /*effects*/) {
    Running& run = running();
    CHECK(run.phase == Running::Phase::fresh);
    run.phase = Running::Phase::copy_in;
    append_copy_in_response(out_, event.columns, event.format);
}

void Connection::on(const StatementCompleted& event, Effects& /*effects*/) {
    Running& run = running();
    CHECK(!run.portal || !run.completed);
    if (run.phase == Running::Phase::copy) append_copy_done(out_);
    append_command_complete(out_, event.tag);
    run.phase = Running::Phase::fresh;
    run.completed = true;
}

void Connection::on(const Ended& event, Effects& effects) {
    status_ = event.status;
    if (std::holds_alternative<Settling>(state_)) return become_ready(effects);
    const Running& run = running();
    CHECK(run.phase == Running::Phase::fresh);
    if (!run.completed) append_empty_query_response(out_);
    if (!run.portal) return become_ready(effects);
    portal_ended(*run.portal);
    state_ = Ready{};
}

void Connection::portal_ended(const std::string& name) {
    Portal& portal = portals_.at(name);
    portal.ended = true;
    portal_bytes_ -= portal.rows_bytes;
    portal.bytes -= std::exchange(portal.rows_bytes, 0);
}

void Connection::on(const Suspended& event, Effects& effects) {
    const Running& run = running();
    CHECK(run.portal && run.rows_max != 0 && run.phase == Running::Phase::rows);
    status_ = event.status;
    // Its rows count while it stands still. One portal alone may have as many as an answer has.
    Portal& portal = portals_.at(*run.portal);
    portal_bytes_ += event.bytes - portal.rows_bytes;
    portal.bytes += event.bytes - portal.rows_bytes;
    portal.rows_bytes = event.bytes;
    if (portals_.size() > 1 && portal_bytes_ > options_.portal_bytes_max) {
        close_portal(std::string(*run.portal), effects);
        return refuse(too_large("portals", options_.portal_bytes_max));
    }
    append_portal_suspended(out_);
    state_ = Ready{};
}

void Connection::on(Failed event, Effects& effects) {
    const bool starts =
        std::holds_alternative<LookingUp>(state_) || std::holds_alternative<Opening>(state_);
    if (starts) {
        has_session_ = false;
        return die(std::move(event.report), effects);
    }
    const bool settles = std::holds_alternative<Settling>(state_);
    CHECK(settles || awaits_runner());
    status_ = event.status;
    const auto* run = std::get_if<Running>(&state_);
    const bool ends_cycle = settles || (run != nullptr && !run->portal);
    if (run != nullptr && run->portal) portal_ended(*run->portal);
    refuse(event.report);
    if (ends_cycle) become_ready(effects);
}

void Connection::on(const Noticed& event, Effects& /*effects*/) {
    CHECK(has_session_);
    append_notice(out_, event.report);
}

void Connection::on(const ParameterChanged& event, Effects& /*effects*/) {
    CHECK(has_session_);
    append_parameter_status(out_, event.name, event.value);
}

}  // namespace baton::pgwire
