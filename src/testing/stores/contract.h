// The promises of an object store, as tests: every store runs the same ones.
//
//     #include "testing/stores/contract.h"
//     INSTANTIATE_TEST_SUITE_P(Folder, StoreContract, ::testing::Values(StoreContractCase{...}),
//                              name_of_store_case);
//
// Include it in one file of a test program. A store may hold other objects: each test has a prefix
// of its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "ports/object_store.h"
#include "ports/store_account.h"
#include "testing/temporary_directory.h"

namespace baton::testing {

struct StoreContractCase {
    std::string name;
    std::function<std::shared_ptr<ObjectStore>()> open;
    std::size_t many = 2'500;       // objects: more than two pages
    std::size_t threads = 16;       // that race ..
    std::size_t keys = 200;         // .. for so many keys
    std::size_t large = 5U << 20U;  // bytes of a large object
    bool key_below_key = true;      // "a" and "a/b" at once
};

inline void PrintTo(const StoreContractCase& each, std::ostream* out) {
    *out << each.name;
}
inline std::string name_of_store_case(const ::testing::TestParamInfo<StoreContractCase>& each) {
    return each.param.name;
}

class StoreContract : public ::testing::TestWithParam<StoreContractCase> {
protected:
    void SetUp() override {
        store_ = GetParam().open();
        ASSERT_TRUE(store_);
        static std::atomic<int> tests = 0;
        at_ = "contract-" + std::to_string(::getpid()) + "-" + std::to_string(++tests) + "/";
    }
    void TearDown() override {
        if (!store_) return;
        const auto left = all({.prefix = at_, .after = {}});
        std::vector<std::string> keys;
        for (const ListedObject& object : left.objects) keys.push_back(object.key);
        EXPECT_TRUE(store_->remove(keys, {}));
    }

    [[nodiscard]] std::string key(const std::string& name) const { return at_ + name; }

    static std::string name_of(const Error& error) {
        return std::string(entry_of(error.code).name);
    }
    // The etag; "refused" or the name of an error.
    std::string put(const std::string& name, std::string_view bytes,
                    const PutCondition& condition = Always{}) {
        const auto outcome = store_->put(key(name), bytes, condition, {});
        if (!outcome) return name_of(outcome.error()) + ": " + outcome.error().message;
        const auto* stored = std::get_if<Stored>(&*outcome);
        return stored == nullptr ? "refused" : stored->etag;
    }
    // The object's bytes; "none", "unchanged" or the name of an error.
    std::string get(const std::string& name, const GetOptions& options = {}) {
        const auto got = store_->get(key(name), options, {});
        if (!got) return name_of(got.error());
        if (std::holds_alternative<NoObject>(*got)) return "none";
        if (std::holds_alternative<Unchanged>(*got)) return "unchanged";
        return std::get<StoredObject>(*got).bytes;
    }
    std::string part(const std::string& name, std::uint64_t offset,
                     std::optional<std::uint64_t> length) {
        return get(name,
                   {.range = ByteRange{.offset = offset, .length = length}, .unless_etag = {}});
    }
    StoredObject object(const std::string& name) {
        const auto got = store_->get(key(name), {}, {});
        EXPECT_TRUE(got && std::holds_alternative<StoredObject>(*got));
        return std::get<StoredObject>(*got);
    }
    void remove(const std::vector<std::string>& names) {
        std::vector<std::string> keys;
        for (const std::string& name : names) keys.push_back(key(name));
        const auto done = store_->remove(keys, {});
        EXPECT_TRUE(done) << to_string(done.error());
    }
    // All pages, and that none is larger than it may be.
    ListPage all(ListOptions options) {
        ListPage whole;
        while (true) {
            const auto page = store_->list(options, {});
            EXPECT_TRUE(page) << to_string(page.error());
            if (!page) return whole;
            EXPECT_LE(page->objects.size() + page->folders.size(), options.entries_max);
            for (const auto& each : page->objects) whole.objects.push_back(each);
            for (const auto& each : page->folders) whole.folders.push_back(each);
            if (page->next.empty()) return whole;
            EXPECT_GT(page->next, options.after);
            options.after = page->next;
        }
    }
    // The names below a prefix, in the order of the store.
    std::vector<std::string> names(const std::string& prefix = "", const std::string& after = "",
                                   std::size_t entries_max = 1'000) {
        const ListPage page = all({.prefix = key(prefix),
                                   .after = after.empty() ? "" : key(after),
                                   .entries_max = entries_max});
        std::vector<std::string> names;
        for (const auto& each : page.objects) names.push_back(each.key.substr(at_.size()));
        return names;
    }
    // The objects, then the folders.
    std::vector<std::string> level(const std::string& prefix, const std::string& after = "",
                                   std::size_t entries_max = 1'000) {
        const ListPage page = all({.prefix = key(prefix),
                                   .after = after.empty() ? "" : key(after),
                                   .folders = true,
                                   .entries_max = entries_max});
        std::vector<std::string> names;
        for (const auto& each : page.objects) names.push_back(each.key.substr(at_.size()));
        for (const auto& each : page.folders) names.push_back(each.substr(at_.size()));
        return names;
    }
    void race(const std::function<void(std::size_t thread)>& run) const {
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < GetParam().threads; ++i) threads.emplace_back(run, i);
        for (std::thread& thread : threads) thread.join();
    }

    std::shared_ptr<ObjectStore> store_;
    std::string at_;
};

TEST_P(StoreContract, AnObjectIsReadAsItWasPut) {
    std::string bytes;
    for (int i = 0; i < 1'000; ++i) bytes += static_cast<char>(i * 7);
    const std::string etag = put("a/b c+é%&=~.bin", bytes);
    EXPECT_EQ(object("a/b c+é%&=~.bin").bytes, bytes);
    EXPECT_EQ(object("a/b c+é%&=~.bin").etag, etag);
    EXPECT_EQ(object("a/b c+é%&=~.bin").size, bytes.size());
    EXPECT_EQ(get("a/b"), "none");
    EXPECT_EQ(get("a/b c+é%&=~.bin/c"), "none");
}

TEST_P(StoreContract, AnEmptyObjectIsAnObject) {
    put("empty", "");
    EXPECT_EQ(get("empty"), "");
    EXPECT_EQ(object("empty").size, 0U);
    EXPECT_EQ(part("empty", 0, 1), "");
    EXPECT_EQ(put("empty", "x", IfAbsent{}), "refused");
}

TEST_P(StoreContract, ALargeObjectIsWhole) {
    std::string bytes(GetParam().large, 'x');
    for (std::size_t i = 0; i < bytes.size(); i += 997) bytes[i] = static_cast<char>(i);
    put("large", bytes);
    EXPECT_TRUE(get("large") == bytes);
    EXPECT_EQ(part("large", bytes.size() - 3, std::nullopt), bytes.substr(bytes.size() - 3));
}

TEST_P(StoreContract, RangesEndWithTheObject) {
    put("digits", "0123456789");
    EXPECT_EQ(part("digits", 0, 3), "012");
    EXPECT_EQ(part("digits", 4, 2), "45");
    EXPECT_EQ(part("digits", 7, std::nullopt), "789");
    EXPECT_EQ(part("digits", 7, 100), "789");
    EXPECT_EQ(part("digits", 10, 1), "");
    EXPECT_EQ(part("digits", 100, 5), "");
    EXPECT_EQ(part("digits", 3, 0), "");
}

TEST_P(StoreContract, ARangeTellsTheSizeOfTheWhole) {
    put("digits", "0123456789");
    const GetOptions options{.range = ByteRange{.offset = 2, .length = 3}, .unless_etag = {}};
    const auto got = store_->get(key("digits"), options, {});
    ASSERT_TRUE(got && std::holds_alternative<StoredObject>(*got));
    EXPECT_EQ(std::get<StoredObject>(*got).size, 10U);
}

TEST_P(StoreContract, WhatIsLargerThanTheCallerTakesIsRefused) {
    put("digits", "0123456789");
    EXPECT_EQ(get("digits", {.range = {}, .unless_etag = {}, .bytes_max = 9}), "too_large");
    EXPECT_EQ(get("digits", {.range = {}, .unless_etag = {}, .bytes_max = 10}), "0123456789");
}

TEST_P(StoreContract, AnObjectThatIsAsItWasIsNotSentAgain) {
    const std::string first = put("seen", "one");
    EXPECT_EQ(get("seen", {.range = {}, .unless_etag = first}), "unchanged");
    const std::string second = put("seen", "two");
    EXPECT_NE(first, second);
    EXPECT_EQ(get("seen", {.range = {}, .unless_etag = first}), "two");
    EXPECT_EQ(get("seen", {.range = {}, .unless_etag = second}), "unchanged");
    EXPECT_EQ(get("never", {.range = {}, .unless_etag = second}), "none");
}

TEST_P(StoreContract, WhatIsThereIsNotMadeAgain) {
    put("once", "first", IfAbsent{});
    EXPECT_EQ(put("once", "second", IfAbsent{}), "refused");
    EXPECT_EQ(get("once"), "first");
    remove({"once"});
    EXPECT_NE(put("once", "third", IfAbsent{}), "refused");
    EXPECT_EQ(get("once"), "third");
}

TEST_P(StoreContract, OnlyTheVersionThatWasReadIsReplaced) {
    const std::string first = put("cell", "one", IfAbsent{});
    const std::string second = put("cell", "two", IfUnchanged{first});
    EXPECT_NE(second, "refused");
    EXPECT_EQ(put("cell", "other", IfUnchanged{first}), "refused");
    EXPECT_EQ(get("cell"), "two");
    EXPECT_EQ(put("absent", "x", IfUnchanged{first}), "refused");
    EXPECT_EQ(get("absent"), "none");
    remove({"cell"});
    EXPECT_EQ(put("cell", "three", IfUnchanged{second}), "refused");
}

TEST_P(StoreContract, ReadingAndListingSeeTheLastPut) {
    for (int i = 0; i < 30; ++i) {
        const std::string bytes(static_cast<std::size_t>(i), 'x');
        const std::string etag = put("changing", bytes);
        ASSERT_EQ(get("changing"), bytes);
        const auto page = all({.prefix = key("changing"), .after = {}});
        ASSERT_EQ(page.objects.size(), 1U);
        EXPECT_EQ(page.objects.front().size, bytes.size());
        EXPECT_EQ(page.objects.front().etag, etag);
    }
}

TEST_P(StoreContract, RemovedObjectsAreGoneAndAbsentOnesMayBeRemoved) {
    put("a/1", "x");
    put("a/2", "x");
    put("b", "x");
    remove({"a/1", "a/2", "a/never", "never/never"});
    EXPECT_EQ(get("a/1"), "none");
    EXPECT_EQ(names(), std::vector<std::string>({"b"}));
    remove({"a/1"});
    EXPECT_TRUE(store_->remove({}, {}));
}

TEST_P(StoreContract, KeysAreListedInTheOrderOfTheirBytes) {
    const std::vector<std::string> sorted = {"A",   "a!",     "a-b",  "a-b/c", "a.b",
                                             "a/b", "a/b-c",  "a/c/", "a0",    "aa",
                                             "b",   "b/\x7e", "ä/x",  "ä",     "\xef\xbf\xbd"};
    std::vector<std::string> expected;
    for (const std::string& name : sorted) {
        if (name.ends_with('/')) continue;
        const bool below = std::any_of(sorted.begin(), sorted.end(), [&](const std::string& other) {
            return name.starts_with(other + "/");
        });
        if (below && !GetParam().key_below_key) continue;
        put(name, "x");
        expected.push_back(name);
    }
    std::sort(expected.begin(), expected.end());
    for (const std::size_t entries : {1U, 2U, 3U, 1'000U}) {
        EXPECT_EQ(names("", "", entries), expected) << entries << " a page";
    }
}

TEST_P(StoreContract, APrefixIsOneOfKeysAndNoFolder) {
    for (const char* name : {"a/b", "a/bc", "a/b-/d", "a/c", "ab"}) put(name, "x");
    EXPECT_EQ(names("a/b"), std::vector<std::string>({"a/b", "a/b-/d", "a/bc"}));
    EXPECT_EQ(names("a/"), std::vector<std::string>({"a/b", "a/b-/d", "a/bc", "a/c"}));
    EXPECT_EQ(names("a/b-"), std::vector<std::string>({"a/b-/d"}));
    EXPECT_TRUE(names("nothing/here").empty());
}

TEST_P(StoreContract, AListGoesOnBehindAnyKey) {
    for (const char* name : {"a", "b/1", "b/2", "c", "d/e/f"}) put(name, "x");
    EXPECT_EQ(names("", "a"), std::vector<std::string>({"b/1", "b/2", "c", "d/e/f"}));
    EXPECT_EQ(names("", "b"), std::vector<std::string>({"b/1", "b/2", "c", "d/e/f"}));
    EXPECT_EQ(names("", "b/1"), std::vector<std::string>({"b/2", "c", "d/e/f"}));
    EXPECT_EQ(names("", "b/1x"), std::vector<std::string>({"b/2", "c", "d/e/f"}));
    EXPECT_EQ(names("", "b0"), std::vector<std::string>({"c", "d/e/f"}));
    EXPECT_EQ(names("", "d/e/f"), std::vector<std::string>());
    EXPECT_EQ(names("b/", "b/1"), std::vector<std::string>({"b/2"}));
    EXPECT_EQ(names("b/", "c"), std::vector<std::string>());
}

TEST_P(StoreContract, FoldersStandForTheKeysBelowThem) {
    for (const char* name : {"x/a", "x/b/1", "x/b/2", "x/b-1", "x/c/d/e", "x/z", "y"}) {
        put(name, "x");
    }
    const std::vector<std::string> expected = {"x/a", "x/b-1", "x/z", "x/b/", "x/c/"};
    for (const std::size_t entries : {1U, 2U, 1'000U}) {
        EXPECT_EQ(level("x/", "", entries), expected) << entries << " a page";
    }
    EXPECT_EQ(level(""), std::vector<std::string>({"y", "x/"}));
    EXPECT_EQ(level("x/b"), std::vector<std::string>({"x/b-1", "x/b/"}));
    EXPECT_EQ(level("x/b/"), std::vector<std::string>({"x/b/1", "x/b/2"}));
    EXPECT_EQ(level("x/", "x/b/"), std::vector<std::string>({"x/z", "x/c/"}));
    EXPECT_EQ(level("x"), std::vector<std::string>({"x/"}));
}

TEST_P(StoreContract, AFolderIsGoneWithItsLastObject) {
    put("x/deep/er/1", "x");
    put("x/other", "x");
    remove({"x/deep/er/1"});
    EXPECT_EQ(level("x/"), std::vector<std::string>({"x/other"}));
    put("x/deep/er/1", "again");
    EXPECT_EQ(get("x/deep/er/1"), "again");
}

TEST_P(StoreContract, ManyObjectsAreListedOnceEach) {
    const std::size_t many = GetParam().many;
    std::vector<std::string> expected;
    for (std::size_t i = 0; i < many; ++i) {
        expected.push_back("many/" + std::to_string(1'000'000 + i));
    }
    std::atomic<std::size_t> next = 0;
    race([&](std::size_t) {
        while (true) {
            const std::size_t i = next++;
            if (i >= many) return;
            EXPECT_TRUE(store_->put(key(expected[i]), "x", Always{}, {}));
        }
    });
    EXPECT_EQ(names("many/"), expected);
    remove(expected);
    EXPECT_TRUE(names().empty());
}

TEST_P(StoreContract, AListSaysWhenAnObjectWasModified) {
    put("old", "x");
    const auto first = all({.prefix = key("old"), .after = {}});
    const auto again = all({.prefix = key("old"), .after = {}});
    ASSERT_EQ(first.objects.size(), 1U);
    EXPECT_EQ(first.objects.front().modified, again.objects.front().modified);
    EXPECT_EQ(first.objects.front().etag, again.objects.front().etag);
    const auto page = store_->list({.prefix = key("old"), .after = {}}, {});
    ASSERT_TRUE(page);
    const WallTime now = page->store_now.value_or(page->objects.front().modified);
    EXPECT_GE(now + std::chrono::seconds(1), page->objects.front().modified);
}

TEST_P(StoreContract, ThreadsThatRaceForKeysHaveOneWinnerEach) {
    const std::size_t keys = GetParam().keys;
    std::atomic<std::size_t> winners = 0;
    std::vector<std::atomic<int>> won(keys);
    race([&](std::size_t thread) {
        for (std::size_t i = 0; i < keys; ++i) {
            const std::string outcome =
                put("race/" + std::to_string(i), std::to_string(thread), IfAbsent{});
            if (outcome == "refused") continue;
            EXPECT_EQ(get("race/" + std::to_string(i)), std::to_string(thread)) << outcome;
            ++winners;
            ++won[i];
        }
    });
    EXPECT_EQ(winners, keys);
    for (const auto& each : won) EXPECT_EQ(each, 1);
}

TEST_P(StoreContract, NoIncrementOfACellIsLost) {
    const std::size_t each = std::max<std::size_t>(1, GetParam().keys / 20);
    ASSERT_NE(put("counter", "0", IfAbsent{}), "refused");
    race([&](std::size_t thread) {
        for (std::size_t done = 0; done < each;) {
            const StoredObject seen = object("counter");
            // The bytes differ from all others: an etag may be a digest of them.
            const std::string next = std::to_string(std::stoull(seen.bytes) + 1) + " by " +
                                     std::to_string(thread) + "." + std::to_string(done);
            const std::string outcome = put("counter", next, IfUnchanged{seen.etag});
            if (outcome == "refused") continue;
            ASSERT_EQ(outcome.find(' '), std::string::npos) << outcome;
            ++done;
        }
    });
    EXPECT_EQ(std::stoull(get("counter")), each * GetParam().threads);
}

TEST_P(StoreContract, ReadersSeeWholeVersionsWhileWritersReplaceThem) {
    const auto version = [](std::size_t i) {
        return std::string(1'000 + i % 7 * 10'000, static_cast<char>('a' + i % 26));
    };
    put("torn", version(0));
    std::atomic<bool> over = false;
    std::thread writer([&] {
        for (std::size_t i = 1; i < GetParam().keys; ++i) put("torn", version(i));
        over = true;
    });
    while (!over) {
        const std::string seen = get("torn");
        ASSERT_FALSE(seen.empty());
        ASSERT_EQ(seen.find_first_not_of(seen.front()), std::string::npos);
        ASSERT_EQ(seen.size() % 10'000, 1'000U);
    }
    writer.join();
}

TEST_P(StoreContract, AFileIsStoredAsItIs) {
    const TemporaryDirectory directory;
    const std::string path = directory / "file";
    std::string bytes(GetParam().large, 'f');
    for (std::size_t i = 0; i < bytes.size(); i += 1'009) bytes[i] = static_cast<char>(i);
    std::ofstream(path, std::ios::binary) << bytes;
    const auto first = store_->put_file(key("file"), path, IfAbsent{}, {});
    ASSERT_TRUE(first) << to_string(first.error());
    EXPECT_TRUE(std::holds_alternative<Stored>(*first));
    EXPECT_TRUE(get("file") == bytes);
    const auto second = store_->put_file(key("file"), path, IfAbsent{}, {});
    ASSERT_TRUE(second) << to_string(second.error());
    EXPECT_TRUE(std::holds_alternative<ConditionFailed>(*second));
    EXPECT_FALSE(store_->put_file(key("none"), directory / "none", Always{}, {}));
    EXPECT_EQ(get("none"), "none");
}

TEST_P(StoreContract, KeysThatAreNoneAreRefused) {
    for (const std::string bad :
         {"", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", "a\nb", "a\xff", "a\x7f"}) {
        const auto got = store_->get(bad, {}, {});
        ASSERT_FALSE(got) << bad;
        EXPECT_EQ(got.error().code, ErrorCode::store_refused);
        EXPECT_FALSE(store_->put(bad, "x", Always{}, {})) << bad;
        EXPECT_FALSE(store_->remove({bad}, {})) << bad;
    }
    EXPECT_FALSE(store_->get(std::string(901, 'a'), {}, {}));
}

TEST_P(StoreContract, ACallThatWasGivenUpEnds) {
    StoreCall call;
    call.given_up = [] { return true; };
    const auto got = store_->get(key("a"), {}, call);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, ErrorCode::cancelled);
    EXPECT_FALSE(store_->put(key("a"), "x", Always{}, call));
    EXPECT_EQ(get("a"), "none");
}

TEST_P(StoreContract, AnAccountCountsItsCalls) {
    StoreAccount account;
    StoreCall call;
    call.account = &account;
    ASSERT_TRUE(store_->put(key("counted"), "12345", Always{}, call));
    ASSERT_TRUE(store_->get(key("counted"), {}, call));
    ASSERT_TRUE(store_->list({.prefix = at_, .after = {}}, call));
    ASSERT_TRUE(store_->remove({key("counted")}, call));
    const StoreUse use = account.use();
    EXPECT_GE(use.of(StoreRequest::put), 1U);
    EXPECT_GE(use.of(StoreRequest::get), 1U);
    EXPECT_GE(use.of(StoreRequest::list), 1U);
    EXPECT_GE(use.of(StoreRequest::remove), 1U);
    EXPECT_GE(use.bytes_out, 5U);
    EXPECT_GE(use.bytes_in, 5U);
}

}  // namespace baton::testing
