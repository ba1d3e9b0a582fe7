// How other threads tell connections that there may be events.
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "doors/http/connection.h"

namespace baton::http {

namespace {

namespace asio = boost::asio;

constexpr std::size_t kBellsAtOnce = 64;

// Some of those that were rung for; then others get a turn.
void answer_bells(const std::shared_ptr<ServerContext>& server, std::vector<std::uint64_t> rung) {
    for (std::size_t i = 0; i < kBellsAtOnce && !rung.empty(); ++i) {
        const auto found = server->connections.find(rung.back());
        rung.pop_back();
        if (found == server->connections.end()) continue;
        const auto connection = found->second;
        connection->pump();
    }
    if (rung.empty()) return;
    asio::post(server->io, [weak = std::weak_ptr(server), rest = std::move(rung)]() mutable {
        if (const auto still = weak.lock()) answer_bells(still, std::move(rest));
    });
}

}  // namespace

void ring(const std::shared_ptr<ServerContext>& server, std::uint64_t id) {
    {
        const std::lock_guard lock(server->bells.mutex);
        server->bells.rung.push_back(id);
        if (server->bells.rung.size() > 1) return;  // somebody has asked to look
    }
    asio::post(server->io, [weak = std::weak_ptr(server)] {
        const auto still = weak.lock();
        if (!still) return;
        std::vector<std::uint64_t> rung;
        {
            const std::lock_guard lock(still->bells.mutex);
            rung.swap(still->bells.rung);
        }
        answer_bells(still, std::move(rung));
    });
}

}  // namespace baton::http
