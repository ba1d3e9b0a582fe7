#include "doors/pg/server/parameter_types.h"

#include <charconv>
#include <optional>

#include "base/text.h"
#include "catalog/views/view_query.h"
#include "doors/pg/catalog/tokens.h"
#include "doors/pg/server/rows.h"
#include "sql/parser.h"

namespace baton::pgserver {

namespace {

const kinds::View* view_in(const sql::Statement& statement) {
    const auto view_of = [](const Result<views::ViewQuery>& query) {
        return query ? &query->view() : nullptr;
    };
    if (const auto* select = std::get_if<sql::SelectOnce>(&statement.node)) {
        return view_of(views::ViewQuery::from(select->query));
    }
    if (const auto* show = std::get_if<sql::Show>(&statement.node)) {
        return views::is_static(show->what) ? nullptr : view_of(views::ViewQuery::from(*show));
    }
    if (const auto* watch = std::get_if<sql::Watch>(&statement.node)) {
        if (const auto* query = std::get_if<sql::Query>(&watch->source)) {
            return view_of(views::ViewQuery::from(*query));
        }
        const auto& shown = std::get<sql::Show>(watch->source);
        return views::is_static(shown.what) ? nullptr : view_of(views::ViewQuery::from(shown));
    }
    return nullptr;
}

bool compares(const pg::Token& token) {
    return token.is_any(
        {"=", "<>", "!=", "<", "<=", ">", ">=", "+", "-", "(", ",", "in", "between", "and", "not"});
}

// Of the column that stands nearest before the parameter, over signs of comparison and other
// parameters; or directly behind it.
std::optional<pgwire::TypeId> type_at(const std::vector<pg::Token>& tokens, std::size_t at,
                                      const kinds::View& view) {
    const auto of = [&](const pg::Token& token) -> std::optional<pgwire::TypeId> {
        if (!token.names()) return std::nullopt;
        const auto column = view.column(to_upper(token.text));
        if (!column) return std::nullopt;
        return pgwire::type_id_of(column_type_of(view.columns[*column].type));
    };
    for (std::size_t i = at; i > 0; --i) {
        const pg::Token& before = tokens[i - 1];
        if (const auto type = of(before)) return type;
        if (!compares(before) && before.kind != pg::TokenKind::parameter &&
            before.kind != pg::TokenKind::number) {
            break;
        }
    }
    return at + 2 < tokens.size() ? of(tokens[at + 2]) : std::nullopt;
}

}  // namespace

std::vector<pgwire::TypeId> parameter_types_of(std::string_view text,
                                               std::vector<pgwire::TypeId> given,
                                               std::size_t count) {
    constexpr auto kText = static_cast<pgwire::TypeId>(pgwire::KnownType::text);
    std::vector<pgwire::TypeId> types = std::move(given);
    types.resize(count, 0);
    const std::vector<sql::Literal> unknown(count, sql::Null{});
    const auto statements = sql::parse(text, {}, unknown);
    const kinds::View* view =
        statements && statements->size() == 1 ? view_in(statements->front()) : nullptr;
    const std::vector<pg::Token> tokens = pg::tokens_of(text);
    for (std::size_t i = 0; view != nullptr && i < tokens.size(); ++i) {
        if (tokens[i].kind != pg::TokenKind::parameter) continue;
        std::size_t number = 0;
        const std::string& digits = tokens[i].text;
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (number == 0 || number > count || types[number - 1] != 0) continue;
        types[number - 1] = type_at(tokens, i, *view).value_or(0);
    }
    for (pgwire::TypeId& type : types) {
        if (type == 0) type = kText;
    }
    return types;
}

}  // namespace baton::pgserver
