#include "testing/s3/rados_gateway.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
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

namespace {

namespace fs = std::filesystem;
constexpr std::chrono::seconds kStartPatience(60);

std::string new_uuid() {
    std::string text;
    std::ifstream file("/proc/sys/kernel/random/uuid");
    std::getline(file, text);
    return text;
}

void stop(pid_t pid) {
    if (pid <= 0) return;
    ::kill(pid, SIGCONT);
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
}

// Whether each of its threads is stopped.
bool stands_still(pid_t pid) {
    for (const auto& thread : fs::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
        std::ifstream file(thread.path() / "stat");
        std::string line;
        std::getline(file, line);  // "pid (name) T .."
        const std::size_t name_end = line.rfind(") ");
        if (name_end == std::string::npos || line[name_end + 2] != 'T') return false;
    }
    return true;
}

// 0: the server does not answer.
int status_of(const s3::S3Settings& settings, const std::string& method) {
    static const system::SystemClock clock;
    s3::Requests requests(settings, settings.region, s3::FixedKeys{*settings.keys, "the test"}, "",
                          clock);
    s3::Attempt attempt = requests.begin({});
    const s3::S3Outcome outcome = requests.send(
        {.method = method, .key = "", .query = {}, .headers = {}, .body = {}}, attempt);
    const auto* answer = std::get_if<s3::HttpAnswer>(&outcome);
    return answer == nullptr ? 0 : answer->status;
}

}  // namespace

s3::Keys RadosGateway::keys() {
    return {.id = "AKIDTEST", .secret = "SECRET+TEST/1", .token = ""};
}

s3::Keys RadosGateway::keys_of_stranger() {
    return {.id = "AKIDSTRANGER", .secret = "SECRET+OTHER/2", .token = ""};
}

RadosGateway::RadosGateway() : fsid_(new_uuid()), port_(free_port()) {
    const std::string parent =
        fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path().string();
    std::string pattern = parent + "/baton-radosgw-XXXXXX";
    CHECK(::mkdtemp(pattern.data()) != nullptr);
    directory_ = pattern;
    for (const char* const name : {"/mon", "/osd", "/run"}) {
        fs::create_directory(directory_ + name);
    }
    const int monitor_port = free_port();
    write_configuration(monitor_port);
    start(monitor_port);
}

RadosGateway::~RadosGateway() {
    for (const pid_t pid : {gateway_, disk_, monitor_}) stop(pid);
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
}

RadosGateway& RadosGateway::shared() {
    static RadosGateway gateway;
    return gateway;
}

std::string RadosGateway::endpoint() const {
    return "http://127.0.0.1:" + std::to_string(port_);
}

void RadosGateway::write_configuration(int monitor_port) const {
    std::ofstream file(directory_ + "/ceph.conf");
    file << "[global]\n"
         << "fsid = " << fsid_ << "\n"
         << "mon host = v2:127.0.0.1:" << monitor_port << "/0\n"
         << "public addr = 127.0.0.1\n"
         << "cluster addr = 127.0.0.1\n"
         << "keyring = " << directory_ << "/keyring\n"
         << "run dir = " << directory_ << "/run\n"
         << "admin socket = " << directory_ << "/run/$name.$pid.asok\n"
         << "log file = " << directory_ << "/$name.log\n"
         << "mon data = " << directory_ << "/mon\n"
         << "osd data = " << directory_ << "/osd\n"
         << "osd objectstore = memstore\n"
         << "memstore device bytes = 2147483648\n"
         << "osd pool default size = 1\n"
         << "osd pool default min size = 1\n"
         << "osd pool default pg num = 1\n"
         << "osd pool default pg autoscale mode = off\n"
         << "mon allow pool size one = true\n"
         << "osd crush chooseleaf type = 0\n"
         << "osd crush update on start = true\n"
         << "paxos propose interval = 0.02\n"
         << "paxos min wait = 0.01\n"
         << "mon tick interval = 1\n"
         << "ms bind ipv6 = false\n"
         << "rgw frontends = beast endpoint=127.0.0.1:" << port_ << " tcp_nodelay=1\n"
         << "rgw thread pool size = 32\n"
         << "rgw dynamic resharding = false\n"
         << "rgw override bucket index max shards = 1\n";
    file.close();
    CHECK(file.good());
}

pid_t RadosGateway::spawn(const std::vector<std::string>& words) const {
    std::vector<std::string> copy = words;
    std::vector<char*> values;
    values.reserve(copy.size() + 1);
    for (std::string& word : copy) values.push_back(word.data());
    values.push_back(nullptr);
    const std::string configuration = directory_ + "/ceph.conf";
    const std::string log = directory_ + "/log";
    const pid_t pid = ::fork();
    CHECK(pid >= 0);
    if (pid != 0) return pid;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setenv("CEPH_CONF", configuration.c_str(), 1);
    const int to = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    ::dup2(to, STDOUT_FILENO);
    ::dup2(to, STDERR_FILENO);
    ::execvp(values[0], values.data());
    ::_exit(127);
}

void RadosGateway::show_log() const {
    std::cerr << std::ifstream(directory_ + "/log").rdbuf();
}

bool RadosGateway::try_run(const std::vector<std::string>& words) const {
    int status = 0;
    const pid_t pid = spawn(words);
    CHECK(::waitpid(pid, &status, 0) == pid);
    return status == 0;
}

void RadosGateway::run(const std::vector<std::string>& words) const {
    const bool good = try_run(words);
    if (!good) show_log();
    CHECK(good && "a command of the store's set-up failed");
}

void RadosGateway::start(int monitor_port) {
    const std::string keyring = directory_ + "/keyring";
    const std::string map = directory_ + "/monmap";
    run({"ceph-authtool", "--create-keyring", keyring, "--gen-key", "-n", "mon.", "--cap", "mon",
         "allow *"});
    run({"ceph-authtool", keyring, "--gen-key", "-n", "client.admin", "--cap", "mon", "allow *",
         "--cap", "osd", "allow *", "--cap", "mgr", "allow *"});
    run({"ceph-authtool", keyring, "--gen-key", "-n", "osd.0", "--cap", "mon", "allow profile osd",
         "--cap", "osd", "allow *", "--cap", "mgr", "allow profile osd"});
    run({"monmaptool", "--create", "--fsid", fsid_, "--addv", "a",
         "[v2:127.0.0.1:" + std::to_string(monitor_port) + "]", "--enable-all-features",
         "--clobber", map});
    run({"ceph-mon", "-i", "a", "--mkfs", "--monmap", map, "--keyring", keyring});
    monitor_ = spawn({"ceph-mon", "-i", "a", "-f"});
    const std::string disk = new_uuid();
    run({"ceph", "--connect-timeout", "30", "osd", "new", disk});
    run({"ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", disk});
    disk_ = spawn({"ceph-osd", "-i", "0", "-f"});
    for (const s3::Keys& user : {keys(), keys_of_stranger()}) {
        run({"radosgw-admin", "user", "create", "--uid=" + user.id, "--display-name=test",
             "--access-key=" + user.id, "--secret=" + user.secret});
    }
    gateway_ = spawn({"radosgw", "-n", "client.admin", "-f"});
    const auto deadline = std::chrono::steady_clock::now() + kStartPatience;
    while (
        status_of({.bucket = "none", .endpoint = endpoint(), .region = "us-east-1", .keys = keys()},
                  "HEAD") != 404) {
        if (std::chrono::steady_clock::now() > deadline) {
            show_log();
            CHECK(false && "radosgw does not start");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

s3::S3Settings RadosGateway::new_bucket() {
    s3::S3Settings settings{.bucket = "bucket" + std::to_string(++buckets_),
                            .prefix = "",
                            .endpoint = endpoint(),
                            .region = "us-east-1",
                            .keys = keys()};
    settings.url = "s3://" + settings.bucket + "?endpoint=" + settings.endpoint;
    const int status = status_of(settings, "PUT");
    CHECK(status == 200);
    return settings;
}

s3::S3Settings RadosGateway::new_bucket(std::uint64_t quota_bytes) {
    s3::S3Settings settings = new_bucket();
    const std::string bucket = "--bucket=" + settings.bucket;
    run({"radosgw-admin", "quota", "set", "--quota-scope=bucket", bucket,
         "--max-size=" + std::to_string(quota_bytes)});
    run({"radosgw-admin", "quota", "enable", "--quota-scope=bucket", bucket});
    return settings;
}

void RadosGateway::pause() const {
    ::kill(gateway_, SIGSTOP);
    // The signal reaches one thread after the other.
    const auto deadline = std::chrono::steady_clock::now() + kStartPatience;
    while (!stands_still(gateway_)) {
        CHECK(std::chrono::steady_clock::now() < deadline);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

void RadosGateway::resume() const {
    ::kill(gateway_, SIGCONT);
}

}  // namespace baton::testing
