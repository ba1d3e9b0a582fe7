// allocate() decides which worker owns which partition of which task list.
//
// Input:   the task lists, the workers, the present owners, and the confirmed releases. Output: the
// next owners, to be written in one commit.
//
// The rules:
//   - A partition has one owner at most, at every moment. One that moves is `Releasing` until its
//     owner has confirmed the release, or is gone; only then it has the next owner.
//   - Once a release is asked for it is waited for, also if the owner might keep the partition
//     after all: the word is out.
//   - Balanced: where everything is on its way to, a worker has less than one partition more or
//     less than its share by weight. Partitions of a list are spread where there is a choice.
//   - Sticky: of all allocations that are balanced it is one that moves the fewest partitions.
//   - A worker that is draining, or has no weight, is emptied. One that is not active keeps its
//     partitions, since it may be at work on them, and gets no others. A worker that is not listed
//     is gone, and holds nothing: the caller decides when a silent worker is gone.
//   - A partition whose list is gone, or has become shorter, is released and then left out.
//   - A partition that does not move is returned unchanged, so that nothing is written for it:
//     allocate() of its own result returns the same.
// Pure, and the same for the same view.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/id.h"
#include "model/partition.h"

namespace baton::allocation {

struct PartitionList {
    std::string name;
    std::uint32_t partitions = 0;
};

struct Candidate {
    std::string name;
    std::uint32_t weight = 1;
    bool active = true;
    bool draining = false;
};

using ownership::Owned;
using ownership::Releasing;
using ownership::Unowned;
using Assignment = std::map<PartitionKey, Ownership>;

struct View {
    std::vector<PartitionList> lists;  // each name once
    std::vector<Candidate> workers;    // each name once
    Assignment present;
    std::set<PartitionKey> confirmed;  // releases; of those that are `Releasing`
    Epoch epoch;                       // under which new owners are named
};

// Every partition of every list, and those that are still being released.
[[nodiscard]] Assignment allocate(const View& view);

}  // namespace baton::allocation
