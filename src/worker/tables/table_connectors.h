// TableConnectors opens the sinks of queries INTO tables, and leaves all others to other
// connectors.
#pragma once

#include <memory>

#include "engine/streams/connectors.h"
#include "worker/tables/table_sink.h"

namespace baton::worker {

class TableConnectors final : public engine::Connectors {
public:
    // All outlive it. Without an access, queries into tables are refused.
    TableConnectors(engine::Connectors& others, const TableSinkParts& parts)
        : others_(others), parts_(parts) {}

    Result<std::unique_ptr<engine::RowSource>> open_source(const SourceScan& scan) override {
        return others_.open_source(scan);
    }
    Result<std::unique_ptr<engine::RowSink>> open_sink(const SinkWrite& sink,
                                                       const Schema& rows) override {
        return others_.open_sink(sink, rows);
    }
    Result<std::unique_ptr<engine::RowSink>> open_table(const FragmentKey& key,
                                                        const SinkWrite& sink,
                                                        const Schema& rows) override;

private:
    engine::Connectors& others_;
    const TableSinkParts parts_;
};

}  // namespace baton::worker
