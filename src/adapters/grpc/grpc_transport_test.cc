// Both ends of the control connection, over real sockets.
#include "adapters/grpc/grpc_transport.h"

#include <condition_variable>
#include <deque>
#include <mutex>

#include <baton/control.grpc.pb.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adapters/grpc/channel.h"
#include "adapters/grpc/control_server.h"
#include "adapters/grpc/grpc_server.h"
#include "testing/temporary_directory.h"

namespace baton::rpc {
namespace {

using namespace std::chrono_literals;

// What a listener was told, in order.
template <class Event>
class Told {
public:
    void add(Event event) {
        const std::lock_guard lock(mutex_);
        events_.push_back(std::move(event));
        changed_.notify_all();
    }
    // The next one if it is of that kind; fails the test if none comes.
    template <class Kind>
    Kind next() {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, 20s, [&] { return !events_.empty(); })) {
            ADD_FAILURE() << "nothing came";
            return {};
        }
        Event event = std::move(events_.front());
        events_.pop_front();
        if (!std::holds_alternative<Kind>(event)) {
            ADD_FAILURE() << "something else came: " << event.index();
            return {};
        }
        return std::get<Kind>(std::move(event));
    }
    // Whether one that fits is there, or comes.
    [[nodiscard]] bool sees(const std::function<bool(const Event&)>& fits) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, 20s,
                                 [&] { return std::any_of(events_.begin(), events_.end(), fits); });
    }
    [[nodiscard]] std::size_t waiting() {
        const std::lock_guard lock(mutex_);
        return events_.size();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Event> events_;
};

// A socket that listens and never says anything.
class SilentPort {
public:
    SilentPort() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* raw = reinterpret_cast<sockaddr*>(&address);
        socklen_t size = sizeof address;
        CHECK(::bind(socket_, raw, size) == 0 && ::listen(socket_, 16) == 0);
        CHECK(::getsockname(socket_, raw, &size) == 0);
        port_ = ntohs(address.sin_port);
    }
    SilentPort(const SilentPort&) = delete;
    SilentPort& operator=(const SilentPort&) = delete;
    ~SilentPort() { ::close(socket_); }
    [[nodiscard]] std::uint16_t port() const { return port_; }

private:
    int socket_;
    std::uint16_t port_ = 0;
};

struct WorkerEnd {
    explicit WorkerEnd(const std::shared_ptr<Trust>& trust = user_trust(),
                       const std::string& host = "127.0.0.1")
        : control({.worker = "EDGE", .trust = trust, .log = [this](const std::string& line) {
                       const std::lock_guard lock(mutex);
                       log += line + "\n";
                   }}) {
        control.listen([this](sessions::Event event) { told.add(std::move(event)); });
        auto started = GrpcServer::start({.listen = {{.host = host, .port = 0}}, .trust = trust},
                                         {&control.service()});
        CHECK(started);
        server = *std::move(started);
    }
    ~WorkerEnd() {
        control.listen(nullptr);
        server.reset();
    }
    [[nodiscard]] std::uint16_t port() const { return server->ports().at(0); }

    std::mutex mutex;
    std::string log;
    Told<sessions::Event> told;
    ControlServer control;
    std::unique_ptr<GrpcServer> server;
};

struct CoordinatorEnd {
    explicit CoordinatorEnd(const GrpcTransportOptions& options = {}) {
        transport = std::make_unique<GrpcTransport>(options);
        transport->listen([this](transport::Event event) { told.add(std::move(event)); });
    }
    void dial(std::uint16_t port, transport::Attempt attempt = 1,
              const std::string& worker = "EDGE", const std::string& host = "127.0.0.1") {
        transport->dial(worker, Address{.host = host, .port = port}, attempt,
                        {.epoch = Epoch(3), .worker = worker, .catalog = "4a1f"});
    }

    Told<transport::Event> told;
    std::unique_ptr<GrpcTransport> transport;  // ends before what it tells
};

control::Welcome a_welcome() {
    return {.incarnation = Incarnation(77), .last_event = 4, .fragments = {}};
}

// Dialled and welcomed; the session's number.
sessions::Session connect(CoordinatorEnd& coordinator, WorkerEnd& worker,
                          transport::Attempt attempt = 1) {
    coordinator.dial(worker.port(), attempt);
    const auto greeted = worker.told.next<sessions::Greeted>();
    worker.control.welcome(greeted.session, a_welcome());
    EXPECT_EQ(coordinator.told.next<transport::Dialled>().attempt, attempt);
    return greeted.session;
}

TEST(GrpcTransport, AStreamBeginsWithHelloAndWelcomeAndThenKeepsItsOrder) {
    WorkerEnd worker;
    CoordinatorEnd coordinator;
    coordinator.dial(worker.port());
    const auto greeted = worker.told.next<sessions::Greeted>();
    EXPECT_EQ(greeted.hello,
              (control::Hello{.epoch = Epoch(3), .worker = "EDGE", .catalog = "4a1f"}));
    worker.control.welcome(greeted.session, a_welcome());
    const auto dialled = coordinator.told.next<transport::Dialled>();
    EXPECT_EQ(dialled.welcome, a_welcome());
    EXPECT_EQ(dialled.worker, "EDGE");
    for (std::uint64_t i = 1; i <= 500; ++i) {
        coordinator.transport->send("EDGE", 1, control::Beat{.number = i, .seen = 0});
        worker.control.send(greeted.session, control::Pulse{.beat = i});
    }
    for (std::uint64_t i = 1; i <= 500; ++i) {
        EXPECT_EQ(
            std::get<control::Beat>(worker.told.next<sessions::MessageArrived>().message).number,
            i);
        const auto heard = coordinator.told.next<transport::MessageArrived>();
        EXPECT_EQ(std::get<control::Pulse>(heard.message).beat, i);
    }
}

TEST(GrpcTransport, ARefusalIsAFailedDialWithTheHighestEpoch) {
    WorkerEnd worker;
    CoordinatorEnd coordinator;
    coordinator.dial(worker.port());
    const auto greeted = worker.told.next<sessions::Greeted>();
    worker.control.welcome(greeted.session,
                           control::Refusal{.highest = Epoch(9), .why = "epoch 3 is over"});
    const auto failed = coordinator.told.next<transport::DialFailed>();
    EXPECT_EQ(failed.why, "epoch 3 is over");
    EXPECT_EQ(failed.highest, Epoch(9));
    (void)worker.told.next<sessions::HungUp>();
}

TEST(GrpcTransport, AWorkerOfAnotherNameIsRefused) {
    WorkerEnd worker;
    CoordinatorEnd coordinator;
    coordinator.dial(worker.port(), 1, "HUB");
    EXPECT_EQ(coordinator.told.next<transport::DialFailed>().why,
              R"(this is worker "EDGE", not "HUB")");
    EXPECT_EQ(worker.told.waiting(), 0U);
}

TEST(GrpcTransport, ADialFailsAtOnceWhereNobodyListensAndAgainEveryTime) {
    std::uint16_t port = 0;
    { port = SilentPort().port(); }
    CoordinatorEnd coordinator;
    for (transport::Attempt attempt = 1; attempt <= 3; ++attempt) {
        coordinator.dial(port, attempt);
        const auto failed = coordinator.told.next<transport::DialFailed>();
        EXPECT_EQ(failed.attempt, attempt);
        EXPECT_NE(failed.why.find("onnection refused"), std::string::npos) << failed.why;
    }
    // Who comes back is reached at once, whatever failed before.
    WorkerEnd worker;
    (void)connect(coordinator, worker, 4);
}

TEST(GrpcTransport, ADialToASilentPortTimesOut) {
    const SilentPort silent;
    CoordinatorEnd coordinator({.dial_timeout = 50ms});
    coordinator.dial(silent.port());
    EXPECT_EQ(coordinator.told.next<transport::DialFailed>().why, "no answer within 50 ms");
}

TEST(GrpcTransport, AWorkerThatGreetsNobodyTimesOut) {
    WorkerEnd worker;
    CoordinatorEnd coordinator({.dial_timeout = 100ms});
    coordinator.dial(worker.port());
    (void)worker.told.next<sessions::Greeted>();
    (void)coordinator.told.next<transport::DialFailed>();
    (void)worker.told.next<sessions::HungUp>();
}

TEST(GrpcTransport, TooMuchThatWaitsToBeSentEndsTheStream) {
    const SilentPort silent;
    CoordinatorEnd coordinator({.waiting_max = 10});
    coordinator.dial(silent.port());
    for (int i = 0; i < 11; ++i) coordinator.transport->send("EDGE", 1, control::Beat{});
    EXPECT_EQ(coordinator.told.next<transport::DialFailed>().why,
              "it takes nothing: too much waits to be sent");
    coordinator.transport->send("EDGE", 1, control::Beat{});
}

TEST(GrpcTransport, AWorkerThatEndsBreaksItsStreams) {
    CoordinatorEnd coordinator;
    {
        WorkerEnd worker;
        (void)connect(coordinator, worker);
    }
    EXPECT_EQ(coordinator.told.next<transport::Broken>().attempt, 1U);
    coordinator.transport->send("EDGE", 1, control::Beat{});  // into the void
}

TEST(GrpcTransport, WhoHangsUpIsToldNothingMore) {
    WorkerEnd worker;
    CoordinatorEnd coordinator;
    const auto session = connect(coordinator, worker);
    coordinator.transport->hang_up("EDGE", 1);
    EXPECT_EQ(worker.told.next<sessions::HungUp>().session, session);
    worker.control.send(session, control::Pulse{});
    EXPECT_EQ(coordinator.told.waiting(), 0U);
}

TEST(GrpcTransport, AWorkerCanHangUp) {
    WorkerEnd worker;
    CoordinatorEnd coordinator;
    const auto session = connect(coordinator, worker);
    worker.control.hang_up(session);
    (void)coordinator.told.next<transport::Broken>();
    (void)worker.told.next<sessions::HungUp>();
}

TEST(GrpcTransport, ItEndsCleanlyWithStreamsOpenOrOpening) {
    const SilentPort silent;
    for (int i = 0; i < 5; ++i) {
        WorkerEnd worker;
        CoordinatorEnd coordinator;
        const auto session = connect(coordinator, worker);
        coordinator.dial(worker.port(), 2);
        coordinator.dial(silent.port(), 3);
        for (int n = 0; n < 100; ++n) worker.control.send(session, control::Pulse{});
        coordinator.transport->listen(nullptr);
        coordinator.transport.reset();
        EXPECT_TRUE(worker.told.sees([&](const sessions::Event& event) {
            const auto* hung_up = std::get_if<sessions::HungUp>(&event);
            return hung_up != nullptr && hung_up->session == session;
        }));
    }
}

TEST(GrpcTransport, ManyStreamsShareAFewThreads) {
    WorkerEnd worker;
    CoordinatorEnd coordinator({.dial_timeout = 60s});
    constexpr transport::Attempt kStreams = 50;
    for (transport::Attempt i = 1; i <= kStreams; ++i) coordinator.dial(worker.port(), i);
    for (transport::Attempt i = 1; i <= kStreams; ++i) {
        worker.control.welcome(worker.told.next<sessions::Greeted>().session, a_welcome());
    }
    for (transport::Attempt i = 1; i <= kStreams; ++i) {
        (void)coordinator.told.next<transport::Dialled>();
    }
    for (transport::Attempt i = 1; i <= kStreams; ++i) {
        coordinator.transport->send("EDGE", i, control::Beat{.number = i});
    }
    std::set<std::uint64_t> beats;
    for (transport::Attempt i = 1; i <= kStreams; ++i) {
        beats.insert(
            std::get<control::Beat>(worker.told.next<sessions::MessageArrived>().message).number);
    }
    EXPECT_EQ(beats.size(), kStreams);
}

// ---- what no coordinator and no worker says -----------------------------------------------------

TEST(ControlServer, WhatCannotBeUnderstoodEndsTheSession) {
    WorkerEnd worker;
    const auto stub = wire::Control::NewStub(grpc::CreateChannel(
        "127.0.0.1:" + std::to_string(worker.port()), grpc::InsecureChannelCredentials()));
    wire::ToWorker hello;
    hello.mutable_hello()->set_epoch(1);
    hello.mutable_hello()->set_worker("EDGE");
    hello.mutable_hello()->set_protocol(1);
    wire::ToWorker beat;
    beat.mutable_beat()->set_number(1);
    beat.mutable_beat()->set_seen(0);
    const std::vector<std::vector<wire::ToWorker>> stories = {
        {wire::ToWorker()}, {beat}, {hello, hello}, {hello, wire::ToWorker()}};
    for (const auto& story : stories) {
        grpc::ClientContext context;
        introduce(*user_trust()->dial("EDGE"), context);
        const auto stream = stub->Talk(&context);
        for (const wire::ToWorker& message : story) stream->Write(message);
        wire::ToCoordinator answer;
        EXPECT_FALSE(stream->Read(&answer));  // the end
        (void)stream->Finish();
        if (!story.front().has_hello()) continue;
        (void)worker.told.next<sessions::Greeted>();
        (void)worker.told.next<sessions::HungUp>();
    }
    const std::lock_guard lock(worker.mutex);
    EXPECT_NE(worker.log.find("it greets twice"), std::string::npos) << worker.log;
    EXPECT_NE(worker.log.find("it says nothing that is known here"), std::string::npos);
}

// Answers every message with the same.
class Parrot final : public wire::Control::CallbackService {
public:
    wire::ToCoordinator says;
    bool proves = true;
    grpc::ServerBidiReactor<wire::ToWorker, wire::ToCoordinator>* Talk(
        grpc::CallbackServerContext* context) override {
        if (proves) CHECK(user_trust()->judge(*context, "EDGE"));
        return new Call(says);
    }

private:
    class Call final : public grpc::ServerBidiReactor<wire::ToWorker, wire::ToCoordinator> {
    public:
        explicit Call(const wire::ToCoordinator& says) : says_(says) { StartRead(&in_); }
        void OnReadDone(bool ok) override {
            if (!ok) return Finish(grpc::Status::OK);
            StartWrite(&says_);
        }
        void OnWriteDone(bool ok) override {
            if (!ok) return Finish(grpc::Status::OK);
            StartRead(&in_);
        }
        void OnDone() override { delete this; }

    private:
        const wire::ToCoordinator says_;
        wire::ToWorker in_;
    };
};

TEST(GrpcTransport, WhatCannotBeUnderstoodEndsTheStream) {
    Parrot parrot;
    const auto server =
        GrpcServer::start({.listen = {{.host = "127.0.0.1", .port = 0}}}, {&parrot});
    ASSERT_TRUE(server);
    const std::uint16_t port = (*server)->ports()[0];
    CoordinatorEnd coordinator;
    coordinator.dial(port, 1);
    EXPECT_NE(coordinator.told.next<transport::DialFailed>().why.find("cannot understand"),
              std::string::npos);
    parrot.says.mutable_pulse()->set_beat(1);
    parrot.says.mutable_pulse()->set_from(1);
    parrot.says.mutable_pulse()->set_through(1);
    coordinator.dial(port, 2);
    EXPECT_EQ(coordinator.told.next<transport::DialFailed>().why,
              "it does not begin with a greeting");
    parrot.says.mutable_greeting()->set_worker("HUB");
    parrot.says.mutable_greeting()->mutable_welcome()->set_incarnation(1);
    parrot.says.mutable_greeting()->mutable_welcome()->set_last_event(1);
    coordinator.dial(port, 3);
    EXPECT_EQ(coordinator.told.next<transport::DialFailed>().why, R"(it is worker "HUB")");
    parrot.says.mutable_greeting()->set_worker("edge");
    coordinator.dial(port, 4);
    (void)coordinator.told.next<transport::Dialled>();
    coordinator.transport->send("EDGE", 4, control::Beat{});
    EXPECT_EQ(coordinator.told.next<transport::Broken>().why, "it greets twice");
    parrot.proves = false;
    coordinator.dial(port, 5);
    EXPECT_NE(coordinator.told.next<transport::DialFailed>().why.find("does not know the secret"),
              std::string::npos);
}

// ---- proofs -------------------------------------------------------------------------------------

TEST(UserTrust, WhoDoesNotKnowTheSecretIsRefused) {
    const testing::TemporaryDirectory directory;
    WorkerEnd worker(user_trust(directory / "one"));
    CoordinatorEnd stranger({.trust = user_trust(directory / "two")});
    stranger.dial(worker.port());
    EXPECT_NE(stranger.told.next<transport::DialFailed>().why.find("does not prove"),
              std::string::npos);
    CoordinatorEnd ours({.trust = user_trust(directory / "one")});
    (void)connect(ours, worker);
}

TEST(UserTrust, AProofIsTakenOnceAndForOneWorker) {
    WorkerEnd worker;
    const auto stub = wire::Control::NewStub(grpc::CreateChannel(
        "127.0.0.1:" + std::to_string(worker.port()), grpc::InsecureChannelCredentials()));
    const auto end_with = [&](const Dialling& dialling) {
        grpc::ClientContext context;
        introduce(dialling, context);
        const auto stream = stub->Talk(&context);
        stream->WritesDone();
        wire::ToCoordinator answer;
        EXPECT_FALSE(stream->Read(&answer));
        return stream->Finish().error_code();
    };
    const Dialling once = *user_trust()->dial("EDGE");
    EXPECT_EQ(end_with(once), grpc::StatusCode::OK);
    EXPECT_EQ(end_with(once), grpc::StatusCode::UNAUTHENTICATED);
    EXPECT_EQ(end_with(*user_trust()->dial("HUB")), grpc::StatusCode::NOT_FOUND);
    Dialling changed = *user_trust()->dial("EDGE");
    std::string& proof = changed.metadata.front().second;
    for (const std::string& broken :
         {std::string(), std::string("1.2.3"), proof.substr(0, proof.size() - 2) + "00",
          "2" + proof.substr(1), "1.9" + proof.substr(3), std::string(4000, '1')}) {
        changed.metadata.front().second = broken;
        EXPECT_EQ(end_with(changed), grpc::StatusCode::UNAUTHENTICATED) << broken;
    }
    EXPECT_EQ(worker.told.waiting(), 0U);
}

TEST(GrpcServer, AnAddressThatIsTakenIsAnError) {
    WorkerEnd worker;
    ControlServer other({.worker = "HUB"});
    const auto failed = GrpcServer::start(
        {.listen = {{.host = "127.0.0.1", .port = worker.port()}}}, {&other.service()});
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message,
              "cannot listen on \"127.0.0.1:" + std::to_string(worker.port()) +
                  "\": Address already in use");
}

// ---- certificates -------------------------------------------------------------------------------

class Certificates {
public:
    Certificates() {
        sh("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
           "-subj /CN=baton-test -keyout ca.key -out ca.pem");
        sh("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
           "-subj /CN=stranger -keyout stranger.key -out stranger.pem");
        make("node", "DNS:localhost");
        make("edge", "DNS:localhost,URI:baton://c/worker/edge");
        make("hub", "DNS:localhost,URI:baton://c/worker/hub");
        make("leader", "DNS:localhost,URI:baton://c/coordinator/leader");
    }
    [[nodiscard]] system::TlsFiles files(const std::string& name) const {
        return {.ca = directory_ / "ca.pem",
                .cert = directory_ / (name + ".pem"),
                .key = directory_ / (name + ".key")};
    }
    [[nodiscard]] std::shared_ptr<Trust> of(
        const std::string& name,
        UnmarkedCertificates unmarked = UnmarkedCertificates::refused) const {
        return *tls_trust(files(name), unmarked);
    }
    // With its key; its alternative names are those.
    void make(const std::string& name, const std::string& names) const {
        sh("openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost "
           "-keyout " +
           name + ".key -out " + name + ".csr && printf subjectAltName=" + names +
           " > san && openssl x509 -req -in " + name +
           ".csr -days 2 -CA ca.pem -CAkey ca.key "
           "-CAcreateserial -extfile san -out " +
           name + ".next && mv " + name + ".next " + name + ".pem");
    }

private:
    void sh(const std::string& command) const {
        const std::string all = "cd " + directory_.path() + " && { " + command + "; } >log 2>&1";
        CHECK(std::system(all.c_str()) == 0);  // NOLINT(concurrency-mt-unsafe)
    }
    testing::TemporaryDirectory directory_;
};

void expect_welcome(CoordinatorEnd& coordinator, WorkerEnd& worker) {
    coordinator.dial(worker.port(), 1, "EDGE", "localhost");
    const auto greeted = worker.told.next<sessions::Greeted>();
    worker.control.welcome(greeted.session, a_welcome());
    (void)coordinator.told.next<transport::Dialled>();
}

std::string refusal_of(CoordinatorEnd& coordinator, WorkerEnd& worker) {
    coordinator.dial(worker.port(), 1, "EDGE", "localhost");
    std::string why = coordinator.told.next<transport::DialFailed>().why;
    EXPECT_EQ(worker.told.waiting(), 0U);
    return why;
}

TEST(GrpcTls, WhoShowsTheCertificateOfACoordinatorIsLetInAndNobodyElse) {
    const Certificates certificates;
    WorkerEnd worker(certificates.of("edge"), "localhost");
    CoordinatorEnd ours({.trust = certificates.of("leader")});
    expect_welcome(ours, worker);

    CoordinatorEnd stranger({.trust = certificates.of("stranger")});
    (void)refusal_of(stranger, worker);
    CoordinatorEnd bare;
    (void)refusal_of(bare, worker);
    CoordinatorEnd hub({.trust = certificates.of("hub")});
    EXPECT_NE(refusal_of(hub, worker).find("only coordinators"), std::string::npos);
    CoordinatorEnd unmarked({.trust = certificates.of("node")});
    EXPECT_NE(refusal_of(unmarked, worker).find("does not say what it may do"), std::string::npos);
}

TEST(GrpcTls, CertificatesWithoutARoleCommandOnlyWhereTheyMay) {
    const Certificates certificates;
    WorkerEnd worker(certificates.of("node", UnmarkedCertificates::accepted), "localhost");
    CoordinatorEnd unmarked({.trust = certificates.of("node")});
    expect_welcome(unmarked, worker);
    CoordinatorEnd hub({.trust = certificates.of("hub")});
    EXPECT_NE(refusal_of(hub, worker).find("only coordinators"), std::string::npos);
}

TEST(GrpcTls, AWorkerThatIsNotOursOrNotTheOneMeantIsNotTalkedTo) {
    const Certificates certificates;
    CoordinatorEnd ours({.trust = certificates.of("leader")});
    WorkerEnd stranger(certificates.of("stranger"), "localhost");
    (void)refusal_of(ours, stranger);
    WorkerEnd hub(certificates.of("hub"), "localhost");
    CoordinatorEnd again({.trust = certificates.of("leader")});
    again.dial(hub.port(), 1, "EDGE", "localhost");
    const auto greeted = hub.told.next<sessions::Greeted>();
    hub.control.welcome(greeted.session, a_welcome());
    EXPECT_NE(again.told.next<transport::DialFailed>().why.find("that of worker \"hub\""),
              std::string::npos);
}

TEST(GrpcTls, CertificatesThatChangeAreReadAgain) {
    const Certificates certificates;
    certificates.make("moving", "DNS:localhost,URI:baton://c/worker/hub");
    CoordinatorEnd moving({.trust = certificates.of("moving")});
    WorkerEnd worker(certificates.of("edge"), "localhost");
    (void)refusal_of(moving, worker);
    certificates.make("moving", "DNS:localhost,URI:baton://c/coordinator/leader");
    expect_welcome(moving, worker);
}

TEST(GrpcTls, AFileThatCannotBeReadIsAnError) {
    const auto failed = tls_trust({.ca = "/no/ca", .cert = "", .key = ""}, {});
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message, "cannot read the certificate or key \"/no/ca\"");
}

}  // namespace
}  // namespace baton::rpc
