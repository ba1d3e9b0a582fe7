// S3Attempts against a real store: radosgw, with signatures and conditions as it judges them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/s3/open_s3.h"
#include "adapters/s3/requests.h"
#include "adapters/s3/upload.h"
#include "adapters/system/system_clock.h"
#include "base/check.h"
#include "testing/free_port.h"
#include "testing/s3/rados_gateway.h"
#include "testing/temporary_directory.h"

namespace baton::s3 {
namespace {

using testing::RadosGateway;

const system::SystemClock& wall() {
    static const system::SystemClock clock;
    return clock;
}

std::unique_ptr<StoreAttempts> open(const S3Settings& settings, const Clock& clock = wall()) {
    auto opened = open_s3(settings, {{"AWS_EC2_METADATA_DISABLED", "true"}}, clock);
    CHECK(opened);
    return *std::move(opened);
}

template <class T>
AttemptFailure failure(const Attempted<T>& attempted) {
    const auto* failed = std::get_if<AttemptFailure>(&attempted.outcome);
    return failed == nullptr ? AttemptFailure{AttemptTrouble::given_up, "it did not fail", ""}
                             : *failed;
}

// The etag of a put() that has succeeded.
std::string stored(const Attempted<PutOutcome>& put) {
    if (std::holds_alternative<AttemptFailure>(put.outcome)) {
        ADD_FAILURE() << failure(put).why;
        return "";
    }
    const auto* done = std::get_if<Stored>(&std::get<PutOutcome>(put.outcome));
    EXPECT_NE(done, nullptr) << "the condition failed";
    return done == nullptr ? "" : done->etag;
}

bool condition_failed(const Attempted<PutOutcome>& put) {
    const auto* outcome = std::get_if<PutOutcome>(&put.outcome);
    return outcome != nullptr && std::holds_alternative<ConditionFailed>(*outcome);
}

GotWithStamp got(const Attempted<GotWithStamp>& attempted) {
    if (std::holds_alternative<AttemptFailure>(attempted.outcome)) {
        ADD_FAILURE() << failure(attempted).why;
        return {.got = NoObject{}, .stamp = ""};
    }
    return std::get<GotWithStamp>(attempted.outcome);
}

StoredObject object(const Attempted<GotWithStamp>& attempted) {
    const GotWithStamp answer = got(attempted);
    const auto* found = std::get_if<StoredObject>(&answer.got);
    EXPECT_NE(found, nullptr) << "there is no object";
    return found == nullptr ? StoredObject{} : *found;
}

ListPage page(const Attempted<ListPage>& attempted) {
    if (std::holds_alternative<AttemptFailure>(attempted.outcome)) {
        ADD_FAILURE() << failure(attempted).why;
        return {};
    }
    return std::get<ListPage>(attempted.outcome);
}

PutAttempt body(std::string_view bytes, PutCondition condition = Always{}, std::string stamp = "") {
    return {.body = bytes, .condition = std::move(condition), .stamp = std::move(stamp)};
}

std::vector<std::string> keys_of(const ListPage& list) {
    std::vector<std::string> keys;
    for (const ListedObject& entry : list.objects) keys.push_back(entry.key);
    return keys;
}

class S3Test : public ::testing::Test {
protected:
    S3Settings settings_ = RadosGateway::shared().new_bucket();
    std::unique_ptr<StoreAttempts> store_ = open(settings_);
};

TEST_F(S3Test, AnObjectIsReadAsItWasWritten) {
    const std::string bytes("a\0b\xff\n", 5);
    const std::string etag = stored(store_->put("a/b", body(bytes, Always{}, "me 1/%+é"), {}));
    const auto answer = got(store_->get("a/b", {}, {}));
    const auto& found = std::get<StoredObject>(answer.got);
    EXPECT_EQ(found.bytes, bytes);
    EXPECT_EQ(found.etag, etag);
    EXPECT_EQ(found.size, 5U);
    EXPECT_EQ(answer.stamp, "me 1/%+é");
}

TEST_F(S3Test, AnObjectMayBeEmpty) {
    stored(store_->put("empty", body("", IfAbsent{}), {}));
    EXPECT_EQ(object(store_->get("empty", {}, {})).bytes, "");
    EXPECT_EQ(object(store_->get("empty", {.range = ByteRange{0, 5}}, {})).bytes, "");
    EXPECT_EQ(object(store_->get("empty", {.range = ByteRange{0, {}}}, {})).size, 0U);
}

TEST_F(S3Test, ARangeIsThatPartOfTheObjectAndNoMoreThanThereIs) {
    const std::string etag = stored(store_->put("k", body("0123456789"), {}));
    const auto read = [&](ByteRange range) {
        return object(store_->get("k", {.range = range}, {}));
    };
    EXPECT_EQ(read({2, 3}).bytes, "234");
    EXPECT_EQ(read({2, 3}).size, 10U);
    EXPECT_EQ(read({7, {}}).bytes, "789");
    EXPECT_EQ(read({8, 100}).bytes, "89");
    EXPECT_EQ(read({8, UINT64_MAX}).bytes, "89");
    EXPECT_EQ(read({3, 0}).bytes, "");
    EXPECT_EQ(read({10, 5}).bytes, "");
    EXPECT_EQ(read({11, {}}).size, 10U);
    EXPECT_EQ(read({11, {}}).etag, etag);
}

TEST_F(S3Test, AnUnchangedObjectIsNotReadAgain) {
    const std::string etag = stored(store_->put("k", body("one"), {}));
    EXPECT_TRUE(std::holds_alternative<Unchanged>(
        got(store_->get("k", {.range = {}, .unless_etag = etag}, {})).got));
    stored(store_->put("k", body("two"), {}));
    EXPECT_EQ(object(store_->get("k", {.range = {}, .unless_etag = etag}, {})).bytes, "two");
}

TEST_F(S3Test, AnObjectThatIsNotThereIsNoError) {
    EXPECT_TRUE(std::holds_alternative<NoObject>(got(store_->get("none", {}, {})).got));
    EXPECT_TRUE(std::holds_alternative<NoObject>(
        got(store_->get("none", {.range = ByteRange{0, 0}}, {})).got));
    EXPECT_TRUE(
        std::holds_alternative<Done>(store_->remove(std::vector<std::string>{"none"}, {}).outcome));
    EXPECT_TRUE(std::holds_alternative<Done>(
        store_->remove(std::vector<std::string>{"none", "neither"}, {}).outcome));
}

TEST_F(S3Test, AnAnswerThatIsTooLargeIsRefused) {
    stored(store_->put("k", body(std::string(100'000, 'x')), {}));
    EXPECT_EQ(failure(store_->get("k", {.range = {}, .unless_etag = "", .bytes_max = 99'999}, {}))
                  .trouble,
              AttemptTrouble::too_large);
    EXPECT_EQ(object(store_->get("k", {.range = {}, .unless_etag = "", .bytes_max = 100'000}, {}))
                  .bytes.size(),
              100'000U);
}

TEST_F(S3Test, AConditionHoldsOrNothingHappens) {
    const std::string first = stored(store_->put("k", body("1", IfAbsent{}), {}));
    EXPECT_TRUE(condition_failed(store_->put("k", body("2", IfAbsent{}), {})));
    const std::string second = stored(store_->put("k", body("3", IfUnchanged{first}), {}));
    EXPECT_TRUE(condition_failed(store_->put("k", body("4", IfUnchanged{first}), {})));
    EXPECT_EQ(object(store_->get("k", {}, {})).bytes, "3");
    EXPECT_EQ(object(store_->get("k", {}, {})).etag, second);
    EXPECT_TRUE(condition_failed(store_->put("none", body("5", IfUnchanged{first}), {})));
}

TEST_F(S3Test, EightCreatorsOfOneKeyHaveOneWinner) {
    for (int round = 0; round < 25; ++round) {
        std::atomic<int> winners = 0;
        std::vector<std::thread> threads;
        const std::string key = "race" + std::to_string(round);
        for (int i = 0; i < 8; ++i) {
            threads.emplace_back([&, i] {
                for (int tries = 0; tries < 50; ++tries) {
                    const auto put = store_->put(key, body(std::to_string(i), IfAbsent{}), {});
                    if (const auto* outcome = std::get_if<PutOutcome>(&put.outcome)) {
                        winners += std::holds_alternative<Stored>(*outcome) ? 1 : 0;
                        return;
                    }
                    EXPECT_EQ(failure(put).trouble, AttemptTrouble::server);
                }
                ADD_FAILURE() << "no answer in 50 attempts";
            });
        }
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(winners, 1);
    }
}

TEST_F(S3Test, KeysOfAnyCharacterAreSignedAsTheyAreSent) {
    std::vector<std::string> keys = {"plain",         "with space", "plus+sign",   "percent%41",
                                     "a&b=c?d#e",     "quote'\"",   "umlaut-äöü",  "日本語/鍵",
                                     "🪄",          "tilde~",     "back\\slash", "(a)[b]{c}<d>",
                                     "semi;colon:,@", "$!*|^`",     "e\xcc\x81"};
    for (const std::string& key : keys) {
        SCOPED_TRACE(key);
        stored(store_->put(key, body(key), {}));
        EXPECT_EQ(object(store_->get(key, {}, {})).bytes, key);
    }
    std::sort(keys.begin(), keys.end());
    EXPECT_EQ(keys_of(page(store_->list({}, {}))), keys);
    for (const std::string& key : keys) {
        EXPECT_EQ(keys_of(page(store_->list({.prefix = key}, {}))), std::vector<std::string>{key});
    }
    EXPECT_TRUE(std::holds_alternative<Done>(store_->remove(keys, {}).outcome));
    EXPECT_TRUE(page(store_->list({}, {})).objects.empty());
}

TEST_F(S3Test, AListGoesOverPagesInTheOrderOfBytes) {
    std::vector<std::string> keys;
    for (int i = 0; i < 1'100; ++i) {
        keys.push_back("d" + std::to_string(i % 7) + "/k" + std::to_string(i));
    }
    std::vector<std::thread> threads;
    for (std::size_t from = 0; from < 8; ++from) {
        threads.emplace_back([&, from] {
            for (std::size_t i = from; i < keys.size(); i += 8) {
                stored(store_->put(keys[i], body("x"), {}));
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    std::sort(keys.begin(), keys.end());

    std::vector<std::string> listed;
    ListOptions options;
    std::size_t pages = 0;
    do {
        const ListPage list = page(store_->list(options, {}));
        EXPECT_TRUE(list.store_now);
        for (const std::string& key : keys_of(list)) listed.push_back(key);
        options.after = list.next;
        ++pages;
    } while (!options.after.empty() && pages < 10);
    EXPECT_EQ(listed, keys);
    EXPECT_EQ(pages, 2U);

    for (std::size_t i = 0; i < keys.size(); i += 1'000) {
        const std::size_t count = std::min<std::size_t>(1'000, keys.size() - i);
        EXPECT_TRUE(std::holds_alternative<Done>(
            store_->remove(std::span(keys).subspan(i, count), {}).outcome));
    }
    EXPECT_TRUE(page(store_->list({}, {})).objects.empty());
}

TEST_F(S3Test, FoldersAreListedOnceOverPages) {
    std::vector<std::string> folders;
    for (const char* const name : {"a", "b", "b-", "b0", "ä"}) {
        for (const char* const key : {"/1", "/2", "/\xf4\x8f\xbf\xbd"}) {
            stored(store_->put("top/" + std::string(name) + key, body("x"), {}));
        }
        folders.push_back("top/" + std::string(name) + "/");
    }
    stored(store_->put("top/b.file", body("x"), {}));
    std::sort(folders.begin(), folders.end());
    for (const std::size_t entries : {1, 2, 3, 1'000}) {
        std::vector<std::string> found;
        std::vector<std::string> objects;
        ListOptions options{.prefix = "top/", .after = "", .folders = true, .entries_max = entries};
        for (int pages = 0; pages < 20; ++pages) {
            const ListPage list = page(store_->list(options, {}));
            found.insert(found.end(), list.folders.begin(), list.folders.end());
            for (const std::string& key : keys_of(list)) objects.push_back(key);
            options.after = list.next;
            if (options.after.empty()) break;
        }
        EXPECT_EQ(found, folders);
        EXPECT_EQ(objects, std::vector<std::string>{"top/b.file"});
    }
}

TEST_F(S3Test, APrefixOfTheStoreIsPartOfNoKey) {
    S3Settings below = settings_;
    below.prefix = "deep/er ä";
    const auto inner = open(below);
    stored(inner->put("k", body("in"), {}));
    stored(store_->put("deep/other", body("out"), {}));
    EXPECT_EQ(keys_of(page(inner->list({}, {}))), std::vector<std::string>{"k"});
    EXPECT_EQ(object(store_->get("deep/er ä/k", {}, {})).bytes, "in");
    EXPECT_EQ(page(store_->list({.prefix = "", .after = "", .folders = true}, {})).folders,
              std::vector<std::string>{"deep/"});
}

TEST_F(S3Test, FilesAreStreamedFromTheDisk) {
    const testing::TemporaryDirectory directory;
    const std::string path = directory / "file";
    const std::string bytes(3'000'000, 'q');
    std::ofstream(path) << bytes;
    stored(store_->put("f", {.body = PutFile{path}, .condition = IfAbsent{}, .stamp = "s"}, {}));
    EXPECT_EQ(object(store_->get("f", {}, {})).bytes, bytes);
    EXPECT_TRUE(condition_failed(
        store_->put("f", {.body = PutFile{path}, .condition = IfAbsent{}, .stamp = ""}, {})));
    EXPECT_EQ(
        failure(
            store_->put(
                "f", {.body = PutFile{directory / "none"}, .condition = Always{}, .stamp = ""}, {}))
            .trouble,
        AttemptTrouble::refused);
}

std::size_t unfinished_uploads(const S3Settings& settings) {
    Requests requests(settings, settings.region, FixedKeys{*settings.keys, "the test"}, "", wall());
    Attempt attempt = requests.begin({});
    const S3Outcome outcome = requests.send(
        {.method = "GET", .key = "", .query = {{"uploads", ""}}, .headers = {}, .body = {}},
        attempt);
    const std::string& text = std::get<HttpAnswer>(outcome).body;
    std::size_t count = 0;
    for (std::size_t at = text.find("<Upload>"); at != std::string::npos;
         at = text.find("<Upload>", at + 1)) {
        ++count;
    }
    return count;
}

class S3PartsTest : public ::testing::Test {
protected:
    S3PartsTest() {
        settings_.parts_from = 6 << 20;
        settings_.part_bytes = 5 << 20;
        store_ = open(settings_);
        std::ofstream(path_) << bytes_;
    }
    [[nodiscard]] PutAttempt file(PutCondition condition) const {
        return {.body = PutFile{path_}, .condition = std::move(condition), .stamp = "stamp"};
    }

    S3Settings settings_ = RadosGateway::shared().new_bucket();
    std::unique_ptr<StoreAttempts> store_;
    const testing::TemporaryDirectory directory_;
    const std::string path_ = directory_ / "file";
    const std::string bytes_ = std::string(7 << 20, 'a') + std::string(5 << 20, 'b') + "end";
};

TEST_F(S3PartsTest, ALargeObjectIsSentInPartsAndIsWhole) {
    const auto put = store_->put("big", file(Always{}), {});
    stored(put);
    EXPECT_EQ(put.cost.requests, 6U);  // create, three parts, complete, and a look for the etag
    EXPECT_EQ(put.cost.bytes_out > bytes_.size(), true);
    const auto answer = got(store_->get("big", {}, {}));
    EXPECT_TRUE(std::get<StoredObject>(answer.got).bytes == bytes_);
    EXPECT_EQ(answer.stamp, "stamp");
    stored(store_->put("memory", body(bytes_), {}));
    EXPECT_TRUE(object(store_->get("memory", {}, {})).bytes == bytes_);
    EXPECT_EQ(unfinished_uploads(settings_), 0U);
}

TEST_F(S3PartsTest, AConditionOfALargeObjectHoldsToo) {
    const std::string first = stored(store_->put("big", file(IfAbsent{}), {}));
    EXPECT_TRUE(condition_failed(store_->put("big", file(IfAbsent{}), {})));
    const std::string second = stored(store_->put("big", file(IfUnchanged{first}), {}));
    stored(store_->put("big", body("changed"), {}));
    EXPECT_TRUE(condition_failed(store_->put("big", file(IfUnchanged{second}), {})));
    EXPECT_EQ(object(store_->get("big", {}, {})).bytes, "changed");
    EXPECT_EQ(unfinished_uploads(settings_), 0U);
    EXPECT_EQ(keys_of(page(store_->list({}, {}))), std::vector<std::string>{"big"});
}

TEST_F(S3PartsTest, NothingIsLeftOfAnUploadThatWasGivenUp) {
    std::atomic<int> asked = 0;
    AttemptCall call;
    call.given_up = [&] { return ++asked > 8; };
    const auto put = store_->put("big", file(Always{}), call);
    EXPECT_EQ(failure(put).trouble, AttemptTrouble::given_up);
    EXPECT_EQ(unfinished_uploads(settings_), 0U);
    EXPECT_TRUE(std::holds_alternative<NoObject>(got(store_->get("big", {}, {})).got));
}

// --- refusals ------------------------------------------------------------------------------------

TEST_F(S3Test, ARefusalSaysWhyAndHowToGoOn) {
    S3Settings wrong_secret = settings_;
    wrong_secret.keys->secret = "no-secret-at-all";
    AttemptFailure failed = failure(open(wrong_secret)->get("k", {}, {}));
    EXPECT_EQ(failed.trouble, AttemptTrouble::refused);
    EXPECT_NE(failed.why.find("403 SignatureDoesNotMatch"), std::string::npos) << failed.why;
    EXPECT_EQ(failed.why.find("no-secret-at-all"), std::string::npos);
    EXPECT_NE(failed.hint.find("secret key"), std::string::npos);

    S3Settings unknown_key = settings_;
    unknown_key.keys->id = "AKIDNONE";
    failed = failure(open(unknown_key)->list({}, {}));
    EXPECT_EQ(failed.trouble, AttemptTrouble::refused);
    EXPECT_NE(failed.why.find("403 InvalidAccessKeyId"), std::string::npos) << failed.why;

    S3Settings no_bucket = settings_;
    no_bucket.bucket = "no-such-bucket";
    failed = failure(open(no_bucket)->put("k", body("x"), {}));
    EXPECT_EQ(failed.trouble, AttemptTrouble::refused);
    EXPECT_NE(failed.why.find("404 NoSuchBucket"), std::string::npos) << failed.why;
    EXPECT_NE(failed.why.find("no-such-bucket"), std::string::npos) << failed.why;
    EXPECT_EQ(failure(open(no_bucket)->get("k", {}, {})).trouble, AttemptTrouble::refused);

    S3Settings stranger = settings_;
    stranger.keys = RadosGateway::keys_of_stranger();
    failed = failure(open(stranger)->get("k", {}, {}));
    EXPECT_EQ(failed.trouble, AttemptTrouble::refused);
    EXPECT_NE(failed.why.find("403 AccessDenied"), std::string::npos) << failed.why;
    EXPECT_EQ(failure(open(stranger)->put("k", body("x"), {})).trouble, AttemptTrouble::refused);
    EXPECT_EQ(failure(open(stranger)->list({}, {})).trouble, AttemptTrouble::refused);
}

TEST_F(S3Test, AFullBucketIsFull) {
    const auto full = open(RadosGateway::shared().new_bucket(4'096));
    const AttemptFailure failed = failure(full->put("k", body(std::string(1 << 20, 'x')), {}));
    EXPECT_EQ(failed.trouble, AttemptTrouble::full) << failed.why;
}

TEST_F(S3Test, AClosedPortIsNotSent) {
    S3Settings closed = settings_;
    closed.endpoint = "http://127.0.0.1:" + std::to_string(testing::free_port());
    const AttemptFailure failed = failure(open(closed)->put("k", body("x"), {}));
    EXPECT_EQ(failed.trouble, AttemptTrouble::not_sent);
}

TEST_F(S3Test, AStoreThatStandsStillIsSilence) {
    stored(store_->put("k", body("x"), {}));
    AttemptCall call;
    call.silence_max = std::chrono::milliseconds(300);
    RadosGateway::shared().pause();
    const AttemptFailure put = failure(store_->put("k", body("y"), call));
    bool asked = false;
    call.silence_max = std::chrono::seconds(30);
    call.given_up = [&] { return std::exchange(asked, true); };
    const AttemptFailure get = failure(store_->get("k", {}, call));
    RadosGateway::shared().resume();
    EXPECT_EQ(put.trouble, AttemptTrouble::unknown) << put.why;
    EXPECT_EQ(get.trouble, AttemptTrouble::given_up) << get.why;
    EXPECT_EQ(object(store_->get("k", {}, {})).size, 1U);
}

// A clock that is wrong by as much.
class WrongClock final : public Clock {
public:
    explicit WrongClock(Duration ahead) : ahead_(ahead) {}
    [[nodiscard]] Instant now() const override { return wall().now(); }
    [[nodiscard]] WallTime wall_now() const override { return wall().wall_now() + ahead_; }

private:
    const Duration ahead_;
};

TEST_F(S3Test, AWrongClockSignsByTheStoresClock) {
    for (const Duration ahead :
         {Duration(std::chrono::hours(5)), Duration(-std::chrono::hours(5))}) {
        const WrongClock clock(ahead);
        const auto store = open(settings_, clock);
        stored(store->put("k", body("x"), {}));
        const auto again = store->get("k", {}, {});
        EXPECT_EQ(object(again).bytes, "x");
        EXPECT_EQ(again.cost.requests, 1U);  // the clock was found out once
    }
}

}  // namespace
}  // namespace baton::s3
