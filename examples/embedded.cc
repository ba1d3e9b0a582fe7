// A program that has a Baton of its own: it runs a query over a file, watches it, and asks.
//
//     example_embedded [DIRECTORY]        keeps the catalog there; else it is gone at the end
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "library/baton.h"

namespace {

namespace embedded = baton::embedded;

void print(const std::vector<embedded::Row>& rows) {
    for (const embedded::Row& row : rows) {
        for (const auto& value : row) std::cout << "  " << value.value_or("NULL");
        std::cout << "\n";
    }
}

// True if all went well.
bool run(baton::Coordinator& coordinator, const std::string& sql) {
    const embedded::Answers answers =
        coordinator.execute(sql, {.until = baton::Wait::Until::ended});
    for (const embedded::Answer& answer : answers.done) {
        std::cout << answer.statement << " " << answer.name << "\n";
        print(answer.rows);
    }
    if (answers.error) std::cout << to_string(*answers.error) << "\n";
    return !answers.error;
}

bool show_what_it_can(baton::Coordinator& coordinator, const std::string& directory) {
    const std::string in = directory + "/readings.csv";
    const std::string out = directory + "/alerts.csv";
    std::ofstream(in) << "1,20.5\n2,35.0\n1,31.5\n";
    auto watch = coordinator.watch("WATCH SELECT name, state FROM baton.queries");
    if (!watch) return false;
    if (!run(coordinator,
             "CREATE LOGICAL SOURCE readings (sensor UINT64 NOT NULL, celsius FLOAT64);"
             "CREATE PHYSICAL SOURCE FOR readings TYPE File SET ('" + in +
             "' AS \"SOURCE\".FILE_PATH, 'CSV' AS INPUT_FORMATTER.\"TYPE\");"
             "CREATE SINK alerts (sensor UINT64 NOT NULL, celsius FLOAT64) TYPE File SET ('" + out +
             "' AS \"SINK\".FILE_PATH, 'CSV' AS OUTPUT_FORMATTER.\"TYPE\");"
             // Waits until the file was read and all of it written.
             "CREATE QUERY too_hot AS SELECT sensor, celsius FROM readings WHERE celsius > 30.0 "
             "INTO alerts")) {
        return false;
    }
    std::cout << std::ifstream(out).rdbuf();
    const auto news = watch->next(std::chrono::seconds(10));
    if (!news) return false;
    for (const embedded::Event& event : *news) print(event.rows);
    // A mistake is a value that says what to do.
    return !run(coordinator, "DROP SINK alert");
}

}  // namespace

int main(int count, char** values) {
    const bool kept = count > 1;
    std::string directory = kept ? values[1] : "";
    if (!kept) {
        std::string made = (std::filesystem::temp_directory_path() / "baton-XXXXXX").string();
        if (::mkdtemp(made.data()) == nullptr) return 1;
        directory = made;
    }
    bool well = false;
    {
        auto coordinator = baton::Coordinator::open({.data = directory + "/catalog"});
        if (!coordinator) {
            std::cerr << to_string(coordinator.error()) << "\n";
            return 1;
        }
        well = show_what_it_can(**coordinator, directory);
    }
    if (!kept) std::filesystem::remove_all(directory);
    return well ? 0 : 1;
}
