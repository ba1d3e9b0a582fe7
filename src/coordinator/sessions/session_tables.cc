// What a session does about tables: questions, INSERT, VACUUM.
#include "coordinator/sessions/session.h"

namespace baton::coordinator {

namespace {

Error no_tables() {
    return Error{.code = ErrorCode::not_supported,
                 .message = "tables are not available here: this process has no store for them"};
}

}  // namespace

Result<StatementResult> Session::run_question(const sql::Question& question) {
    return question.otherwise;
}

Result<StatementResult> Session::run_insert(const sql::Insert& /*insert*/) {
    return no_tables();
}

Result<StatementResult> Session::run_vacuum(const sql::Vacuum& /*vacuum*/) {
    return no_tables();
}

}  // namespace baton::coordinator
