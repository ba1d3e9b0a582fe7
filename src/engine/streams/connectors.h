// Connectors open what a plan's leaves and its root name.
//
// Opening does what can fail: it reads options, finds files, connects. Errors:
// invalid_configuration and the like where it can never work as it is; unavailable ones where it
// may later.
#pragma once

#include <memory>

#include "base/result.h"
#include "engine/streams/row_sink.h"
#include "engine/streams/row_source.h"
#include "model/control.h"
#include "model/plan.h"

namespace baton::engine {

class Connectors {
public:
    virtual ~Connectors() = default;

    // The batches have the columns `scan.wanted` of `scan.parsed`.
    virtual Result<std::unique_ptr<RowSource>> open_source(const SourceScan& scan) = 0;
    // `rows` is the schema of the rows, with the names that the sink gives them.
    virtual Result<std::unique_ptr<RowSink>> open_sink(const SinkWrite& sink,
                                                       const Schema& rows) = 0;
    // A sink of type kTableSink: it has to know which run of which query writes.
    virtual Result<std::unique_ptr<RowSink>> open_table(const FragmentKey& key,
                                                        const SinkWrite& sink, const Schema& rows);
};

inline Result<std::unique_ptr<RowSink>> Connectors::open_table(const FragmentKey&, const SinkWrite&,
                                                               const Schema&) {
    return Error{.code = ErrorCode::not_supported,
                 .message = "cannot write into a table: this worker has no way to tables",
                 .hint = "start it with --data-dir, or name another one as QUERY.TABLE_WORKER"};
}

}  // namespace baton::engine
