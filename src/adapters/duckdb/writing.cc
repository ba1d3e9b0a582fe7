#include "adapters/duckdb/question.h"

namespace baton::duckdb_engine {

Result<WrittenFile> Question::write(Slot& slot, const SqlColumns& columns,
                                    const std::string& path) {
    (void)slot;
    (void)columns;
    return Error{.code = ErrorCode::not_supported, .message = "cannot write " + path};
}

}  // namespace baton::duckdb_engine
