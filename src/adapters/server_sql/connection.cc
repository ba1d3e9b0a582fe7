#include "adapters/server_sql/connection.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/text.h"
#include "ports/sql_values.h"

namespace baton::server_sql {

namespace {

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

Result<std::int64_t> Connection::run(std::string_view sql, std::span<const SqlValue> parameters,
                                     const SqlRowSink& sink) {
    TRY(ready());
    if (is_transaction_word(sql)) return misuse("a transaction by text: " + std::string(sql));
    for (const SqlValue& value : parameters) {
        if (is_storable(value)) continue;
        return Error{.code = ErrorCode::write_rejected,
                     .message = "a value that " + wire_->name() + " cannot keep: " +
                                "text that is not UTF-8, or a number that is not finite"};
    }
    running_ = true;
    auto changed = wire_->run(sql, parameters, sink);
    running_ = false;
    if (!changed) return failed(std::move(changed.error()), !transaction_ && !only_reads(sql));
    return changed;
}

Result<Done> Connection::run_script(const std::string& sql) {
    TRY(ready());
    auto done = wire_->script(sql);
    if (!done) return failed(std::move(done.error()), !transaction_);
    return Done{};
}

Result<Done> Connection::control(const std::string& sql) {
    TRY(ready());
    auto done = wire_->script(sql);
    if (!done) return failed(std::move(done.error()), false);
    return Done{};
}

Result<Done> Connection::begin(Access access) {
    if (transaction_) return misuse("a transaction within another");
    if (access == Access::write && access_ == Access::read) {
        return Error{.code = ErrorCode::write_rejected,
                     .message = "this connection to " + wire_->name() + " only reads"};
    }
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

Result<Done> Connection::commit() {
    if (!transaction_) return misuse("a commit without a transaction");
    const auto ready_now = ready();
    auto done = ready_now ? wire_->script("COMMIT") : Result<std::string>(ready_now.error());
    const Access access = *transaction_;
    Result<Done> result = Done{};
    if (!done) {
        result = ready_now ? failed(std::move(done.error()), access == Access::write)
                           : ready_now.error();
    } else if (*done == "ROLLBACK") {
        result = Error{.code = ErrorCode::catalog_unavailable,
                       .message = wire_->name() +
                                  " had given up the transaction: nothing of it "
                                  "happened"};
    }
    transaction_.reset();
    lost_.reset();
    depth_ = 0;
    return result;
}

void Connection::rollback() {
    if (!transaction_) return;
    if (wire_->is_alive()) (void)wire_->script("ROLLBACK");
    transaction_.reset();
    lost_.reset();
    depth_ = 0;
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
