#include "bench/keyed_csv.h"

#include <fstream>

#include "base/prng.h"

namespace baton::bench {

std::uint64_t write_keyed_csv(const std::string& path, std::uint64_t rows) {
    Prng prng(7);
    std::ofstream file(path, std::ios::binary);
    std::string text;
    for (std::uint64_t i = 0; i < rows; ++i) {
        text += std::to_string(i / 10) + "," + std::to_string(prng.between(0, 999)) + "," +
                std::to_string(prng.between(0, 99)) + "," + std::to_string(prng.between(0, 99)) +
                "." + std::to_string(prng.between(10, 99)) + "\n";
        if (text.size() < 1 << 20 && i + 1 < rows) continue;
        file << text;
        text.clear();
    }
    return static_cast<std::uint64_t>(file.tellp());
}

std::string keyed_schema() {
    return "(ts UINT64 NOT NULL, k UINT32 NOT NULL, kind UINT8 NOT NULL, v FLOAT64 NOT NULL)";
}

std::string keyed_query(const std::string& source, const std::string& out) {
    return "SELECT start, k, COUNT(*) AS n FROM " + source +
           " WHERE kind < 50 GROUP BY k WINDOW TUMBLING(ts, SIZE 10 SEC) INTO File('" + out +
           "' AS SINK.FILE_PATH, 'CSV' AS OUTPUT_FORMATTER.TYPE)";
}

std::uint64_t groups_in(const std::string& out) {
    std::ifstream file(out);
    std::uint64_t lines = 0;
    for (std::string line; std::getline(file, line);) lines += 1;
    return lines - 1;  // the header
}

}  // namespace baton::bench
