#include "catalog/views/views.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/overload.h"
#include "base/text.h"
#include "catalog/kinds/encode.h"
#include "catalog/kinds/row_cursor.h"
#include "catalog/views/view_definitions.h"
#include "core/descriptors/descriptors.h"

namespace baton {

namespace {

using enum ViewType;

constexpr std::array kEntityNames = {"worker",          "link",      "logical_source",
                                     "physical_source", "sink",      "query",
                                     "fragment",        "task_list", "partition"};
static_assert(kEntityNames.size() == kEntityCount);

constexpr std::size_t kCounters = 9;  // the last columns of COUNTERS

template <class T>
SqlValue optional_number(const std::optional<T>& value) {
    if (!value) return std::monostate{};
    if constexpr (std::is_integral_v<T>) {
        return value_of(*value);
    } else {
        return value_of(value->value());
    }
}

SqlValue optional_address(const std::optional<Address>& address) {
    if (!address) return std::monostate{};
    return to_string(*address);
}

std::string name_of(auto state) {
    return std::string(to_string(state));
}

std::string masked_json(DescriptorKind kind, const std::string& type, const Config& config) {
    const auto descriptor = descriptor_of(kind, type);
    return to_json(descriptor ? masked(**descriptor, config) : config);
}

}  // namespace

std::string_view to_string(Entity entity) {
    return kEntityNames.at(static_cast<std::size_t>(entity));
}

std::optional<Entity> entity_of(std::string_view name) {
    for (std::size_t i = 0; i < kEntityNames.size(); ++i) {
        if (kEntityNames.at(i) == name) return static_cast<Entity>(i);
    }
    return std::nullopt;
}

std::size_t View::own_columns() const {
    return static_cast<std::size_t>(
        std::count_if(columns.begin(), columns.end(), [](const auto& c) { return !c.derived; }));
}

std::optional<std::size_t> View::column(std::string_view column_name) const {
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].name == column_name) return i;
    }
    return std::nullopt;
}

std::span<const View> views() {
    static const std::vector<View> kViews = make_views();
    return kViews;
}

const View& view_of(Entity entity) {
    return views()[static_cast<std::size_t>(entity)];  // the first views are in the entities' order
}

Result<const View*> find_view(std::string_view name) {
    std::vector<std::string> known;
    for (const View& view : views()) {
        if (view.name == name) return &view;
        known.emplace_back(view.name);
    }
    std::string hint = did_you_mean(name, known);
    if (hint.empty()) hint = "the views are " + join(known, ", ");
    return Error{.code = ErrorCode::unknown_source,
                 .message = "unknown view " + baton::in_quotes("BATON." + std::string(name)),
                 .hint = std::move(hint)};
}

SqlRow row_of(const Worker& w) {
    return {w.name,
            name_of(w.kind),
            optional_address(w.control),
            optional_address(w.data),
            optional_number(w.capacity),
            name_of(w.state),
            std::int64_t{w.draining ? 1 : 0},
            std::int64_t{w.leaving ? 1 : 0},
            optional_number(w.incarnation),
            w.reason,
            to_string(w.since),
            value_of(w.revision.value())};
}

SqlRow row_of(const NetworkLink& link, Revision revision) {
    return {link.upstream, link.downstream, value_of(revision.value())};
}

SqlRow row_of(const LogicalSource& source) {
    return {source.name, to_json(source.schema), value_of(source.revision.value())};
}

SqlRow row_of(const PhysicalSource& p) {
    return {value_of(p.id.value()),
            p.logical,
            p.worker,
            p.type,
            masked_json(DescriptorKind::source, p.type, p.source),
            to_json(p.format),
            value_of(p.revision.value())};
}

SqlRow row_of(const Sink& s) {
    return {s.name,
            to_json(s.schema),
            s.worker,
            s.type,
            masked_json(DescriptorKind::sink, s.type, s.sink),
            to_json(s.format),
            value_of(s.revision.value())};
}

SqlRow row_of(const Query& q) {
    return {value_of(q.id.value()),
            q.name,
            name_of(q.state),
            name_of(q.desired),
            name_of(q.stop_mode),
            value_of(q.run),
            q.reason,
            to_json(q.lagging),
            to_string(q.since),
            to_string(q.created),
            q.statement,
            to_json(q.settings),
            value_of(q.revision.value())};
}

SqlRow row_of(const Fragment& f) {
    return {value_of(f.id.value()), value_of(f.query.value()),   f.worker,         value_of(f.run),
            value_of(f.slots),      value_of(f.stage),           name_of(f.state), f.reason,
            to_string(f.since),     value_of(f.revision.value())};
}

SqlRow row_of(const TaskList& list) {
    return {list.name, value_of(std::uint64_t{list.partitions}), value_of(list.revision.value())};
}

SqlRow row_of(const Partition& p) {
    SqlValue owner;
    SqlValue epoch;
    SqlValue next;
    if (const auto* owned = std::get_if<ownership::Owned>(&p.ownership)) {
        owner = owned->owner;
        epoch = value_of(owned->epoch.value());
    } else if (const auto* releasing = std::get_if<ownership::Releasing>(&p.ownership)) {
        owner = releasing->owner;
        epoch = value_of(releasing->epoch.value());
        if (!releasing->next.empty()) next = releasing->next;
    }
    return {p.key.list,
            value_of(std::uint64_t{p.key.number}),
            name_of(state_of(p.ownership)),
            owner,
            epoch,
            next,
            to_string(p.since),
            value_of(p.revision.value())};
}

SqlRow row_of(const std::optional<Counts>& counts) {
    if (!counts) return SqlRow(kCounters, std::monostate{});
    return {value_of(counts->rows_in),   value_of(counts->bytes_in), value_of(counts->rows_out),
            value_of(counts->bytes_out), value_of(counts->late),     value_of(counts->skipped),
            value_of(counts->stalls),    value_of(counts->busy_us),  value_of(counts->memory)};
}

namespace {

// The shortest that is read back as the same number.
std::string number_text(double value, ViewType type) {
    std::array<char, 32> text{};
    char* const end = text.data() + text.size();
    const auto written = type == float32
                             ? std::to_chars(text.data(), end, static_cast<float>(value))
                             : std::to_chars(text.data(), end, value);
    return {text.data(), written.ptr};
}

}  // namespace

std::string shown(const SqlValue& value, ViewType type) {
    return std::visit(Overload{
                          [](std::monostate) { return std::string(); },
                          [&](std::int64_t v) -> std::string {
                              if (type == boolean) return v != 0 ? "true" : "false";
                              return std::to_string(v);
                          },
                          [&](double v) { return number_text(v, type); },
                          [](const std::string& v) { return v; },
                      },
                      value);
}

std::string key_of(const View& view, const SqlRow& row) {
    std::string key;
    for (std::size_t i = 0; i < view.key_columns; ++i) {
        if (i > 0) key += " -> ";
        key += shown(row.at(i), view.columns.at(i).type);
    }
    return key;
}

std::string row_to_json(const View& view, const SqlRow& row) {
    CHECK(row.size() <= view.columns.size());
    std::string text = "{";
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (i > 0) text += ',';
        const ViewColumn& column = view.columns[i];
        text += '"';
        text += column.name;
        text += "\":";
        if (std::holds_alternative<std::monostate>(row[i])) {
            text += "null";
        } else if (const auto* string = std::get_if<std::string>(&row[i])) {
            if (column.type == json) {
                text += *string;
            } else {
                append_json_string(text, *string);
            }
        } else {
            text += shown(row[i], column.type);
        }
    }
    text += '}';
    return text;
}

Result<SqlRow> row_from_json(const View& view, const std::string& text) {
    const auto parsed = nlohmann::json::parse(text, nullptr, false);
    if (!parsed.is_object()) {
        return Error{.code = ErrorCode::catalog_corrupt,
                     .message = "the change feed holds a damaged row: " + text,
                     .hint = "run `baton check` on the catalog"};
    }
    SqlRow row;
    for (const ViewColumn& column : view.columns) {
        const auto found = parsed.find(std::string(column.name));
        if (found == parsed.end()) break;
        if (found->is_null()) {
            row.emplace_back(std::monostate{});
        } else if (found->is_boolean()) {
            row.emplace_back(std::int64_t{found->get<bool>() ? 1 : 0});
        } else if (found->is_number_integer()) {
            row.emplace_back(found->get<std::int64_t>());
        } else if (found->is_string()) {
            row.emplace_back(found->get<std::string>());
        } else {
            row.emplace_back(found->dump());
        }
    }
    return row;
}

}  // namespace baton
