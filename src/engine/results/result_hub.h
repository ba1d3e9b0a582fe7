// ResultHub is where the rows of queries wait for the clients that asked for them: in the process
// of the worker that has the sink, in Arrow's format, by the token of their query.
//
// Rules:
//   - Waiting rows are bounded: a sink that is further ahead than `bytes_max` waits until its
//     reader has taken some, which holds the sources back.
//   - Sink and reader come in either order. There is one reader: a second one gets an error.
//   - A reader that goes away ends the sink with `cancelled`, and so does one that does not come
//     for `patience` while rows wait: later rows would have no reader.
//   - A sink that ends without finish() was broken off: the reader gets what was put before, then
//     the word of that.
// Any threads; each sink and each reader is used by one at a time, but for interrupt.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "engine/arrow/arrow_ipc.h"

namespace baton::engine {

struct ResultLimits {
    std::size_t bytes_max = 4 << 20;               // that wait for one reader
    Duration patience = std::chrono::seconds(60);  // without a reader
};

class ResultChannel;  // what the two ends of one query share

// Where rows are put.
class ResultInlet {
public:
    explicit ResultInlet(std::shared_ptr<ResultChannel> channel) : channel_(std::move(channel)) {}
    ~ResultInlet();
    ResultInlet(const ResultInlet&) = delete;
    ResultInlet& operator=(const ResultInlet&) = delete;

    // Waits for room. Fails with cancelled if the reader is gone, or it was interrupted.
    [[nodiscard]] Result<Done> put(arrow::ArrowBytes batch);
    // After the last batch: waits until everything, this too, was taken.
    [[nodiscard]] Result<Done> finish();
    void interrupt();  // from any thread

private:
    const std::shared_ptr<ResultChannel> channel_;
};

struct TakenResult {
    enum class What : std::uint8_t { nothing, batch, end, broken };
    What what = What::nothing;
    arrow::ArrowBytes batch;
    std::string why;  // it is broken
};

// Where they are taken.
class ResultOutlet {
public:
    explicit ResultOutlet(std::shared_ptr<ResultChannel> channel) : channel_(std::move(channel)) {}
    ~ResultOutlet();  // the sink learns that its reader is gone
    ResultOutlet(const ResultOutlet&) = delete;
    ResultOutlet& operator=(const ResultOutlet&) = delete;

    // Without waiting. Nothing comes after end and broken.
    [[nodiscard]] TakenResult take();

private:
    const std::shared_ptr<ResultChannel> channel_;
};

class ResultHub {
public:
    using Wake = std::function<void()>;

    explicit ResultHub(const ResultLimits& limits = {}) : limits_(limits) {}

    // Fails with conflict if there is one already.
    [[nodiscard]] Result<std::unique_ptr<ResultInlet>> open(const std::string& token);
    // `wake` is called, by any thread, when there may be more to take; it must not block, and may
    // be called once more when the outlet has ended. Fails with conflict if there is a reader
    // already.
    [[nodiscard]] Result<std::unique_ptr<ResultOutlet>> read(const std::string& token, Wake wake);

private:
    [[nodiscard]] std::shared_ptr<ResultChannel> channel_of(const std::string& token);

    const ResultLimits limits_;
    std::mutex mutex_;
    std::map<std::string, std::weak_ptr<ResultChannel>> channels_;  // some may have ended
};

}  // namespace baton::engine
