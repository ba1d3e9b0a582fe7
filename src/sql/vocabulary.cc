#include "sql/vocabulary.h"

namespace baton::sql {

namespace {

// Which of its forms a statement has.
std::size_t form_within(const Statement& statement) {
    if (const auto* drop = std::get_if<Drop>(&statement.node)) {
        return static_cast<std::size_t>(&row_of(drop->kind) - kKinds.data());
    }
    const auto* lock = std::get_if<LockStatement>(&statement.node);
    return lock != nullptr ? lock->act.index() : 0;
}

}  // namespace

const Form& form_of(const Statement& statement) {
    return kForms.at(first_form(statement.node.index()) + form_within(statement));
}

bool changes_catalog(const Statement& statement) {
    return form_of(statement).effect == Effect::catalog;
}

std::string tag_of(const Form& form) {
    std::string tag(form.opening.verb);
    if (form.opening.object_in_tag && !form.opening.object.empty()) {
        tag += ' ';
        tag += form.opening.object;
    }
    return tag;
}

std::string tag_of(const Statement& statement) {
    return tag_of(form_of(statement));
}

std::string all_shown() {
    std::string all;
    for (const Shown& shown : kShown) {
        const bool last = &shown == &kShown.back();
        if (!all.empty()) all += last ? " and " : ", ";
        all += shown.words;
    }
    return all;
}

}  // namespace baton::sql
