// Overload turns lambdas into one visitor. Without a catch-all lambda, std::visit refuses to
// compile until every alternative is handled.
#pragma once

namespace baton {

template <class... Fs>
struct Overload : Fs... {
    using Fs::operator()...;
};

template <class... Fs>
Overload(Fs...) -> Overload<Fs...>;  // clang-tidy 14 does not deduce it by itself

}  // namespace baton
