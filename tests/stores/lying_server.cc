#include "stores/lying_server.h"

#include <chrono>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapters/s3/requests.h"
#include "adapters/system/system_clock.h"
#include "base/check.h"
#include "testing/free_port.h"

namespace baton::testing {

LyingServer::LyingServer() : port_(free_port()) {
    const std::string program = std::string(BATON_S3RVER) + "/node_modules/s3rver/bin/s3rver.js";
    const std::string port = std::to_string(port_);
    pid_ = ::fork();
    CHECK(pid_ >= 0);
    if (pid_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int to = ::open((directory_ / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        ::dup2(to, STDOUT_FILENO);
        ::dup2(to, STDERR_FILENO);
        ::execlp("node", "node", program.c_str(), "--directory", directory_.path().c_str(),
                 "--address", "127.0.0.1", "--port", port.c_str(), "--configure-bucket", "liar",
                 nullptr);
        ::_exit(127);
    }
    const system::SystemClock clock;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (true) {
        s3::Requests requests(settings(), "us-east-1", s3::FixedKeys{*settings().keys, "the test"},
                              "", clock);
        s3::Attempt attempt = requests.begin({});
        const s3::S3Outcome outcome = requests.send(
            {.method = "HEAD", .key = "", .query = {}, .headers = {}, .body = {}}, attempt);
        if (std::holds_alternative<s3::HttpAnswer>(outcome)) return;
        CHECK(std::chrono::steady_clock::now() < deadline);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

LyingServer::~LyingServer() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

s3::S3Settings LyingServer::settings() const {
    return {.bucket = "liar",
            .prefix = "",
            .endpoint = "http://127.0.0.1:" + std::to_string(port_),
            .region = "us-east-1",
            .keys = s3::Keys{.id = "S3RVER", .secret = "S3RVER", .token = ""},
            .url = "s3://liar"};
}

}  // namespace baton::testing
