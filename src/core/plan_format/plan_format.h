// The text of a worker's part of a query: a FragmentPlan as JSON.
//
//     {"version":1,"worker":"EDGE","settings":{..},"roots":[NODE,..]}
//     NODE    {"op":"filter",..,"schema":[["A","INT64",true],..],"inputs":[NODE,..]}
//     EXPR    {"column":0,..} {"value":5,..} {"call":"add","arguments":[EXPR,..],..}, each with
//             "type":"INT64","nullable":true
//
// The text is complete: its reader infers nothing and asks for nothing. It holds the secrets of
// connectors, so only the worker sees it.
//
// Version 1 never changes: testdata/version_1.json holds every operator, and a change of its text
// is a new version. A reader takes the versions it knows and refuses the others.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/plan.h"

namespace baton::plan_format {

inline constexpr std::uint64_t kPlanFormatVersion = 1;

[[nodiscard]] std::string write_plan(const FragmentPlan& plan);
[[nodiscard]] std::string write_node(const PlanNode& root);  // NODE alone

// Accepts the output of write_plan, and nothing else: unknown keys, wrong numbers of inputs or
// arguments and columns that are not there are refused, so that the engine need not look. Fails
// with not_supported for another version, and with catalog_corrupt, which names the place but never
// its text. Never crashes, whatever the bytes.
[[nodiscard]] Result<FragmentPlan> read_plan(std::string_view text);

}  // namespace baton::plan_format
