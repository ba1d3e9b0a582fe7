#include "adapters/server_sql/connection.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/text.h"
#include "ports/sql_values.h"

namespace baton::server_sql {

namespace {

// Put off at most: what answers them fits into any socket, so that nobody waits for the other.
constexpr std::size_t kLaterMax = 64;
constexpr std::size_t kLaterBytesMax = 256 << 10;

std::size_t bytes_of(const Statement& statement) {
    std::size_t bytes = statement.sql.size();
    for (const SqlValue& value : statement.parameters) {
        const auto* text = std::get_if<std::string>(&value);
        bytes += text == nullptr ? sizeof value : text->size();
    }
    return bytes;
}

std::string savepoint(unsigned depth) {
    return "s" + std::to_string(depth);
}

// A statement that changes nothing, as far as its first word tells.
bool only_reads(std::string_view sql) {
    const std::size_t start = sql.find_first_not_of(" \t\r\n(");
    if (start == std::string_view::npos) return true;
    return equal_ignoring_case(sql.substr(start, 6), "SELECT") ||
           equal_ignoring_case(sql.substr(start, 4), "SHOW");
}

bool is_transaction_word(std::string_view sql) {
    const std::size_t start = std::min(sql.find_first_not_of(" \t\r\n"), sql.size());
    const std::size_t end = std::min(sql.find_first_of(" \t\r\n;", start), sql.size());
    const std::string word = to_upper(sql.substr(start, end - start));
    return word == "BEGIN" || word == "START" || word == "COMMIT" || word == "ROLLBACK" ||
           word == "SAVEPOINT" || word == "RELEASE" || word == "END" || word == "ABORT";
}

}  // namespace

Connection::Connection(std::unique_ptr<Wire> wire, Access access)
    : wire_(std::move(wire)), access_(access) {}

Error Connection::misuse(const std::string& what) const {
    return {.code = ErrorCode::defect, .message = what + " on " + wire_->name()};
}

Result<Done> Connection::ready() {
    if (running_) return misuse("a statement inside the rows of another");
    if (lost_) return *lost_;
    if (transaction_ || wire_->is_alive()) return Done{};
    return wire_->connect();
}

Error Connection::failed(Error error, bool commits) {
    if (!wire_->is_alive() && commits) {
        error = {.code = ErrorCode::unknown_outcome,
                 .message = "the connection to " + wire_->name() +
                            " was lost while something was made durable: " + error.message,
                 .hint = "read before it is tried again"};
    }
    const bool gone = !wire_->is_alive() || wire_->gave_up_transaction();
    if (transaction_ && gone) lost_ = error;
    return error;
}

Result<Done> Connection::may_run(std::string_view sql, std::span<const SqlValue> parameters) const {
    if (is_transaction_word(sql)) return misuse("a transaction by text: " + std::string(sql));
    for (const SqlValue& value : parameters) {
        if (is_storable(value)) continue;
        return Error{.code = ErrorCode::write_rejected,
                     .message = "a value that " + wire_->name() + " cannot keep: " +
                                "text that is not UTF-8, or a number that is not finite"};
    }
    return Done{};
}

Result<std::int64_t> Connection::run(std::string_view sql, std::span<const SqlValue> parameters,
                                     const SqlRowSink& sink) {
    TRY(ready());
    TRY(may_run(sql, parameters));
    if (!later_.empty()) {
        return send_with_later(
            {.sql = std::string(sql), .parameters = {parameters.begin(), parameters.end()}}, sink,
            false);
    }
    running_ = true;
    auto changed = wire_->run(sql, parameters, sink);
    running_ = false;
    if (!changed) return failed(std::move(changed.error()), !transaction_ && !only_reads(sql));
    return changed;
}

Result<Done> Connection::run_script(const std::string& sql) {
    TRY(ready());
    if (!later_.empty()) return misuse("a script after what was put off");
    auto done = wire_->script(sql);
    if (!done) return failed(std::move(done.error()), !transaction_);
    return Done{};
}

Result<Done> Connection::control(const std::string& sql) {
    TRY(ready());
    if (!later_.empty()) {
        TRY(send_with_later({.sql = sql, .parameters = {}}, nullptr, false));
        return Done{};
    }
    auto done = wire_->script(sql);
    if (!done) return failed(std::move(done.error()), false);
    return Done{};
}

Result<Done> Connection::may_begin(Access access) const {
    if (transaction_) return misuse("a transaction within another");
    if (access == Access::write && access_ == Access::read) {
        return Error{.code = ErrorCode::write_rejected,
                     .message = "this connection to " + wire_->name() + " only reads"};
    }
    return Done{};
}

Result<Done> Connection::begin(Access access) {
    TRY(may_begin(access));
    const Words& words = wire_->words();
    const std::string& text = access == Access::write ? words.begin_write : words.begin_read;
    const bool was_alive = wire_->is_alive();
    auto begun = control(text);
    // A server that was restarted is noticed only now: nothing has happened, so try once more.
    if (!begun && was_alive && !wire_->is_alive()) begun = control(text);
    if (!begun) return begun;
    transaction_ = access;
    depth_ = 0;
    return Done{};
}

void Connection::end_transaction() {
    transaction_.reset();
    lost_.reset();
    later_.clear();
    begins_later_ = false;
    depth_ = 0;
}

Result<Done> Connection::commit() {
    if (!transaction_) return misuse("a commit without a transaction");
    if (begins_later_ && later_.size() == 1) {  // nothing was asked of it
        end_transaction();
        return Done{};
    }
    const auto ready_now = ready();
    const bool writes = *transaction_ == Access::write;
    Result<Done> result = ready_now;
    if (ready_now && !later_.empty()) {
        const auto done = send_with_later({.sql = "COMMIT", .parameters = {}}, nullptr, writes);
        if (!done) result = done.error();
    } else if (ready_now) {
        auto done = wire_->script("COMMIT");
        if (!done) {
            result = failed(std::move(done.error()), writes);
        } else if (*done == "ROLLBACK") {
            result = Error{.code = ErrorCode::catalog_unavailable,
                           .message = wire_->name() +
                                      " had given up the transaction: nothing of it "
                                      "happened"};
        }
    }
    // What failed before it may have kept the server from ending the transaction.
    if (!result && wire_->is_alive()) (void)wire_->script("ROLLBACK");
    end_transaction();
    return result;
}

void Connection::rollback() {
    if (!transaction_) return;
    if (wire_->is_alive() && !begins_later_) (void)wire_->script("ROLLBACK");
    end_transaction();
}

// ---- what is put off ----------------------------------------------------------------------------

Result<Done> Connection::begin_later() {
    TRY(may_begin(Access::write));
    TRY(ready());
    later_.push_back({.sql = wire_->words().begin_write, .parameters = {}});
    begins_later_ = true;
    transaction_ = Access::write;
    depth_ = 0;
    return Done{};
}

Result<Done> Connection::run_later(std::string_view sql, std::span<const SqlValue> parameters) {
    if (!transaction_) return misuse("a statement for later without a transaction");
    TRY(ready());
    TRY(may_run(sql, parameters));
    Statement statement{.sql = std::string(sql),
                        .parameters = {parameters.begin(), parameters.end()}};
    std::size_t bytes = bytes_of(statement);
    for (const Statement& each : later_) bytes += bytes_of(each);
    if (later_.size() + 1 < kLaterMax && bytes < kLaterBytesMax) {
        later_.push_back(std::move(statement));
        return Done{};
    }
    TRY(send_with_later(std::move(statement), nullptr, false));
    return Done{};
}

Result<std::int64_t> Connection::send_with_later(Statement last, const SqlRowSink& sink,
                                                 bool commits) {
    std::vector<Statement> all = std::move(later_);
    later_.clear();
    const bool begins = std::exchange(begins_later_, false);
    all.push_back(std::move(last));
    running_ = true;
    auto changed = wire_->run_all(all, sink);
    // As in begin(): what nobody has begun can be begun again.
    if (!changed && begins && !commits && !wire_->is_alive() && wire_->connect()) {
        changed = wire_->run_all(all, sink);
    }
    running_ = false;
    if (changed) return changed;
    const bool early = wire_->done_before_failure() + 1 < all.size();
    const Error error = failed(std::move(changed.error()), commits);
    if (early) lost_ = error;
    return error;
}

Result<Done> Connection::set_savepoint() {
    if (!transaction_) return misuse("a savepoint without a transaction");
    TRY(control("SAVEPOINT " + savepoint(depth_)));
    depth_ += 1;
    return Done{};
}

Result<Done> Connection::release_savepoint() {
    if (depth_ == 0) return misuse("no savepoint to release");
    TRY(control("RELEASE SAVEPOINT " + savepoint(depth_ - 1)));
    depth_ -= 1;
    return Done{};
}

Result<Done> Connection::roll_back_to_savepoint() {
    if (depth_ == 0) return misuse("no savepoint to roll back to");
    const std::string name = savepoint(depth_ - 1);
    TRY(control("ROLLBACK TO SAVEPOINT " + name));
    TRY(control("RELEASE SAVEPOINT " + name));
    depth_ -= 1;
    return Done{};
}

}  // namespace baton::server_sql
