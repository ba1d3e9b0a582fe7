#include "testing/control/direct_door.h"

#include <memory>
#include <utility>

#include "catalog/reader.h"

namespace baton::testing {

Result<catalog::Answer> DirectDoor::apply_one(catalog::WriteTransaction& tx,
                                              const catalog::Request& request) const {
    auto answer = tx.apply(request);
    const auto view = tx.take_wanted_view();
    if (!view) return answer;
    catalog::request::CreateQuery query = std::get<catalog::request::CreateQuery>(request);
    TRY_ASSIGN(planned, planner_(query.tree, *view));
    query.plan = std::move(planned);
    return tx.apply(query);
}

Result<coordinator::CatalogLook> DirectDoor::look(const coordinator::CatalogWanted& wanted) {
    return coordinator::look(catalog::Reader(sql_), wanted);
}

void DirectDoor::submit(Ticket ticket, std::vector<catalog::Request> requests,
                        WhenWritten written) {
    waiting_.push_back(
        {.ticket = ticket, .requests = std::move(requests), .written = std::move(written)});
}

void DirectDoor::settle_next(const std::optional<Error>& instead) {
    const Submitted next = std::move(waiting_.front());
    waiting_.pop_front();
    if (instead) return next.written(next.ticket, *instead);
    const auto answer = apply(next.requests);
    next.written(next.ticket, answer ? Result<Done>(Done{}) : Result<Done>(answer.error()));
}

Result<catalog::Answer> DirectDoor::execute(const catalog::Request& request) {
    return apply({request});
}

Result<catalog::Answer> DirectDoor::apply(const std::vector<catalog::Request>& requests) {
    TRY_ASSIGN(tx, catalog::WriteTransaction::begin(sql_, epoch_));
    TRY(tx->begin_bundle(clock_.wall_now()));
    catalog::Answer last;
    for (const catalog::Request& request : requests) {
        TRY_ASSIGN(answer, apply_one(*tx, request));
        last = std::move(answer);
    }
    TRY(tx->keep_bundle());
    TRY(tx->commit());
    const std::set<coordinator::EntityKey> keys = coordinator::keys_of(tx->changes());
    if (!keys.empty()) published_(keys);
    return last;
}

}  // namespace baton::testing
