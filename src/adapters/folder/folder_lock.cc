#include "adapters/folder/folder_lock.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>

#include "adapters/folder/places.h"
#include "threads/waiting.h"

namespace baton::folder {

FolderLock::FolderLock(int hidden, const Stop& stop) {
    constexpr mode_t kMode = 0666;  // less the mask of the process
    constexpr std::chrono::microseconds kPauseMax(5'000);
    system::OpenFile file(
        ::openat(hidden, "lock", O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kMode));
    std::chrono::microseconds pause(20);
    while (!file.is_open() || ::flock(*file, LOCK_EX | LOCK_NB) != 0) {
        if (!file.is_open() || (errno != EWOULDBLOCK && errno != EINTR)) {
            failure_ = failure_of(errno, "cannot take the lock of the folder");
            return;
        }
        if (stop()) {
            failure_ = stop.failure("another writer holds the lock of the folder");
            return;
        }
        const threads::Waiting waiting;
        std::this_thread::sleep_for(pause);
        pause = std::min(pause * 2, kPauseMax);
    }
    file_ = std::move(file);
}

}  // namespace baton::folder
