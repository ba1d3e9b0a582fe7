// CounterBoard holds what workers last told of the fragments that run on them. Its values are about
// as old as the last beat; what ended is in the catalog. Any thread.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "catalog/views/view_query.h"
#include "model/control.h"

namespace baton {

class CounterBoard {
public:
    // Replaces what the worker told before.
    void tell(const std::string& worker, std::vector<control::FragmentCounts> counts);
    // Nobody knows what it counts now.
    void forget(const std::string& worker);

    [[nodiscard]] LiveCounts all() const;

private:
    mutable std::mutex mutex_;
    std::map<std::string, std::vector<control::FragmentCounts>> told_;
};

}  // namespace baton
