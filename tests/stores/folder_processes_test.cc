// A folder as a store for processes: killed at any moment, racing, and on a full disk.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/folder/folder_store.h"
#include "adapters/system/open_file.h"
#include "adapters/system/system_clock.h"
#include "base/check.h"
#include "base/prng.h"
#include "stores/writers.h"
#include "testing/eventually.h"
#include "testing/temporary_directory.h"

namespace baton::store_tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr int kThreads = 4;

std::size_t leftovers(const std::string& store) {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(store + "/.baton")) {
        count += entry.path().filename().string().starts_with("put-") ? 1 : 0;
    }
    return count;
}

// The temporary file that is there, by its writer.
bool is_locked(const std::string& store) {
    for (const auto& entry : fs::directory_iterator(store + "/.baton")) {
        if (!entry.path().filename().string().starts_with("put-")) continue;
        const system::OpenFile file(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
        return file.is_open() && ::flock(*file, LOCK_EX | LOCK_NB) != 0;
    }
    return false;
}

std::vector<std::string> keys_of(ObjectStore& store) {
    std::vector<std::string> keys;
    ListOptions options;
    while (true) {
        const auto page = store.list(options, {});
        EXPECT_TRUE(page) << to_string(page.error());
        if (!page) return keys;
        for (const ListedObject& each : page->objects) keys.push_back(each.key);
        if (page->next.empty()) return keys;
        options.after = page->next;
    }
}

std::string bytes_of(ObjectStore& store, const std::string& key) {
    const auto got = store.get(key, {}, {});
    EXPECT_TRUE(got) << to_string(got.error());
    const auto* object = got ? std::get_if<StoredObject>(&*got) : nullptr;
    return object == nullptr ? "" : object->bytes;
}

// New objects, and a cell that counts up, for ever. Reports "new KEY" and "cell KEY NUMBER".
void write_for_ever(ObjectStore& store, int round, int thread, const Child::Report& report) {
    Prng prng(static_cast<std::uint64_t>(round * 100 + thread));
    const std::string cell = "cells/" + std::to_string(thread);
    std::uint64_t number = 0;
    std::string etag;
    const auto seen = store.get(cell, {}, {});
    if (const auto* object = std::get_if<StoredObject>(&*seen)) {
        etag = object->etag;
        number = std::strtoull(name_in(object->bytes).c_str(), nullptr, 10);
    }
    for (int i = 0;; ++i) {
        const std::string key =
            "new/" + std::to_string(round) + "/" + std::to_string(thread) + "-" + std::to_string(i);
        const auto made = store.put(key, body_of(key, prng.between(0, 200'000)), IfAbsent{}, {});
        CHECK(made && std::holds_alternative<Stored>(*made));
        report("new " + key);
        const PutCondition condition =
            etag.empty() ? PutCondition(IfAbsent{}) : PutCondition(IfUnchanged{etag});
        ++number;
        const auto moved = store.put(cell, body_of(std::to_string(number), prng.between(0, 50'000)),
                                     condition, {});
        CHECK(moved && std::holds_alternative<Stored>(*moved));
        etag = std::get<Stored>(*moved).etag;
        report("cell " + cell + " " + std::to_string(number));
    }
}

class FolderKills : public ::testing::Test {
protected:
    void take_in(const std::vector<std::string>& lines) {
        for (const std::string& line : lines) {
            const std::size_t space = line.find(' ');
            if (line.starts_with("new ")) {
                acknowledged_.push_back(line.substr(space + 1));
                continue;
            }
            const std::size_t second = line.find(' ', space + 1);
            cells_[line.substr(space + 1, second - space - 1)] =
                std::strtoull(line.c_str() + second, nullptr, 10);
        }
    }
    void check() {
        const auto store = open_folder(path_, Duration(0));
        EXPECT_EQ(leftovers(path_), 0U);
        for (const std::string& key : keys_of(*store)) {
            EXPECT_TRUE(is_whole(bytes_of(*store, key))) << key;
        }
        for (const std::string& key : acknowledged_) {
            EXPECT_EQ(name_in(bytes_of(*store, key)), key);
        }
        for (auto& [cell, number] : cells_) {
            const std::string body = bytes_of(*store, cell);
            const std::uint64_t now = std::strtoull(name_in(body).c_str(), nullptr, 10);
            EXPECT_GE(now, number) << cell;
            EXPECT_LE(now, number + 1) << cell;  // the one whose answer was cut off
            number = now;
        }
    }

    const testing::TemporaryDirectory directory_;
    const std::string path_ = directory_ / "store";
    std::vector<std::string> acknowledged_;
    std::map<std::string, std::uint64_t> cells_;
};

TEST_F(FolderKills, NoObjectIsTornAndNoAcknowledgedPutIsLost) {
    constexpr int kRounds = 25;
    Prng prng(1);
    for (int round = 0; round < kRounds; ++round) {
        Child child([&](const Child::Report& report) {
            const auto store = open_folder(path_);
            std::vector<std::thread> threads;
            for (int i = 0; i < kThreads; ++i) {
                threads.emplace_back([&, i] { write_for_ever(*store, round, i, report); });
            }
            for (std::thread& thread : threads) thread.join();
        });
        // So each round does something, on a slow machine too.
        std::vector<std::string> lines = {child.next()};
        std::this_thread::sleep_for(milliseconds(prng.between(0, 60)));
        child.kill();
        for (const std::string& line : child.lines()) lines.push_back(line);
        take_in(lines);
        check();
        if (HasFailure()) return;
    }
    EXPECT_GE(acknowledged_.size(), static_cast<std::size_t>(kRounds));
}

// A put() of a pipe that has no writer waits with its temporary file open.
TEST_F(FolderKills, ALeftoverIsSweptWhenItsWriterIsDeadAndNotBefore) {
    const std::string pipe = directory_ / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    (void)open_folder(path_);
    Child child([&](const Child::Report&) {
        const system::SystemClock clock;
        const auto store = folder::FolderStore::open({.path = path_}, clock);
        (void)(*store)->put("a", {.body = PutFile{pipe}, .condition = IfAbsent{}, .stamp = {}}, {});
    });
    ASSERT_TRUE(testing::eventually([&] { return leftovers(path_) == 1; }));
    // The lock follows the file at once, but not in the same moment.
    ASSERT_TRUE(testing::eventually([&] { return is_locked(path_); }));
    (void)open_folder(path_, Duration(0));
    EXPECT_EQ(leftovers(path_), 1U);
    child.kill();
    (void)open_folder(path_);
    EXPECT_EQ(leftovers(path_), 1U);  // it is not old
    (void)open_folder(path_, Duration(0));
    EXPECT_EQ(leftovers(path_), 0U);
    EXPECT_TRUE(keys_of(*open_folder(path_)).empty());
}

TEST(FolderRaces, ProcessesThatRaceForKeysHaveOneWinnerEach) {
    constexpr int kProcesses = 6;
    constexpr int kKeys = 200;
    const testing::TemporaryDirectory directory;
    const std::string path = directory / "store";
    std::vector<std::unique_ptr<Child>> children;
    for (int process = 0; process < kProcesses; ++process) {
        children.push_back(std::make_unique<Child>([&, process](const Child::Report& report) {
            const auto store = open_folder(path);
            for (int i = 0; i < kKeys; ++i) {
                const std::string key = "k/" + std::to_string(i);
                const auto made = store->put(key, std::to_string(process), IfAbsent{}, {});
                CHECK(made.has_value());
                if (std::holds_alternative<Stored>(*made)) report(key);
            }
        }));
    }
    std::map<std::string, int> winners;
    for (int process = 0; process < kProcesses; ++process) {
        const auto store = open_folder(path);
        for (const std::string& key : children[static_cast<std::size_t>(process)]->lines()) {
            ++winners[key];
            EXPECT_EQ(bytes_of(*store, key), std::to_string(process));
        }
    }
    EXPECT_EQ(winners.size(), static_cast<std::size_t>(kKeys));
    for (const auto& [key, count] : winners) EXPECT_EQ(count, 1) << key;
}

TEST(FolderRaces, ProcessesLoseNoIncrement) {
    constexpr int kProcesses = 6;
    constexpr int kEach = 50;
    const testing::TemporaryDirectory directory;
    const std::string path = directory / "store";
    ASSERT_TRUE(open_folder(path)->put("cell", "0", IfAbsent{}, {}));
    std::vector<std::unique_ptr<Child>> children;
    for (int process = 0; process < kProcesses; ++process) {
        children.push_back(std::make_unique<Child>([&](const Child::Report&) {
            const auto store = open_folder(path);
            for (int done = 0; done < kEach;) {
                const auto got = store->get("cell", {}, {});
                const auto& seen = std::get<StoredObject>(*got);
                const std::string next = std::to_string(std::stoi(seen.bytes) + 1);
                const auto put = store->put("cell", next, IfUnchanged{seen.etag}, {});
                CHECK(put.has_value());
                if (std::holds_alternative<Stored>(*put)) ++done;
            }
        }));
    }
    for (auto& child : children) EXPECT_TRUE(child->lines().empty());
    EXPECT_EQ(bytes_of(*open_folder(path), "cell"), std::to_string(kProcesses * kEach));
}

// A mount of this process alone, gone with it.
bool mount_small_disk(const std::string& path) {
    const bool is_root = ::geteuid() == 0;
    if (::unshare((is_root ? 0 : CLONE_NEWUSER) | CLONE_NEWNS) != 0) return false;
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
    return ::mount("tmpfs", path.c_str(), "tmpfs", 0, "size=1m,mode=0700") == 0;
}

TEST(FolderOnAFullDisk, NothingHappensAndNothingStoredIsLost) {
    const testing::TemporaryDirectory directory;
    if (!mount_small_disk(directory.path())) GTEST_SKIP() << "no mounts of its own here";
    const std::string path = directory / "store";
    auto store = open_folder(path);
    const std::string kept = body_of("kept", 300'000);
    ASSERT_TRUE(store->put("kept", kept, IfAbsent{}, {}));
    const auto cell = store->put("cell", body_of("1", 100), IfAbsent{}, {});
    ASSERT_TRUE(cell);
    const std::string large = body_of("large", 2'000'000);
    const PutCondition conditions[] = {PutCondition(Always{}), PutCondition(IfAbsent{}),
                                       PutCondition(IfUnchanged{std::get<Stored>(*cell).etag})};
    for (const PutCondition& condition : conditions) {
        const std::string key =
            std::holds_alternative<IfUnchanged>(condition) ? "cell" : "folder/large";
        const auto full = store->put(key, large, condition, {});
        ASSERT_FALSE(full);
        EXPECT_EQ(full.error().code, ErrorCode::store_full) << to_string(full.error());
        EXPECT_EQ(leftovers(path), 0U);
    }
    EXPECT_EQ(keys_of(*store), std::vector<std::string>({"cell", "kept"}));
    EXPECT_EQ(bytes_of(*store, "kept"), kept);
    EXPECT_EQ(bytes_of(*store, "cell"), body_of("1", 100));
    ASSERT_TRUE(store->remove({"kept"}, {}));
    EXPECT_TRUE(store->put("folder/fits", kept, IfAbsent{}, {}));
    EXPECT_EQ(bytes_of(*store, "folder/fits"), kept);
    store.reset();
    ::umount2(directory.path().c_str(), MNT_DETACH);
}

// Pages read their directory again: ten pages of 10,000 files are ten readings of its names. The
// yardstick is that, and one look at each file.
TEST(FolderLists, TenThousandFilesTakeNotMuchMoreThanReadingTheirNames) {
    constexpr int kFiles = 10'000;
    const testing::TemporaryDirectory directory;
    const std::string path = directory / "store";
    const auto store = open_folder(path);
    fs::create_directories(path + "/many");
    for (int i = 0; i < kFiles; ++i) {
        std::ofstream(path + "/many/part-" + std::to_string(100'000 + i) + ".parquet") << "x";
    }
    const auto best_of = [](const auto& run) {
        auto best = std::chrono::steady_clock::duration::max();
        for (int i = 0; i < 5; ++i) {
            const auto begun = std::chrono::steady_clock::now();
            run();
            best = std::min(best, std::chrono::steady_clock::now() - begun);
        }
        return std::chrono::duration<double, std::milli>(best).count();
    };
    const double listed = best_of([&] { EXPECT_EQ(keys_of(*store).size(), 10'000U); });
    const double plain = best_of([&] {
        for (int page = 0; page < 10; ++page) {
            std::size_t names = 0;
            for (const auto& entry : fs::directory_iterator(path + "/many")) {
                names += entry.path().native().size();
            }
            EXPECT_GT(names, 0U);
        }
        for (const auto& entry : fs::directory_iterator(path + "/many")) {
            EXPECT_GT(fs::file_size(entry.path()), 0U);
        }
    });
    EXPECT_LT(listed, plain * 3) << listed << " ms, and " << plain << " ms for the names";
    RecordProperty("milliseconds", std::to_string(listed));
    std::cout << "10,000 files listed in " << listed << " ms; their names take " << plain << "\n";
}

}  // namespace
}  // namespace baton::store_tests
