#include "core/optimizer/optimize.h"

#include "core/optimizer/prune.h"
#include "core/optimizer/rules.h"

namespace baton::optimizer {

namespace {

// Every rule moves filters and projections down or makes the plan smaller, so it ends long before;
// a plan that is left half done is still right.
constexpr int kRoundsMax = 64;
constexpr int kStepsMax = 64;  // at one node, in one round

// Applies the first rule that has something to say; false if none has.
bool step(PlanNode& node) {
    for (const Rule rule : all_rules()) {
        if (auto better = rule(node)) {
            node = *std::move(better);
            return true;
        }
    }
    return false;
}

bool rewrite(PlanNode& node) {
    bool changed = false;
    for (int i = 0; i < kStepsMax && step(node); ++i) changed = true;
    for (PlanNode& input : node.inputs) changed = rewrite(input) || changed;
    return changed;
}

}  // namespace

PlanNode optimized(PlanNode root) {
    for (int round = 0; round < kRoundsMax; ++round) {
        const bool changed = rewrite(root);
        PlanNode smaller = pruned(root);
        if (!changed && smaller == root) break;
        root = std::move(smaller);
    }
    return root;
}

}  // namespace baton::optimizer
