// How fast CSV becomes columns, from memory, on one thread, per second of CPU time.
//
//   decoder      CsvDecoder, all columns, in blocks as a file source reads them
//   scan         a hand-written loop for this one schema: memchr for each delimiter, digits one by
//                one, numbers only summed; no checks of form, range or UTF-8
//   duckdb       read_csv over the same bytes in a file, types given, one thread, all columns
//   summed
//
// Two schemas: that of a sensor (a time, two ids, a real number) and that of the Yahoo benchmark
// (texts). They take turns within one run. The aim is 12 million rows a second for the sensor's.
#include <charconv>
#include <cstring>
#include <fstream>
#include <string>

#include "base/prng.h"
#include "bench/duckdb_peer.h"
#include "bench/harness.h"
#include "engine/formats/decoder.h"

namespace baton::bench {
namespace {

struct Sample {
    std::string name;
    Schema schema;
    std::string duckdb_columns;  // for read_csv
    std::string duckdb_sums;
    std::string csv;
    std::uint64_t rows = 0;
};

Sample sensor(std::uint64_t rows) {
    Sample sample{.name = "sensor: 4 numbers",
                  .schema = {{{"TS", DataType::uint64, false},
                              {"ROOM", DataType::int32, false},
                              {"DEVICE", DataType::uint32, true},
                              {"CELSIUS", DataType::float64, true}}},
                  .duckdb_columns =
                      "{'TS':'UBIGINT','ROOM':'INTEGER','DEVICE':'UINTEGER',"
                      "'CELSIUS':'DOUBLE'}",
                  .duckdb_sums = "sum(TS), sum(ROOM), sum(DEVICE), sum(CELSIUS)",
                  .rows = rows};
    Prng prng(1);
    for (std::uint64_t i = 0; i < rows; ++i) {
        sample.csv +=
            std::to_string(1'700'000'000'000 + i) + "," + std::to_string(prng.between(1, 500)) +
            "," + std::to_string(prng.between(1, 100'000)) + "," +
            std::to_string(prng.between(10, 30)) + "." + std::to_string(prng.between(0, 99)) + "\n";
    }
    return sample;
}

Sample events(std::uint64_t rows) {
    Sample sample{.name = "events: 3 texts, 2 numbers",
                  .schema = {{{"USER", DataType::varsized, false},
                              {"AD", DataType::varsized, false},
                              {"TYPE", DataType::varsized, false},
                              {"TS", DataType::uint64, false},
                              {"IP", DataType::int64, false}}},
                  .duckdb_columns =
                      "{'USER':'VARCHAR','AD':'VARCHAR','TYPE':'VARCHAR','TS':'UBIGINT',"
                      "'IP':'BIGINT'}",
                  .duckdb_sums = "max(\"USER\"), max(AD), max(TYPE), sum(TS), sum(IP)",
                  .rows = rows};
    Prng prng(2);
    for (std::uint64_t i = 0; i < rows; ++i) {
        sample.csv += "user-" + std::to_string(prng.between(100'000, 999'999)) + "-abcdef,ad-" +
                      std::to_string(prng.between(0, 999)) + (i % 3 == 0 ? ",click," : ",view,") +
                      std::to_string(1'700'000'000'000 + i) + "," +
                      std::to_string(prng.between(0, 4'000'000'000)) + "\n";
    }
    return sample;
}

std::uint64_t decode(const Sample& sample) {
    formats::DecoderSetup setup{.format = {}, .schema = sample.schema, .wanted = {}};
    for (std::size_t i = 0; i < sample.schema.columns.size(); ++i) setup.wanted.push_back(i);
    auto decoder = must(formats::make_decoder(setup));
    std::uint64_t rows = 0;
    engine::Batch batch;
    const auto drain = [&] {
        while (must(decoder->next(batch))) rows += batch.rows;
    };
    for (std::string_view rest = sample.csv; !rest.empty();) {
        const auto room = must(decoder->room());
        const std::size_t count = std::min(room.size(), rest.size());
        std::memcpy(room.data(), rest.data(), count);
        decoder->filled(count);
        rest.remove_prefix(count);
        drain();
    }
    must(decoder->end());
    drain();
    return rows;
}

// Numbers are read as far as they go; texts are only cut out.
std::uint64_t scan(const Sample& sample) {
    std::uint64_t rows = 0;
    double sum = 0;
    const char* at = sample.csv.data();
    const char* const end = at + sample.csv.size();
    while (at < end) {
        const auto* const line =
            static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
        for (std::size_t i = 0; i < sample.schema.columns.size(); ++i) {
            const bool last = i + 1 == sample.schema.columns.size();
            const char* const stop = last ? line
                                          : static_cast<const char*>(std::memchr(
                                                at, ',', static_cast<std::size_t>(line - at)));
            const DataType type = sample.schema.columns[i].type;
            if (type == DataType::float64) {
                double value = 0;
                std::from_chars(at, stop, value);
                sum += value;
            } else if (is_integer(type)) {
                std::uint64_t value = 0;
                for (const char* digit = at; digit < stop; ++digit) {
                    value = 10 * value + static_cast<std::uint64_t>(*digit - '0');
                }
                sum += static_cast<double>(value);
            } else {
                sum += static_cast<double>(stop - at);
            }
            at = stop + 1;
        }
        rows += 1;
    }
    if (sum == 1) give_up("so that the loop is not left out");
    return rows;
}

std::uint64_t read(const DuckDb& duckdb, const Sample& sample, const std::string& path) {
    return duckdb.ask(
        "SELECT " + sample.duckdb_sums + ", count(*) FROM read_csv('" + path +
        "', header=false, auto_detect=false, delim=',', columns=" + sample.duckdb_columns + ")");
}

struct Contestant {
    std::string name;
    std::function<std::uint64_t()> turn;
    double best = 1e9;  // CPU seconds
};

void compare(const Sample& sample, const Scratch& scratch, int rounds) {
    const std::string path = scratch / "sample.csv";
    std::ofstream(path, std::ios::binary) << sample.csv;
    const DuckDb duckdb;
    std::vector<Contestant> all = {{"decoder", [&] { return decode(sample); }},
                                   {"scan", [&] { return scan(sample); }},
                                   {"duckdb", [&] { return read(duckdb, sample, path); }}};
    for (int round = 0; round < rounds; ++round) {
        for (Contestant& one : all) {
            const double before = cpu_seconds();
            if (one.turn() != sample.rows) give_up(one.name + " lost rows");
            one.best = std::min(one.best, cpu_seconds() - before);
        }
    }
    const auto rows = static_cast<double>(sample.rows);
    const auto bytes = static_cast<double>(sample.csv.size());
    Table table({sample.name, "million rows per CPU s", "MB per CPU s", "decoder is"});
    for (const Contestant& one : all) {
        table.add({one.name, text(rows / one.best / 1e6, 1), text(bytes / one.best / 1e6),
                   text(one.best / all[0].best, 2) + " x as fast"});
    }
    table.print();
}

int run(int count, char** values) {
    const Arguments arguments = arguments_of(count, values);
    const Scratch scratch(arguments);
    const std::uint64_t rows = arguments.tiny ? 1000 : 2'000'000;
    compare(sensor(rows), scratch, arguments.tiny ? 1 : 5);
    compare(events(rows), scratch, arguments.tiny ? 1 : 5);
    return 0;
}

}  // namespace
}  // namespace baton::bench

int main(int count, char** values) {
    return baton::bench::run(count, values);
}
