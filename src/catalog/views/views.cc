#include "catalog/views/views.h"

#include "base/text.h"
#include "catalog/views/view_definitions.h"

namespace baton {

std::span<const View> views() {
    static const std::vector<View> kViews = make_views();
    return kViews;
}

const View& view_of(Entity entity) {
    return views()[static_cast<std::size_t>(entity)];  // the first views are in the entities' order
}

Result<const View*> find_view(std::string_view name) {
    std::vector<std::string> known;
    for (const View& view : views()) {
        if (view.name == name) return &view;
        known.emplace_back(view.name);
    }
    std::string hint = did_you_mean(name, known);
    if (hint.empty()) hint = "the views are " + join(known, ", ");
    return Error{.code = ErrorCode::unknown_source,
                 .message = "unknown view " + baton::in_quotes("BATON." + std::string(name)),
                 .hint = std::move(hint)};
}

}  // namespace baton
