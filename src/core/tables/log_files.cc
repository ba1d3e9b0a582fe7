#include "core/tables/log_files.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "core/json/json.h"

namespace baton::tables {

namespace {

constexpr std::size_t kVersionDigits = 20;
constexpr std::size_t kPartDigits = 10;
constexpr std::uint32_t kPartsMax = 100'000;
constexpr std::size_t kLastCheckpointBytesMax = 1ULL << 20U;  // others write its schema, too

std::string padded(std::uint64_t number, std::size_t digits) {
    const std::string text = std::to_string(number);
    return std::string(digits - std::min(digits, text.size()), '0') + text;
}

template <class Number>
std::optional<Number> number_of(std::string_view digits) {
    Number number = 0;
    const char* const end = digits.data() + digits.size();
    const bool plain =
        std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    const auto [stop, problem] = std::from_chars(digits.data(), end, number);
    if (!plain || problem != std::errc() || stop != end) return std::nullopt;
    return number;
}

// The checkpoints that are whole, with their keys by part.
using Parts = std::map<std::uint32_t, std::string>;
using Checkpoints = std::map<std::int64_t, Parts>;

Checkpoints whole_checkpoints(const std::vector<std::string>& keys) {
    std::map<std::pair<std::int64_t, std::uint32_t>, Parts> found;
    for (const std::string& key : keys) {
        const auto file = log_file_of(key);
        if (!file || !file->is_checkpoint) continue;
        found[{file->version, file->parts}].emplace(file->part, key);
    }
    Checkpoints whole;
    for (auto& [of, parts] : found) {
        if (parts.size() == of.second) whole.try_emplace(of.first, std::move(parts));
    }
    return whole;
}

}  // namespace

std::string entry_key(std::int64_t version) {
    CHECK(version >= 0);
    return std::string(kLogFolder) + padded(static_cast<std::uint64_t>(version), kVersionDigits) +
           ".json";
}

std::string checkpoint_key(std::int64_t version) {
    CHECK(version >= 0);
    return std::string(kLogFolder) + padded(static_cast<std::uint64_t>(version), kVersionDigits) +
           ".checkpoint.parquet";
}

std::string key_before(std::int64_t version) {
    CHECK(version >= 0);
    return std::string(kLogFolder) + padded(static_cast<std::uint64_t>(version), kVersionDigits);
}

std::optional<LogFile> log_file_of(std::string_view key) {
    if (!key.starts_with(kLogFolder)) return std::nullopt;
    const std::string_view name = key.substr(kLogFolder.size());
    if (name.size() <= kVersionDigits) return std::nullopt;
    const auto version = number_of<std::int64_t>(name.substr(0, kVersionDigits));
    if (!version) return std::nullopt;
    const std::string_view rest = name.substr(kVersionDigits);
    if (rest == ".json") return LogFile{.version = *version};
    if (rest == ".checkpoint.parquet") return LogFile{.version = *version, .is_checkpoint = true};
    constexpr std::string_view kStart = ".checkpoint.";
    constexpr std::string_view kEnd = ".parquet";
    const bool in_parts = rest.size() == kStart.size() + 2 * kPartDigits + 1 + kEnd.size() &&
                          rest.starts_with(kStart) && rest.ends_with(kEnd);
    if (!in_parts) return std::nullopt;
    const auto part = number_of<std::uint32_t>(rest.substr(kStart.size(), kPartDigits));
    const auto parts =
        number_of<std::uint32_t>(rest.substr(kStart.size() + kPartDigits + 1, kPartDigits));
    const bool fits = part && parts && *part >= 1 && *part <= *parts && *parts <= kPartsMax;
    if (!fits) return std::nullopt;
    return LogFile{.version = *version, .is_checkpoint = true, .part = *part, .parts = *parts};
}

std::string last_checkpoint_text(const LastCheckpoint& last) {
    json::Object object = {{.key = "version", .value = {last.version}},
                           {.key = "size", .value = {last.actions}}};
    if (last.parts) {
        object.push_back({.key = "parts", .value = {std::uint64_t{*last.parts}}});
    }
    return json::to_text({std::move(object)});
}

std::optional<LastCheckpoint> last_checkpoint_of(std::string_view text) {
    constexpr std::size_t kDepthMax = 100;
    const Result<json::Value> value = json::parse(text, {.bytes = kLastCheckpointBytesMax,
                                                         .depth = kDepthMax,
                                                         .damaged = ErrorCode::damaged_table});
    if (!value) return std::nullopt;
    const auto count = [&](std::string_view key) -> std::optional<std::uint64_t> {
        const json::Value* found = json::find(*value, key);
        const auto* number = found == nullptr ? nullptr : std::get_if<std::uint64_t>(&found->value);
        return number == nullptr ? std::nullopt : std::optional(*number);
    };
    const auto version = count("version");
    if (!version || *version > INT64_MAX) return std::nullopt;
    LastCheckpoint last{.version = static_cast<std::int64_t>(*version),
                        .actions = count("size").value_or(0)};
    if (const auto parts = count("parts"); parts && *parts <= kPartsMax) {
        last.parts = static_cast<std::uint32_t>(*parts);
    }
    return last;
}

Result<ReadPlan> plan_read(const std::vector<std::string>& keys,
                           std::optional<std::int64_t> version) {
    std::set<std::int64_t> entries;
    for (const std::string& key : keys) {
        const auto file = log_file_of(key);
        if (file && !file->is_checkpoint) entries.insert(file->version);
    }
    const Checkpoints checkpoints = whole_checkpoints(keys);
    const std::int64_t newest =
        std::max(entries.empty() ? std::int64_t{-1} : *entries.rbegin(),
                 checkpoints.empty() ? std::int64_t{-1} : checkpoints.rbegin()->first);
    const std::int64_t target = version.value_or(newest);
    if (target < 0 || target > newest) {
        return Error{.code = ErrorCode::invalid_question,
                     .message = "the table has no version " + std::to_string(target),
                     .hint = "the newest is " + std::to_string(newest)};
    }
    // From the target back to where the entries begin.
    std::int64_t first = target + 1;
    while (first > 0 && entries.contains(first - 1)) first -= 1;
    const auto beyond = checkpoints.upper_bound(target);
    const bool from_checkpoint =
        beyond != checkpoints.begin() && std::prev(beyond)->first >= first - 1;
    if (from_checkpoint) {
        const auto& [at, parts] = *std::prev(beyond);
        ReadPlan plan{.checkpoint = at, .first_entry = at + 1, .last_entry = target};
        for (const auto& [part, key] : parts) plan.checkpoint_keys.push_back(key);
        return plan;
    }
    if (first == 0) return ReadPlan{.first_entry = 0, .last_entry = target};
    if (version && target != newest) {
        return Error{.code = ErrorCode::invalid_question,
                     .message = "version " + std::to_string(target) +
                                " of the table can no longer be read: its log was cleaned up",
                     .hint = "the newest is " + std::to_string(newest)};
    }
    return Error{.code = ErrorCode::damaged_table,
                 .message = "the table's log is damaged: version " + std::to_string(first - 1) +
                            " is missing"};
}

}  // namespace baton::tables
