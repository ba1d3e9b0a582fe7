#include "differential/expressions.h"

#include <array>

namespace baton::differential {

namespace {

constexpr std::array kTexts = {"", "a", "ab", "Zed", "ü", "x1"};
constexpr std::array kFactors = {"0.5", "1.5", "2.0", "-1.5"};
constexpr std::array kComparisons = {"=", "!=", "<", "<=", ">", ">="};

template <class List>
const auto& any_of(Prng& prng, const List& list) {
    return list[prng.between(0, list.size() - 1)];
}

Both same(const std::string& text) {
    return {text, text};
}

Both in(const std::string& before, const Both& inner, const std::string& after) {
    return {before + inner.baton + after, before + inner.sqlite + after};
}

Both operation(const Both& left, const std::string& op, const Both& right) {
    return {"(" + left.baton + " " + op + " " + right.baton + ")",
            "(" + left.sqlite + " " + op + " " + right.sqlite + ")"};
}

std::string small_number(Prng& prng) {
    return std::to_string(static_cast<int>(prng.between(0, 18)) - 9);
}

Both constant(Prng& prng, Kind kind) {
    switch (kind) {
        case Kind::whole: {
            const std::string number = small_number(prng);
            return {"INT64(" + number + ")", "(" + number + ")"};
        }
        case Kind::real:
            return same(any_of(prng, kFactors));
        case Kind::truth:
            return same(prng.chance(1, 2) ? "TRUE" : "FALSE");
        case Kind::text:
            break;
    }
    return same("'" + std::string(any_of(prng, kTexts)) + "'");
}

Both null_of(Kind kind) {
    constexpr std::array kTypes = {"INT64", "FLOAT64", "BOOLEAN", "VARSIZED"};
    return {std::string(kTypes[static_cast<std::size_t>(kind)]) + "(NULL)", "NULL"};
}

Both leaf(Prng& prng, const Fields& fields, Kind kind) {
    Fields fitting;
    for (const Field& field : fields) {
        if (field.kind == kind) fitting.push_back(field);
    }
    if (!fitting.empty() && prng.chance(4, 5)) return any_of(prng, fitting).written;
    return prng.chance(1, 12) ? null_of(kind) : constant(prng, kind);
}

// An expression maker: what it needs to make another.
struct Maker {
    Prng& prng;
    const Fields& fields;
    unsigned depth;

    [[nodiscard]] Both operator()(Kind kind) const {
        return expression(prng, fields, kind, depth - 1);
    }
};

Both conditional(const Maker& make, Kind kind) {
    Both whole{"CONDITIONAL(", "(CASE"};
    const std::uint64_t branches = make.prng.between(1, 2);
    for (std::uint64_t i = 0; i < branches; ++i) {
        const Both condition = make(Kind::truth);
        const Both value = make(kind);
        whole.baton += condition.baton + ", " + value.baton + ", ";
        whole.sqlite += " WHEN " + condition.sqlite + " THEN " + value.sqlite;
    }
    const Both otherwise = make(kind);
    return {whole.baton + otherwise.baton + ")",
            whole.sqlite + " ELSE " + otherwise.sqlite + " END)"};
}

Both whole_number(const Maker& make) {
    const auto not_zero = [&] { return std::to_string(make.prng.between(1, 9)); };
    switch (make.prng.between(0, 8)) {
        case 0:
            return operation(make(Kind::whole), "+", make(Kind::whole));
        case 1:
            return operation(make(Kind::whole), "-", make(Kind::whole));
        case 2:
            return operation(make(Kind::whole), "*", same(small_number(make.prng)));
        case 3:
            return operation(make(Kind::whole), "/", same(not_zero()));
        case 4:
            return operation(make(Kind::whole), "%", same(not_zero()));
        case 5:
            return in("ABS(", make(Kind::whole), ")");
        case 6:
            return in("(- ", make(Kind::whole), ")");
        case 7: {
            const Both text = make(Kind::text);
            return {"CAST(CHAR_LENGTH(" + text.baton + ") AS INT64)",
                    "LENGTH(" + text.sqlite + ")"};
        }
        default: {
            const Both real = make(Kind::real);
            return {"CAST(" + real.baton + " AS INT64)", "CAST(" + real.sqlite + " AS INTEGER)"};
        }
    }
}

Both real_number(const Maker& make) {
    constexpr std::array kRounding = {"CEIL(", "FLOOR(", "ROUND("};
    switch (make.prng.between(0, 6)) {
        case 0:
            return operation(make(Kind::real), "+", make(Kind::real));
        case 1:
            return operation(make(Kind::real), "-", make(Kind::whole));
        case 2:
            return operation(make(Kind::real), "*", same(any_of(make.prng, kFactors)));
        case 3:
            return operation(make(Kind::real), "/", same(make.prng.chance(1, 2) ? "2.0" : "4"));
        case 4:
            return in("ABS(", make(Kind::real), ")");
        case 5:
            return in(any_of(make.prng, kRounding), make(Kind::real), ")");
        default: {
            const Both whole = make(Kind::whole);
            return {"CAST(" + whole.baton + " AS FLOAT64)", "CAST(" + whole.sqlite + " AS REAL)"};
        }
    }
}

Both listed(const Maker& make, Kind kind) {
    Both list = make(kind);
    const std::string word = make.prng.chance(1, 2) ? " IN (" : " NOT IN (";
    list = {"(" + list.baton + word, "(" + list.sqlite + word};
    const std::uint64_t candidates = make.prng.between(1, 3);
    for (std::uint64_t i = 0; i < candidates; ++i) {
        const Both next = make(kind);
        list.baton += (i == 0 ? "" : ", ") + next.baton;
        list.sqlite += (i == 0 ? "" : ", ") + next.sqlite;
    }
    return {list.baton + "))", list.sqlite + "))"};
}

Both between(const Maker& make, Kind kind) {
    const Both subject = make(kind);
    const Both low = make(kind);
    const Both high = make(kind);
    const std::string word = make.prng.chance(1, 2) ? " BETWEEN " : " NOT BETWEEN ";
    return {"(" + subject.baton + word + low.baton + " AND " + high.baton + ")",
            "(" + subject.sqlite + word + low.sqlite + " AND " + high.sqlite + ")"};
}

Both truth(const Maker& make) {
    const Kind kind = any_kind(make.prng);
    switch (make.prng.between(0, 7)) {
        case 0:
            return operation(make(Kind::truth), "AND", make(Kind::truth));
        case 1:
            return operation(make(Kind::truth), "OR", make(Kind::truth));
        case 2:
            return in("(NOT ", make(Kind::truth), ")");
        case 3:
            return in("(", make(kind), make.prng.chance(1, 2) ? " IS NULL)" : " IS NOT NULL)");
        case 4:
            return listed(make, kind);
        case 5:
            return between(make, kind == Kind::truth ? Kind::whole : kind);
        default:
            return operation(make(kind), any_of(make.prng, kComparisons), make(kind));
    }
}

Both text(const Maker& make) {
    if (make.prng.chance(1, 3)) {
        const Both whole = make(Kind::whole);
        return {"CAST(" + whole.baton + " AS VARSIZED)", "CAST(" + whole.sqlite + " AS TEXT)"};
    }
    const Both left = make(Kind::text);
    const Both right = make(Kind::text);
    return {"CONCAT(" + left.baton + ", " + right.baton + ")",
            "(" + left.sqlite + " || " + right.sqlite + ")"};
}

}  // namespace

Both column(const std::string& name) {
    return same(name);
}

Kind any_kind(Prng& prng) {
    constexpr std::array kKinds = {Kind::whole, Kind::whole, Kind::real, Kind::truth, Kind::text};
    return any_of(prng, kKinds);
}

Both expression(Prng& prng, const Fields& fields, Kind kind, unsigned depth) {
    if (depth == 0 || prng.chance(1, 3)) return leaf(prng, fields, kind);
    const Maker make{prng, fields, depth};
    if (prng.chance(1, 8)) return conditional(make, kind);
    switch (kind) {
        case Kind::whole:
            return whole_number(make);
        case Kind::real:
            return real_number(make);
        case Kind::truth:
            return truth(make);
        case Kind::text:
            break;
    }
    return text(make);
}

}  // namespace baton::differential
