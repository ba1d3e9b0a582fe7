#include "catalog/views/views.h"

#include "base/text.h"
#include "catalog/views/view_definitions.h"

namespace baton::views {

std::span<const kinds::View> views() {
    static const std::vector<kinds::View> kViews = make_views();
    return kViews;
}

const kinds::View& view_of(kinds::Entity entity) {
    return views()[static_cast<std::size_t>(entity)];  // the first views are in the entities' order
}

Result<const kinds::View*> find_view(std::string_view name) {
    std::vector<std::string> known;
    for (const kinds::View& view : views()) {
        if (view.name == name) return &view;
        known.emplace_back(view.name);
    }
    std::string hint = did_you_mean(name, known);
    if (hint.empty()) hint = "the views are " + join(known, ", ");
    return Error{.code = ErrorCode::unknown_source,
                 .message = "unknown view " + baton::in_quotes("BATON." + std::string(name)),
                 .hint = std::move(hint)};
}

}  // namespace baton::views
