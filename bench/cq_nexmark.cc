// cq_nexmark: the queries of tests/workloads/nexmark.test (NexMark q0 to q5, q7 and q8) as
// continuous queries over CSV files, each into a sink that keeps nothing; beside each, taking
// turns, DuckDB's batch query over the same files (one thread), which only counts the rows.
//
// Events: as NexMark has them, 1 person, 3 auctions and 46 bids in each 50, with favourites; event
// time runs at 100,000 events/s. Each row is a number of 20 to 40 bytes of text, not padded to
// NexMark's sizes. Rates are events per second of processor time: those of all streams, as others
// publish them, and those of the streams that the query reads. CPU seconds are of everything:
// coordinator, worker, threads, from CREATE to the end.
//
//     bench_cq_nexmark [--tiny] [MILLION_EVENTS]
#include <algorithm>
#include <fstream>
#include <map>

#include "bench/duckdb_peer.h"
#include "library/baton.h"
#include "workloads/auction_house.h"

namespace baton::bench {
namespace {

struct Query {
    std::string name;  // of its sink
    std::string sql;
    std::string duckdb;
    double rows = 0;  // that it reads
    double cpu = 1e9;
    double seconds = 1e9;
    double duckdb_cpu = 1e9;
};

// ---- Baton --------------------------------------------------------------------------------------

void run_sql(Coordinator& baton, const std::string& sql, const Wait& wait = {}) {
    const auto answers = baton.execute(sql, wait);
    if (answers.error) give_up(to_string(*answers.error));
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const auto at = text.find(what);
    return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

// Creates what the script creates, with files of that directory, and returns its queries.
std::vector<Query> read_script(Coordinator& baton, const Scratch& scratch, bool checked) {
    std::ifstream script(NEXMARK_SCRIPT);
    std::vector<Query> queries;
    std::string physical;
    for (std::string line; std::getline(script, line);) {
        if (line.starts_with("CREATE LOGICAL")) run_sql(baton, line);
        if (line.starts_with("CREATE PHYSICAL")) physical = line;
        if (line.starts_with("ATTACH FILE ")) {
            run_sql(baton, replaced(physical, ";",
                                    " SET ('" + (scratch / line.substr(12)) +
                                        "' AS SOURCE.FILE_PATH, 'CSV' AS INPUT_FORMATTER.TYPE)"));
        }
        if (line.starts_with("CREATE SINK ")) {
            const std::string name = line.substr(12, line.find(' ', 12) - 12);
            const std::string kept =
                "TYPE Checksum SET ('" + (scratch / name) + "' AS SINK.FILE_PATH)";
            run_sql(baton, replaced(line, "TYPE File", checked ? kept : "TYPE Void"));
        }
        if (!line.starts_with("SELECT ")) continue;
        const std::string into = line.substr(line.rfind(' ') + 1);
        queries.push_back({.name = into.substr(0, into.find(';')), .sql = line});
    }
    if (queries.size() != 8) give_up("there are other queries than expected in " NEXMARK_SCRIPT);
    return queries;
}

std::uint64_t count_in_checksum(const std::string& path) {
    std::ifstream file(path);
    std::string header;
    std::getline(file, header);
    std::uint64_t count = 0;
    file >> count;
    return count;
}

// ---- DuckDB -------------------------------------------------------------------------------------

std::string table_in(const std::string& path, const std::string& columns) {
    return "read_csv('" + path + "', header=false, auto_detect=false, delim=',', columns={" +
           columns + "})";
}

std::map<std::string, std::string> duckdb_queries(const Scratch& scratch) {
    const std::string person = table_in(scratch / "nexmark_persons.csv",
                                        "'pts': 'UBIGINT', 'pid': 'UBIGINT', 'name': 'VARCHAR', "
                                        "'state': 'VARCHAR'");
    const std::string auction = table_in(scratch / "nexmark_auctions.csv",
                                         "'ats': 'UBIGINT', 'aid': 'UBIGINT', 'seller': "
                                         "'UBIGINT', 'category': 'UBIGINT'");
    const std::string bid = table_in(scratch / "nexmark_bids.csv",
                                     "'ts': 'UBIGINT', 'item': 'UBIGINT', 'bidder': 'UBIGINT', "
                                     "'price': 'UBIGINT'");
    return {
        {"q0", "SELECT sum(ts), sum(item), sum(bidder), sum(price), count(*) FROM " + bid},
        {"q1", "SELECT sum(ts), sum(item), sum(price * 0.908::DOUBLE), count(*) FROM " + bid},
        {"q2", "SELECT sum(item), sum(price), count(*) FROM " + bid + " WHERE item % 13 = 0"},
        {"q3", "SELECT count(*) FROM " + auction + " JOIN " + person +
                   " ON seller = pid AND ats // 60000 = pts // 60000 WHERE category = 3 AND state "
                   "IN ('OR', 'ID', 'CA')"},
        {"q4",
         "SELECT count(*) FROM (SELECT w, category, avg(top) FROM (SELECT ts // 60000 AS w, "
         "aid, category, max(price) AS top FROM " +
             bid + " JOIN " + auction +
             " ON item = aid AND ts // 60000 = ats // 60000 GROUP BY ALL) GROUP BY w, "
             "category)"},
        {"q5", "WITH panes AS (SELECT (ts // 10000)::BIGINT AS p, item, count(*) AS c FROM " + bid +
                   " GROUP BY ALL), counts AS (SELECT p - j AS s, item, sum(c) AS n FROM panes, "
                   "range(6) AS r(j) WHERE p >= j GROUP BY ALL), most AS (SELECT s, max(n) AS m "
                   "FROM counts GROUP BY s) SELECT count(*) FROM counts JOIN most ON counts.s = "
                   "most.s AND n = m"},
        {"q7", "SELECT count(*) FROM " + bid +
                   " JOIN (SELECT ts // 10000 AS w, max(price) AS top FROM " + bid +
                   " GROUP BY w) ON price = top AND ts // 10000 = w"},
        {"q8", "SELECT count(*) FROM " + person + " JOIN " + auction +
                   " ON pid = seller AND pts // 10000 = ats // 10000"},
    };
}

// ---- measuring ----------------------------------------------------------------------------------

// Of the streams that it names, each as often as it does: it is read so often.
double rows_read_by(const Query& query, const workloads::House& house) {
    const auto times = [&](const std::string& stream) {
        double count = 0;
        for (const char* before : {"FROM ", "JOIN "}) {
            const std::string mark = before + stream + " ";
            for (std::size_t at = 0; (at = query.sql.find(mark, at)) != std::string::npos; ++at) {
                count += 1;
            }
        }
        return count;
    };
    return times("bid") * static_cast<double>(house.bids.size()) +
           times("auction") * static_cast<double>(house.auctions.size()) +
           times("person") * static_cast<double>(house.persons.size());
}

void measure(const Arguments& arguments) {
    workloads::HouseOptions options{
        .events = 4'000'000, .events_per_second = 100'000, .has_favourites = true};
    if (arguments.tiny) options.events = 20'000;
    if (arguments.tiny) options.events_per_second = 100;
    if (!arguments.rest.empty()) options.events = std::stoull(arguments.rest.front()) * 1'000'000;
    const Scratch scratch(arguments);
    const workloads::House house = workloads::auction_house(options);
    workloads::write_house(scratch / "", house);
    const auto baton = must(Coordinator::open({.data = scratch / "data"}));
    const DuckDb duckdb;
    std::vector<Query> queries = read_script(*baton, scratch, arguments.tiny);
    const auto peers = duckdb_queries(scratch);
    for (Query& query : queries) {
        query.duckdb = peers.at(query.name);
        query.rows = rows_read_by(query, house);
    }
    for (int round = 0; round < (arguments.tiny ? 1 : 3); ++round) {
        for (Query& query : queries) {
            const auto began = Clock::now();
            const double before = cpu_seconds();
            run_sql(*baton, query.sql, {.until = Wait::Until::ended});
            const double between = cpu_seconds();
            query.seconds = std::min(query.seconds, Seconds(Clock::now() - began).count());
            const std::uint64_t expected = duckdb.ask(query.duckdb);
            query.cpu = std::min(query.cpu, between - before);
            query.duckdb_cpu = std::min(query.duckdb_cpu, cpu_seconds() - between);
            if (arguments.tiny && count_in_checksum(scratch / query.name) != expected) {
                give_up(query.name + ": DuckDB finds " + std::to_string(expected) + " rows");
            }
        }
    }
    const auto events = static_cast<double>(options.events);
    Table table({text(events / 1e6, 1) + " million events", "million events per CPU s",
                 "million rows read per CPU s", "million events/s", "s", "x DuckDB, CPU"});
    for (const Query& query : queries) {
        table.add({query.name, text(events / query.cpu / 1e6, 1),
                   text(query.rows / query.cpu / 1e6, 1), text(events / query.seconds / 1e6, 1),
                   text(query.seconds, 2), text(query.duckdb_cpu / query.cpu, 2)});
    }
    table.print();
}

}  // namespace
}  // namespace baton::bench

int main(int count, char** values) {
    baton::bench::measure(baton::bench::arguments_of(count, values));
    return 0;
}
