#include "crash/model.h"

#include <array>
#include <utility>

#include "base/check.h"

namespace baton::crash {

namespace {

using enum ErrorCode;
using Refusal = std::vector<ErrorCode>;

std::string fact(char kind, int slot) {
    return kind + std::to_string(slot);
}

class Trial {
public:
    Trial(Facts& facts, int slot) : facts_(facts), slot_(slot) {}

    Refusal run(const Action& action) {
        switch (action.verb) {
            case '+':
            case '>':
                return create(action);
            case '-':
                return drop(action.kind);
            case 'd':
                return drain(true);
            case 'r':
                return drain(false);
            case 'x':
                return stop();
            case '?':
                return {syntax};
            default:
                CHECK(false && "an unknown verb");
        }
    }

private:
    [[nodiscard]] bool has(char kind) const { return facts_.contains(fact(kind, slot_)); }
    void put(char kind) { facts_.insert(fact(kind, slot_)); }
    void take(char kind) { facts_.erase(fact(kind, slot_)); }

    Refusal create(const Action& action) {
        switch (action.kind) {
            case 'L':
                if (has('L')) return {source_exists};
                break;
            case 'P':
                if (!has('L')) return {unknown_source};
                if (!has('W')) return {unknown_worker};
                if (has('P')) return {source_exists};
                break;
            case 'S':
                if (has('S')) return {sink_exists};
                if (!has('W')) return {unknown_worker};
                break;
            case 'W':
                if (has('W')) return {worker_exists};
                if (action.verb == '>') {
                    if (!facts_.contains(fact('W', slot_ - 1))) return {unknown_worker};
                    put('K');
                }
                break;
            case 'Q': {
                Refusal refusal;  // which comes first depends on where the statement stands
                if (has('Q')) refusal.push_back(query_exists);
                if (!has('S')) refusal.push_back(unknown_sink);
                if (!has('L')) refusal.push_back(unknown_source);
                if (!has('P') || has('D')) refusal.push_back(placement);
                if (!refusal.empty()) return refusal;
                put('F');
                break;
            }
            default:
                CHECK(false && "an unknown kind");
        }
        put(action.kind);
        return {};
    }

    Refusal drop(char kind) {
        switch (kind) {
            case 'L':
                if (!has('L')) return {unknown_source};
                if (has('P')) return {source_in_use};
                break;
            case 'P':
                if (!has('P')) return {unknown_source};
                if (has('Q')) return {source_in_use};
                break;
            case 'S':
                if (!has('S')) return {unknown_sink};
                if (has('Q')) return {sink_in_use};
                break;
            case 'W':
                if (!has('W')) return {unknown_worker};
                if (has('P') || has('S') || has('Q')) return {worker_in_use};
                take('D');
                take('K');
                facts_.erase(fact('K', slot_ + 1));
                break;
            case 'Q':
                if (!has('Q')) return {unknown_query};
                take('F');
                take('X');
                break;
            default:
                CHECK(false && "an unknown kind");
        }
        take(kind);
        return {};
    }

    Refusal drain(bool draining) {
        if (!has('W')) return {unknown_worker};
        draining ? put('D') : take('D');
        return {};
    }

    Refusal stop() {
        if (!has('Q')) return {unknown_query};
        put('X');
        return {};
    }

    Facts& facts_;
    const int slot_;
};

constexpr std::array kActions = {
    std::pair{'+', 'L'}, std::pair{'-', 'L'}, std::pair{'+', 'P'}, std::pair{'-', 'P'},
    std::pair{'+', 'W'}, std::pair{'>', 'W'}, std::pair{'-', 'W'}, std::pair{'d', 'W'},
    std::pair{'r', 'W'}, std::pair{'+', 'S'}, std::pair{'-', 'S'}, std::pair{'+', 'Q'},
    std::pair{'-', 'Q'}, std::pair{'x', 'Q'}, std::pair{'?', 'L'},
};

Action random_action(Prng& prng) {
    const auto& [verb, kind] = kActions.at(prng.between(0, kActions.size() - 1));
    const int lowest = verb == '>' ? 1 : 0;
    return {verb, kind, static_cast<int>(prng.between(std::uint64_t(lowest), kSlots - 1))};
}

bool changes_nothing(const Facts& facts, const Action& action) {
    const Prediction prediction = predict(facts, {action});
    return prediction.refusal.empty() && prediction.facts == facts;
}

// Everything that the slot lacks, or has, in an order that works.
Operation whole_slot(Prng& prng, const Facts& facts) {
    const int slot = static_cast<int>(prng.between(0, kSlots - 1));
    const bool full = facts.contains(fact('Q', slot));
    Operation operation;
    for (const char kind : std::string_view(full ? "QSPLW" : "WLPSQ")) {
        const Action action{full ? '-' : '+', kind, slot};
        if (facts.contains(fact(kind, slot)) == full) operation.push_back(action);
    }
    if (!full && facts.contains(fact('D', slot))) {
        operation.insert(operation.begin(), {'r', 'W', slot});
    }
    return operation;
}

}  // namespace

std::string to_words(const Operation& operation) {
    std::string words;
    for (const Action& action : operation) {
        if (!words.empty()) words += ",";
        words += std::string{action.verb, action.kind} + std::to_string(action.slot);
    }
    return words;
}

Operation from_words(std::string_view words) {
    Operation operation;
    for (std::size_t i = 0; i + 2 < words.size(); i += 4) {
        operation.push_back({words[i], words[i + 1], words[i + 2] - '0'});
    }
    return operation;
}

std::string statement_of(int thread, const Action& action) {
    const std::string prefix = "T" + std::to_string(thread) + "_";
    const std::string slot = std::to_string(action.slot);
    const auto name = [&](char kind) { return prefix + kind + slot; };
    const std::string columns = " (ID UINT64 NOT NULL, V FLOAT64) ";
    switch (action.verb) {
        case '-':
            if (action.kind == 'P') {
                return "DROP PHYSICAL SOURCE WHERE LOGICAL = '" + name('L') + "'";
            }
            break;
        case 'd':
            return "DRAIN WORKER " + name('W');
        case 'r':
            return "RESUME WORKER " + name('W');
        case 'x':
            return "STOP QUERY " + name('Q');
        case '?':
            return "CREATE LOGICAL SOURCE " + name('L') + " (";
        default:
            break;
    }
    const bool create = action.verb != '-';
    const std::string verb = create ? "CREATE " : "DROP ";
    switch (action.kind) {
        case 'L':
            return verb + "LOGICAL SOURCE " + name('L') + (create ? columns : "");
        case 'P':
            return "CREATE PHYSICAL SOURCE FOR " + name('L') + " TYPE File SET ('" + name('P') +
                   ".csv' AS SOURCE.FILE_PATH, '" + name('W') + "' AS SOURCE.HOST)";
        case 'S':
            return verb + "SINK " + name('S') +
                   (create ? columns + "TYPE Void SET ('" + name('W') + "' AS SINK.HOST)" : "");
        case 'W':
            if (!create) return "DROP WORKER " + name('W');
            return "CREATE WORKER 't" + std::to_string(thread) + "-w" + slot +
                   ":9000' SET (4 AS CAPACITY, '" + name('W') + "' AS NAME" +
                   (action.verb == '>' ? ", '" + prefix + "W" + std::to_string(action.slot - 1) +
                                             "' AS DOWNSTREAM)"
                                       : ")");
        case 'Q':
            return create ? "CREATE QUERY " + name('Q') + " AS SELECT ID, V FROM " + name('L') +
                                " WHERE V > 1.5 INTO " + name('S')
                          : "DROP QUERY " + name('Q');
        default:
            CHECK(false && "an unknown kind");
    }
}

Prediction predict(const Facts& facts, const Operation& operation) {
    Prediction prediction{.facts = facts, .refusal = {}};
    for (const Action& action : operation) {
        prediction.refusal = Trial(prediction.facts, action.slot).run(action);
        if (prediction.refusal.empty()) continue;
        prediction.facts = facts;
        return prediction;
    }
    return prediction;
}

Operation random_operation(Prng& prng, const Facts& facts) {
    const std::uint64_t dice = prng.between(0, 99);
    if (dice < 35) {
        Operation whole = whole_slot(prng, facts);
        // A bundle whose last statement cannot be done must leave nothing behind.
        if (dice < 5) whole.push_back({'-', 'Q', kSlots});
        return whole;
    }
    Action action = random_action(prng);
    for (int attempt = 0; attempt < 20; ++attempt) {
        const bool refused = !predict(facts, {action}).refusal.empty();
        const bool wanted = refused == (dice >= 85);
        if (wanted && !changes_nothing(facts, action)) return {action};
        action = random_action(prng);
    }
    return whole_slot(prng, facts);
}

}  // namespace baton::crash
