// GeneratorSource makes rows up, at a rate.
//
//   SEQUENCE             from, from + step, ... below `to`, then the first that is not below it for
//                        as long as the generator goes on; `from` is given in any case
//   NORMAL_DISTRIBUTION  rounded and held within its type where that is a whole number
//   RANDOMSTR            letters and digits, each length as likely as another
//
// Each column has numbers of its own, which follow from the seed and its place: its values do not
// depend on the other columns that are wanted.
//
// It ends with the last sequence (ALL), the first (ONE), or not for their sake (NONE), and in any
// case when MAX_RUNTIME_MS is over. Rows that are due are given when a batch is full or the flush
// interval has passed. A batch is full when it has kBatchRows rows or might have 4 MiB of texts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/prng.h"
#include "base/result.h"
#include "core/descriptors/generator.h"
#include "engine/connectors/counters.h"
#include "engine/connectors/interruptible_pause.h"
#include "engine/streams/row_source.h"
#include "model/config.h"
#include "model/schema.h"
#include "ports/clock.h"

namespace baton::engine {

class GeneratorSource final : public RowSource {
public:
    // Fails with invalid_configuration if the fields are not those of the schema, in number and
    // type. The clock outlives it.
    static Result<std::unique_ptr<RowSource>> open(const Config& config, const Schema& schema,
                                                   const std::vector<std::size_t>& wanted,
                                                   const Clock& clock);

    Result<Pull> pull(Batch& into, Duration patience) override;
    void interrupt() override { pause_.interrupt(); }
    [[nodiscard]] SourceCounts counts() const override { return {.rows = rows_.value()}; }

    // One column under way.
    struct Field {
        descriptors::GeneratedField spec;
        DataType type = DataType::int64;  // of the column
        Value next;                       // of a sequence
        bool finished = false;            // a sequence
        bool wanted = false;              // only sequences are made if not
        Prng prng{0};
    };
    enum class Stop : std::uint8_t { all, one, none };

    struct Parts {
        descriptors::GeneratorSpec spec;
        std::vector<Field> fields;  // of all columns: any sequence may be the end
        std::vector<std::size_t> wanted;
        std::size_t batch_rows = 1;  // at most
        Stop stop = Stop::all;
        std::optional<Duration> runtime_max;
        Duration flush_interval = Duration(0);
        const Clock* clock = nullptr;
    };
    explicit GeneratorSource(Parts parts) : parts_(std::move(parts)) {}

private:
    [[nodiscard]] std::uint64_t due_at(Duration since_start) const;
    void generate(std::size_t rows, Batch& into);

    Parts parts_;
    std::optional<Instant> start_;  // the first pull
    Instant last_;                  // when rows were given last
    std::uint64_t given_ = 0;
    bool ended_ = false;
    InterruptiblePause pause_;
    Counter rows_;
};

}  // namespace baton::engine
