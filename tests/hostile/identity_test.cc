// A stranger at the port of a worker, and a worker that commands another one: processes that are
// not who they would have to be.
#include <array>
#include <csignal>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include <baton/control.grpc.pb.h>
#include <baton/exchange.grpc.pb.h>
#include <baton/results.grpc.pb.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapters/grpc/trust.h"
#include "hostile/daemon.h"
#include "model/control.h"
#include "testing/free_port.h"

namespace baton::hostile {
namespace {

using namespace std::chrono_literals;
using Status = grpc::StatusCode;

bool soon(const std::function<bool()>& holds) {
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(100ms);
    }
    return true;
}

std::string text_of_file(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

// `baton worker` on a port of this machine, with its log in a file.
class Worker {
public:
    explicit Worker(const Daemon& daemon, const std::string& name, const std::string& more = "",
                    const std::string& port = std::to_string(testing::free_port()))
        : port_(port), log_(daemon.path(name + ".log")) {
        ::unlink(log_.c_str());
        process_ = std::make_unique<cli::Process>(std::vector<std::string>{
            "/bin/sh", "-c",
            "exec " BATON_PROGRAMS "/baton worker --name " + name + " --listen localhost:" + port_ +
                " --data-dir " + daemon.path(name) + " " + more + " 2>" + log_});
        EXPECT_TRUE(soon([&] { return log().find("listens on") != std::string::npos; })) << log();
    }
    [[nodiscard]] const std::string& port() const { return port_; }
    [[nodiscard]] std::string address() const { return "localhost:" + port_; }
    [[nodiscard]] std::string log() const { return text_of_file(log_); }
    [[nodiscard]] bool lives() const { return process_->state() != 'Z'; }
    [[nodiscard]] cli::Process& process() { return *process_; }

private:
    std::string port_;
    std::string log_;
    std::unique_ptr<cli::Process> process_;
};

// Streams of HTTP/2 that are opened for a call and reset, one after the other: gRPC keeps some
// 20 KB for each.
std::string reset_streams(const std::string& path, std::uint32_t count) {
    const auto number = [](std::uint32_t value, int bytes) {
        std::string text;
        for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 0xFFU);
        return text;
    };
    const auto frame = [&](char type, char flags, std::uint32_t stream, const std::string& body) {
        return number(static_cast<std::uint32_t>(body.size()), 3) + type + flags +
               number(stream, 4) + body;
    };
    const auto text = [](const std::string& value) {
        return std::string(1, static_cast<char>(value.size())) + value;
    };
    const std::string call = "\x83\x86\x04" + text(path) + "\x01" + text("localhost") +
                             std::string(1, '\0') + text("te") + text("trailers") +
                             std::string(1, '\0') + text("content-type") + text("application/grpc");
    std::string bytes = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, "");
    for (std::uint32_t i = 0; i < count; ++i) {
        bytes += frame(1, 4, 2 * i + 1, call) + frame(3, 0, 2 * i + 1, number(8, 4));
    }
    return bytes;
}

// Sends it as the user "nobody"; how much it could.
std::size_t sent_by_nobody(const std::string& port, const std::string& bytes) {
    constexpr uid_t kNobody = 65534;
    std::array<int, 2> pipe{};
    EXPECT_EQ(::pipe(pipe.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        std::size_t sent = 0;
        if (::setuid(kNobody) == 0) {
            const Socket socket(port);
            while (sent < bytes.size() && socket.send({&bytes[sent], 1000})) sent += 1000;
        }
        ::_exit(::write(pipe[1], &sent, sizeof sent) == sizeof sent ? 0 : 1);
    }
    std::size_t sent = 0;
    EXPECT_EQ(::read(pipe[0], &sent, sizeof sent), static_cast<ssize_t>(sizeof sent));
    ::close(pipe[0]);
    ::close(pipe[1]);
    EXPECT_EQ(::waitpid(child, nullptr, 0), child);
    return sent;
}

std::size_t memory_kb(pid_t process) {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6));
    }
    return 0;
}

// What became of a call: what was answered, and how it ended.
struct Outcome {
    std::vector<wire::ToCoordinator> answers;
    grpc::Status status;
};

wire::ToWorker hello(const std::string& worker) {
    wire::ToWorker message;
    message.mutable_hello()->set_epoch(1'000);
    message.mutable_hello()->set_worker(worker);
    message.mutable_hello()->set_protocol(control::kProtocol);
    message.mutable_hello()->set_catalog("0123456789abcdef0123456789abcdef");
    return message;
}

wire::ToWorker command(std::uint64_t request) {
    wire::ToWorker message;
    message.mutable_command()->set_request(request);
    message.mutable_command()->set_epoch(1'000);
    return message;
}

void set(wire::FragmentKey& key) {
    key.set_query(77'777);
    key.set_run(1);
    key.set_fragment(77'778);
}

wire::ToWorker register_plan(const std::string& plan) {
    wire::ToWorker message = command(1);
    set(*message.mutable_command()->mutable_register_()->mutable_key());
    message.mutable_command()->mutable_register_()->set_plan(plan);
    message.mutable_command()->mutable_register_()->set_fingerprint("0123456789abcdef");
    return message;
}

wire::ToWorker start_plan() {
    wire::ToWorker message = command(2);
    set(*message.mutable_command()->mutable_start()->mutable_key());
    return message;
}

// Speaks to a worker as a coordinator does, with whatever proof it has.
class Intruder {
public:
    explicit Intruder(const std::string& address)
        : Intruder(address, grpc::InsecureChannelCredentials()) {}
    Intruder(const std::string& address,
             const std::shared_ptr<grpc::ChannelCredentials>& credentials,
             const std::string& server_name = "") {
        grpc::ChannelArguments arguments;
        if (!server_name.empty()) arguments.SetSslTargetNameOverride(server_name);
        channel_ = grpc::CreateCustomChannel(address, credentials, arguments);
    }

    void shows(std::vector<std::pair<std::string, std::string>> metadata) {
        metadata_ = std::move(metadata);
    }

    // Says all of it, and hears as many answers, or the end.
    [[nodiscard]] Outcome talk(const std::vector<wire::ToWorker>& story) const {
        const auto stub = wire::Control::NewStub(channel_);
        grpc::ClientContext context;
        prepare(context);
        const auto stream = stub->Talk(&context);
        Outcome outcome;
        for (const wire::ToWorker& message : story) stream->Write(message);
        wire::ToCoordinator answer;
        while (outcome.answers.size() < story.size() && stream->Read(&answer)) {
            outcome.answers.push_back(answer);
        }
        stream->WritesDone();
        if (outcome.answers.size() == story.size()) context.TryCancel();
        outcome.status = stream->Finish();
        return outcome;
    }
    [[nodiscard]] grpc::Status send_rows(const wire::Open& open) const {
        const auto stub = wire::Exchange::NewStub(channel_);
        grpc::ClientContext context;
        prepare(context);
        const auto stream = stub->Carry(&context);
        wire::ToReceiver message;
        *message.mutable_open() = open;
        stream->Write(message);
        message.Clear();
        message.mutable_item()->set_number(1);
        message.mutable_item()->mutable_finish();
        stream->Write(message);
        stream->WritesDone();
        wire::ToSender answer;
        while (stream->Read(&answer)) continue;
        return stream->Finish();
    }
    [[nodiscard]] grpc::Status fetch(const std::string& worker, const std::string& token) const {
        const auto stub = wire::Results::NewStub(channel_);
        grpc::ClientContext context;
        prepare(context);
        const auto stream = stub->Fetch(&context);
        wire::FetchRequest request;
        request.set_worker(worker);
        request.set_token(token);
        stream->Write(request);
        stream->WritesDone();
        wire::ResultBatch batch;
        while (stream->Read(&batch)) continue;
        return stream->Finish();
    }

private:
    void prepare(grpc::ClientContext& context) const {
        context.set_deadline(std::chrono::system_clock::now() + 30s);
        for (const auto& [key, value] : metadata_) context.AddMetadata(key, value);
    }

    std::shared_ptr<grpc::Channel> channel_;
    std::vector<std::pair<std::string, std::string>> metadata_;
};

class HostileIdentity : public ::testing::Test {
protected:
    // Known to the daemon, and heard of.
    void create(const std::string& name, const Worker& worker) {
        const auto made =
            daemon_.psql("CREATE WORKER '" + worker.address() + "' SET ('" + name + "' AS NAME)");
        ASSERT_EQ(made.status, 0) << made.errors;
        ASSERT_TRUE(soon([&] { return state_of(name) == "ACTIVE|\n"; }))
            << state_of(name) << worker.log();
    }
    // With the reason that it is so.
    std::string state_of(const std::string& name) {
        return daemon_
            .psql("SELECT STATE, REASON FROM baton.workers WHERE NAME = '" + name +
                  "' AND INCARNATION IS NOT NULL")
            .out;
    }
    // A plan that reads one file and writes the other, of a query for a worker of this name that
    // nobody has started.
    std::string plan_of(const std::string& name, const std::string& from, const std::string& to) {
        const auto made = daemon_.psql(
            "CREATE WORKER 'localhost:1' SET ('" + name +
            "' AS NAME);"
            "CREATE QUERY spy AS SELECT a FROM File('" +
            name + "' AS SOURCE.HOST, '" + from +
            "' AS SOURCE.FILE_PATH, 'CSV' AS PARSER.TYPE, SCHEMA(a VARSIZED) AS SOURCE.SCHEMA) "
            "INTO File('" +
            name + "' AS SINK.HOST, '" + to +
            "' AS SINK.FILE_PATH, 'CSV' AS "
            "SINK.OUTPUT_FORMAT)");
        EXPECT_EQ(made.status, 0) << made.errors;
        const auto plan = cli::run({"/usr/bin/sqlite3", daemon_.data() + "/catalog.db",
                                    "SELECT plan FROM fragment WHERE worker = '" + name + "'"});
        EXPECT_NE(plan.out.find(from), std::string::npos) << plan.out << plan.errors;
        return plan.out;
    }

    Daemon daemon_;
};

// ---- a stranger on the same machine -------------------------------------------------------------

TEST_F(HostileIdentity, AStrangerLearnsNothingNotEvenTheName) {
    const Worker worker(daemon_, "edge");
    create("edge", worker);
    for (const char* name : {"edge", "hub"}) {
        const Outcome outcome = Intruder(worker.address()).talk({hello(name)});
        EXPECT_EQ(outcome.status.error_code(), Status::UNAUTHENTICATED);
        EXPECT_TRUE(outcome.answers.empty());
        EXPECT_EQ(outcome.status.error_message().find("edge"), std::string::npos);
    }
    EXPECT_TRUE(daemon_.takes_a_write());
}

TEST_F(HostileIdentity, AStrangerReadsAndWritesNoFile) {
    const std::string from = daemon_.path("secret.csv");
    const std::string to = daemon_.path("stolen.csv");
    std::ofstream(from) << "canary\n";
    const std::string plan = plan_of("spied", from, to);
    const Worker worker(daemon_, "edge");
    const std::vector<wire::ToWorker> story = {hello("edge"), register_plan(plan), start_plan()};
    const Outcome outcome = Intruder(worker.address()).talk(story);
    EXPECT_EQ(outcome.status.error_code(), Status::UNAUTHENTICATED);
    EXPECT_TRUE(outcome.answers.empty());
    EXPECT_NE(worker.log().find("is refused"), std::string::npos) << worker.log();
    EXPECT_NE(::access(to.c_str(), F_OK), 0);
    // The same words of one that knows the secret are obeyed: it was the proof that was missing.
    Intruder owner(worker.address());
    owner.shows(rpc::user_trust()->dial("edge")->metadata);
    const Outcome obeyed = owner.talk(story);
    EXPECT_EQ(obeyed.answers.size(), story.size()) << obeyed.status.error_message() << worker.log();
    EXPECT_TRUE(daemon_.takes_a_write());
}

TEST_F(HostileIdentity, AStrangerStartsNoProcess) {
    const std::string trace = daemon_.path("trace");
    const Worker worker(daemon_, "edge",
                        "--partition-program 'echo $$ >>" + trace + "; exec sleep 60'");
    wire::ToWorker assign;
    assign.mutable_assign()->set_epoch(1'000);
    assign.mutable_assign()->set_number(1);
    assign.mutable_assign()->set_lease_us(60'000'000);
    for (std::uint32_t i = 0; i < 300; ++i) {
        wire::Grant& grant = *assign.mutable_assign()->add_owned();
        grant.set_list("L");
        grant.set_number(i);
        grant.set_epoch(1'000);
    }
    const Outcome outcome = Intruder(worker.address()).talk({hello("edge"), assign});
    EXPECT_EQ(outcome.status.error_code(), Status::UNAUTHENTICATED);
    create("edge", worker);  // it lives, and obeys its coordinator
    EXPECT_EQ(text_of_file(trace), "");
    EXPECT_TRUE(daemon_.takes_a_write());
}

TEST_F(HostileIdentity, AStrangerDoesNotEndTheWorkerWithAPlanThatLies) {
    Worker worker(daemon_, "edge");
    for (const std::string& plan : {std::string("{}"), std::string(1 << 20, '['),
                                    plan_of("spied", daemon_.path("a"), daemon_.path("b"))}) {
        const Outcome outcome =
            Intruder(worker.address()).talk({hello("edge"), register_plan(plan), start_plan()});
        EXPECT_EQ(outcome.status.error_code(), Status::UNAUTHENTICATED);
    }
    EXPECT_TRUE(worker.lives());
    create("edge", worker);
}

TEST_F(HostileIdentity, AStrangerEndsNoSink) {
    const Worker hub(daemon_, "hub");
    create("hub", hub);
    const auto made = daemon_.psql(
        "CREATE QUERY q AS SELECT a FROM Generator('hub' AS SOURCE.HOST, SCHEMA(a UINT64 NOT NULL) "
        "AS SOURCE.SCHEMA, 'SEQUENCE UINT64 0 100000000 1' AS SOURCE.GENERATOR_SCHEMA) INTO "
        "Void('hub' AS SINK.HOST)");
    ASSERT_EQ(made.status, 0) << made.errors;
    const auto state = [&] {
        return daemon_.psql("SELECT STATE FROM baton.queries WHERE NAME = 'Q'").out;
    };
    ASSERT_TRUE(soon([&] { return state() == "RUNNING\n"; })) << state();
    const Intruder stranger(hub.address());
    wire::Open open;
    open.set_query(1);
    open.set_run(1);
    open.set_exchange(1);
    open.set_from("edge");
    open.set_to("hub");
    open.set_schema(1);
    open.set_protocol(1);
    EXPECT_EQ(stranger.send_rows(open).error_code(), Status::UNAUTHENTICATED);
    EXPECT_EQ(stranger.fetch("hub", "t").error_code(), Status::UNAUTHENTICATED);
    wire::ToWorker stop = command(3);
    set(*stop.mutable_command()->mutable_stop()->mutable_key());
    stop.mutable_command()->mutable_stop()->set_mode(wire::STOP_MODE_FORCEFUL);
    EXPECT_EQ(stranger.talk({hello("hub"), stop}).status.error_code(), Status::UNAUTHENTICATED);
    EXPECT_EQ(state(), "RUNNING\n");
    EXPECT_EQ(state_of("hub"), "ACTIVE|\n");
    EXPECT_TRUE(daemon_.takes_a_write());
}

TEST_F(HostileIdentity, AFalseProofAndAProofThatWasSeenAreRefused) {
    const Worker worker(daemon_, "edge");
    Intruder stranger(worker.address());
    stranger.shows(rpc::user_trust(daemon_.path("another secret"))->dial("edge")->metadata);
    EXPECT_EQ(stranger.talk({hello("edge")}).status.error_code(), Status::UNAUTHENTICATED);
    stranger.shows(rpc::user_trust()->dial("edge")->metadata);
    EXPECT_EQ(stranger.talk({hello("edge")}).answers.size(), 1U);
    EXPECT_EQ(stranger.talk({hello("edge")}).status.error_code(), Status::UNAUTHENTICATED);
}

// The coordinator of another user: the real program, without the secret.
TEST_F(HostileIdentity, ACoordinatorOfAnotherUserIsRefused) {
    const Worker worker(daemon_, "edge");
    ::setenv("BATON_USER_SECRET", daemon_.path("of another user").c_str(), 1);
    Daemon stranger;
    ::unsetenv("BATON_USER_SECRET");
    ASSERT_EQ(stranger.psql("CREATE WORKER '" + worker.address() + "' SET ('edge' AS NAME)").status,
              0);
    EXPECT_TRUE(soon([&] {
        return stranger.psql("SELECT REASON FROM baton.workers WHERE NAME = 'edge'")
                   .out.find("does not prove") != std::string::npos;
    })) << stranger.psql("SHOW WORKERS").out;
}

TEST_F(HostileIdentity, AWorkerListensBeyondThisMachineOnlyIfThatIsMeant) {
    const auto refused =
        cli::run({BATON_PROGRAMS "/baton", "worker", "--name", "edge", "--listen", "0.0.0.0:0"});
    EXPECT_EQ(refused.status, 1);
    EXPECT_NE(refused.errors.find("beyond this machine"), std::string::npos) << refused.errors;
    EXPECT_NE(refused.errors.find("--insecure"), std::string::npos);
    const Worker meant(daemon_, "meant", "--data 0.0.0.0:0 --insecure");
    EXPECT_NE(meant.log().find("warning"), std::string::npos) << meant.log();
}

// Before it has proved anything, a stranger takes neither memory nor time for ever.
TEST_F(HostileIdentity, AStrangerIsBoundedBeforeItIsKnown) {
    Worker worker(daemon_, "edge");
    const Intruder stranger(worker.address());
    (void)stranger.fetch("edge", "t");
    const std::size_t before = memory_kb(worker.process().pid());
    const Socket silent(worker.port());
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(stranger.fetch("edge", std::string(32 << 20, 'x')).error_code(),
                  Status::UNAUTHENTICATED);
    }
    EXPECT_LT(memory_kb(worker.process().pid()), before + (64 << 10));
    (void)silent.read_until("never", 30s);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 25s);
    create("edge", worker);
}

// It took gigabytes.
TEST_F(HostileIdentity, AnotherUserOfThisMachineTakesNoMemory) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
    Worker worker(daemon_, "edge");
    create("edge", worker);
    const std::size_t before = memory_kb(worker.process().pid());
    const std::string bytes = reset_streams("/baton.wire.Control/Talk", 50'000);
    for (int i = 0; i < 20; ++i) EXPECT_LT(sent_by_nobody(worker.port(), bytes), bytes.size());
    EXPECT_LT(memory_kb(worker.process().pid()), before + (32 << 10));
    EXPECT_NE(worker.log().find("another user"), std::string::npos) << worker.log();
    EXPECT_EQ(state_of("edge"), "ACTIVE|\n");
    // Root is no stranger here; a process of one's own user without the proof is.
    EXPECT_EQ(Intruder(worker.address()).talk({hello("edge")}).status.error_code(),
              Status::UNAUTHENTICATED);
}

// ---- certificates -------------------------------------------------------------------------------

class HostileCertificates : public HostileIdentity {
protected:
    void SetUp() override {
        sh("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
           "-subj /CN=ca -keyout ca.key -out ca.pem");
        make("edge", "worker/edge");
        make("hub", "worker/hub");
        make("leader", "coordinator/leader");
    }
    void make(const std::string& name, const std::string& mark) {
        sh("openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=x -keyout " +
           name + ".key -out csr && printf subjectAltName=DNS:localhost,URI:baton://c/" + mark +
           " > san && openssl x509 -req -in csr -days 2 -CA ca.pem -CAkey ca.key "
           "-CAcreateserial -extfile san -out " +
           name + ".pem");
    }
    [[nodiscard]] std::string options(const std::string& name) const {
        return "--tls-ca " + daemon_.path("ca.pem") + " --tls-cert " + daemon_.path(name + ".pem") +
               " --tls-key " + daemon_.path(name + ".key");
    }
    [[nodiscard]] Intruder with(const std::string& name, const Worker& worker) const {
        return {
            worker.address(),
            grpc::SslCredentials({.pem_root_certs = text_of_file(daemon_.path("ca.pem")),
                                  .pem_private_key = text_of_file(daemon_.path(name + ".key")),
                                  .pem_cert_chain = text_of_file(daemon_.path(name + ".pem"))})};
    }

private:
    void sh(const std::string& command) const {
        const auto done = cli::run(
            {"/bin/sh", "-c", "cd " + daemon_.path("") + " && { " + command + "; } >log 2>&1"});
        ASSERT_EQ(done.status, 0) << command << text_of_file(daemon_.path("log"));
    }
};

TEST_F(HostileCertificates, TheCertificateOfAWorkerCommandsNoOther) {
    const Worker worker(daemon_, "edge", options("edge"));
    const Outcome outcome = with("hub", worker).talk({hello("edge"), register_plan("{}")});
    EXPECT_EQ(outcome.status.error_code(), Status::PERMISSION_DENIED);
    EXPECT_TRUE(outcome.answers.empty());
    EXPECT_EQ(with("hub", worker).fetch("edge", "t").error_code(), Status::PERMISSION_DENIED);
    EXPECT_EQ(with("leader", worker).talk({hello("edge")}).answers.size(), 1U);
}

TEST_F(HostileCertificates, AWorkerSendsNothingInTheNameOfAnother) {
    const Worker worker(daemon_, "edge", options("edge"));
    const auto answer_to = [&](const std::string& certificate) {
        const auto channel = grpc::CreateChannel(
            worker.address(),
            grpc::SslCredentials(
                {.pem_root_certs = text_of_file(daemon_.path("ca.pem")),
                 .pem_private_key = text_of_file(daemon_.path(certificate + ".key")),
                 .pem_cert_chain = text_of_file(daemon_.path(certificate + ".pem"))}));
        const auto stub = wire::Exchange::NewStub(channel);
        grpc::ClientContext context;
        context.set_deadline(std::chrono::system_clock::now() + 30s);
        const auto stream = stub->Carry(&context);
        wire::ToReceiver message;
        wire::Open& open = *message.mutable_open();
        open.set_query(1);
        open.set_run(1);
        open.set_exchange(1);
        open.set_from("hub");
        open.set_to("edge");
        open.set_schema(1);
        open.set_protocol(1);
        stream->Write(message);
        wire::ToSender answer;
        EXPECT_TRUE(stream->Read(&answer));
        context.TryCancel();
        (void)stream->Finish();
        return answer.refused().why();
    };
    EXPECT_NE(answer_to("edge").find("sends nothing for worker \"hub\""), std::string::npos)
        << answer_to("edge");
    EXPECT_NE(answer_to("hub").find("is not open"), std::string::npos) << answer_to("hub");
}

// ---- joining ------------------------------------------------------------------------------------

class HostileJoining : public ::testing::Test {
protected:
    static std::vector<std::string> options(const std::string& port, const std::string& more = "") {
        std::vector<std::string> all = {"--workers", "localhost:" + port};
        if (!more.empty()) {
            all.emplace_back("--set");
            all.push_back(more);
        }
        return all;
    }
    static std::string token(const Daemon& daemon, const std::string& name,
                             const std::vector<std::string>& more = {}) {
        std::vector<std::string> arguments = {
            BATON_PROGRAMS "/baton", "token", "worker", name, "--data", daemon.data()};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const auto made = cli::run(arguments);
        EXPECT_EQ(made.status, 0) << made.errors;
        return made.out.substr(0, made.out.size() - 1);
    }
    // What it says when it does not start.
    static std::string refusal(const Daemon& daemon, const std::string& name,
                               const std::string& join) {
        const auto ended = cli::run({BATON_PROGRAMS "/baton", "worker", "--listen", "localhost:0",
                                     "--data-dir", daemon.path(name), "--join", join});
        EXPECT_EQ(ended.status, 1);
        return ended.errors;
    }
    static std::string workers(const Daemon& daemon) {
        return daemon
            .psql(
                "SELECT NAME, STATE, REASON FROM baton.workers WHERE INCARNATION IS NOT NULL "
                "AND KIND = 'REMOTE'")
            .out;
    }
    static void create(const Daemon& daemon, const std::string& name, const Worker& worker,
                       const std::string& more = "") {
        const auto made = daemon.psql("CREATE WORKER '" + worker.address() + "' SET ('" + name +
                                      "' AS NAME" + more + ")");
        ASSERT_EQ(made.status, 0) << made.errors;
        ASSERT_TRUE(soon([&] {
            return workers(daemon).find(name + "|ACTIVE|\n") != std::string::npos;
        })) << daemon.psql("SHOW WORKERS").out
            << worker.log();
    }

    static std::string cluster_of(const Daemon& daemon) {
        const auto cluster = cli::run({"/usr/bin/sqlite3", daemon.data() + "/catalog.db",
                                       "SELECT cluster FROM cluster_authority"});
        return cluster.out.substr(0, cluster.out.size() - 1);
    }

    const std::string port_ = std::to_string(testing::free_port());
};

TEST_F(HostileJoining, WorkersJoinExchangeRowsAndComeBackWithoutAToken) {
    Daemon daemon(options(port_));
    auto edge = std::make_unique<Worker>(daemon, "edge", "--join " + token(daemon, "edge"));
    const Worker hub(daemon, "hub", "--join " + token(daemon, "hub"));
    EXPECT_NE(hub.log().find("encrypted"), std::string::npos) << hub.log();
    create(daemon, "hub", hub);
    create(daemon, "edge", *edge, ", 'hub' AS DOWNSTREAM");
    // Rows go from one to the other, and from there to the client.
    const auto rows = daemon.psql(
        "SELECT a FROM Generator('edge' AS SOURCE.HOST, SCHEMA(a UINT64 NOT NULL) AS "
        "SOURCE.SCHEMA, 'SEQUENCE UINT64 0 3 1' AS SOURCE.GENERATOR_SCHEMA)");
    EXPECT_EQ(rows.out, "0\n1\n2\n") << rows.errors << edge->log() << hub.log();
    const auto made = daemon.psql(
        "CREATE QUERY q AS SELECT a FROM Generator('edge' AS SOURCE.HOST, SCHEMA(a UINT64 NOT "
        "NULL) "
        "AS SOURCE.SCHEMA, 'SEQUENCE UINT64 0 100000000 1' AS SOURCE.GENERATOR_SCHEMA) INTO "
        "Void('hub' AS SINK.HOST)");
    EXPECT_EQ(made.status, 0) << made.errors;
    const auto received = [&] {
        return daemon.psql("SELECT WORKER FROM baton.counters WHERE WORKER = 'hub' AND ROWS_IN > 0")
            .out;
    };
    EXPECT_TRUE(soon([&] { return !received().empty(); })) << edge->log() << hub.log();
    edge->process().signal(SIGKILL);
    (void)edge->process().wait();
    const std::string port = edge->port();
    edge = std::make_unique<Worker>(daemon, "edge", "", port);
    EXPECT_TRUE(soon([&] { return workers(daemon) == "edge|ACTIVE|\nhub|ACTIVE|\n"; }))
        << workers(daemon) << edge->log();
    for (const char* file : {"worker.key", "worker.pem", "cluster", "cluster-ca.pem"}) {
        const auto mode = cli::run({"/usr/bin/stat", "-c", "%a", daemon.path("edge/") + file});
        EXPECT_EQ(mode.out, "600\n") << file;
    }
    daemon.restart();
    EXPECT_TRUE(soon([&] { return workers(daemon) == "edge|ACTIVE|\nhub|ACTIVE|\n"; }))
        << workers(daemon);
}

// The port where workers join is one that strangers reach. It took gigabytes from them.
TEST_F(HostileJoining, AStrangerTakesNoMemory) {
    Daemon daemon(options(port_));
    const std::string flood = daemon.path("flood");
    std::ofstream(flood) << reset_streams("/baton.wire.Joining/Join", 50'000);
    const std::size_t before = daemon.memory_mb();
    const std::string connect = "openssl s_client -quiet -alpn h2 -connect localhost:" + port_;
    for (int i = 0; i < 10; ++i) {
        const auto ended = cli::run({"/bin/sh", "-c", connect + " <" + flood});
        EXPECT_NE(ended.status, -1);  // the connection was closed before all was sent, or after it
    }
    std::vector<Socket> silent;
    for (int i = 0; i < 200; ++i) silent.emplace_back(port_);
    EXPECT_LT(daemon.memory_mb(), before + 32);
    const Worker worker(daemon, "edge", "--join " + token(daemon, "edge"));
    create(daemon, "edge", worker);
}

TEST_F(HostileJoining, ATokenIsGoodOnceInItsTimeAndUnchanged) {
    Daemon daemon(options(port_));
    const std::string once = token(daemon, "edge");
    { const Worker worker(daemon, "edge", "--join " + once); }
    { const Worker again(daemon, "edge", "--join " + once); }  // the same worker, started again
    EXPECT_NE(refusal(daemon, "thief", once).find("used before"), std::string::npos);
    const std::string late = token(daemon, "edge", {"--seconds", "1"});
    std::this_thread::sleep_for(1100ms);
    EXPECT_NE(refusal(daemon, "late", late).find("expired at"), std::string::npos);
    Daemon other(options(std::to_string(testing::free_port())));
    const std::string elsewhere =
        token(other, "edge", {"--address", "localhost:" + port_});  // another issuer's
    EXPECT_NE(refusal(daemon, "lost", elsewhere).find("cannot get a certificate"),
              std::string::npos);
    EXPECT_NE(refusal(daemon, "broken", "join.abc").find("no token"), std::string::npos);
    EXPECT_TRUE(daemon.takes_a_write());
}

// It lost who it is, and the token with that.
TEST_F(HostileJoining, TheDirectoryOfAnotherWorkerIsLeftAlone) {
    const Daemon daemon(options(port_));
    const std::string third = token(daemon, "third");
    const std::string again = token(daemon, "edge");
    {
        const Worker edge(daemon, "edge", "--join " + token(daemon, "edge"));
        EXPECT_NE(refusal(daemon, "edge", third).find("is that of worker \"edge\""),
                  std::string::npos);
        EXPECT_NE(refusal(daemon, "edge", again).find("a worker runs on it"), std::string::npos);
    }
    { const Worker edge(daemon, "edge", ""); }
    { const Worker edge(daemon, "edge", "--join " + again); }  // it was not used up
    const Worker other(daemon, "third", "--join " + third);
    ASSERT_EQ(::unlink(daemon.path("edge/cluster").c_str()), 0);
    const auto lost = cli::run({BATON_PROGRAMS "/baton", "worker", "--listen", "localhost:0",
                                "--data-dir", daemon.path("edge")});
    EXPECT_EQ(lost.status, 1);
    EXPECT_NE(lost.errors.find("missing or broken"), std::string::npos) << lost.errors;
}

TEST_F(HostileJoining, AJoinedWorkerRefusesStrangersAndOtherMembers) {
    const Daemon daemon(options(port_));
    const Worker edge(daemon, "edge", "--join " + token(daemon, "edge"));
    const Worker hub(daemon, "hub", "--join " + token(daemon, "hub"));
    const auto with = [&](const std::string& key, const std::string& certificate) {
        return grpc::SslCredentials(
            {.pem_root_certs = text_of_file(daemon.path("edge/cluster-ca.pem")),
             .pem_private_key = text_of_file(daemon.path(key)),
             .pem_cert_chain = text_of_file(daemon.path(certificate))});
    };
    Intruder member(edge.address(), with("hub/worker.key", "hub/worker.pem"),
                    identity::host_name_of({.role = identity::ProcessRole::worker,
                                            .cluster = cluster_of(daemon),
                                            .name = "edge"}));
    EXPECT_EQ(member.talk({hello("edge")}).status.error_code(), Status::PERMISSION_DENIED);
    EXPECT_EQ(member.fetch("edge", "t").error_code(), Status::PERMISSION_DENIED);
    EXPECT_NE(Intruder(edge.address()).talk({hello("edge")}).status.error_code(), Status::OK);
}

TEST_F(HostileJoining, ACertificateIsRenewedInTimeUnlessTheWorkerWasDropped) {
    Daemon daemon(options(port_, "workers.certificate_seconds=6"));
    const Worker edge(daemon, "edge", "--join " + token(daemon, "edge"));
    create(daemon, "edge", edge);
    const auto lines_with = [&](const std::string& text) {
        std::size_t count = 0;
        const std::string log = edge.log();
        for (std::size_t at = log.find(text); at != std::string::npos;
             at = log.find(text, at + 1)) {
            count += 1;
        }
        return count;
    };
    // By the second, the first certificate is over.
    EXPECT_TRUE(soon([&] { return lines_with("is renewed") >= 2; })) << edge.log();
    const std::size_t calls = lines_with(" calls, epoch");
    daemon.restart();  // dials again
    EXPECT_TRUE(soon([&] { return lines_with(" calls, epoch") > calls; })) << edge.log();
    EXPECT_EQ(workers(daemon), "edge|ACTIVE|\n");
    ASSERT_EQ(daemon.psql("DROP WORKER 'edge'").status, 0);
    EXPECT_TRUE(soon([&] {
        return edge.log().find("the catalog has no worker \"edge\"") != std::string::npos;
    })) << edge.log();
}

TEST_F(HostileJoining, NothingShowsTheKeyOfTheIssuer) {
    Daemon daemon(options(port_));
    const auto key = cli::run({"/usr/bin/sqlite3", daemon.data() + "/catalog.db",
                               "SELECT private_key FROM cluster_authority"});
    ASSERT_NE(key.out.find("PRIVATE KEY"), std::string::npos) << key.errors;
    const std::string secret = key.out.substr(30, 40);
    std::string seen = daemon.psql("SELECT * FROM cluster_authority").out +
                       daemon.psql("SHOW STATEMENTS").out + daemon.curl("/metrics").out +
                       daemon.psql("SELECT * FROM baton.changes").out;
    seen += token(daemon, "edge");
    seen += daemon.ended_log();
    EXPECT_EQ(seen.find(secret), std::string::npos);
    EXPECT_EQ(seen.find("PRIVATE KEY"), std::string::npos);
}

}  // namespace
}  // namespace baton::hostile
