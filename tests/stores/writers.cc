#include "stores/writers.h"

#include <array>
#include <csignal>
#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

#include "adapters/folder/folder_store.h"
#include "adapters/system/system_clock.h"
#include "base/check.h"
#include "stores/sure_store.h"

namespace baton::store_tests {

std::unique_ptr<ObjectStore> open_folder(const std::string& path, Duration leftovers_age) {
    static const system::SystemClock clock;
    auto opened = folder::FolderStore::open({.path = path, .leftovers_age = leftovers_age}, clock);
    CHECK(opened.has_value());
    const auto seed = static_cast<std::uint64_t>(::getpid());
    return std::make_unique<stores::SureStore>(*std::move(opened), clock, seed);
}

// "name size " and then the name again and again.
std::string body_of(const std::string& name, std::size_t size) {
    std::string body = name + " " + std::to_string(size) + " ";
    const std::size_t start = body.size();
    while (body.size() < start + size) body += name;
    body.resize(start + size);
    return body;
}

bool is_whole(const std::string& body) {
    const std::size_t space = body.find(' ');
    const std::size_t second = body.find(' ', space + 1);
    if (space == std::string::npos || second == std::string::npos) return false;
    const std::string digits = body.substr(space + 1, second - space - 1);
    const std::size_t size = std::strtoull(digits.c_str(), nullptr, 10);
    return body == body_of(body.substr(0, space), size);
}

std::string name_in(const std::string& body) {
    return body.substr(0, body.find(' '));
}

Child::Child(const std::function<void(const Report& report)>& work) {
    std::array<int, 2> ends{};
    CHECK(::pipe(ends.data()) == 0);
    pid_ = ::fork();
    CHECK(pid_ >= 0);
    if (pid_ == 0) {
        ::close(ends[0]);
        work([&](const std::string& line) {
            const std::string whole = line + "\n";  // shorter than a pipe takes at once
            CHECK(::write(ends[1], whole.data(), whole.size()) ==
                  static_cast<ssize_t>(whole.size()));
        });
        ::_exit(0);
    }
    ::close(ends[1]);
    pipe_ = ends[0];
}

Child::~Child() {
    kill();
    ::close(pipe_);
}

void Child::kill() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

void Child::read_some() {
    std::array<char, 4096> bytes{};
    const auto count = ::read(pipe_, bytes.data(), bytes.size());
    if (count <= 0) {
        over_ = true;
        return;
    }
    text_.append(bytes.data(), static_cast<std::size_t>(count));
}

std::string Child::next() {
    std::size_t end = text_.find('\n');
    while (end == std::string::npos && !over_) {
        read_some();
        end = text_.find('\n');
    }
    if (end == std::string::npos) return "";
    const std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    return line;
}

std::vector<std::string> Child::lines() {
    std::vector<std::string> lines;
    while (true) {
        const std::string line = next();
        if (line.empty()) return lines;
        lines.push_back(line);
    }
}

}  // namespace baton::store_tests
