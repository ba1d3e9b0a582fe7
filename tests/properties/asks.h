// Random requests over few names, so that they meet: collide, refer to each other, stand in each
// other's way.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "catalog/requests.h"
#include "properties/model.h"

namespace baton::properties {

// A request with its text, for the reader of a failing case. Numbers of queries, fragments,
// physical sources and partitions are written #n: the n-th of those that are there when it is
// asked.
struct Ask {
    std::string text;
    catalog::Request request;
};

// Asks that happen together or not at all; `keep` false: only to see what would be answered.
struct Item {
    std::vector<Ask> asks;
    bool keep = true;
};

struct Sequence {
    std::vector<Item> items;
};

void showValue(const Ask& ask, std::ostream& os);
void showValue(const Item& item, std::ostream& os);
void showValue(const Sequence& sequence, std::ostream& os);

// The request of a statement that is known to be one.
[[nodiscard]] Ask statement(const std::string& sql);
// The same request with every #n replaced by the number it stands for; by one that nobody has if
// nothing is there.
[[nodiscard]] catalog::Request resolved(const catalog::Request& request, const ModelState& state);

// Two workers W1 -> W2 without limits, sources S1 and S2 on W1, sinks K1 on W2 and K2 on W1.
[[nodiscard]] std::vector<Item> small_cluster();

[[nodiscard]] rc::Gen<Ask> any_ask();
[[nodiscard]] rc::Gen<Ask> any_create_query();
// Of those on which the plan of a query may depend.
[[nodiscard]] rc::Gen<Ask> any_groundwork();
// At most about `most` items; some start with a small cluster, some from nothing.
[[nodiscard]] rc::Gen<Sequence> any_sequence(std::size_t most);

}  // namespace baton::properties
