// The way of a Runner to the desk and back. Internal to it.
#pragma once

#include <memory>
#include <utility>

#include "doors/pg/server/runner.h"

namespace baton::pgserver {

template <class T>
std::function<void(T)> Runner::back(std::function<void(T)> then) {
    return [self = shared_from_this(), visitor = visitor_, turn = turn_,
            then = std::move(then)](T told) {
        const auto transaction = visitor->transaction();
        self->options_.post([self, turn, then, transaction, told = std::move(told)] {
            if (turn != self->turn_ || !self->visitor_) return;
            self->take_status(transaction);
            then(told);
        });
    };
}

template <class T>
void Runner::on_desk(std::function<Result<T>()> work, std::function<void(Result<T>)> then) {
    using SharedResult = std::shared_ptr<Result<T>>;
    auto told = back<SharedResult>(
        [then = std::move(then)](const SharedResult& result) { then(std::move(*result)); });
    visitor_->ask({}, [work = std::move(work), told](const coordinator::Execution& execution) {
        told(std::make_shared<Result<T>>(execution.error ? Result<T>(*execution.error) : work()));
    });
}

}  // namespace baton::pgserver
