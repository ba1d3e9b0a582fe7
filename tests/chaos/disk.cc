#include "chaos/disk.h"

#include <filesystem>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/check.h"

namespace baton::chaos {

std::optional<Disk> Disk::make(const std::string& path) {
    std::filesystem::create_directory(path);
    if (::mount("tmpfs", path.c_str(), "tmpfs", 0, "size=64m,mode=0700") != 0) return std::nullopt;
    return Disk(path);
}

Disk::Disk(std::string path) : path_(std::move(path)) {}

Disk::Disk(Disk&& other) noexcept : path_(std::exchange(other.path_, "")) {}

Disk::~Disk() {
    if (!path_.empty()) ::umount2(path_.c_str(), MNT_DETACH);
}

void Disk::fill() const {
    const int file = ::open(filler().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    CHECK(file >= 0);
    // In ever smaller portions, down to a page.
    for (std::size_t portion = 1 << 20; portion >= (1 << 12); portion >>= 4U) {
        const std::vector<char> bytes(portion, 'x');
        while (::write(file, bytes.data(), bytes.size()) > 0) continue;
    }
    ::close(file);
}

void Disk::make_room() const {
    std::filesystem::remove(filler());
}

}  // namespace baton::chaos
