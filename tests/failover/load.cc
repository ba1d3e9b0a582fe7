#include "failover/load.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <libpq-fe.h>
#include <poll.h>

#include "failover/workload.h"

namespace baton::failover {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto kAnswerWithin = 10s;  // of one coordinator; then it is taken for dead
constexpr auto kGiveUpAfter = 60s;   // all of them together
constexpr unsigned kUnknownOutcome = 6006;
constexpr unsigned kFenced = 6007;
constexpr std::size_t kQueriesMax = 3;  // of one client at a time

unsigned number_of(const PGresult& result) {
    const char* text = PQresultErrorField(&result, PG_DIAG_SOURCE_LINE);
    if (text == nullptr) return 0;
    const std::string_view digits(text);
    unsigned number = 0;
    (void)std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
}

}  // namespace

// ---- a client -----------------------------------------------------------------------------------

void Client::Finish::operator()(pg_conn* conn) const {
    PQfinish(conn);
}

Client::Client(std::vector<std::string> addresses, std::size_t first)
    : addresses_(std::move(addresses)), at_(first % addresses_.size()) {}

Client::~Client() = default;

bool Client::connect() {
    if (conn_ && PQstatus(conn_.get()) == CONNECTION_OK) return true;
    const std::string& address = addresses_[at_];
    const std::size_t colon = address.rfind(':');
    const std::string text =
        "user=load dbname=baton connect_timeout=2 host=" + address.substr(0, colon) +
        " port=" + address.substr(colon + 1);
    conn_.reset(PQconnectdb(text.c_str()));
    if (PQstatus(conn_.get()) == CONNECTION_OK) {
        PQsetNoticeProcessor(
            conn_.get(), [](void*, const char*) {}, nullptr);
        return true;
    }
    conn_.reset();
    return false;
}

bool Client::wait(int events, Deadline deadline) const {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd socket{.fd = PQsocket(conn_.get()), .events = static_cast<short>(events), .revents = 0};
    return ::poll(&socket, 1, static_cast<int>(left.count())) > 0;
}

Client::Answer Client::ask(const std::string& statement) {
    Answer answer;
    if (!connect()) return answer;
    answer.sent = true;
    const auto deadline = steady_clock::now() + kAnswerWithin;
    if (PQsendQuery(conn_.get(), statement.c_str()) == 0) {
        conn_.reset();
        return answer;
    }
    for (;;) {
        while (PQisBusy(conn_.get()) != 0) {
            if (!wait(POLLIN, deadline) || PQconsumeInput(conn_.get()) == 0) {
                conn_.reset();
                return answer;
            }
        }
        const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQgetResult(conn_.get()),
                                                                   &PQclear);
        if (!result) break;
        const ExecStatusType status = PQresultStatus(result.get());
        answer.ok = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
        if (answer.ok) continue;
        answer.number = number_of(*result);
        answer.text = PQresultErrorMessage(result.get());
    }
    if (PQstatus(conn_.get()) != CONNECTION_OK) conn_.reset();
    return answer;
}

void Client::turn_to_next() {
    conn_.reset();
    at_ = (at_ + 1) % addresses_.size();
}

void Client::follow(const std::string& text) {
    for (std::size_t i = 0; i < addresses_.size(); ++i) {
        if (i == at_ || text.find(addresses_[i]) == std::string::npos) continue;
        conn_.reset();
        at_ = i;
        return;
    }
    turn_to_next();
    std::this_thread::sleep_for(20ms);  // nobody leads, or nobody knows who
}

Told Client::say(const std::string& statement) {
    const auto deadline = steady_clock::now() + kGiveUpAfter;
    while (steady_clock::now() < deadline) {
        const Answer answer = ask(statement);
        if (answer.ok) return Told::done;
        if (!answer.sent) {
            turn_to_next();
            std::this_thread::sleep_for(20ms);
        } else if (answer.number == kFenced) {
            follow(answer.text);
        } else if (answer.number == 0 || answer.number == kUnknownOutcome) {
            turn_to_next();
            return Told::nothing;
        } else {
            last_refusal_ = answer.number;
            return Told::refused;
        }
    }
    last_refusal_ = 0;
    return Told::refused;
}

// ---- all of them --------------------------------------------------------------------------------

Load::Load(const std::vector<std::string>& addresses, std::size_t clients, std::uint64_t seed) {
    last_done_ = steady_clock::now();
    for (std::size_t i = 0; i < clients; ++i) {
        Person& me = *people_.emplace_back(std::make_unique<Person>());
        me.thread =
            std::thread([this, &me, i, addresses, seed] { run(me, i, addresses, seed * 100 + i); });
    }
}

Load::~Load() {
    stop();
}

void Load::stop() {
    over_ = true;
    for (const auto& person : people_) {
        if (person->thread.joinable()) person->thread.join();
    }
}

void Load::run(Person& me, std::size_t number, std::vector<std::string> addresses,
               std::uint64_t seed) {
    Client client(std::move(addresses), number);
    Prng prng(seed);
    for (std::uint64_t i = 0; !over_; ++i) {
        act(me, client, prng, "C" + std::to_string(number) + "_" + std::to_string(i));
        std::this_thread::sleep_for(std::chrono::milliseconds(prng.between(0, 20)));
    }
}

void Load::note(Person& me, const Client& client, Told told) {
    if (told == Told::done) {
        me.tally.done += 1;
        last_done_ = steady_clock::now();
    } else if (told == Told::refused) {
        me.tally.refused += 1;
        me.tally.refusals[client.last_refusal()] += 1;
    } else {
        me.tally.unanswered += 1;
    }
}

void Load::act(Person& me, Client& client, Prng& prng, const std::string& new_name) {
    const bool query = prng.chance(1, 6);
    auto& things = query ? me.queries : me.sources;
    const auto kept =
        static_cast<std::size_t>(std::count_if(things.begin(), things.end(), [](const auto& thing) {
            return thing.second == Fate::there;
        }));
    const bool drop = kept > 0 && (prng.chance(1, 3) || (query && kept >= kQueriesMax));
    const std::string kind = query ? "QUERY " : "LOGICAL SOURCE ";
    if (!drop) {
        const Told told =
            client.say(query ? small_query(new_name) : "CREATE " + kind + new_name + " (x INT8)");
        note(me, client, told);
        things[new_name] = told == Told::done      ? Fate::there
                           : told == Told::refused ? Fate::gone
                                                   : Fate::either;
        return;
    }
    const auto thing = std::find_if(things.begin(), things.end(),
                                    [](const auto& each) { return each.second == Fate::there; });
    const Told told = client.say("DROP " + kind + thing->first);
    note(me, client, told);
    if (told == Told::done) thing->second = Fate::gone;
    if (told == Told::nothing) thing->second = Fate::either;
}

Tally Load::tally() const {
    Tally all;
    for (const auto& person : people_) {
        all.done += person->tally.done;
        all.refused += person->tally.refused;
        all.unanswered += person->tally.unanswered;
        for (const auto& [number, times] : person->tally.refusals) all.refusals[number] += times;
    }
    return all;
}

std::vector<std::string> Load::differences(const std::vector<std::string>& sources,
                                           const std::vector<std::string>& queries) const {
    std::vector<std::string> found;
    const auto compare = [&](const std::map<std::string, Fate>& told,
                             const std::vector<std::string>& there) {
        for (const auto& [name, fate] : told) {
            if (fate == Fate::either) continue;
            const bool is = std::find(there.begin(), there.end(), name) != there.end();
            if (is == (fate == Fate::there)) continue;
            found.push_back(name + (is ? " is there, though it was dropped or refused"
                                       : " was accepted, and is not there"));
        }
    };
    for (const auto& person : people_) {
        compare(person->sources, sources);
        compare(person->queries, queries);
    }
    return found;
}

}  // namespace baton::failover
