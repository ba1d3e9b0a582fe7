#include "engine/results/result_hub.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <utility>

namespace baton::engine {

class ResultChannel {
public:
    explicit ResultChannel(const ResultLimits& limits)
        : limits_(limits), opened_(std::chrono::steady_clock::now()) {}

    // ---- the ends come and go; false: there is, or was, one ----
    bool join_inlet() {
        const std::lock_guard lock(mutex_);
        if (std::exchange(has_inlet_, true)) return false;
        opened_ = std::chrono::steady_clock::now();
        return true;
    }
    bool join_outlet(ResultHub::Wake wake) {
        {
            const std::lock_guard lock(mutex_);
            if (reader_ != Reader::none) return false;
            reader_ = Reader::there;
            wake_ = std::move(wake);
        }
        changed_.notify_all();
        return true;
    }
    void leave_inlet() {
        std::unique_lock lock(mutex_);
        if (ending_ == Ending::none) ending_ = Ending::broken;
        wake(lock);
    }
    void leave_outlet() {
        {
            const std::lock_guard lock(mutex_);
            reader_ = Reader::gone;
            wake_ = nullptr;
            waiting_.clear();
            bytes_ = 0;
        }
        changed_.notify_all();
    }

    Result<Done> put(arrow::ArrowBytes batch) {
        std::unique_lock lock(mutex_);
        TRY(wait(lock, [&] { return bytes_ < limits_.bytes_max; }));
        bytes_ += batch->size();
        waiting_.push_back(std::move(batch));
        wake(lock);
        return Done{};
    }
    Result<Done> finish() {
        std::unique_lock lock(mutex_);
        ending_ = Ending::finished;
        wake(lock);
        lock.lock();
        const auto waited = wait(lock, [&] { return end_taken_; });
        return end_taken_ ? Result<Done>(Done{}) : waited;  // who has it all may leave
    }
    void interrupt() {
        {
            const std::lock_guard lock(mutex_);
            interrupted_ = true;
        }
        changed_.notify_all();
    }

    TakenResult take() {
        TakenResult taken;
        {
            const std::lock_guard lock(mutex_);
            if (!waiting_.empty()) {
                taken = {.what = TakenResult::What::batch, .batch = std::move(waiting_.front())};
                waiting_.pop_front();
                bytes_ -= taken.batch->size();
            } else if (end_taken_ || ending_ == Ending::none) {
                return taken;
            } else {
                end_taken_ = true;
                taken.what = ending_ == Ending::finished ? TakenResult::What::end
                                                         : TakenResult::What::broken;
                taken.why = "the query ended before its rows did";
            }
        }
        changed_.notify_all();
        return taken;
    }

private:
    enum class Reader : std::uint8_t { none, there, gone };
    enum class Ending : std::uint8_t { none, finished, broken };

    // Gives up the lock: whoever is woken may take at once.
    void wake(std::unique_lock<std::mutex>& lock) {
        const ResultHub::Wake wake = wake_;
        lock.unlock();
        if (wake) wake();
    }

    // Waits, with the lock, until it holds.
    template <class Holds>
    Result<Done> wait(std::unique_lock<std::mutex>& lock, const Holds& holds) {
        const auto over = [&] { return interrupted_ || reader_ == Reader::gone || holds(); };
        if (reader_ == Reader::none) {
            const auto come = [&] { return over() || reader_ == Reader::there; };
            const auto deadline = opened_ + limits_.patience;
            const bool late = std::chrono::steady_clock::now() >= deadline;
            if (late || !changed_.wait_until(lock, deadline, come)) {
                return cancelled("no client came to read the rows of the query");
            }
        }
        changed_.wait(lock, over);
        if (reader_ == Reader::gone) return cancelled("the client that asked for the rows is gone");
        if (interrupted_) return cancelled("the sink was interrupted");
        return Done{};
    }
    static Error cancelled(std::string why) {
        return {.code = ErrorCode::cancelled, .message = std::move(why)};
    }

    const ResultLimits limits_;
    std::mutex mutex_;
    std::condition_variable changed_;  // for the sink
    std::chrono::steady_clock::time_point opened_;
    std::deque<arrow::ArrowBytes> waiting_;
    std::size_t bytes_ = 0;
    bool has_inlet_ = false;
    bool interrupted_ = false;
    bool end_taken_ = false;
    Reader reader_ = Reader::none;
    Ending ending_ = Ending::none;
    ResultHub::Wake wake_;
};

ResultInlet::~ResultInlet() {
    channel_->leave_inlet();
}

Result<Done> ResultInlet::put(arrow::ArrowBytes batch) {
    return channel_->put(std::move(batch));
}

Result<Done> ResultInlet::finish() {
    return channel_->finish();
}

void ResultInlet::interrupt() {
    channel_->interrupt();
}

ResultOutlet::~ResultOutlet() {
    channel_->leave_outlet();
}

TakenResult ResultOutlet::take() {
    return channel_->take();
}

std::shared_ptr<ResultChannel> ResultHub::channel_of(const std::string& token) {
    const std::lock_guard lock(mutex_);
    std::erase_if(channels_, [](const auto& one) { return one.second.expired(); });
    auto& known = channels_[token];
    auto channel = known.lock();
    if (!channel) {
        channel = std::make_shared<ResultChannel>(limits_);
        known = channel;
    }
    return channel;
}

Result<std::unique_ptr<ResultInlet>> ResultHub::open(const std::string& token) {
    auto channel = channel_of(token);
    if (channel->join_inlet()) return std::make_unique<ResultInlet>(std::move(channel));
    return Error{.code = ErrorCode::conflict,
                 .message = "the rows of this query are written already"};
}

Result<std::unique_ptr<ResultOutlet>> ResultHub::read(const std::string& token, Wake wake) {
    auto channel = channel_of(token);
    if (channel->join_outlet(std::move(wake))) {
        return std::make_unique<ResultOutlet>(std::move(channel));
    }
    return Error{.code = ErrorCode::conflict, .message = "the rows of this query are read already"};
}

}  // namespace baton::engine
