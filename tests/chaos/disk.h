// A small disk that can be full: a tmpfs, mounted where isolate() has led.
#pragma once

#include <optional>
#include <string>

namespace baton::chaos {

class Disk {
public:
    // Makes the directory `path` and mounts it. None: that cannot be done, `errno` says why.
    [[nodiscard]] static std::optional<Disk> make(const std::string& path);
    Disk(Disk&& other) noexcept;
    Disk& operator=(Disk&&) = delete;
    // Whatever is on it is gone.
    ~Disk();

    // Takes all space that is left, also what has become free since.
    void fill() const;
    void make_room() const;

private:
    explicit Disk(std::string path);
    [[nodiscard]] std::string filler() const { return path_ + "/filler"; }

    std::string path_;
};

}  // namespace baton::chaos
