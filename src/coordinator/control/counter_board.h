// CounterBoard holds the last counts that workers reported for the fragments that run on them. Its
// values are about as old as the last beat; counts of fragments that have ended are in the catalog.
// Any thread.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "catalog/views/view_query.h"
#include "model/control.h"

namespace baton::coordinator {

class CounterBoard {
public:
    // Replaces the earlier counts of the worker.
    void tell(const std::string& worker, std::vector<control::FragmentCounts> counts);
    // The worker's counts are no longer known.
    void forget(const std::string& worker);

    [[nodiscard]] views::LiveCounts all() const;

private:
    mutable std::mutex mutex_;
    std::map<std::string, std::vector<control::FragmentCounts>> told_;
};

}  // namespace baton::coordinator
