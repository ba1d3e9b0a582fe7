#include "testing/control/direct_door.h"

#include <memory>
#include <utility>

#include "catalog/reader.h"

namespace baton::testing {

Result<Answer> DirectDoor::apply_one(WriteTransaction& tx, const Request& request) const {
    auto answer = tx.apply(request);
    const auto view = tx.take_wanted_view();
    if (!view) return answer;
    request::CreateQuery query = std::get<request::CreateQuery>(request);
    TRY_ASSIGN(planned, planner_(query.tree, *view));
    query.plan = std::move(planned);
    return tx.apply(query);
}

Result<CatalogLook> DirectDoor::look(const CatalogWanted& wanted) {
    return baton::look(Reader(sql_), wanted);
}

void DirectDoor::submit(Ticket ticket, std::vector<Request> requests, Settled settled) {
    waiting_.push_back(
        {.ticket = ticket, .requests = std::move(requests), .settled = std::move(settled)});
}

void DirectDoor::settle_next(const std::optional<Error>& instead) {
    const Submitted next = std::move(waiting_.front());
    waiting_.pop_front();
    if (instead) return next.settled(next.ticket, *instead);
    const auto answer = apply(next.requests);
    next.settled(next.ticket, answer ? Result<Done>(Done{}) : Result<Done>(answer.error()));
}

Result<Answer> DirectDoor::execute(const Request& request) {
    return apply({request});
}

Result<Answer> DirectDoor::apply(const std::vector<Request>& requests) {
    TRY_ASSIGN(tx, WriteTransaction::begin(sql_, epoch_));
    TRY(tx->begin_bundle(clock_.wall_now()));
    Answer last;
    for (const Request& request : requests) {
        TRY_ASSIGN(answer, apply_one(*tx, request));
        last = std::move(answer);
    }
    TRY(tx->keep_bundle());
    TRY(tx->commit());
    const std::set<EntityKey> keys = keys_of(tx->changes());
    if (!keys.empty()) published_(keys);
    return last;
}

}  // namespace baton::testing
