#include "adapters/file/system_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing/temporary_directory.h"

namespace baton::files {
namespace {

using testing::TemporaryDirectory;
using What = BytesRead::What;

constexpr Duration kLong = std::chrono::seconds(20);

SystemFiles any_files() {
    static const AllowedFiles kAll = *AllowedFiles::of({.directories = {"/"}, .never = {}});
    return SystemFiles(kAll);
}

void put(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

std::string text_in(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

std::string all_of(ByteSource& source) {
    std::string all;
    std::string part(1000, ' ');
    while (true) {
        const auto read = source.read(part, kLong);
        EXPECT_TRUE(read.has_value());
        if (!read || read->what != What::bytes) return all;
        all.append(part, 0, read->count);
    }
}

TEST(SystemFiles, ReadAFileToItsEnd) {
    const TemporaryDirectory directory;
    const std::string text(5000, 'x');
    put(directory / "a", text);
    auto source = any_files().read(directory / "a");
    ASSERT_TRUE(source.has_value());
    EXPECT_EQ(all_of(**source), text);
}

TEST(SystemFiles, SayWhichFileIsMissing) {
    const TemporaryDirectory directory;
    const auto source = any_files().read(directory / "none.csv");
    ASSERT_FALSE(source.has_value());
    EXPECT_EQ(to_string(source.error()), "error 4000: cannot read \"" + directory.path() +
                                             "/none.csv\": No such file or directory; the path is "
                                             "that of the worker's machine");
    EXPECT_EQ(any_files().write(directory / "none/a", false).error().code, ErrorCode::cannot_open);
}

TEST(SystemFiles, RefuseADirectory) {
    const TemporaryDirectory directory;
    EXPECT_EQ(any_files().read(directory.path()).error().message,
              "cannot read \"" + directory.path() + "\": Is a directory");
}

TEST(SystemFiles, ReplaceWhatIsThereUnlessAskedToAppend) {
    const TemporaryDirectory directory;
    put(directory / "a", "old\n");
    auto appending = any_files().write(directory / "a", true);
    ASSERT_TRUE(appending.has_value());
    EXPECT_FALSE(appending->is_empty);
    ASSERT_TRUE(appending->sink->write("new\n").has_value());
    ASSERT_TRUE(appending->sink->finish().has_value());
    EXPECT_EQ(text_in(directory / "a"), "old\nnew\n");
    auto replacing = any_files().write(directory / "a", false);
    ASSERT_TRUE(replacing.has_value());
    EXPECT_TRUE(replacing->is_empty);
    ASSERT_TRUE(replacing->sink->finish().has_value());
    EXPECT_EQ(text_in(directory / "a"), "");
}

// On a disk of one page, which only this process sees.
TEST(SystemFiles, AFullDiskIsAnErrorWithThePath) {
    const TemporaryDirectory directory;
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", directory.path().c_str(), "tmpfs", 0, "size=4096") != 0) {
        GTEST_SKIP() << "a disk cannot be mounted here";
    }
    const auto here = AllowedFiles::of({.directories = {directory.path()}, .never = {}});
    auto full = SystemFiles(*here).write("a", false);
    ASSERT_TRUE(full.has_value());
    const auto written = full->sink->write(std::string(8192, 'x'));
    ::umount2(directory.path().c_str(), MNT_DETACH);
    ASSERT_FALSE(written.has_value());
    EXPECT_EQ(to_string(written.error()),
              "error 4002: cannot write \"a\": No space left on device; make room there, then "
              "start the query again");
}

TEST(SystemFiles, APipeIsReadUntilItsWritersAreGone) {
    const TemporaryDirectory directory;
    const std::string path = directory / "pipe";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    auto source = any_files().read(path);
    ASSERT_TRUE(source.has_value());
    std::string part(10, ' ');
    EXPECT_EQ((*source)->read(part, Duration(0))->what, What::nothing);  // nobody has come yet
    std::thread writer([&] { put(path, "through the pipe"); });
    EXPECT_EQ(all_of(**source), "through the pipe");
    writer.join();
}

TEST(SystemFiles, AReadThatWaitsCanBeInterrupted) {
    const TemporaryDirectory directory;
    const std::string path = directory / "pipe";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    auto source = any_files().read(path);
    ASSERT_TRUE(source.has_value());
    std::thread interrupter([&] { (*source)->interrupt(); });
    std::string part(10, ' ');
    EXPECT_EQ((*source)->read(part, std::chrono::hours(1))->what, What::nothing);
    EXPECT_EQ((*source)->read(part, std::chrono::hours(1))->what, What::nothing);
    interrupter.join();
}

TEST(SystemFiles, AWriteThatWaitsCanBeInterrupted) {
    const TemporaryDirectory directory;
    const std::string path = directory / "pipe";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    auto reader = any_files().read(path);
    ASSERT_TRUE(reader.has_value());
    auto writer = any_files().write(path, false);
    ASSERT_TRUE(writer.has_value());
    std::thread interrupter([&] { writer->sink->interrupt(); });
    const auto written = writer->sink->write(std::string(10'000'000, 'x'));
    interrupter.join();
    ASSERT_FALSE(written.has_value());
    EXPECT_EQ(written.error().code, ErrorCode::cancelled);
}

TEST(SystemFiles, APipeThatNobodyReadsIsAnErrorAndNoSignal) {
    const TemporaryDirectory directory;
    const std::string path = directory / "pipe";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    auto reader = any_files().read(path);
    auto writer = any_files().write(path, false);
    ASSERT_TRUE(reader.has_value() && writer.has_value());
    reader->reset();
    const auto written = writer->sink->write("x");
    ASSERT_FALSE(written.has_value());
    EXPECT_EQ(written.error().message, "cannot write \"" + path + "\": Broken pipe");
}

TEST(SystemFiles, SinksThatPrintWhereNobodyReadsCanBeInterrupted) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const int standard_output = ::dup(STDOUT_FILENO);
    std::fflush(stdout);
    ASSERT_GE(::dup2(ends[1], STDOUT_FILENO), 0);
    auto first = any_files().print();
    auto second = any_files().print();
    std::optional<Result<Done>> written[2];
    // More than a pipe holds: the one that comes first waits for a reader, the other one for it.
    const std::string much(std::size_t{1} << 20U, 'x');
    std::thread writers[2] = {std::thread([&] { written[0] = (*first)->write(much); }),
                              std::thread([&] { written[1] = (*second)->write(much); })};
    (*second)->interrupt();
    writers[1].join();
    (*first)->interrupt();
    writers[0].join();
    ASSERT_GE(::dup2(standard_output, STDOUT_FILENO), 0);
    for (const int end : {standard_output, ends[0], ends[1]}) ::close(end);
    for (const auto& result : written) {
        EXPECT_EQ(to_string(result->error()),
                  "error 5002: cannot write \"standard output\": it was interrupted");
    }
}

TEST(SystemFiles, PrintWholeLinesOfManySinks) {
    const TemporaryDirectory directory;
    const int standard_output = ::dup(STDOUT_FILENO);
    std::fflush(stdout);
    ASSERT_NE(std::freopen((directory / "out").c_str(), "w", stdout), nullptr);
    std::vector<std::thread> printers;
    for (int i = 0; i < 4; ++i) {
        printers.emplace_back([i] {
            auto sink = any_files().print();
            const std::string line = std::string(100, static_cast<char>('a' + i)) + "\n";
            for (int j = 0; j < 200; ++j) (void)(*sink)->write(line);
            (void)(*sink)->finish();
        });
    }
    for (std::thread& printer : printers) printer.join();
    ASSERT_GE(::dup2(standard_output, STDOUT_FILENO), 0);
    ::close(standard_output);
    std::ifstream in(directory / "out");
    int lines = 0;
    for (std::string line; std::getline(in, line); ++lines) {
        EXPECT_EQ(line, std::string(100, line[0]));
    }
    EXPECT_EQ(lines, 800);
}

}  // namespace
}  // namespace baton::files
