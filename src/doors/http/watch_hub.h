// WatchHub serves many clients that watch the same: each change is read and encoded once.
//
// A Channel is one WATCH: it keeps the newest changes as text, as far back as memory allows. A
// client first gets the events of its own Watch (a snapshot, or the changes after the revision from
// which it resumes), then joins the channel at that revision. If it falls so far behind that the
// channel no longer has its next change, it goes back to a Watch of its own, which begins there:
// nothing is missed, and if even the catalog no longer has the change the Watch gives a new
// snapshot.
//
// One thread of its own reads; followers never wait. A channel with many followers looks less
// often, so that they are woken for several changes at once.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/time.h"
#include "coordinator/coordinator_runtime.h"
#include "doors/http/event_stream.h"
#include "sql/ast.h"

namespace baton::http {

struct WatchHubOptions {
    std::size_t kept_bytes_max = 4 * 1024 * 1024;  // of one channel
    Duration pace_of_follower = std::chrono::microseconds(5);
    Duration pace_max = std::chrono::milliseconds(20);
};

// The events of one revision or portion as text/event-stream. The revision is the id of its last
// event only: a client that resumes in the midst of a revision gets all of it again, and loses
// nothing.
[[nodiscard]] std::string encoded(const coordinator::WatchSnapshot& snapshot);
[[nodiscard]] std::string encoded(const coordinator::WatchChange& change,
                                  const std::vector<views::TableColumn>& columns, bool last);

class WatchHub {
public:
    // The coordinator outlives it, and it outlives the streams.
    explicit WatchHub(coordinator::CoordinatorRuntime& coordinator,
                      const WatchHubOptions& options = {});
    ~WatchHub();
    WatchHub(const WatchHub&) = delete;
    WatchHub& operator=(const WatchHub&) = delete;

    // `opened` is what the statement, a WATCH, gave.
    [[nodiscard]] Result<std::shared_ptr<EventStream>> follow(
        const sql::Statement& statement, std::unique_ptr<coordinator::Watch> opened);
    [[nodiscard]] std::size_t channels() const;

private:
    class Channel;
    class Follower;
    using Clock = std::chrono::steady_clock;

    struct Due {
        Clock::time_point at;
        std::weak_ptr<Channel> channel;
    };

    void work();
    void want_look(const std::weak_ptr<Channel>& channel, Clock::time_point at);
    void want_more(std::weak_ptr<Follower> follower);
    // On the thread of the hub.
    void look(const std::shared_ptr<Channel>& channel);
    void forget(const std::shared_ptr<Channel>& channel);
    void catch_up(const std::shared_ptr<Follower>& follower);
    [[nodiscard]] Result<std::shared_ptr<Channel>> channel_for(const Follower& follower,
                                                               Revision at);

    coordinator::CoordinatorRuntime& coordinator_;
    const WatchHubOptions options_;
    mutable std::mutex mutex_;
    std::condition_variable wanted_;
    std::vector<Due> due_;                                    // channels with news
    std::deque<std::weak_ptr<Follower>> behind_;              // followers that wait for more
    std::map<std::string, std::weak_ptr<Channel>> channels_;  // by statement
    bool closing_ = false;
    std::thread thread_;
};

}  // namespace baton::http
