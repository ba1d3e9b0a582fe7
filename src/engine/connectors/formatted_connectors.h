// FormattedConnectors opens every type of source and sink that the descriptors list.
//
// It knows the options, and reaches the outside through ports. A type whose port is not there is
// refused with not_supported.
#pragma once

#include <memory>

#include "engine/results/result_hub.h"
#include "engine/streams/connectors.h"
#include "engine/streams/table_files.h"
#include "ports/byte_doors.h"
#include "ports/clock.h"

namespace baton::engine {

// All that is given outlives what is opened.
struct ConnectorPorts {
    const Clock* clock = nullptr;
    FileDoor* files = nullptr;
    TcpDoor* tcp = nullptr;
    MqttDoor* mqtt = nullptr;
    TableFiles* tables = nullptr;  // Parquet
    ResultHub* results = nullptr;  // rows for clients
};

class FormattedConnectors final : public Connectors {
public:
    // The clock and the files have to be there.
    explicit FormattedConnectors(const ConnectorPorts& ports);

    Result<std::unique_ptr<RowSource>> open_source(const SourceScan& scan) override;
    Result<std::unique_ptr<RowSink>> open_sink(const SinkWrite& sink, const Schema& rows) override;

private:
    ConnectorPorts ports_;
};

}  // namespace baton::engine
