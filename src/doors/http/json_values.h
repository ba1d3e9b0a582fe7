// Values of views and statements as JSON.
//
// A number beyond 2^53 is a string of its digits, since most readers of JSON would round it; so are
// NaN and the infinities, by name. Times are strings, columns of type JSON are embedded as they
// are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalog/views/view_query.h"
#include "coordinator/sessions/session.h"

namespace baton::http {

[[nodiscard]] std::string_view to_string(kinds::ViewType type);  // "text", "integer", ..

void append_value(std::string& to, const SqlValue& value, kinds::ViewType type);
// [{"name":"STATE","type":"text"}]
void append_columns(std::string& to, const std::vector<views::TableColumn>& columns);
// ["Q1","RUNNING"]
void append_array(std::string& to, const SqlRow& row,
                  const std::vector<views::TableColumn>& columns);
// {"name":"Q1","state":"RUNNING"}: a name without small letters is in small letters.
void append_object(std::string& to, const SqlRow& row,
                   const std::vector<views::TableColumn>& columns);

// {"tag":"CREATE SINK","name":..,"id":..,"changed":..,"columns":[..],"rows":[..],"revision":..};
// absent parts are left out. A Watch has neither.
void append_result(std::string& to, const coordinator::StatementResult& result);

}  // namespace baton::http
