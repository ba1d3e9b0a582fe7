// Reads a deployment file: workers, sources, sinks and queries written as YAML.
//
//     workers:  [{host: 'a:8080', data_address: 'a:9090', max_operators: 8, downstream:
//     ['b:8080']}] logical:  [{name: cars, schema: [{name: speed, type: FLOAT64, nullable: true}]}]
//     physical: [{logical: cars, host: 'a:8080', type: File, source_config: {file_path: cars.csv},
//                 parser_config: {type: CSV, field_delimiter: ','}}]
//     sinks:    [{name: out, host: 'b:8080', type: Print, schema: [...], config: {...}}]
//     query:    SELECT * FROM cars INTO out        # also a list, also of {name: .., query: ..}
//
// Input:   the text of the file. Output: the statements that would say the same in SQL, in an order
//          in which each refers only to earlier ones: workers (a downstream one first), logical
//          sources, physical sources, sinks, queries.
// Refused: every key that is not known, at every level, with its place and the nearest known one.
//
// Names are those of SQL: folded to upper case unless written in double quotes inside the YAML text
// ('"speed"'). The addresses of workers stay as they are. Whether a worker, source or sink that the
// file does not define exists already is the catalog's to find out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sql/ast.h"

namespace baton::yaml {

struct Deployment {
    std::vector<sql::Statement> statements;
    // For test runs: the workers of this file on which sources and sinks may be placed.
    std::vector<std::string> allow_source_placement;
    std::vector<std::string> allow_sink_placement;
};

// Fails with unreadable_configuration or too_large (not such a file at all), invalid_configuration,
// missing_configuration, schema, worker_exists, unknown_worker, invalid_topology (the cycle is
// named), or as the parser of queries does; then the position is that of the query in the file.
[[nodiscard]] Result<Deployment> read_deployment(std::string_view yaml_text);

}  // namespace baton::yaml
