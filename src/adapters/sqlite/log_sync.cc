#include "adapters/sqlite/log_sync.h"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include "adapters/sqlite/files.h"

namespace baton::sqlite {

namespace {

class LogSync final : public SqlSync {
public:
    LogSync(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
    LogSync(const LogSync&) = delete;
    LogSync& operator=(const LogSync&) = delete;
    ~LogSync() override { ::close(descriptor_); }

    Result<Done> sync() override {
        while (::fdatasync(descriptor_) != 0) {
            if (errno != EINTR) return system_error("sync", path_, errno);
        }
        return Done{};
    }

private:
    const std::string path_;
    const int descriptor_;
};

}  // namespace

Result<std::unique_ptr<SqlSync>> open_log_sync(const std::string& path) {
    const std::string log = path + "-wal";
    const int descriptor = ::open(log.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return system_error("open", log, errno);
    return std::unique_ptr<SqlSync>(std::make_unique<LogSync>(log, descriptor));
}

}  // namespace baton::sqlite
