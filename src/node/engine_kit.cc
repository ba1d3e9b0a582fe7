#include "node/engine_kit.h"

#include <utility>

#include "adapters/file/system_files.h"
#include "adapters/mqtt/mqtt_bytes.h"
#include "adapters/parquet/parquet_files.h"
#include "adapters/tcp/tcp_sources.h"
#include "engine/connectors/formatted_connectors.h"
#include "engine/run/fragment_engine.h"

namespace baton {

namespace {

// What the engine uses lives as long as it.
class EngineKit final : public Engine {
public:
    EngineKit(Exchanges& exchanges, const Clock& clock)
        : connectors_({.clock = &clock,
                       .files = &files_,
                       .tcp = &tcp_,
                       .mqtt = &mqtt_,
                       .tables = &tables_}),
          engine_(connectors_, exchanges, clock) {}

    void listen(Listener listener) override { engine_.listen(std::move(listener)); }
    void prepare(const FragmentKey& key, const std::string& plan) override {
        engine_.prepare(key, plan);
    }
    void start(const FragmentKey& key) override { engine_.start(key); }
    void drain(const FragmentKey& key) override { engine_.drain(key); }
    void abort(const FragmentKey& key) override { engine_.abort(key); }
    [[nodiscard]] std::vector<control::FragmentCounts> counts() const override {
        return engine_.counts();
    }

private:
    SystemFiles files_;
    TcpSources tcp_;
    MqttBytes mqtt_;
    ParquetFiles tables_;
    FormattedConnectors connectors_;
    FragmentEngine engine_;
};

}  // namespace

std::unique_ptr<Engine> make_engine(Exchanges& exchanges, const Clock& clock) {
    return std::make_unique<EngineKit>(exchanges, clock);
}

}  // namespace baton
