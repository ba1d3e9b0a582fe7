#include "worker/tables/table_connectors.h"

#include <utility>

#include "base/text.h"
#include "model/table_sink.h"

namespace baton::worker {

namespace {

// The options come from a coordinator, perhaps of another version.
template <class T>
Result<T> option_of(const Config& options, const char* key, std::optional<T> otherwise) {
    const auto found = options.find(key);
    if (found == options.end() && otherwise) return *std::move(otherwise);
    const T* value = found == options.end() ? nullptr : std::get_if<T>(&found->second);
    if (value != nullptr) return *value;
    return Error{.code = ErrorCode::malformed_message,
                 .message = "the plan of a query into a table has no valid " + in_quotes(key)};
}

Result<std::int64_t> positive_of(const Config& options, const char* key, std::int64_t otherwise) {
    TRY_ASSIGN(value, option_of<std::int64_t>(options, key, otherwise));
    constexpr std::int64_t kMost = std::int64_t{1} << 40U;
    if (value >= 1 && value <= kMost) return value;
    return Error{.code = ErrorCode::malformed_message,
                 .message = "the plan of a query into a table has no valid " + in_quotes(key)};
}

}  // namespace

Result<std::unique_ptr<engine::RowSink>> TableConnectors::open_table(const FragmentKey& key,
                                                                     const SinkWrite& sink,
                                                                     const Schema& rows) {
    if (parts_.access == nullptr) return Connectors::open_table(key, sink, rows);
    TableSinkOptions options{.run = key.run};
    TRY_ASSIGN(location, option_of<std::string>(sink.sink, kTableLocation, std::nullopt));
    TRY_ASSIGN(stamp, option_of<std::string>(sink.sink, kTableStamp, std::nullopt));
    TRY_ASSIGN(replaces, option_of<bool>(sink.sink, kTableReplaces, std::nullopt));
    TRY_ASSIGN(rows_max,
               positive_of(sink.sink, kTableRows, static_cast<std::int64_t>(options.rows_max)));
    constexpr std::int64_t kMinuteMs = 60'000;
    TRY_ASSIGN(period, positive_of(sink.sink, kTablePeriod, kMinuteMs));
    TRY_ASSIGN(patience, positive_of(sink.sink, kTablePatience, kMinuteMs));
    // It becomes a part of the names of objects.
    const bool is_stamp = !stamp.empty() && stamp.size() <= 64 &&
                          stamp.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!is_stamp) {
        return Error{.code = ErrorCode::malformed_message,
                     .message = "the plan of a query into a table has no valid stamp"};
    }
    options.location = std::move(location);
    options.stamp = std::move(stamp);
    options.replaces = replaces;
    options.rows_max = static_cast<std::uint64_t>(rows_max);
    options.period = std::chrono::milliseconds(period);
    options.patience = std::chrono::milliseconds(patience);
    TRY_ASSIGN(opened, TableSink::open(parts_, std::move(options), rows));
    return std::unique_ptr<engine::RowSink>(std::move(opened));
}

}  // namespace baton::worker
