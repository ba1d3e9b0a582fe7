#include "worker/node/engine_kit.h"

#include <mutex>
#include <set>
#include <utility>

#include "adapters/file/system_files.h"
#include "adapters/mqtt/mqtt_bytes.h"
#include "adapters/parquet/parquet_files.h"
#include "adapters/system/memory.h"
#include "adapters/tcp/tcp_sources.h"
#include "engine/connectors/formatted_connectors.h"
#include "engine/run/fragment_engine.h"
#include "worker/tables/table_connectors.h"

namespace baton::worker {

namespace {

// What the engine uses lives as long as it.
class EngineKit final : public Engine {
public:
    struct Allowed {
        files::AllowedFiles files;
        targets::AllowedTargets targets;
        files::AllowedFiles work;  // the files of this worker itself
    };
    EngineKit(Allowed allowed, engine::Exchanges& exchanges, engine::ResultHub& results,
              const Clock& clock, const EngineOptions& limits)
        : fragments_max_(limits.fragments_max),
          allowed_files_(std::move(allowed.files)),
          allowed_work_(std::move(allowed.work)),
          allowed_targets_(std::move(allowed.targets)),
          connectors_({.clock = &clock,
                       .files = &files_,
                       .tcp = &tcp_,
                       .mqtt = &mqtt_,
                       .tables = &tables_,
                       .results = &results}),
          with_tables_(connectors_,
                       {.access = limits.tables, .files = &work_files_, .clock = &clock}),
          engine_(with_tables_, exchanges, clock, options()) {}

    void listen(Listener listener) override {
        {
            const std::lock_guard lock(mutex_);
            listener_ = listener;
        }
        if (!listener) return engine_.listen(nullptr);
        engine_.listen([this, listener](fragments::Event event) {
            if (is_end(event)) {
                const std::lock_guard lock(mutex_);
                living_.erase(key_of(event));
            }
            listener(std::move(event));
        });
    }
    void prepare(const FragmentKey& key, const std::string& plan) override {
        Listener refused;
        {
            const std::lock_guard lock(mutex_);
            if (fragments_max_ && living_.size() >= *fragments_max_) refused = listener_;
            if (!refused) living_.insert(key);
        }
        if (!refused) return engine_.prepare(key, plan);
        const std::string why =
            "this worker runs " + std::to_string(*fragments_max_) + " fragments, as many as it may";
        refused(
            fragments::PrepareFailed{.key = key, .fault = control::Fault::transient, .why = why});
    }
    void start(const FragmentKey& key) override { engine_.start(key); }
    void drain(const FragmentKey& key) override { engine_.drain(key); }
    void abort(const FragmentKey& key) override { engine_.abort(key); }
    [[nodiscard]] std::vector<control::FragmentCounts> counts() const override {
        return engine_.counts();
    }

private:
    static engine::FragmentOptions options() {
        engine::FragmentOptions options;
        options.memory_most_in_all = engine::window_memory_most(system::available_bytes());
        return options;
    }

    const std::optional<std::uint64_t> fragments_max_;
    std::mutex mutex_;
    Listener listener_;
    std::set<FragmentKey> living_;
    const files::AllowedFiles allowed_files_;
    const files::AllowedFiles allowed_work_;
    const targets::AllowedTargets allowed_targets_;
    files::SystemFiles files_{allowed_files_};
    tcp::TcpSources tcp_{allowed_targets_};
    mqtt::MqttBytes mqtt_{allowed_targets_};
    parquet::ParquetFiles tables_{allowed_files_};
    parquet::ParquetFiles work_files_{allowed_work_};
    engine::FormattedConnectors connectors_;
    TableConnectors with_tables_;
    engine::FragmentEngine engine_;
};

}  // namespace

Result<std::unique_ptr<Engine>> make_engine(engine::Exchanges& exchanges,
                                            engine::ResultHub& results, const Clock& clock,
                                            const EngineOptions& options) {
    EngineKit::Allowed allowed;
    TRY_ASSIGN(files, files::AllowedFiles::of(options.permits.files));
    TRY_ASSIGN(targets, targets::AllowedTargets::of(options.permits.targets));
    allowed.files = std::move(files);
    allowed.targets = std::move(targets);
    if (options.tables != nullptr) {
        TRY_ASSIGN(work, files::AllowedFiles::of(
                             {.directories = {options.tables->parts().work_folder}, .never = {}}));
        allowed.work = std::move(work);
    }
    return std::unique_ptr<Engine>(
        std::make_unique<EngineKit>(std::move(allowed), exchanges, results, clock, options));
}

}  // namespace baton::worker
