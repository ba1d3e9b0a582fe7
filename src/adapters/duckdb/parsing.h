// Parsing turns texts into trees and back, with an instance of DuckDB that sees no data. Trees are
// remembered by their text: drivers send the same words again and again.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/duckdb/instance.h"
#include "base/result.h"

namespace baton::duckdb_engine {

class Parsing {
public:
    Parsing(std::size_t trees_max, std::size_t bytes_max)
        : trees_max_(trees_max), bytes_max_(bytes_max) {}

    // Opens the instance.
    [[nodiscard]] Result<Done> start();
    [[nodiscard]] Result<std::string> parse(std::string_view text);  // any thread

private:
    // A connection with the statement that parses, ready.
    struct Parser {
        duckdb::unique_ptr<duckdb::Connection> connection;
        duckdb::unique_ptr<duckdb::PreparedStatement> statement;
    };
    struct Remembered {
        std::string text;
        std::string tree;
    };

    [[nodiscard]] Result<std::unique_ptr<Parser>> take();
    [[nodiscard]] Result<std::string> serialized(const std::string& text);
    [[nodiscard]] Result<std::string> parsed(const std::string& text);
    void remember(std::string_view text, const std::string& tree);

    std::size_t trees_max_;
    std::size_t bytes_max_;
    std::unique_ptr<Instance> instance_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Parser>> idle_;
    std::list<Remembered> recent_;  // first
    std::map<std::string_view, std::list<Remembered>::iterator> by_text_;
    std::size_t bytes_ = 0;
};

}  // namespace baton::duckdb_engine
