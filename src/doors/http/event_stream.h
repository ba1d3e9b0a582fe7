// EventStream is what a connection shows that asked for events: pieces of text, in order, as long
// as the client takes them. The watch of a view is one kind (watch_hub.h), the rows of a SELECT are
// another (row_events.h).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace baton::http {

// Whole events as text/event-stream. Shared by all who see the same.
using Piece = std::shared_ptr<const std::string>;

// One event; `data` is JSON. No id: a client that comes back does not go on after it.
[[nodiscard]] std::string event_text(std::string_view kind, const std::string& id,
                                     std::string data);
[[nodiscard]] Piece piece_of(std::string text);

class EventStream {
public:
    virtual ~EventStream() = default;

    // The next bytes to send, about `bytes` at most; empty: nothing yet. Never waits. A slow client
    // delays no other and holds little memory: the stream catches up for it, or waits at its
    // source.
    [[nodiscard]] virtual std::vector<Piece> take(std::size_t bytes) = 0;
    // Nothing follows the part that was taken.
    [[nodiscard]] virtual bool ended() const = 0;
    // Called by any thread when there may be something to take; it may not wait, nor use the
    // stream.
    virtual void when_ready(std::function<void()> ready) = 0;
};

}  // namespace baton::http
