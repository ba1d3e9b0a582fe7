// Exchanges between two ends of one process, over real sockets and without any.
#include "adapters/grpc/grpc_exchanges.h"

#include <future>
#include <numeric>
#include <random>
#include <thread>

#include <baton/exchange.grpc.pb.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adapters/grpc/channel.h"
#include "adapters/grpc/exchange_wire.h"
#include "adapters/grpc/grpc_server.h"

namespace baton::rpc {
namespace {

using namespace std::chrono_literals;

constexpr ExchangeKey kKey{.query = QueryId(3), .run = 2, .exchange = 5};
constexpr Duration kPatience = 20s;

Schema a_schema() {
    return {{{.name = "N", .type = DataType::int64}, {.name = "T", .type = DataType::varsized}}};
}

engine::Frame a_frame(std::uint32_t origin, std::int64_t number, std::size_t rows = 3) {
    const std::vector<Value> numbers(rows, number);
    const std::vector<Value> texts(rows, "text " + std::to_string(number));
    return {.origin = origin,
            .batch = {.rows = rows,
                      .columns = {engine::column_of(DataType::int64, numbers),
                                  engine::column_of(DataType::varsized, texts)}},
            .watermark = static_cast<std::uint64_t>(number),
            .end = false};
}

std::int64_t number_of(const engine::Frame& frame) {
    return frame.batch.columns.at(0).data<std::int64_t>()[0];
}

int local_socket(sockaddr_in& address) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(socket >= 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return socket;
}

// Passes bytes on to another port, and cuts every connection after a while, if it is to.
class ChoppyProxy {
public:
    explicit ChoppyProxy(std::uint16_t to, bool cuts = true) : to_(to), is_choppy_(cuts) {
        sockaddr_in address{};
        listener_ = local_socket(address);
        auto* raw = reinterpret_cast<sockaddr*>(&address);
        socklen_t size = sizeof address;
        CHECK(::bind(listener_, raw, size) == 0 && ::listen(listener_, 16) == 0);
        CHECK(::getsockname(listener_, raw, &size) == 0);
        port_ = ntohs(address.sin_port);
        CHECK(::pipe(wake_) == 0);
        thread_ = std::thread([this] { run(); });
    }
    ChoppyProxy(const ChoppyProxy&) = delete;
    ChoppyProxy& operator=(const ChoppyProxy&) = delete;
    ~ChoppyProxy() {
        ::close(wake_[1]);
        thread_.join();
        for (Pair& pair : pairs_) cut(pair);
        ::close(listener_);
        ::close(wake_[0]);
    }
    [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    [[nodiscard]] int cuts() const { return cuts_; }
    [[nodiscard]] int connections() const { return connections_; }
    // Returns when at least one was.
    void cut_all() const {
        const int before = cuts_;
        CHECK(::write(wake_[1], "c", 1) == 1);
        cuts_.wait(before);
    }

private:
    struct Pair {
        int near = -1;
        int far = -1;
        std::size_t budget = 0;  // bytes until it is cut
    };

    void run() {
        while (true) {
            std::vector<pollfd> fds = {{wake_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
            for (const Pair& pair : pairs_) {
                fds.push_back({pair.near, POLLIN, 0});
                fds.push_back({pair.far, POLLIN, 0});
            }
            ::poll(fds.data(), fds.size(), -1);
            if (fds[0].revents != 0) {
                char told = 0;
                if (::read(wake_[0], &told, 1) != 1) return;
                for (Pair& pair : pairs_) cut(pair);
                pairs_.clear();
                continue;
            }
            for (std::size_t i = 0; i < pairs_.size(); ++i) {
                Pair& pair = pairs_[i];
                const bool alive =
                    (fds[2 + 2 * i].revents == 0 || pass(pair, pair.near, pair.far)) &&
                    (fds[3 + 2 * i].revents == 0 || pass(pair, pair.far, pair.near));
                if (!alive) cut(pair);
            }
            std::erase_if(pairs_, [](const Pair& pair) { return pair.near < 0; });
            if (fds[1].revents != 0) accept_one();
        }
    }
    void accept_one() {
        sockaddr_in address{};
        Pair pair{.near = ::accept(listener_, nullptr, nullptr),
                  .far = local_socket(address),
                  .budget = std::uniform_int_distribution<std::size_t>(2'000, 60'000)(dice_)};
        address.sin_port = htons(to_);
        CHECK(::connect(pair.far, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
        if (!is_choppy_) pair.budget = SIZE_MAX;
        pairs_.push_back(pair);
        connections_ += 1;
    }
    static bool pass(Pair& pair, int from, int to) {
        char bytes[4096];
        const ssize_t size = ::recv(from, bytes, sizeof bytes, 0);
        if (size <= 0 || static_cast<std::size_t>(size) > pair.budget) return false;
        pair.budget -= static_cast<std::size_t>(size);
        return ::send(to, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL) == size;
    }
    void cut(Pair& pair) {
        ::close(std::exchange(pair.near, -1));
        ::close(std::exchange(pair.far, -1));
        cuts_ += 1;
        cuts_.notify_all();
    }

    std::uint16_t to_;
    const bool is_choppy_;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    int wake_[2] = {-1, -1};
    std::vector<Pair> pairs_;
    std::mt19937 dice_{7};
    std::atomic<int> cuts_ = 0;
    std::atomic<int> connections_ = 0;
    std::thread thread_;
};

// A worker that receives: exchanges and a server for them.
struct End {
    explicit End(exchange::Limits limits = {}) {
        exchanges = std::make_unique<GrpcExchanges>(
            GrpcExchangesOptions{.limits = limits, .worker = "HUB"});
        auto started = GrpcServer::start({.listen = {{.host = "127.0.0.1", .port = 0}}},
                                         {&exchanges->service()});
        CHECK(started);
        server = *std::move(started);
    }
    [[nodiscard]] std::string address() const {
        return "127.0.0.1:" + std::to_string(server->ports()[0]);
    }
    std::unique_ptr<engine::ExchangeSender> sender(const std::string& from,
                                                   const std::string& to_address,
                                                   const ExchangeKey& key = kKey,
                                                   const Schema& schema = a_schema()) const {
        auto opened = exchanges->open_sender(key, from, "HUB", to_address, schema);
        CHECK(opened);
        return *std::move(opened);
    }
    std::unique_ptr<engine::ExchangeReceiver> receiver(
        const std::vector<std::string>& senders) const {
        auto opened = exchanges->open_receiver(kKey, "HUB", senders, a_schema());
        CHECK(opened);
        return *std::move(opened);
    }

    std::unique_ptr<GrpcExchanges> exchanges;
    std::unique_ptr<GrpcServer> server;
};

// The next thing that is not nothing.
engine::Arrived next(engine::ExchangeReceiver& receiver) {
    while (true) {
        auto arrived = receiver.next(kPatience);
        if (!arrived) {
            ADD_FAILURE() << to_string(arrived.error());
            return {};
        }
        if (arrived->what != engine::Arrival::nothing) return *std::move(arrived);
    }
}

// Both ways that frames can take.
class ExchangesTest : public ::testing::TestWithParam<bool> {
protected:
    [[nodiscard]] std::string to() const { return GetParam() ? hub_.address() : std::string(); }
    [[nodiscard]] const End& from() const { return GetParam() ? edge_ : hub_; }

    End hub_{{.items = 4, .bytes = 1 << 20}};
    End edge_;
};
INSTANTIATE_TEST_SUITE_P(Ways, ExchangesTest, ::testing::Values(true, false),
                         [](const auto& tested) { return tested.param ? "Remote" : "Local"; });

TEST_P(ExchangesTest, FramesArriveInOrderWithTheirOriginsAndThenTheEnd) {
    const auto receiver = hub_.receiver({"EDGE", "OTHER"});
    const auto edge = from().sender("EDGE", to());
    const auto other = from().sender("OTHER", to());
    auto sending = std::async(std::launch::async, [&] {
        EXPECT_TRUE(other->announce({}));
        EXPECT_TRUE(other->finish());
        EXPECT_TRUE(edge->announce({"source 1", "source 2"}));
        for (int i = 0; i < 100; ++i) EXPECT_TRUE(edge->send(a_frame(i % 2, i)));
        EXPECT_TRUE(
            edge->send(engine::Frame{.origin = 1, .batch = {}, .watermark = {}, .end = true}));
        EXPECT_TRUE(edge->finish());
    });
    engine::Arrived first = next(*receiver);
    if (first.sender == 1) first = next(*receiver);
    EXPECT_EQ(first.what, engine::Arrival::announced);
    EXPECT_EQ(first.sender, 0U);
    EXPECT_EQ(first.origins, (std::vector<std::string>{"source 1", "source 2"}));
    for (int i = 0; i < 100; ++i) {
        const engine::Arrived arrived = next(*receiver);
        ASSERT_EQ(arrived.what, engine::Arrival::frame);
        EXPECT_EQ(arrived.frame.origin, static_cast<std::uint32_t>(i % 2));
        EXPECT_EQ(arrived.frame.watermark, static_cast<std::uint64_t>(i));
        ASSERT_EQ(number_of(arrived.frame), i);
        EXPECT_EQ(arrived.frame.batch.columns[1].texts()[2], "text " + std::to_string(i));
    }
    const engine::Arrived last = next(*receiver);
    EXPECT_TRUE(last.frame.end);
    EXPECT_EQ(last.frame.batch.rows, 0U);
    EXPECT_EQ(next(*receiver).what, engine::Arrival::end);
    EXPECT_EQ(next(*receiver).what, engine::Arrival::end);
    sending.get();
    EXPECT_EQ(edge->counts().rows, 300U);
    EXPECT_EQ(receiver->counts().rows, 300U);
    EXPECT_EQ(receiver->counts().frames, 101U);
}

TEST_P(ExchangesTest, ASenderWaitsForAReceiverThatIsNotThereYet) {
    const auto sender = from().sender("EDGE", to());
    auto sending = std::async(std::launch::async, [&] {
        EXPECT_TRUE(sender->announce({"s"}));
        EXPECT_TRUE(sender->finish());
    });
    EXPECT_EQ(sending.wait_for(120ms), std::future_status::timeout);
    const auto receiver = hub_.receiver({"EDGE"});
    EXPECT_EQ(next(*receiver).what, engine::Arrival::announced);
    EXPECT_EQ(next(*receiver).what, engine::Arrival::end);
    sending.get();
}

TEST_P(ExchangesTest, ASlowReceiverHoldsItsSenderBack) {
    const auto receiver = hub_.receiver({"EDGE"});
    const auto sender = from().sender("EDGE", to());
    std::atomic<int> sent = 0;
    auto sending = std::async(std::launch::async, [&] {
        EXPECT_TRUE(sender->announce({"s"}));
        for (int i = 0; i < 50; ++i) {
            EXPECT_TRUE(sender->send(a_frame(0, i)));
            sent += 1;
        }
        EXPECT_TRUE(sender->finish());
    });
    EXPECT_EQ(sending.wait_for(150ms), std::future_status::timeout);
    EXPECT_LE(sent, 3);  // and the announcement: four items
    EXPECT_EQ(next(*receiver).what, engine::Arrival::announced);
    for (int i = 0; i < 50; ++i) {
        ASSERT_EQ(number_of(next(*receiver).frame), i);
        EXPECT_LE(sent, i + 5);
    }
    EXPECT_EQ(next(*receiver).what, engine::Arrival::end);
    sending.get();
    EXPECT_GT(sender->counts().stalls, 0U);
}

TEST_P(ExchangesTest, WhatIsUnderWayIsBoundedInBytes) {
    const auto receiver = hub_.receiver({"EDGE"});
    const auto sender = from().sender("EDGE", to());
    std::atomic<int> sent = 0;
    auto sending = std::async(std::launch::async, [&] {
        EXPECT_TRUE(sender->announce({"s"}));
        for (int i = 0; i < 10; ++i) {
            EXPECT_TRUE(sender->send(a_frame(0, i, 60'000)));  // about a megabyte each
            sent += 1;
        }
    });
    EXPECT_EQ(sending.wait_for(200ms), std::future_status::timeout);
    EXPECT_LE(sent, 2);
    EXPECT_EQ(next(*receiver).what, engine::Arrival::announced);
    for (int i = 0; i < 10; ++i) ASSERT_EQ(number_of(next(*receiver).frame), i);
    sending.get();
}

TEST_P(ExchangesTest, AnInterruptWakesWhoeverWaits) {
    const auto cancelled = [](const Result<Done>& done) {
        return !done && done.error().code == ErrorCode::cancelled;
    };
    const auto waits = [](auto& future) {
        return future.wait_for(50ms) == std::future_status::timeout;
    };
    // For a receiver that does not come.
    const auto lonely = from().sender("EDGE", to(), {.query = QueryId(9)});
    auto announcing = std::async(std::launch::async, [&] { return lonely->announce({"s"}); });
    EXPECT_TRUE(waits(announcing));
    lonely->interrupt();
    EXPECT_TRUE(cancelled(announcing.get()));
    EXPECT_TRUE(cancelled(lonely->finish()));
    // For room.
    const auto receiver = hub_.receiver({"EDGE", "OTHER"});
    const auto sender = from().sender("EDGE", to());
    auto sending = std::async(std::launch::async, [&]() -> Result<Done> {
        TRY(sender->announce({"s"}));
        while (true) TRY(sender->send(a_frame(0, 1)));
    });
    EXPECT_TRUE(waits(sending));
    sender->interrupt();
    EXPECT_TRUE(cancelled(sending.get()));
    // For anything.
    while (receiver->next(100ms)->what != engine::Arrival::nothing) continue;
    auto taking = std::async(std::launch::async, [&] { return receiver->next(kPatience); });
    EXPECT_TRUE(waits(taking));
    receiver->interrupt();
    EXPECT_EQ(taking.get()->what, engine::Arrival::nothing);
    EXPECT_EQ(receiver->next(kPatience)->what, engine::Arrival::nothing);
}

TEST_P(ExchangesTest, AReceiverThatIsInterruptedStillGivesAllThatIsThere) {
    const auto receiver = hub_.receiver({"EDGE", "OTHER", "LOST"});
    const auto first = from().sender("EDGE", to());
    const auto second = from().sender("OTHER", to());
    ASSERT_TRUE(first->announce({"s"}));
    ASSERT_TRUE(first->finish());
    ASSERT_TRUE(second->announce({"s"}));
    ASSERT_TRUE(second->send(a_frame(0, 1)));
    ASSERT_TRUE(second->finish());
    receiver->interrupt();
    EXPECT_EQ(receiver->next(kPatience)->what, engine::Arrival::announced);
    EXPECT_EQ(receiver->next(kPatience)->what, engine::Arrival::announced);
    EXPECT_EQ(receiver->next(kPatience)->what, engine::Arrival::frame);
    EXPECT_EQ(receiver->next(kPatience)->what, engine::Arrival::nothing);
}

TEST_P(ExchangesTest, AReceiverThatGoesAwayDoesNotEndItsSender) {
    auto receiver = hub_.receiver({"EDGE"});
    const auto sender = from().sender("EDGE", to());
    EXPECT_TRUE(sender->announce({"s"}));
    EXPECT_EQ(next(*receiver).what, engine::Arrival::announced);
    receiver.reset();
    auto sending = std::async(std::launch::async, [&]() -> Result<Done> {
        while (true) TRY(sender->send(a_frame(0, 1)));
    });
    EXPECT_EQ(sending.wait_for(150ms), std::future_status::timeout);
    sender->interrupt();
    EXPECT_FALSE(sending.get());
}

TEST_P(ExchangesTest, AnotherSchemaOrAnUnknownSenderIsRefusedForGood) {
    const auto receiver = hub_.receiver({"EDGE"});
    const Schema other{{{.name = "N", .type = DataType::int32}}};
    const auto odd = from().sender("EDGE", to(), kKey, other);
    const auto refused = odd->announce({"s"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::not_supported);
    EXPECT_NE(refused.error().message.find("expects rows with another schema"), std::string::npos);
    const auto stranger = from().sender("STRANGER", to());
    const auto unknown = stranger->announce({"s"});
    ASSERT_FALSE(unknown);
    EXPECT_NE(unknown.error().message.find("expects nothing from worker \"STRANGER\""),
              std::string::npos);
}

TEST_P(ExchangesTest, AFrameOfAnOriginThatWasNotAnnouncedIsAnError) {
    const auto receiver = hub_.receiver({"EDGE"});
    const auto sender = from().sender("EDGE", to());
    EXPECT_TRUE(sender->announce({"s"}));
    EXPECT_TRUE(sender->send(a_frame(1, 0)));
    EXPECT_EQ(next(*receiver).what, engine::Arrival::announced);
    const auto arrived = receiver->next(kPatience);
    ASSERT_FALSE(arrived);
    EXPECT_EQ(arrived.error().code, ErrorCode::malformed_message);
    EXPECT_FALSE(receiver->next(kPatience));
}

TEST(Exchanges, AReceiverIsOpenOnce) {
    const End hub;
    auto receiver = hub.receiver({"EDGE"});
    const auto second = hub.exchanges->open_receiver(kKey, "HUB", {"EDGE"}, a_schema());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::conflict);
    receiver.reset();
    EXPECT_TRUE(hub.exchanges->open_receiver(kKey, "HUB", {"EDGE"}, a_schema()));
}

TEST(Exchanges, EveryFrameArrivesOnceAndInOrderOverConnectionsThatBreak) {
    const End hub;
    const End edge;
    ChoppyProxy proxy(hub.server->ports()[0]);
    const std::vector<std::string> names = {"A", "B"};
    auto receiver = hub.receiver(names);
    constexpr int kFrames = 1500;
    std::vector<std::unique_ptr<engine::ExchangeSender>> senders;
    std::vector<std::future<void>> sending;
    for (const std::string& name : names) {
        senders.push_back(edge.sender(name, proxy.address()));
        sending.push_back(std::async(std::launch::async, [&sender = *senders.back()] {
            EXPECT_TRUE(sender.announce({"s"}));
            for (int i = 0; i < kFrames; ++i) EXPECT_TRUE(sender.send(a_frame(0, i)));
            EXPECT_TRUE(sender.finish());
        }));
    }
    std::vector<int> came(names.size(), -1);  // the announcement is before frame 0
    while (true) {
        const engine::Arrived arrived = next(*receiver);
        if (arrived.what == engine::Arrival::end) break;
        int& last = came[arrived.sender];
        if (last < 0) {
            ASSERT_EQ(arrived.what, engine::Arrival::announced);
        } else {
            ASSERT_EQ(number_of(arrived.frame), last);
        }
        last += 1;
    }
    receiver.reset();  // also if the last confirmation was lost
    for (auto& one : sending) one.get();
    EXPECT_EQ(came, std::vector<int>(names.size(), kFrames));
    EXPECT_GT(proxy.cuts(), 5);
    EXPECT_GT(senders[0]->counts().reconnects, 0U);
}

// Sends a frame and waits for it; the sender is still open then.
std::unique_ptr<engine::ExchangeSender> send_one(const End& edge, const std::string& name,
                                                 const std::string& address,
                                                 engine::ExchangeReceiver& receiver) {
    auto sender = edge.sender(name, address);
    EXPECT_TRUE(sender->announce({"s"}));
    EXPECT_EQ(next(receiver).what, engine::Arrival::announced);
    EXPECT_TRUE(sender->send(a_frame(0, 1)));
    EXPECT_EQ(next(receiver).what, engine::Arrival::frame);
    return sender;
}

TEST(Exchanges, SendersDoNotShareAConnectionButTakeUpThatOfOneThatHasEnded) {
    const End hub;
    const End edge;
    const ChoppyProxy proxy(hub.server->ports()[0], false);
    const auto receiver = hub.receiver({"A", "B", "C"});
    auto a = send_one(edge, "A", proxy.address(), *receiver);
    const auto b = send_one(edge, "B", proxy.address(), *receiver);
    EXPECT_EQ(proxy.connections(), 2);
    a.reset();
    const auto c = send_one(edge, "C", proxy.address(), *receiver);
    EXPECT_EQ(proxy.connections(), 2);
}

TEST(Exchanges, AConnectionThatBrokeBeforeItWasTakenUpIsMadeAnew) {
    const End hub;
    const End edge;
    ChoppyProxy proxy(hub.server->ports()[0], false);
    const auto receiver = hub.receiver({"A", "B"});
    auto a = send_one(edge, "A", proxy.address(), *receiver);
    a.reset();
    proxy.cut_all();
    const auto b = send_one(edge, "B", proxy.address(), *receiver);
    EXPECT_EQ(proxy.connections(), 2);
}

TEST(Exchanges, AFrameThatIsTooLongGoesInParts) {
    const End hub;
    const End edge;
    const auto receiver = hub.receiver({"EDGE"});
    const auto sender = edge.sender("EDGE", hub.address());
    constexpr std::size_t kRows = 1'000'000;
    engine::Frame frame = a_frame(0, 7, kRows);
    frame.end = true;
    auto sending = std::async(std::launch::async, [&] {
        EXPECT_TRUE(sender->announce({"s"}));
        EXPECT_TRUE(sender->send(std::move(frame)));
        EXPECT_TRUE(sender->finish());
    });
    EXPECT_EQ(next(*receiver).what, engine::Arrival::announced);
    std::size_t rows = 0;
    std::size_t parts = 0;
    for (bool ended = false; !ended;) {
        const engine::Arrived arrived = next(*receiver);
        ASSERT_EQ(arrived.what, engine::Arrival::frame);
        rows += arrived.frame.batch.rows;
        parts += 1;
        ended = arrived.frame.end;
        EXPECT_EQ(arrived.frame.watermark.has_value(), ended);
    }
    EXPECT_EQ(rows, kRows);
    EXPECT_GT(parts, 4U);
    EXPECT_EQ(next(*receiver).what, engine::Arrival::end);
    sending.get();
}

// ---- what no sender says ------------------------------------------------------------------------

class RawSender {
public:
    explicit RawSender(const End& hub)
        : stub_(wire::Exchange::NewStub(
              grpc::CreateChannel(hub.address(), grpc::InsecureChannelCredentials()))),
          stream_(stub_->Carry(introduced(context_))) {}
    ~RawSender() {
        context_.TryCancel();
        (void)stream_->Finish();
    }
    void open() {
        wire::ToReceiver message;
        write(OpenExchange{.receiver = {.key = kKey, .worker = "HUB"},
                           .sender = "EDGE",
                           .schema = fingerprint(a_schema())},
              message);
        stream_->Write(message);
    }
    void item(std::uint64_t number, const OutgoingItem& item) {
        wire::ToReceiver message;
        write(number, item, message);
        stream_->Write(message);
    }
    void say(const wire::ToReceiver& message) { stream_->Write(message); }
    std::optional<exchange::ToSender> hear() {
        wire::ToSender message;
        if (!stream_->Read(&message)) return std::nullopt;
        return *read(message);
    }

private:
    static grpc::ClientContext* introduced(grpc::ClientContext& context) {
        introduce(*user_trust()->dial("HUB"), context);
        return &context;
    }

    grpc::ClientContext context_;
    std::unique_ptr<wire::Exchange::Stub> stub_;
    std::unique_ptr<grpc::ClientReaderWriter<wire::ToReceiver, wire::ToSender>> stream_;
};

TEST(ExchangeService, WhatNoSenderSaysIsAnErrorOfTheReceiver) {
    const std::vector<std::function<void(RawSender&)>> stories = {
        [](RawSender& raw) { raw.item(2, Announcement{{"s"}}); },
        [](RawSender& raw) {
            raw.item(1, FinishMark{});
            raw.item(2, FinishMark{});
        },
        [](RawSender& raw) {
            raw.item(1, Announcement{{"s"}});
            raw.item(2, Announcement{{"s"}});
        },
        [](RawSender& raw) {
            raw.item(1, Announcement{{"s"}});
            raw.item(2, OutgoingFrame{.origin = 0, .watermark = {}, .end = false, .batch = "rows"});
        },
    };
    for (const auto& story : stories) {
        const End hub;
        const auto receiver = hub.receiver({"EDGE", "OTHER"});
        RawSender raw(hub);
        raw.open();
        EXPECT_TRUE(std::holds_alternative<exchange::Opened>(raw.hear().value()));
        story(raw);
        bool failed = false;
        for (int i = 0; i < 10 && !failed; ++i) failed = !receiver->next(kPatience);
        EXPECT_TRUE(failed);
    }
}

TEST(ExchangeService, WhoSendsMoreThanItMayIsCutOff) {
    const End hub({.items = 4, .bytes = 1 << 20});
    const auto receiver = hub.receiver({"EDGE"});
    RawSender raw(hub);
    raw.open();
    for (std::uint64_t i = 1; i <= 5; ++i) raw.item(i, Announcement{{"s"}});
    while (raw.hear()) continue;
    const auto refused = receiver->next(kPatience);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("it sends more than it may"), std::string::npos);
}

TEST(ExchangeService, WhatCannotBeUnderstoodEndsTheStreamAlone) {
    const End hub;
    const auto receiver = hub.receiver({"EDGE"});
    {
        RawSender raw(hub);
        raw.say(wire::ToReceiver());
        EXPECT_FALSE(raw.hear());
    }
    {
        RawSender raw(hub);
        raw.item(1, FinishMark{});  // of what?
        EXPECT_FALSE(raw.hear());
    }
    EXPECT_EQ(receiver->next(1ms)->what, engine::Arrival::nothing);
}

TEST(ExchangeService, ASenderThatNeverHeardOfItsEndIsToldByAReceiverThatIsGone) {
    const End hub;
    auto receiver = hub.receiver({"EDGE"});
    {
        RawSender raw(hub);
        raw.open();
        raw.item(1, Announcement{{"s"}});
        raw.item(2, FinishMark{});
        while (next(*receiver).what != engine::Arrival::end) continue;
    }
    receiver.reset();
    RawSender raw(hub);
    raw.open();
    const auto said = raw.hear();
    ASSERT_TRUE(said);
    EXPECT_EQ(std::get<exchange::Opened>(*said).progress.arrived, 2U);
}

}  // namespace
}  // namespace baton::rpc
