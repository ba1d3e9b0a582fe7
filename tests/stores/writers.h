// Writers as processes, which can be killed at any moment, and the look at what they left.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "ports/object_store.h"

namespace baton::store_tests {

// A store in the folder, as a process of its own would open it.
[[nodiscard]] std::unique_ptr<ObjectStore> open_folder(
    const std::string& path, Duration leftovers_age = std::chrono::minutes(10));

// A body that says by itself whether it is whole.
[[nodiscard]] std::string body_of(const std::string& name, std::size_t size);
[[nodiscard]] bool is_whole(const std::string& body);
[[nodiscard]] std::string name_in(const std::string& body);

// A child that runs until it is killed or its work is done, and reports lines.
class Child {
public:
    using Report = std::function<void(const std::string& line)>;
    explicit Child(const std::function<void(const Report& report)>& work);
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child();

    void kill();
    // All lines that it reported whole, after its end.
    [[nodiscard]] std::vector<std::string> lines();
    // The next line; waits for it.
    [[nodiscard]] std::string next();

private:
    void read_some();

    pid_t pid_ = -1;
    int pipe_ = -1;
    bool over_ = false;
    std::string text_;
};

}  // namespace baton::store_tests
