// docs/openapi.yaml, as it was when this program was built.
#pragma once

#include <string_view>

namespace baton::http {

[[nodiscard]] std::string_view manual();

}  // namespace baton::http
