// SureStore makes an ObjectStore of attempts that may fail: it checks keys, repeats attempts,
// waits, settles puts whose answer was lost, counts requests, and says in an error how it was
// tried.
//
// The decisions are those of core/store_calls. The calls to one store share one pace. A call waits
// on the thread of its caller, and sees within 50 ms that the caller has given up.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/prng.h"
#include "core/store_calls/pace.h"
#include "core/store_calls/sure_call.h"
#include "ports/clock.h"
#include "ports/object_store.h"
#include "ports/store_account.h"
#include "ports/store_attempts.h"

namespace baton::stores {

// How a thread waits: for this long, at most.
using Sleep = std::function<void(Duration)>;
void sleep_on_thread(Duration time);

class SureStore : public ObjectStore {
public:
    // No other process may have the same seed: it makes the stamps of puts.
    SureStore(std::unique_ptr<StoreAttempts> attempts, const Clock& clock, std::uint64_t seed,
              Sleep sleep = sleep_on_thread);
    ~SureStore() override;

    Result<Got> get(const std::string& key, const GetOptions& options,
                    const StoreCall& call) override;
    Result<PutOutcome> put(const std::string& key, std::string_view bytes,
                           const PutCondition& condition, const StoreCall& call) override;
    Result<PutOutcome> put_file(const std::string& key, const std::string& path,
                                const PutCondition& condition, const StoreCall& call) override;
    Result<ListPage> list(const ListOptions& options, const StoreCall& call) override;
    Result<Done> remove(const std::vector<std::string>& keys, const StoreCall& call) override;

    [[nodiscard]] std::optional<std::string> path_of(const std::string& key) const override;
    [[nodiscard]] std::string url() const override { return attempts_->url(); }

    // Of all calls to this store.
    [[nodiscard]] const StoreAccount& account() const { return account_; }

private:
    class Caller;

    Result<PutOutcome> put_body(const std::string& key, const PutAttempt& put, std::uint64_t size,
                                const StoreCall& call);
    Result<Done> remove_page(std::span<const std::string> keys, const StoreCall& call);
    [[nodiscard]] std::uint64_t draw();
    store_calls::CallEffect step(store_calls::SureCall& machine,
                                 const store_calls::CallEvent& event);

    const std::unique_ptr<StoreAttempts> attempts_;
    const Clock& clock_;
    const Sleep sleep_;
    const std::string process_;  // the first part of every nonce
    std::mutex mutex_;           // of the two below
    Prng prng_;
    store_calls::Pace pace_;
    StoreAccount account_;
};

}  // namespace baton::stores
