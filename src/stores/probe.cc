#include "stores/probe.h"

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "base/text.h"
#include "ports/store_account.h"

namespace baton::stores {

namespace {

constexpr std::size_t kCreators = 8;
constexpr int kRounds = 4;

using Outcome = Result<PutOutcome>;

bool is_stored(const PutOutcome& outcome) {
    return std::holds_alternative<Stored>(outcome);
}

Duration median(std::vector<Duration> times) {
    if (times.empty()) return {};
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

class Probe {
public:
    Probe(ObjectStore& store, const Clock& clock, std::uint64_t seed, const StoreCall& call)
        : store_(store), clock_(clock), call_(call), at_(".probe-" + name_of(seed) + "/") {
        call_.account = &account_;
    }

    Result<StoreReport> run() {
        const auto kept = promises();
        const auto cleaned = clean_up();
        if (call_account_ != nullptr) call_account_->add(account_.use());
        if (!kept) return kept.error();
        if (!cleaned) return cleaned.error();
        return report();
    }
    void also_count_for(StoreAccount* account) { call_account_ = account; }

private:
    static std::string name_of(std::uint64_t seed) {
        Prng prng(seed);
        return std::to_string(prng.next()) + std::to_string(prng.next() % 1'000'000);
    }

    Result<Done> promises() {
        TRY(absent());
        TRY(create_twice());
        TRY(creators_at_once());
        TRY(replace());
        TRY(overwrite());
        TRY(ranges());
        TRY(order());
        return removal();
    }

    [[nodiscard]] Error broken(const std::string& promise) const {
        return {.code = ErrorCode::store_unfit,
                .message = "the store " + in_quotes(store_.url()) + " cannot be used: " + promise,
                .hint =
                    "Baton needs conditional writes (If-None-Match, If-Match) and reads and "
                    "lists that see every write; update the store, or use another one"};
    }

    template <class Call>
    auto timed(std::vector<Duration>& times, const Call& call) {
        const Instant begun = clock_.now();
        auto result = call();
        times.push_back(std::chrono::duration_cast<Duration>(clock_.now() - begun));
        return result;
    }
    Outcome put(const std::string& name, std::string_view bytes, const PutCondition& condition) {
        return timed(puts_, [&] { return store_.put(at_ + name, bytes, condition, call_); });
    }
    Result<Got> get(const std::string& name, const GetOptions& options = {}) {
        return timed(gets_, [&] { return store_.get(at_ + name, options, call_); });
    }
    Result<ListPage> list(const std::string& prefix, const std::string& after = "",
                          bool folders = false) {
        const ListOptions options{.prefix = at_ + prefix,
                                  .after = after.empty() ? "" : at_ + after,
                                  .folders = folders,
                                  .entries_max = kPage};
        return timed(lists_, [&] { return store_.list(options, call_); });
    }
    // The bytes, or none.
    Result<std::optional<std::string>> bytes_of(const std::string& name,
                                                const GetOptions& options = {}) {
        TRY_ASSIGN(got, get(name, options));
        const auto* object = std::get_if<StoredObject>(&got);
        return object == nullptr ? std::nullopt : std::optional(object->bytes);
    }

    Result<Done> absent() {
        TRY_ASSIGN(bytes, bytes_of("never"));
        if (bytes) return broken("it has an object that was never written");
        return Done{};
    }

    Result<Done> create_twice() {
        TRY_ASSIGN(first, put("once", "first", IfAbsent{}));
        if (!is_stored(first)) return broken("it refuses to create an object that is not there");
        TRY_ASSIGN(second, put("once", "second", IfAbsent{}));
        TRY_ASSIGN(bytes, bytes_of("once"));
        if (is_stored(second) || bytes != "first") {
            return broken("it creates an object that is there already, and replaces it");
        }
        return Done{};
    }

    Result<Done> creators_at_once() {
        for (int round = 0; round < kRounds; ++round) {
            const std::string name = "race-" + std::to_string(round);
            std::vector<Outcome> outcomes(kCreators, Outcome(PutOutcome(ConditionFailed{})));
            std::vector<std::thread> threads;
            for (std::size_t i = 0; i < kCreators; ++i) {
                threads.emplace_back([&, i] {
                    outcomes[i] =
                        store_.put(at_ + name, "by " + std::to_string(i), IfAbsent{}, call_);
                });
            }
            for (std::thread& thread : threads) thread.join();
            TRY_ASSIGN(bytes, bytes_of(name));
            std::size_t winners = 0;
            for (std::size_t i = 0; i < kCreators; ++i) {
                if (!outcomes[i]) return outcomes[i].error();
                if (!is_stored(*outcomes[i])) continue;
                ++winners;
                if (bytes != "by " + std::to_string(i)) {
                    return broken("of eight creators of one object, one that won is not in it");
                }
            }
            if (winners != 1) {
                return broken("of eight creators of one object, " + std::to_string(winners) +
                              " succeeded");
            }
        }
        return Done{};
    }

    Result<Done> replace() {
        TRY_ASSIGN(first, put("cell", "0", IfAbsent{}));
        if (!is_stored(first)) return broken("it refuses to create an object that is not there");
        const std::string old_etag = std::get<Stored>(first).etag;
        TRY_ASSIGN(second, put("cell", "1", IfUnchanged{old_etag}));
        if (!is_stored(second)) return broken("it refuses to replace an object that is unchanged");
        TRY_ASSIGN(third, put("cell", "2", IfUnchanged{old_etag}));
        TRY_ASSIGN(bytes, bytes_of("cell"));
        if (is_stored(third) || bytes != "1") {
            return broken("it replaces an object that has changed since it was read");
        }
        TRY_ASSIGN(none, put("gone", "x", IfUnchanged{old_etag}));
        if (is_stored(none)) return broken("it replaces an object that is not there");
        const GetOptions if_new{.range = {}, .unless_etag = std::get<Stored>(second).etag};
        TRY_ASSIGN(same, get("cell", if_new));
        if (!std::holds_alternative<Unchanged>(same)) {
            return broken("it sends an object again that has not changed");
        }
        return Done{};
    }

    Result<Done> overwrite() {
        for (int i = 0; i < kRounds; ++i) {
            const std::string bytes(static_cast<std::size_t>(i) + 1, static_cast<char>('a' + i));
            TRY_ASSIGN(outcome, put("changing", bytes, Always{}));
            if (!is_stored(outcome)) return broken("it refuses a write without a condition");
            TRY_ASSIGN(read, bytes_of("changing"));
            if (read != bytes) return broken("a read does not see the last write");
            TRY_ASSIGN(page, list("changing"));
            const bool seen = page.objects.size() == 1 && page.objects[0].size == bytes.size() &&
                              page.objects[0].etag == std::get<Stored>(outcome).etag;
            if (!seen) return broken("a list does not see the last write");
        }
        return Done{};
    }

    Result<Done> ranges() {
        TRY(put("digits", "0123456789", Always{}));
        struct Case {
            ByteRange range;
            std::string_view bytes;
        };
        const std::array cases = {Case{{.offset = 2, .length = 3}, "234"},
                                  Case{{.offset = 7, .length = std::nullopt}, "789"},
                                  Case{{.offset = 8, .length = 100}, "89"},
                                  Case{{.offset = 20, .length = 1}, ""}};
        for (const Case& each : cases) {
            TRY_ASSIGN(read, bytes_of("digits", {.range = each.range, .unless_etag = {}}));
            if (read != each.bytes) return broken("it does not read the range that is asked for");
        }
        return Done{};
    }

    Result<Done> order() {
        const std::array<std::string, 7> sorted = {"o/A",   "o/a-b", "o/a.b",     "o/a/b",
                                                   "o/a/c", "o/a0",  "o/\xc3\xa4"};
        for (auto name = sorted.rbegin(); name != sorted.rend(); ++name) {
            TRY(put(*name, "x", Always{}));
        }
        std::vector<std::string> listed;
        std::string after;
        for (std::size_t pages = 0; pages <= sorted.size(); ++pages) {
            TRY_ASSIGN(page, list("o/", after));
            for (const auto& each : page.objects) listed.push_back(each.key.substr(at_.size()));
            if (page.next.empty()) break;
            if (!page.next.starts_with(at_)) return broken("its lists do not go on as they should");
            after = page.next.substr(at_.size());
        }
        if (!std::equal(listed.begin(), listed.end(), sorted.begin(), sorted.end())) {
            return broken("its lists are not whole, once each, in the order of the keys' bytes");
        }
        TRY_ASSIGN(folders, list("o/", "o/A", true));
        if (folders.folders != std::vector<std::string>{at_ + "o/a/"}) {
            return broken("its lists do not gather keys into folders");
        }
        return Done{};
    }

    Result<Done> removal() {
        TRY(remove({at_ + "once", at_ + "never"}));
        TRY_ASSIGN(bytes, bytes_of("once"));
        if (bytes) return broken("a read sees an object that was removed");
        TRY_ASSIGN(page, list("once"));
        if (!page.objects.empty()) return broken("a list shows an object that was removed");
        if (page.store_now) {
            says_time_ = true;
            ahead_ = *page.store_now - clock_.wall_now();
        }
        TRY_ASSIGN(again, put("once", "again", IfAbsent{}));
        if (!is_stored(again)) return broken("an object that was removed cannot be made again");
        return Done{};
    }

    Result<Done> remove(const std::vector<std::string>& keys) {
        return timed(removals_, [&] { return store_.remove(keys, call_); });
    }

    // Also when the caller has given up, but not for long.
    Result<Done> clean_up() {
        call_.given_up = {};
        call_.patience = std::min<Duration>(call_.patience, std::chrono::seconds(10));
        std::vector<std::string> keys = {at_ + "once", at_ + "cell", at_ + "gone", at_ + "changing",
                                         at_ + "digits"};
        for (int i = 0; i < kRounds; ++i) keys.push_back(at_ + "race-" + std::to_string(i));
        for (const char* name : {"A", "a-b", "a.b", "a/b", "a/c", "a0", "\xc3\xa4"}) {
            keys.push_back(at_ + "o/" + name);
        }
        return remove(keys);
    }

    [[nodiscard]] StoreReport report() const {
        StoreReport report{.url = store_.url(),
                           .in_place = store_.path_of("x").has_value(),
                           .says_time = says_time_,
                           .clock_ahead = ahead_,
                           .get = median(gets_),
                           .put = median(puts_),
                           .list = median(lists_),
                           .remove = median(removals_)};
        for (const std::uint64_t each : account_.use().requests) report.requests += each;
        return report;
    }

    static constexpr std::size_t kPage = 3;

    ObjectStore& store_;
    const Clock& clock_;
    StoreCall call_;
    const std::string at_;
    StoreAccount account_;
    StoreAccount* call_account_ = nullptr;
    std::vector<Duration> gets_;
    std::vector<Duration> puts_;
    std::vector<Duration> lists_;
    std::vector<Duration> removals_;
    bool says_time_ = false;
    Duration ahead_{};
};

}  // namespace

Result<StoreReport> probe(ObjectStore& store, const Clock& clock, std::uint64_t seed,
                          const StoreCall& call) {
    Probe probe(store, clock, seed, call);
    probe.also_count_for(call.account);
    return probe.run();
}

}  // namespace baton::stores
