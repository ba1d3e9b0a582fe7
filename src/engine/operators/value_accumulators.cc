// Aggregates that need every value, or the order of rows.
#include <algorithm>
#include <cmath>

#include "engine/operators/accumulators.h"
#include "engine/operators/group_table.h"

namespace baton::engine {

namespace {

// For those that cannot be cut in two: no plan asks them for states.
class WholeAccumulator : public Accumulator {
public:
    void add_states(std::span<const ColumnVector>, const GroupedRows&) override {
        CHECK(false && "no state");
    }
    void append_states(std::vector<ColumnVector>&, std::size_t, std::size_t) const override {
        CHECK(false && "no state");
    }
};

class MedianAccumulator : public WholeAccumulator {
public:
    void resize(std::size_t groups) override { values_.resize(groups); }

    void add(const ColumnVector* argument, const GroupedRows& rows) override {
        const std::vector<double> numbers = reals(*argument, rows.rows);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            if (argument->is_null(rows.rows[i])) continue;
            values_[rows.groups[i]].push_back(numbers[i]);
            held_ += sizeof(double);
        }
    }
    void merge(const Accumulator& other, std::span<const std::uint32_t> to) override {
        const auto& more = dynamic_cast<const MedianAccumulator&>(other);
        for (std::size_t i = 0; i < to.size(); ++i) {
            std::vector<double>& all = values_[to[i]];
            all.insert(all.end(), more.values_[i].begin(), more.values_[i].end());
        }
        held_ += more.held_;
    }
    [[nodiscard]] ColumnVector results(std::size_t from, std::size_t count) const override {
        ColumnVector out(DataType::float64, count);
        for (std::size_t i = 0; i < count; ++i) {
            std::vector<double> all = values_[from + i];
            if (all.empty()) {
                out.set_null(i);
                continue;
            }
            // A NaN is greater than every other number.
            const auto less = [](double a, double b) {
                return std::isnan(b) ? !std::isnan(a) : a < b;
            };
            const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
            std::nth_element(all.begin(), middle, all.end(), less);
            double median = *middle;
            if (all.size() % 2 == 0) {
                median = (*std::max_element(all.begin(), middle, less) + median) / 2;
            }
            out.mutable_data<double>()[i] = median;
        }
        return out;
    }
    [[nodiscard]] std::size_t memory() const override {
        return held_ + values_.capacity() * sizeof(std::vector<double>);
    }

private:
    std::vector<std::vector<double>> values_;
    std::size_t held_ = 0;
};

// Counts the different pairs of a group and a value.
class DistinctAccumulator : public WholeAccumulator {
public:
    explicit DistinctAccumulator(DataType type) : pairs_({DataType::uint32, type}) {}

    void resize(std::size_t groups) override { counts_.resize(groups); }

    void add(const ColumnVector* argument, const GroupedRows& rows) override {
        std::vector<std::uint32_t> known;
        std::vector<std::uint32_t> groups;
        for (std::size_t i = 0; i < rows.rows.size(); ++i) {
            if (argument->is_null(rows.rows[i])) continue;
            known.push_back(rows.rows[i]);
            groups.push_back(rows.groups[i]);
        }
        add_pairs(groups, gather(*argument, known));
    }
    void merge(const Accumulator& other, std::span<const std::uint32_t> to) override {
        const auto& more = dynamic_cast<const DistinctAccumulator&>(other);
        const std::size_t count = more.pairs_.size();
        const ColumnVector old = more.pairs_.key(0, 0, count);
        std::vector<std::uint32_t> groups(count);
        for (std::size_t i = 0; i < count; ++i) groups[i] = to[old.data<std::uint32_t>()[i]];
        add_pairs(groups, more.pairs_.key(1, 0, count));
    }
    [[nodiscard]] ColumnVector results(std::size_t from, std::size_t count) const override {
        ColumnVector out(DataType::uint64, count);
        std::copy_n(counts_.begin() + static_cast<std::ptrdiff_t>(from), count,
                    out.mutable_data<std::uint64_t>());
        return out;
    }
    [[nodiscard]] std::size_t memory() const override {
        return pairs_.memory() + counts_.capacity() * 8;
    }

private:
    void add_pairs(std::span<const std::uint32_t> groups, const ColumnVector& values) {
        ColumnVector of(DataType::uint32, groups.size());
        std::copy(groups.begin(), groups.end(), of.mutable_data<std::uint32_t>());
        std::vector<std::uint32_t> rows(groups.size());
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::uint32_t>(i);
        std::vector<std::uint32_t> numbers(groups.size());
        std::size_t known = pairs_.size();
        const ColumnVector keys[] = {std::move(of), values};
        pairs_.groups_of(keys, rows, numbers.data());
        for (std::size_t i = 0; i < groups.size(); ++i) {
            if (numbers[i] < known) continue;
            counts_[groups[i]] += 1;  // new pairs are numbered in the order of the rows
            known += 1;
        }
    }

    GroupTable pairs_;
    std::vector<std::uint64_t> counts_;
};

// The first or the last row in the order of arrival, NULL or not.
class NthAccumulator : public WholeAccumulator {
public:
    NthAccumulator(DataType type, bool last) : type_(type), last_(last) {}

    void resize(std::size_t groups) override { chosen_.resize(groups); }

    void add(const ColumnVector* argument, const GroupedRows& rows) override {
        for (std::size_t i = 0; i < rows.rows.size(); ++i) {
            const std::uint64_t number = rows.sequence + rows.rows[i] + 1;
            Chosen& chosen = chosen_[rows.groups[i]];
            if (wins(number, chosen)) {
                chosen = {.number = number, .value = value_at(*argument, rows.rows[i])};
            }
        }
    }
    void merge(const Accumulator& other, std::span<const std::uint32_t> to) override {
        const auto& more = dynamic_cast<const NthAccumulator&>(other);
        for (std::size_t i = 0; i < to.size(); ++i) {
            const Chosen& candidate = more.chosen_[i];
            if (candidate.number != 0 && wins(candidate.number, chosen_[to[i]])) {
                chosen_[to[i]] = candidate;
            }
        }
    }
    [[nodiscard]] ColumnVector results(std::size_t from, std::size_t count) const override {
        std::vector<Value> values;
        for (std::size_t i = 0; i < count; ++i) values.push_back(chosen_[from + i].value);
        return column_of(type_, values);
    }
    [[nodiscard]] std::size_t memory() const override {
        std::size_t bytes = chosen_.capacity() * sizeof(Chosen);
        if (!is_text(type_)) return bytes;
        for (const Chosen& chosen : chosen_) {
            const auto* text = std::get_if<std::string>(&chosen.value);
            if (text != nullptr) bytes += text->capacity();
        }
        return bytes;
    }

private:
    struct Chosen {
        std::uint64_t number = 0;  // 0: none yet
        Value value;
    };
    [[nodiscard]] bool wins(std::uint64_t number, const Chosen& over) const {
        if (over.number == 0) return true;
        return last_ ? number > over.number : number < over.number;
    }

    DataType type_;
    bool last_;
    std::vector<Chosen> chosen_;
};

// Two sets of values are put together by the formula of Chan et al.
class SpreadAccumulator : public Accumulator {
public:
    explicit SpreadAccumulator(bool root) : root_(root) {}

    void resize(std::size_t groups) override { moments_.resize(groups); }

    void add(const ColumnVector* argument, const GroupedRows& rows) override {
        const std::vector<double> numbers = reals(*argument, rows.rows);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            if (argument->is_null(rows.rows[i])) continue;
            Moments& moments = moments_[rows.groups[i]];
            moments.count += 1;
            const double off = numbers[i] - moments.mean;
            moments.mean += off / static_cast<double>(moments.count);
            moments.m2 += off * (numbers[i] - moments.mean);
        }
    }
    void add_states(std::span<const ColumnVector> states, const GroupedRows& rows) override {
        for (std::size_t i = 0; i < rows.rows.size(); ++i) {
            const std::uint32_t row = rows.rows[i];
            join(moments_[rows.groups[i]], {.count = states[0].data<std::uint64_t>()[row],
                                            .mean = states[1].data<double>()[row],
                                            .m2 = states[2].data<double>()[row]});
        }
    }
    void merge(const Accumulator& other, std::span<const std::uint32_t> to) override {
        const auto& more = dynamic_cast<const SpreadAccumulator&>(other);
        for (std::size_t i = 0; i < to.size(); ++i) join(moments_[to[i]], more.moments_[i]);
    }
    [[nodiscard]] ColumnVector results(std::size_t from, std::size_t count) const override {
        ColumnVector out(DataType::float64, count);
        for (std::size_t i = 0; i < count; ++i) {
            const Moments& of = moments_[from + i];
            if (of.count < 2) {
                out.set_null(i);
                continue;
            }
            const double variance = of.m2 / static_cast<double>(of.count - 1);
            out.mutable_data<double>()[i] = root_ ? std::sqrt(variance) : variance;
        }
        return out;
    }
    void append_states(std::vector<ColumnVector>& columns, std::size_t from,
                       std::size_t count) const override {
        ColumnVector counts(DataType::uint64, count);
        ColumnVector means(DataType::float64, count);
        ColumnVector m2(DataType::float64, count);
        for (std::size_t i = 0; i < count; ++i) {
            const Moments& of = moments_[from + i];
            counts.mutable_data<std::uint64_t>()[i] = of.count;
            means.mutable_data<double>()[i] = of.mean;
            m2.mutable_data<double>()[i] = of.m2;
            if (of.count > 0) continue;
            means.set_null(i);
            m2.set_null(i);
        }
        columns.push_back(std::move(counts));
        columns.push_back(std::move(means));
        columns.push_back(std::move(m2));
    }
    [[nodiscard]] std::size_t memory() const override {
        return moments_.capacity() * sizeof(Moments);
    }

private:
    struct Moments {
        std::uint64_t count = 0;
        double mean = 0;
        double m2 = 0;  // the sum of squared differences from the mean
    };
    static void join(Moments& into, const Moments& more) {
        if (more.count == 0) return;
        const auto a = static_cast<double>(into.count);
        const auto b = static_cast<double>(more.count);
        const double difference = more.mean - into.mean;
        into.m2 += more.m2 + difference * difference * a * b / (a + b);
        into.mean += difference * b / (a + b);
        into.count += more.count;
    }

    bool root_;
    std::vector<Moments> moments_;
};

}  // namespace

std::unique_ptr<Accumulator> make_median() {
    return std::make_unique<MedianAccumulator>();
}

std::unique_ptr<Accumulator> make_distinct(DataType of) {
    return std::make_unique<DistinctAccumulator>(of);
}

std::unique_ptr<Accumulator> make_nth(DataType type, bool last) {
    return std::make_unique<NthAccumulator>(type, last);
}

std::unique_ptr<Accumulator> make_spread(bool root) {
    return std::make_unique<SpreadAccumulator>(root);
}

}  // namespace baton::engine
