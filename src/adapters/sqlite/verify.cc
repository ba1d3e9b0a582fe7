#include "adapters/sqlite/verify.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <sstream>

#include <sqlite3.h>

#include "adapters/sqlite/errors.h"
#include "adapters/sqlite/files.h"
#include "adapters/sqlite/sqlite.h"
#include "base/text.h"

namespace baton::sqlite {

namespace {

constexpr std::size_t kHeaderBytes = 100;
constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr std::string_view kKeepAndRestore =
    "keep the file for inspection and restore the last backup with `baton restore`";

// The first bytes of a database; offsets as in SQLite's description of its file format.
class Header {
public:
    // Through the descriptor of SQLite: see files.h.
    static Result<Header> read(sqlite3* db, const Settings& settings) {
        sqlite3_file* file = nullptr;
        sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
        CHECK(file != nullptr && file->pMethods != nullptr);
        Header header;
        sqlite3_int64 size = 0;
        int code = file->pMethods->xFileSize(file, &size);
        header.file_size_ = size;
        if (code == SQLITE_OK && size >= sqlite3_int64{kHeaderBytes}) {
            code = file->pMethods->xRead(file, header.bytes_.data(), kHeaderBytes, 0);
        }
        if (code == SQLITE_OK) return header;
        return Error{.code = ErrorCode::catalog_unavailable,
                     .message = "cannot read catalog " + in_quotes(settings.path) + ": " +
                                sqlite3_errstr(code),
                     .hint = "check the disk of the catalog"};
    }

    [[nodiscard]] std::int64_t file_size() const { return file_size_; }
    [[nodiscard]] bool has_magic() const {
        return std::memcmp(bytes_.data(), kMagic.data(), kMagic.size()) == 0;
    }
    [[nodiscard]] std::uint32_t page_size() const {
        const std::uint32_t size = (std::uint32_t{bytes_[16]} << 8U) | bytes_[17];
        return size == 1 ? 65536 : size;
    }
    [[nodiscard]] unsigned format() const { return std::max(bytes_[18], bytes_[19]); }
    [[nodiscard]] std::uint32_t pages() const { return number(28); }
    [[nodiscard]] std::uint32_t schema_format() const { return number(44); }
    [[nodiscard]] std::uint32_t encoding() const { return number(56); }
    [[nodiscard]] std::uint32_t application() const { return number(68); }

private:
    [[nodiscard]] std::uint32_t number(std::size_t offset) const {
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < 4; ++i) value = (value << 8U) | bytes_[offset + i];
        return value;
    }

    std::array<std::uint8_t, kHeaderBytes> bytes_{};
    std::int64_t file_size_ = 0;
};

Error corrupt(const Settings& settings, const std::string& why,
              std::string_view hint = kKeepAndRestore) {
    return {.code = ErrorCode::catalog_corrupt,
            .message = "cannot use catalog " + in_quotes(settings.path) + ": " + why,
            .hint = std::string(hint)};
}

std::string hexadecimal(std::uint32_t value) {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "0x%08x", value);
    return text.data();
}

std::optional<Error> length_error(const Header& header, const Settings& settings) {
    const std::int64_t expected = std::int64_t{header.pages()} * header.page_size();
    if (header.file_size() == expected) return std::nullopt;
    return corrupt(settings, std::string("the file was ") +
                                 (header.file_size() < expected ? "shortened" : "lengthened") +
                                 ": it has " + std::to_string(header.file_size()) +
                                 " bytes, its header counts " + std::to_string(header.pages()) +
                                 " pages of " + std::to_string(header.page_size()));
}

}  // namespace

Result<FileLength> verify_header(sqlite3* db, const Settings& settings) {
    TRY_ASSIGN(header, Header::read(db, settings));
    if (header.file_size() == 0) return corrupt(settings, "the file is empty");
    if (header.file_size() < std::int64_t{kHeaderBytes}) {
        return corrupt(settings, "the file was shortened: it has only " +
                                     std::to_string(header.file_size()) + " bytes");
    }
    if (!header.has_magic()) {
        return corrupt(settings,
                       "the file was overwritten or never was a catalog: it does not "
                       "begin like a SQLite database");
    }
    const std::uint32_t size = header.page_size();
    if (size < 512 || (size & (size - 1)) != 0) {
        return corrupt(settings, "the header is damaged: the page size is " + std::to_string(size));
    }
    if (header.application() != std::uint32_t{kSqliteApplicationId}) {
        return corrupt(
            settings,
            "it is a SQLite database but not a catalog of Baton: the application id is " +
                hexadecimal(header.application()) + ", not " + hexadecimal(kSqliteApplicationId),
            "check the path; if it is right, restore the last backup with `baton "
            "restore`");
    }
    if (header.format() > 2) {
        return Error{.code = ErrorCode::catalog_version,
                     .message = "cannot use catalog " + in_quotes(settings.path) +
                                ": its file format " + std::to_string(header.format()) +
                                " is newer than the newest known one, 2",
                     .hint = "use the version of Baton that wrote it"};
    }
    if (header.schema_format() > 4 || header.encoding() > 3) {
        return corrupt(settings, "the header is damaged: the schema format is " +
                                     std::to_string(header.schema_format()) + ", the encoding " +
                                     std::to_string(header.encoding()));
    }
    const auto error = length_error(header, settings);
    // A process that was killed while it copied its log into the file leaves the rest in the log.
    if (error && !exists(settings.path + "-wal")) return *error;
    return FileLength{.bytes = header.file_size(), .matches = !error.has_value()};
}

Result<Done> verify_length(sqlite3* db, const Settings& settings) {
    TRY_ASSIGN(header, Header::read(db, settings));
    if (const auto error = length_error(header, settings)) return *error;
    return Done{};
}

Result<std::vector<std::string>> problems_of(sqlite3* db, const Settings& settings,
                                             const std::string& pragma) {
    std::vector<std::string> problems;
    const auto note = [](void* into, int, char** values, char**) {
        std::istringstream lines(values[0] == nullptr ? "" : values[0]);
        for (std::string line; std::getline(lines, line);) {
            if (line == "ok" || line.starts_with("***")) continue;  // a heading
            static_cast<std::vector<std::string>*>(into)->push_back(line);
        }
        return 0;
    };
    const std::string sql = "PRAGMA " + pragma + "(100)";
    const int code = sqlite3_exec(db, sql.c_str(), note, &problems, nullptr);
    const int primary = code & 0xff;
    if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB) {  // too damaged to go on checking
        problems.emplace_back(sqlite3_errmsg(db));
    } else if (code != SQLITE_OK) {
        return error_of(db, {.what = "check", .path = settings.path, .sql = sql});
    }
    return problems;
}

Result<Done> verify_pages(sqlite3* db, const Settings& settings) {
    TRY_ASSIGN(problems, problems_of(db, settings, "quick_check"));
    if (problems.empty()) return Done{};
    return corrupt(settings, "it is damaged: " + enumerate(problems, 3));
}

}  // namespace baton::sqlite
