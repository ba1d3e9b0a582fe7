#include "core/optimizer/expand.h"

#include <algorithm>

#include "base/text.h"

namespace baton::optimizer {

namespace {

SourceScan scan_of(const PhysicalSource& source, const Schema& whole, const Schema& asked) {
    SourceScan scan{.id = source.id,
                    .logical = source.logical,
                    .worker = source.worker,
                    .type = source.type,
                    .source = source.source,
                    .format = source.format,
                    .parsed = whole,
                    .wanted = {}};
    for (const Column& column : asked.columns) {
        const auto found =
            std::find_if(whole.columns.begin(), whole.columns.end(),
                         [&](const Column& candidate) { return candidate.name == column.name; });
        CHECK(found != whole.columns.end());
        scan.wanted.push_back(static_cast<std::size_t>(found - whole.columns.begin()));
    }
    return scan;
}

}  // namespace

Result<PlanNode> expanded(PlanNode root, const SourcesView& sources) {
    for (PlanNode& input : root.inputs) {
        TRY_ASSIGN(below, expanded(std::move(input), sources));
        input = std::move(below);
    }
    const auto* scan = std::get_if<LogicalScan>(&root.op);
    if (scan == nullptr) return root;
    std::vector<const PhysicalSource*> found;
    for (const PhysicalSource& source : sources.physical) {
        if (source.logical == scan->source) found.push_back(&source);
    }
    std::sort(found.begin(), found.end(),
              [](const auto* a, const auto* b) { return a->id < b->id; });
    if (found.empty()) {
        return Error{.code = ErrorCode::placement,
                     .message = "cannot place the query: source " + in_quotes(scan->source) +
                                " has no physical source",
                     .hint = "add one with CREATE PHYSICAL SOURCE FOR " + scan->source};
    }
    const Schema& whole = sources.logical.at(scan->source).schema;
    PlanNode all{.op = UnionAll{}, .inputs = {}, .schema = root.schema};
    for (const PhysicalSource* source : found) {
        all.inputs.push_back(
            {.op = scan_of(*source, whole, root.schema), .inputs = {}, .schema = root.schema});
    }
    if (all.inputs.size() > 1) return all;
    PlanNode only = std::move(all.inputs.front());
    return only;
}

}  // namespace baton::optimizer
