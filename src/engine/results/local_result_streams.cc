#include "engine/results/local_result_streams.h"

#include <utility>

#include "base/text.h"
#include "engine/results/result_rows.h"

namespace baton::engine {

namespace {

class LocalStream final : public ResultStream {
public:
    LocalStream(std::unique_ptr<ResultOutlet> outlet, Schema schema)
        : outlet_(std::move(outlet)), schema_(std::move(schema)) {}

    Result<ResultPortion> poll() override {
        const TakenResult taken = outlet_->take();
        switch (taken.what) {
            case TakenResult::What::nothing:
                return ResultPortion{};
            case TakenResult::What::end:
                return ResultPortion{.rows = {}, .ended = true};
            case TakenResult::What::broken:
                return Error{.code = ErrorCode::cancelled, .message = taken.why};
            case TakenResult::What::batch:
                break;
        }
        TRY_ASSIGN(rows, rows_in(schema_, taken.batch));
        return ResultPortion{.rows = std::move(rows)};
    }

private:
    const std::unique_ptr<ResultOutlet> outlet_;
    const Schema schema_;
};

class NoStream final : public ResultStream {
public:
    explicit NoStream(Error why) : why_(std::move(why)) {}
    Result<ResultPortion> poll() override { return why_; }

private:
    const Error why_;
};

}  // namespace

std::unique_ptr<ResultStream> LocalResultStreams::open(const std::string& worker,
                                                       const std::optional<Address>& address,
                                                       const std::string& token,
                                                       const Schema& schema, Wake wake) {
    if (address && remote_ != nullptr) {
        return remote_->open(worker, address, token, schema, std::move(wake));
    }
    if (address) {
        return std::make_unique<NoStream>(
            Error{.code = ErrorCode::worker_unreachable,
                  .message = "there is no way to worker " + in_quotes(worker) + " from here"});
    }
    auto outlet = hub_.read(token, std::move(wake));
    if (!outlet) return std::make_unique<NoStream>(outlet.error());
    return std::make_unique<LocalStream>(*std::move(outlet), schema);
}

}  // namespace baton::engine
