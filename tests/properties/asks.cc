#include "properties/asks.h"

#include <array>
#include <ostream>

#include "base/check.h"
#include "base/overload.h"
#include "coordinator/statements/bind.h"
#include "properties/picks.h"
#include "sql/parser.h"

namespace baton::properties {

namespace {

// A number that no entity ever gets in these tests.
constexpr std::uint64_t kNobody = 999'000;

template <class Map>
std::uint64_t nth_key(const Map& map, std::uint64_t n) {
    if (map.empty()) return kNobody + n;
    return std::next(map.begin(), static_cast<std::ptrdiff_t>(n % map.size()))->first;
}

std::string worker_name() {
    return *rc::gen::weightedElement<std::string>(
        {{6, "W1"}, {6, "W2"}, {5, "W3"}, {1, "embedded"}});
}

std::string source_name() {
    return *rc::gen::weightedElement<std::string>({{8, "S1"}, {6, "S2"}, {1, "S3"}});
}

std::string sink_name() {
    return *rc::gen::weightedElement<std::string>({{8, "K1"}, {6, "K2"}, {1, "K3"}});
}

std::string query_name() {
    return *rc::gen::element<std::string>("A", "B", "C", "D");
}

std::string list_name() {
    return *rc::gen::element<std::string>("L1", "L2");
}

// Sources and sinks have some of the names of tables, and may not.
std::string table_name() {
    return *rc::gen::weightedElement<std::string>({{6, "T1"}, {4, "T2"}, {2, "S1"}, {2, "K1"}});
}

Reason reason() {
    return *rc::gen::elementOf(given_reasons());
}

std::uint64_t nth() {
    return between<std::uint64_t>(0, 6);
}

std::string mode() {
    return *rc::gen::element<std::string>("", " MODE GRACEFUL", " MODE FORCEFUL");
}

StopMode stop_mode() {
    return *rc::gen::element(StopMode::graceful, StopMode::forceful);
}

std::string in_quotes(const std::string& value) {
    return "'" + value + "'";
}

std::string host_setting(const std::string& space) {
    return chance(85) ? ", " + in_quotes(worker_name()) + " AS " + space + ".HOST" : "";
}

// ---- what clients ask ---------------------------------------------------------------------------

Ask create_worker() {
    std::string sql = "CREATE WORKER 'h" + std::to_string(between(1, 5)) + ":1' SET (" +
                      in_quotes(worker_name()) + " AS NAME";
    if (chance(60)) sql += ", " + std::to_string(between(0, 4)) + " AS CAPACITY";
    if (chance(10)) sql += ", 'd:1' AS DATA";
    for (const char* direction : {"DOWNSTREAM", "UPSTREAM"}) {
        std::set<std::string> peers;
        if (chance(45)) peers.insert(worker_name());
        if (chance(15)) peers.insert(worker_name());
        for (const std::string& peer : peers) sql += ", " + in_quotes(peer) + " AS " + direction;
    }
    return statement(sql + ")");
}

Ask create_logical_source() {
    const std::string name = source_name();
    if (chance(10)) {
        const bool empty = chance(50);
        Schema twice{.columns = {{.name = "A"}, {.name = "B"}, {.name = "A"}}};
        return {"CREATE LOGICAL SOURCE " + name + (empty ? " ()" : " (A INT64, B INT64, A INT64)"),
                catalog::request::CreateLogicalSource{name, empty ? Schema{} : twice, chance(30)}};
    }
    const std::string columns =
        *rc::gen::element<std::string>("A INT64", "A INT64, B VARSIZED NOT NULL");
    return statement("CREATE LOGICAL SOURCE " + std::string(chance(25) ? "IF NOT EXISTS " : "") +
                     name + " (" + columns + ")");
}

Ask create_physical_source() {
    const std::string type = *rc::gen::weightedElement<std::string>(
        {{4, "File SET ('f1' AS SOURCE.FILE_PATH"},
         {2, "File SET ('f2' AS SOURCE.FILE_PATH"},
         {1, "TCP SET ('far' AS SOURCE.SOCKET_HOST, 7 AS SOURCE.SOCKET_PORT"}});
    return statement("CREATE PHYSICAL SOURCE FOR " + source_name() + " TYPE " + type +
                     host_setting("SOURCE") + ")");
}

Ask create_sink() {
    const std::string type = *rc::gen::weightedElement<std::string>(
        {{3, "Void SET ('JSON' AS SINK.OUTPUT_FORMAT"},
         {2, "File SET ('out' AS SINK.FILE_PATH"},
         {1, "MQTT SET ('b' AS SINK.SERVER_URI, 't' AS SINK.TOPIC"}});
    return statement("CREATE SINK " + std::string(chance(25) ? "IF NOT EXISTS " : "") +
                     sink_name() + " (A INT64) TYPE " + type + host_setting("SINK") + ")");
}

std::string select() {
    if (chance(90)) return "SELECT A FROM " + source_name();
    return "SELECT A FROM File('in' AS SOURCE.FILE_PATH, SCHEMA(A INT64) AS SOURCE.SCHEMA" +
           host_setting("SOURCE") + ")";
}

Ask create_query() {
    std::string sql = chance(85) ? "CREATE QUERY " + query_name() + " AS " : "";
    sql += select();
    if (chance(15)) sql += " UNION " + select();
    sql += " INTO ";
    sql += chance(90) ? sink_name() : "File('out' AS SINK.FILE_PATH" + host_setting("SINK") + ")";
    return statement(sql);
}

Ask create_task_list() {
    return statement("CREATE TASK LIST " + std::string(chance(25) ? "IF NOT EXISTS " : "") +
                     list_name() + " PARTITIONS " + std::to_string(between(0, 4)));
}

Ask create_table() {
    const std::string name = table_name();
    static std::uint64_t tables = 0;
    Table table{.name = name, .location = "t" + std::to_string(tables++), .managed = chance(60)};
    return {"CREATE TABLE " + name,
            catalog::request::CreateTable{.table = std::move(table), .if_not_exists = chance(25)}};
}

Ask note_table() {
    const std::string name = table_name();
    const std::uint64_t version = between(0, 5);
    return {"note that table " + name + " has version " + std::to_string(version),
            catalog::request::NoteTable{.name = name, .version = version, .rows = version}};
}

std::string drop_target(const std::string& kind) {
    const std::string named = kind == "LOGICAL SOURCE" ? source_name()
                              : kind == "SINK"         ? sink_name()
                              : kind == "WORKER"       ? in_quotes(worker_name())
                              : kind == "TASK LIST"    ? list_name()
                              : kind == "TABLE"        ? table_name()
                                                       : query_name();
    if (chance(60)) {
        if (kind == "PHYSICAL SOURCE" || (kind == "QUERY" && chance(40))) {
            return std::to_string(nth());
        }
        return named;
    }
    if (chance(5)) return std::to_string(nth());
    if (kind == "LOGICAL SOURCE") return "WHERE NAME = " + in_quotes(source_name());
    if (kind == "SINK" || kind == "PHYSICAL SOURCE") {
        return *rc::gen::element<std::string>("WHERE WORKER = 'W1'", "WHERE WORKER = 'W2'",
                                              "WHERE TYPE = 'File'", "WHERE WORKER = NULL");
    }
    if (kind == "TABLE") return "WHERE VERSION = " + std::to_string(between(0, 3));
    if (kind == "TASK LIST") return "WHERE PARTITIONS = " + std::to_string(between(1, 4));
    if (kind == "WORKER") {
        return *rc::gen::element<std::string>("WHERE STATE = 'UNREACHABLE'",
                                              "WHERE DRAINING = TRUE", "WHERE USED = 0",
                                              "WHERE CAPACITY = 1");
    }
    return *rc::gen::element<std::string>("WHERE STATE = 'PENDING'", "WHERE DESIRED = 'RUNNING'",
                                          "WHERE DESIRED = 'DROPPED'", "WHERE STATE = 'STOPPED'");
}

Ask drop() {
    const std::string kind = *rc::gen::element<std::string>(
        "LOGICAL SOURCE", "PHYSICAL SOURCE", "SINK", "WORKER", "TASK LIST", "TABLE", "QUERY");
    const std::string if_exists = chance(40) ? "IF EXISTS " : "";
    return statement("DROP " + kind + " " + if_exists + drop_target(kind) +
                     (kind == "QUERY" ? mode() : ""));
}

catalog::request::QueryRef query_ref(std::string& text) {
    if (chance(50)) {
        const std::string name = query_name();
        text += name;
        return name;
    }
    const std::uint64_t n = nth();
    text += "#" + std::to_string(n);
    return QueryId(n);
}

Ask typed_drop() {
    const std::uint64_t n = nth();
    switch (between(0, 7)) {
        case 0: {
            const std::string name = source_name();
            return {"drop logical source " + name, catalog::request::DropLogicalSource{name}};
        }
        case 1:
            return {"drop physical source #" + std::to_string(n),
                    catalog::request::DropPhysicalSource{PhysicalSourceId(n)}};
        case 2: {
            const std::string name = sink_name();
            return {"drop sink " + name, catalog::request::DropSink{name}};
        }
        case 3: {
            const std::string name = worker_name();
            return {"drop worker " + name, catalog::request::DropWorker{name}};
        }
        case 4: {
            const std::string name = table_name();
            return {"drop table " + name, catalog::request::DropTable{name}};
        }
        case 5: {
            const std::string name = list_name();
            return {"drop task list " + name, catalog::request::DropTaskList{name}};
        }
        default: {
            std::string text = "drop query ";
            const catalog::request::QueryRef ref = query_ref(text);
            const StopMode how = stop_mode();
            return {text + " " + std::string(to_string(how)),
                    catalog::request::DropQuery{ref, how}};
        }
    }
}

Ask stop_query() {
    std::string text = "stop query ";
    const catalog::request::QueryRef ref = query_ref(text);
    const StopMode how = stop_mode();
    return {text + " " + std::string(to_string(how)), catalog::request::StopQuery{ref, how}};
}

Ask drain() {
    const std::string verb = *rc::gen::element<std::string>("DRAIN", "RESUME");
    return statement(verb + " WORKER " + in_quotes(worker_name()));
}

// ---- what controllers ask -----------------------------------------------------------------------

Ask report_worker() {
    controllers::ReportWorker r;
    r.name = worker_name();
    r.state = chance(65) ? WorkerState::active : WorkerState::unreachable;
    if (chance(50)) r.incarnation = Incarnation(between<std::uint64_t>(1, 4));
    r.reason = reason();
    r.leaving = r.state == WorkerState::active && chance(15);
    return {"report worker " + r.name + " " + std::string(to_string(r.state)) + " incarnation " +
                (r.incarnation ? to_string(*r.incarnation) : "as known") + " '" + r.reason.text +
                "'" + (r.leaving ? " leaving" : ""),
            r};
}

Ask report_fragment() {
    using enum FragmentState;
    controllers::ReportFragment r;
    const std::uint64_t n = nth();
    r.fragment = FragmentId(n);
    r.state = *rc::gen::weightedElement<FragmentState>(
        {{8, running}, {4, stopped}, {2, started}, {2, failed}, {1, terminated}, {1, pending}});
    r.reason = chance(80) ? Reason{} : reason();
    return {"report fragment #" + std::to_string(n) + " " + std::string(to_string(r.state)) + " '" +
                r.reason.text + "'",
            r};
}

Ask mark_query() {
    using enum QueryState;
    controllers::MarkQuery r;
    const std::uint64_t n = nth();
    r.query = QueryId(n);
    r.state = *rc::gen::weightedElement<QueryState>({{6, deploying},
                                                     {6, running},
                                                     {2, stopped},
                                                     {2, failed},
                                                     {1, terminated},
                                                     {1, stopping},
                                                     {1, pending}});
    r.reason = chance(80) ? Reason{} : reason();
    return {"mark query #" + std::to_string(n) + " " + std::string(to_string(r.state)) + " '" +
                r.reason.text + "'",
            r};
}

Ask fail_query() {
    const std::uint64_t n = nth();
    const Reason why = reason();
    return {"fail query #" + std::to_string(n) + " '" + why.text + "'",
            controllers::FailQuery{QueryId(n), why}};
}

Ask restart_query() {
    const std::uint64_t n = nth();
    const Reason why = reason();
    return {"restart query #" + std::to_string(n) + " '" + why.text + "'",
            controllers::RestartQuery{QueryId(n), why}};
}

Ask release_query() {
    const std::uint64_t n = nth();
    return {"release query #" + std::to_string(n), controllers::ReleaseQuery{QueryId(n)}};
}

// Moves of the n-th partition, as it is then, to what is said, as far as that can be.
Ask assign_partitions() {
    controllers::AssignPartitions r;
    std::string text = "assign partitions";
    const int moves = between(1, 4);
    for (int i = 0; i < moves; ++i) {
        PartitionMove move;
        move.partition.number = between<std::uint32_t>(0, 7);
        const std::string worker = worker_name();
        const Epoch epoch(between<std::uint64_t>(1, 3));
        if (chance(10)) move.before = ownership::Unowned{};  // whatever it is
        switch (between(0, 3)) {
            case 0:
                move.after = ownership::Owned{worker, epoch};
                break;
            case 1:
                move.after = ownership::Releasing{"", epoch, worker};
                break;
            default:
                break;
        }
        const std::array<std::string, 3> words = {"nobody", worker + " by " + to_string(epoch),
                                                  "be released to " + worker};
        text += (i > 0 ? ", #" : " #") + std::to_string(move.partition.number) +
                (move.before ? ", if unowned, to " : " to ") +
                words.at(move.after ? move.after->index() : 0);
        r.moves.push_back(std::move(move));
    }
    return {text, r};
}

void resolve_move(PartitionMove& move, const ModelState& state) {
    if (state.partitions.empty()) {
        move.partition.list = "L3";
        move.before = ownership::Unowned{};
        return;
    }
    const auto [key, present] =
        *std::next(state.partitions.begin(),
                   static_cast<std::ptrdiff_t>(move.partition.number % state.partitions.size()));
    move.partition = key;
    if (!move.before) move.before = present;
    const std::string* owner = owner_of(present);
    auto* releasing = move.after ? std::get_if<ownership::Releasing>(&*move.after) : nullptr;
    if (releasing != nullptr && owner != nullptr) {
        releasing->owner = *owner;
    } else if (releasing != nullptr) {
        move.after = ownership::Owned{releasing->next_owner, releasing->epoch};
    }
    if (!move.after && state.is_wanted(key)) move.after = ownership::Unowned{};
}

rc::Gen<Item> any_item() {
    return rc::gen::exec([] {
        Item item;
        item.keep = chance(92);
        const int asks = chance(80) ? 1 : between(1, 6);
        for (int i = 0; i < asks; ++i) item.asks.push_back(*any_ask());
        return item;
    });
}

}  // namespace

void showValue(const Ask& ask, std::ostream& os) {
    os << ask.text;
}

void showValue(const Item& item, std::ostream& os) {
    if (!item.keep) os << "TRY ";
    if (item.asks.size() > 1) os << "TOGETHER ";
    for (std::size_t i = 0; i < item.asks.size(); ++i) {
        os << (i > 0 ? "; " : "") << item.asks[i].text;
    }
}

void showValue(const Sequence& sequence, std::ostream& os) {
    for (std::size_t i = 0; i < sequence.items.size(); ++i) {
        os << "\n  " << i + 1 << ". ";
        showValue(sequence.items[i], os);
    }
}

Ask statement(const std::string& sql) {
    const auto parsed = sql::parse_one(sql);
    CHECK(parsed.has_value());
    auto bound = coordinator::bind(*parsed);
    CHECK(bound.has_value());
    return {sql, *std::move(bound)};
}

catalog::Request resolved(const catalog::Request& request, const ModelState& state) {
    catalog::Request result = request;
    const auto resolve_ref = [&](catalog::request::QueryRef& ref) {
        if (const auto* id = std::get_if<QueryId>(&ref)) {
            ref = QueryId(nth_key(state.queries, id->value()));
        }
    };
    const auto resolve_target = [&](catalog::request::Drop& r) {
        auto* id = std::get_if<std::uint64_t>(&r.statement.target);
        if (id == nullptr) return;
        if (r.statement.kind == sql::EntityKind::query) *id = nth_key(state.queries, *id);
        if (r.statement.kind == sql::EntityKind::physical_source) {
            *id = nth_key(state.physical, *id);
        }
    };
    std::visit(Overload{
                   [&](catalog::request::DropPhysicalSource& r) {
                       r.id = PhysicalSourceId(nth_key(state.physical, r.id.value()));
                   },
                   [&](controllers::ReportFragment& r) {
                       r.fragment = FragmentId(nth_key(state.fragments, r.fragment.value()));
                   },
                   [&](controllers::MarkQuery& r) {
                       r.query = QueryId(nth_key(state.queries, r.query.value()));
                   },
                   [&](controllers::FailQuery& r) {
                       r.query = QueryId(nth_key(state.queries, r.query.value()));
                   },
                   [&](controllers::RestartQuery& r) {
                       r.query = QueryId(nth_key(state.queries, r.query.value()));
                   },
                   [&](controllers::ReleaseQuery& r) {
                       r.query = QueryId(nth_key(state.queries, r.query.value()));
                   },
                   [&](controllers::AssignPartitions& r) {
                       for (PartitionMove& move : r.moves) resolve_move(move, state);
                   },
                   [&](catalog::request::DropQuery& r) { resolve_ref(r.query); },
                   [&](catalog::request::StopQuery& r) { resolve_ref(r.query); },
                   [&](catalog::request::Drop& r) { resolve_target(r); },
                   [](auto&) {},
               },
               result);
    return result;
}

namespace {

// `first` and `second` follow the names in the settings of the workers.
std::vector<Item> cluster(const std::string& first, const std::string& second) {
    std::vector<Item> items;
    for (const std::string& sql :
         {"CREATE WORKER 'h1:1' SET ('W1' AS NAME" + first + ")",
          "CREATE WORKER 'h2:1' SET ('W2' AS NAME, 'W1' AS UPSTREAM" + second + ")",
          std::string("CREATE LOGICAL SOURCE S1 (A INT64)"),
          std::string("CREATE LOGICAL SOURCE S2 (A INT64)"),
          std::string("CREATE PHYSICAL SOURCE FOR S1 TYPE File SET ('f1' AS SOURCE.FILE_PATH, "
                      "'W1' AS SOURCE.HOST)"),
          std::string("CREATE PHYSICAL SOURCE FOR S2 TYPE File SET ('f1' AS SOURCE.FILE_PATH, "
                      "'W1' AS SOURCE.HOST)"),
          std::string("CREATE SINK K1 (A INT64) TYPE Void SET ('W2' AS SINK.HOST)"),
          std::string("CREATE SINK K2 (A INT64) TYPE Void SET ('W1' AS SINK.HOST)")}) {
        items.push_back({.asks = {statement(sql)}});
    }
    return items;
}

std::string any_capacity() {
    return *rc::gen::element<std::string>("", ", 1 AS CAPACITY", ", 2 AS CAPACITY",
                                          ", 3 AS CAPACITY");
}

void add_reports(std::vector<Item>& items, FragmentState state) {
    constexpr std::uint64_t kFragments = 6;
    for (std::uint64_t n = 0; n < kFragments; ++n) {
        items.push_back({.asks = {{"report fragment #" + std::to_string(n) + " " +
                                       std::string(to_string(state)) + " ''",
                                   controllers::ReportFragment{FragmentId(n), state, {}}}}});
    }
}

Item mark(std::uint64_t n, QueryState state) {
    return {
        .asks = {{"mark query #" + std::to_string(n) + " " + std::string(to_string(state)) + " ''",
                  controllers::MarkQuery{QueryId(n), state, {}}}}};
}

// What a controller does until a query runs; others may be in between or in the way.
std::vector<Item> bring_up() {
    const std::uint64_t n = nth();
    std::vector<Item> items = {mark(n, QueryState::deploying)};
    add_reports(items, FragmentState::running);
    items.push_back(mark(n, QueryState::running));
    return items;
}

// A query that is stopped and dropped, more than once, until it is gone.
std::vector<Item> wind_down() {
    const std::uint64_t n = nth();
    const std::string query = " query #" + std::to_string(n) + " ";
    std::vector<Item> items;
    const int asks = between(1, 5);
    for (int i = 0; i < asks; ++i) {
        const StopMode how = stop_mode();
        const std::string mode_name(to_string(how));
        if (chance(60)) {
            items.push_back({.asks = {{"stop" + query + mode_name,
                                       catalog::request::StopQuery{QueryId(n), how}}}});
        } else {
            items.push_back({.asks = {{"drop" + query + mode_name,
                                       catalog::request::DropQuery{QueryId(n), how}}}});
        }
    }
    if (chance(50)) return items;
    add_reports(items, FragmentState::stopped);
    if (chance(20)) {
        items.push_back({.asks = {{"restart" + query, controllers::RestartQuery{QueryId(n), {}}}}});
    }
    items.push_back({.asks = {{"release" + query, controllers::ReleaseQuery{QueryId(n)}}}});
    return items;
}

rc::Gen<std::vector<Item>> any_items() {
    return rc::gen::exec([] {
        if (chance(6)) return bring_up();
        if (chance(6)) return wind_down();
        return std::vector<Item>{*any_item()};
    });
}

}  // namespace

std::vector<Item> small_cluster() {
    return cluster("", "");
}

rc::Gen<Ask> any_create_query() {
    return rc::gen::exec(create_query);
}

rc::Gen<Ask> any_groundwork() {
    return rc::gen::exec([] {
        using Make = Ask (*)();
        const Make make = *rc::gen::weightedElement<Make>({{2, create_worker},
                                                           {5, create_physical_source},
                                                           {2, create_sink},
                                                           {3, create_query},
                                                           {3, typed_drop},
                                                           {4, drain},
                                                           {3, report_worker}});
        return make();
    });
}

rc::Gen<Ask> any_ask() {
    return rc::gen::exec([] {
        using Make = Ask (*)();
        const Make make = *rc::gen::weightedElement<Make>({{5, create_worker},
                                                           {3, create_logical_source},
                                                           {4, create_physical_source},
                                                           {4, create_sink},
                                                           {12, create_query},
                                                           {3, create_task_list},
                                                           {4, create_table},
                                                           {3, note_table},
                                                           {5, assign_partitions},
                                                           {4, drop},
                                                           {3, typed_drop},
                                                           {3, stop_query},
                                                           {2, drain},
                                                           {4, report_worker},
                                                           {14, report_fragment},
                                                           {10, mark_query},
                                                           {2, fail_query},
                                                           {3, restart_query},
                                                           {3, release_query}});
        return make();
    });
}

rc::Gen<Sequence> any_sequence(std::size_t most) {
    return rc::gen::exec([most] {
        Sequence sequence;
        if (chance(80)) sequence.items = cluster(any_capacity(), any_capacity());
        const auto size = static_cast<int>(most);
        const auto parts =
            *rc::gen::resize(size, rc::gen::container<std::vector<std::vector<Item>>>(any_items()));
        for (const std::vector<Item>& part : parts) {
            sequence.items.insert(sequence.items.end(), part.begin(), part.end());
        }
        return sequence;
    });
}

}  // namespace baton::properties
