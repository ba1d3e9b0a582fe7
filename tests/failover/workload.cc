#include "failover/workload.h"

#include <fstream>

namespace baton::failover {

namespace {

std::string generator(std::size_t worker, int rate) {
    return "Generator('SEQUENCE UINT64 0 1000000000 1' AS SOURCE.GENERATOR_SCHEMA, 'emit_rate " +
           std::to_string(rate) + "' AS SOURCE.GENERATOR_RATE_CONFIG, 'w" + std::to_string(worker) +
           "' AS SOURCE.HOST, SCHEMA(n UINT64 NOT NULL) AS SOURCE.SCHEMA)";
}

std::string file_of(const std::string& directory, std::size_t query) {
    return directory + "/long" + std::to_string(query) + ".csv";
}

}  // namespace

std::string small_query(const std::string& name) {
    return "CREATE QUERY " + name + " AS SELECT n FROM " + generator(kWorkers - 1, 10) +
           " INTO Void('w" + std::to_string(kWorkers) + "' AS SINK.HOST)";
}

std::string long_queries(const std::string& directory) {
    std::string statements;
    for (std::size_t i = 1; i <= kLongQueries; ++i) {
        const std::string name = "LONG" + std::to_string(i);
        statements += "CREATE QUERY " + name + " AS SELECT n FROM " + generator(i, 100) +
                      " INTO File('" + file_of(directory, i) + "' AS SINK.FILE_PATH, 'w" +
                      std::to_string(kWorkers) +
                      "' AS SINK.HOST, 'CSV' AS OUTPUT_FORMATTER.TYPE); WAIT FOR QUERY " + name +
                      " STATE RUNNING TIMEOUT 60 SEC;";
    }
    return statements;
}

std::vector<std::string> wrong_in_files(const std::string& directory,
                                        std::vector<std::uint64_t>& counts) {
    std::vector<std::string> wrong;
    counts.assign(kLongQueries, 0);
    for (std::size_t i = 1; i <= kLongQueries; ++i) {
        std::ifstream file(file_of(directory, i));
        std::string line;
        std::getline(file, line);  // the header
        std::uint64_t& next = counts[i - 1];
        while (std::getline(file, line) && !file.eof()) {  // the last may be half written
            if (line != std::to_string(next)) {
                wrong.push_back("LONG" + std::to_string(i) + " wrote " + line + " where " +
                                std::to_string(next) + " comes");
                break;
            }
            next += 1;
        }
    }
    return wrong;
}

}  // namespace baton::failover
