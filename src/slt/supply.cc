#include "slt/supply.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <system_error>

#include "base/overload.h"
#include "base/text.h"

namespace baton::slt {

namespace {

namespace fs = std::filesystem;
using Key = std::vector<std::string>;
using Settings = std::vector<sql::Setting>;

sql::Setting* find(Settings& settings, const Key& key) {
    const auto found = std::find_if(settings.begin(), settings.end(),
                                    [&](const sql::Setting& s) { return s.key == key; });
    return found == settings.end() ? nullptr : &*found;
}

// Adds the setting unless one of these is there.
void add(Settings& settings, std::initializer_list<Key> keys, const sql::Literal& value) {
    for (const Key& key : keys) {
        if (find(settings, key) != nullptr) return;
    }
    settings.push_back({.key = *keys.begin(), .value = value, .at = {}});
}

}  // namespace

Supply::Supply(Places places, std::string testdata, std::string results)
    : places_(std::move(places)), testdata_(std::move(testdata)), results_(std::move(results)) {}

std::string Supply::found(const std::string& path) const {
    constexpr std::string_view kMark = "TESTDATA/";
    if (path.starts_with(kMark)) return (fs::path(testdata_) / path.substr(kMark.size())).string();
    if (fs::path(path).is_absolute()) return path;
    const fs::path here = fs::path(testdata_) / path;
    return fs::exists(here) ? here.string() : path;
}

void Supply::complete_source(const std::string& type, Settings& settings, const SourceData& data) {
    const std::string kind = to_upper(type);
    if (kind == "FILE") {
        if (data.file) add(settings, {{"SOURCE", "FILE_PATH"}}, *data.file);
        if (sql::Setting* path = find(settings, {"SOURCE", "FILE_PATH"})) {
            if (auto* literal = std::get_if<sql::Literal>(&path->value)) {
                if (auto* text = std::get_if<std::string>(literal)) *text = found(*text);
            }
        }
    }
    if (kind == "TCP" && data.port) {
        add(settings, {{"SOURCE", "SOCKET_HOST"}}, std::string("127.0.0.1"));
        add(settings, {{"SOURCE", "SOCKET_PORT"}}, sql::Integer{.magnitude = *data.port});
    }
    add(settings, {{"INPUT_FORMATTER", "TYPE"}, {"PARSER", "TYPE"}}, std::string("CSV"));
    if (places_.sources.empty()) return;
    add(settings, {{"SOURCE", "HOST"}}, places_.sources[next_source_++ % places_.sources.size()]);
}

Supply::Written Supply::complete_sink(const std::string& type, const std::string& name,
                                      Settings& settings) {
    Written written{.type = to_upper(type),
                    .path = (fs::path(results_) / (name + ".out")).string()};
    if (written.type == "FILE" || written.type == "CHECKSUM") {
        if (sql::Setting* path = find(settings, {"SINK", "FILE_PATH"})) {
            path->value = sql::Literal(written.path);  // where it can do no harm
        }
        add(settings, {{"SINK", "FILE_PATH"}}, written.path);
    }
    add(settings,
        {{"OUTPUT_FORMATTER", "TYPE"}, {"SINK", "OUTPUT_FORMAT"}, {"SINK", "INPUT_FORMAT"}},
        std::string("CSV"));
    if (places_.sinks.empty()) return written;
    add(settings, {{"SINK", "HOST"}}, places_.sinks[next_sink_++ % places_.sinks.size()]);
    return written;
}

void Supply::complete(sql::CreatePhysicalSource& source, const SourceData& data) {
    complete_source(source.type, source.settings, data);
}

Supply::Written Supply::complete(sql::CreateSink& sink) {
    // Names may be anything; numbers make a path of them.
    const std::string name = "sink-" + std::to_string(named_sinks_++);
    return complete_sink(sink.type, name, sink.settings);
}

void Supply::created(const sql::CreateSink& sink, const Written& written) {
    sinks_.emplace(sinks_.begin(), sink.name, written);
}

void Supply::complete(sql::Relation& relation) {
    std::visit(
        Overload{
            [](sql::NamedRelation&) {},
            [&](sql::Subquery& subquery) {
                for (sql::Query& query : subquery.query) complete(query);
            },
            [&](sql::InlineSource& source) { complete_source(source.type, source.settings, {}); },
            [&](sql::Join& join) {
                for (sql::Relation& side : join.sides) complete(side);
            },
        },
        relation.node);
}

void Supply::complete(sql::Query& query) {
    std::visit(Overload{
                   [&](sql::Select& select) { complete(select.from); },
                   [&](sql::Union& all) {
                       for (sql::Query& branch : all.branches) complete(branch);
                   },
               },
               query.node);
}

void Supply::complete(sql::SinkTarget& sink) {
    auto* made = std::get_if<sql::InlineSink>(&sink.node);
    if (made == nullptr) return;
    const std::string name = "inline-" + std::to_string(inline_sinks_++);
    inline_sink_ = complete_sink(made->type, name, made->settings);
}

std::optional<Supply::Written> Supply::written_by(const sql::SinkTarget& sink) const {
    const auto* name = std::get_if<std::string>(&sink.node);
    if (name == nullptr) return inline_sink_;
    const auto found = std::find_if(sinks_.begin(), sinks_.end(),
                                    [&](const auto& known) { return known.first == *name; });
    if (found == sinks_.end()) return std::nullopt;
    return found->second;
}

Result<std::string> contents_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        return Error{.code = ErrorCode::unreadable_configuration,
                     .message = "cannot read " + baton::in_quotes(path) + ": " +
                                std::generic_category().message(errno)};
    }
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace baton::slt
