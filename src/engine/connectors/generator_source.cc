#include "engine/connectors/generator_source.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/overload.h"
#include "base/text.h"
#include "engine/columns/elements.h"
#include "engine/formats/options.h"

namespace baton::engine {

namespace {

using Field = GeneratorSource::Field;

constexpr Duration kPauseLeast = std::chrono::milliseconds(1);
constexpr std::uint64_t kBatchBytes = 4 << 20;  // of texts
constexpr double kRowsMost = 0x1p62;            // of all time
constexpr std::string_view kLetters =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

template <class T>
T element_of(const Value& value) {
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(std::get<double>(value));
    if constexpr (std::is_signed_v<T>) return static_cast<T>(std::get<std::int64_t>(value));
    return static_cast<T>(std::get<std::uint64_t>(value));
}

template <class T>
Value value_of(T element) {
    if constexpr (std::is_floating_point_v<T>) {
        return static_cast<double>(element);
    } else if constexpr (std::is_signed_v<T>) {
        return static_cast<std::int64_t>(element);
    } else {
        return static_cast<std::uint64_t>(element);
    }
}

// The one after it, or the end where the type has no room for it.
template <class T>
T next_in_sequence(T value, T step, T end) {
    if constexpr (std::is_floating_point_v<T>) {
        return value + step;
    } else {
        if (step > 0 && value > std::numeric_limits<T>::max() - step) return end;
        if (step < 0 && value < std::numeric_limits<T>::min() - step) return value;
        return static_cast<T>(value + step);
    }
}

// Writes the next values and returns how many rows it took to finish the sequence: all of them if
// it did not.
template <class T>
std::size_t fill_sequence(Field& field, const descriptors::GeneratedSequence& spec, T* to,
                          std::size_t rows) {
    const T end = element_of<T>(spec.to);
    const T step = element_of<T>(spec.step);
    T value = element_of<T>(field.next);
    std::size_t finished_after = rows;
    for (std::size_t i = 0; i < rows; ++i) {
        to[i] = value;
        if (field.finished) {
            finished_after = std::min(finished_after, i);
            continue;
        }
        if (value < end) value = next_in_sequence(value, step, end);
        if (value >= end) {
            field.finished = true;
            finished_after = i + 1;
        }
    }
    field.next = value_of(value);
    return finished_after;
}

double uniform(Prng& prng) {
    return (static_cast<double>(prng.next() >> 11U) + 0.5) * 0x1p-53;  // never 0 or 1
}

double normal(Prng& prng) {
    const double radius = std::sqrt(-2 * std::log(uniform(prng)));
    return radius * std::cos(2 * std::numbers::pi * uniform(prng));
}

template <class T>
void fill_normal(Field& field, const descriptors::GeneratedNormal& spec, T* to, std::size_t rows) {
    for (std::size_t i = 0; i < rows; ++i) {
        const double drawn = spec.mean + spec.deviation * normal(field.prng);
        if constexpr (std::is_floating_point_v<T>) {
            to[i] = static_cast<T>(drawn);
        } else {
            using Limits = std::numeric_limits<T>;
            const double rounded = std::nearbyint(drawn);
            // The largest 64-bit number is not a double: what reaches the next one is held.
            if (rounded >= static_cast<double>(Limits::max())) {
                to[i] = Limits::max();
            } else if (rounded <= static_cast<double>(Limits::min())) {
                to[i] = Limits::min();
            } else {
                to[i] = static_cast<T>(rounded);
            }
        }
    }
}

void fill_texts(Field& field, const descriptors::GeneratedText& spec, ColumnVector& column) {
    auto* const to = column.mutable_data<std::string_view>();
    std::vector<std::size_t> sizes(column.size());
    std::size_t total = 0;
    for (std::size_t& size : sizes) total += size = field.prng.between(spec.least, spec.most);
    auto letters = std::make_shared<std::string>(total, '0');
    for (char& letter : *letters) letter = kLetters[field.prng.next() % kLetters.size()];
    std::size_t begin = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        to[i] = std::string_view(*letters).substr(begin, sizes[i]);
        begin += sizes[i];
    }
    column.hold(std::move(letters));
}

// A column of the next values, and after how many rows its sequence finished.
std::pair<ColumnVector, std::size_t> next_column(Field& field, std::size_t rows) {
    ColumnVector column(field.type, rows);
    std::size_t finished_after = rows;
    if (const auto* text = std::get_if<descriptors::GeneratedText>(&field.spec)) {
        fill_texts(field, *text, column);
        return {std::move(column), finished_after};
    }
    with_element(field.type, [&](auto* none) {
        using T = std::remove_pointer_t<decltype(none)>;
        if constexpr (!std::is_same_v<T, std::string_view>) {
            T* const to = column.mutable_data<T>();
            if (const auto* sequence = std::get_if<descriptors::GeneratedSequence>(&field.spec)) {
                finished_after = fill_sequence(field, *sequence, to, rows);
            } else {
                fill_normal(field, std::get<descriptors::GeneratedNormal>(field.spec), to, rows);
            }
        }
    });
    return {std::move(column), finished_after};
}

// ---- opening ----------------------------------------------------------------------------------

Error misfit(const std::string& why) {
    return {.code = ErrorCode::invalid_configuration,
            .message = "option \"GENERATOR_SCHEMA\" does not fit the source: " + why,
            .hint = "write a field for each column, with its type"};
}

Result<Done> check_type(const descriptors::GeneratedField& field, const Column& column,
                        std::size_t number) {
    const std::string which =
        "field " + std::to_string(number) + " is for the column " + in_quotes(column.name);
    const auto refuse = [&](std::string_view given) {
        return misfit(which + " of type " + std::string(to_string(column.type)) + ", not " +
                      std::string(given));
    };
    const auto typed = [&](DataType type) -> Result<Done> {
        if (type == column.type) return Done{};
        return refuse(to_string(type));
    };
    return std::visit(
        Overload{
            [&](const descriptors::GeneratedSequence& f) { return typed(f.type); },
            [&](const descriptors::GeneratedNormal& f) { return typed(f.type); },
            [&](const descriptors::GeneratedText&) { return typed(DataType::varsized); },
        },
        field);
}

std::uint64_t seed_of(const Config& config) {
    if (config.contains("SEED"))
        return static_cast<std::uint64_t>(formats::number_or(config, "SEED", 0));
    std::random_device device;
    return (std::uint64_t{device()} << 32U) | device();
}

// As many as have no more than kBatchBytes of texts, whatever lengths are drawn. All columns count:
// what a text is follows from where its batch begins, and must not depend on which are wanted.
std::size_t batch_rows_of(const std::vector<Field>& fields) {
    std::uint64_t bytes = 0;
    for (const Field& field : fields) {
        const auto* text = std::get_if<descriptors::GeneratedText>(&field.spec);
        if (text != nullptr) bytes += text->most;
    }
    if (bytes == 0) return kBatchRows;
    return static_cast<std::size_t>(std::clamp<std::uint64_t>(kBatchBytes / bytes, 1, kBatchRows));
}

GeneratorSource::Stop stop_of(const Config& config) {
    const std::string stop =
        formats::text_or(config, "STOP_GENERATOR_WHEN_SEQUENCE_FINISHES", "ALL");
    if (stop == "NONE") return GeneratorSource::Stop::none;
    return stop == "ONE" ? GeneratorSource::Stop::one : GeneratorSource::Stop::all;
}

}  // namespace

Result<std::unique_ptr<RowSource>> GeneratorSource::open(const Config& config, const Schema& schema,
                                                         const std::vector<std::size_t>& wanted,
                                                         const Clock& clock) {
    TRY_ASSIGN(spec, descriptors::generator_of(config));
    if (spec.fields.size() != schema.columns.size()) {
        return misfit("it has " + std::to_string(spec.fields.size()) + " fields for " +
                      std::to_string(schema.columns.size()) + " columns");
    }
    Parts parts{.spec = spec,
                .wanted = wanted,
                .stop = stop_of(config),
                .flush_interval =
                    std::chrono::milliseconds(formats::number_or(config, "FLUSH_INTERVAL_MS", 10)),
                .clock = &clock};
    const std::int64_t runtime = formats::number_or(config, "MAX_RUNTIME_MS", -1);
    if (runtime >= 0) parts.runtime_max = std::chrono::milliseconds(runtime);
    Prng seeds(seed_of(config));
    for (std::size_t i = 0; i < spec.fields.size(); ++i) {
        TRY(check_type(spec.fields[i], schema.columns[i], i + 1));
        Field field{
            .spec = spec.fields[i], .type = schema.columns[i].type, .prng = Prng(seeds.next())};
        if (const auto* sequence = std::get_if<descriptors::GeneratedSequence>(&field.spec)) {
            field.next = sequence->from;
        }
        parts.fields.push_back(std::move(field));
    }
    for (const std::size_t column : wanted) parts.fields.at(column).wanted = true;
    parts.batch_rows = batch_rows_of(parts.fields);
    return std::unique_ptr<RowSource>(std::make_unique<GeneratorSource>(std::move(parts)));
}

// How many more rows there should be by then.
std::uint64_t GeneratorSource::due_at(Duration since_start) const {
    const double t = std::chrono::duration<double>(since_start).count();
    const double rows = std::visit(
        Overload{
            [&](const descriptors::FixedRate& rate) { return rate.rows * t; },
            [&](const descriptors::SinusRate& rate) {
                const double angle = rate.frequency * t;
                return rate.amplitude / (2 * rate.frequency) * (1 - std::cos(angle) + angle);
            },
        },
        parts_.spec.rate);
    if (!(rows > static_cast<double>(given_))) return 0;  // a wave may be rounded downwards
    return static_cast<std::uint64_t>(std::min(rows, kRowsMost)) - given_;
}

Result<Pull> GeneratorSource::pull(Batch& into, Duration patience) {
    const Instant begin = parts_.clock->now();
    if (!start_) start_ = last_ = begin;
    while (!ended_) {
        const Instant now = parts_.clock->now();
        Duration running = now - *start_;
        const bool is_over = parts_.runtime_max && running >= *parts_.runtime_max;
        if (is_over) running = *parts_.runtime_max;
        const std::uint64_t due = due_at(running);
        const Duration since_last = now - last_;
        const bool ripe = is_over || since_last >= parts_.flush_interval;
        if (due >= parts_.batch_rows || (due > 0 && ripe)) {
            last_ = now;
            generate(std::min<std::uint64_t>(due, parts_.batch_rows), into);
            if (into.rows > 0) return Pull::rows;
            continue;
        }
        if (is_over) {
            ended_ = true;
            break;
        }
        const Duration left = patience - (now - begin);
        if (left <= Duration(0)) return Pull::nothing;
        const Duration nap = std::max(parts_.flush_interval - since_last, kPauseLeast);
        const Duration remaining = parts_.runtime_max.value_or(Duration::max()) - running;
        if (!pause_.wait(std::min({nap, left, remaining}))) return Pull::nothing;
    }
    return Pull::end;
}

void GeneratorSource::generate(std::size_t rows, Batch& into) {
    std::vector<ColumnVector> columns;
    std::size_t first = rows;  // after how many rows the first sequence had finished
    std::size_t last = 0;      // and the last one
    bool has_sequence = false;
    bool all_finished = true;
    bool one_finished = false;
    for (Field& field : parts_.fields) {
        const bool is_sequence = std::holds_alternative<descriptors::GeneratedSequence>(field.spec);
        if (!field.wanted && !is_sequence) {
            columns.emplace_back();
            continue;
        }
        auto [column, finished_after] = next_column(field, rows);
        columns.push_back(std::move(column));
        if (!is_sequence) continue;
        has_sequence = true;
        all_finished = all_finished && field.finished;
        one_finished = one_finished || field.finished;
        if (field.finished) first = std::min(first, finished_after);
        last = std::max(last, finished_after);
    }
    const bool stops = has_sequence && ((parts_.stop == Stop::all && all_finished) ||
                                        (parts_.stop == Stop::one && one_finished));
    if (stops) {
        ended_ = true;
        rows = parts_.stop == Stop::all ? last : first;
    }
    into = Batch{.rows = rows, .columns = {}};
    for (const std::size_t wanted : parts_.wanted) {
        columns[wanted].shrink(rows);
        into.columns.push_back(columns[wanted]);
    }
    given_ += rows;
    rows_.add(rows);
}

}  // namespace baton::engine
