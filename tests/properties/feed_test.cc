// What WATCH tells adds up to what SHOW shows.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "catalog/history.h"
#include "properties/follower.h"
#include "properties/picks.h"
#include "properties/predicates.h"
#include "properties/world.h"
#include "sql/printer.h"

namespace baton::properties {

namespace {

// Little memory now and then, so that watches read the feed of the catalog too.
coordinator::CoordinatorOptions any_memory() {
    coordinator::CoordinatorOptions options;
    options.changes_in_memory = *rc::gen::element<std::size_t>(0, 1, 4, 65'536);
    return options;
}

using Followers = std::vector<std::unique_ptr<Follower>>;

Followers followers_of_everything(World& world) {
    Followers followers;
    for (std::size_t i = 0; i < kinds::kEntityCount; ++i) {
        const kinds::View& view = views::view_of(static_cast<kinds::Entity>(i));
        followers.push_back(std::make_unique<Follower>(world.coordinator(), own_columns_of(view)));
    }
    return followers;
}

void require_up_to_date(const Followers& followers, std::size_t most) {
    for (const auto& follower : followers) {
        follower->catch_up(most);
        follower->compare();
    }
}

RC_GTEST_PROP(Feed, ReplayedGivesTheRowsOfEveryView, ()) {
    const Sequence sequence = *any_sequence(40);
    World world(any_memory());
    const Followers followers = followers_of_everything(world);
    for (const Item& item : sequence.items) {
        world.perform(item);
        require_up_to_date(followers, 1'000);
    }
}

RC_GTEST_PROP(Feed, ResumedFromAnyRevisionGivesTheSameEnd, ()) {
    const Sequence sequence = *any_sequence(40);
    const auto stop = between<std::size_t>(0, sequence.items.size() + 1);
    const auto most = *rc::gen::element<std::size_t>(1, 3, 1'000);
    World world(any_memory());
    const Followers early = followers_of_everything(world);
    Followers late;
    for (std::size_t i = 0; i < sequence.items.size(); ++i) {
        if (i == stop) require_up_to_date(early, most);
        world.perform(sequence.items[i]);
    }
    for (const auto& follower : early) late.push_back(follower->resumed());
    require_up_to_date(late, most);
}

RC_GTEST_PROP(Feed, BeyondWhatIsKeptStartsOverWithASnapshot, ()) {
    coordinator::CoordinatorOptions options = any_memory();
    options.commits.committer.history.changes_max = 5;
    World world(options);
    const Followers followers = followers_of_everything(world);
    Followers late;
    for (const auto& follower : followers) late.push_back(follower->resumed());
    world.perform(*any_sequence(40));
    constexpr int kCommitsThatTrim = 64;
    for (int i = 0; i < kCommitsThatTrim; ++i) (void)world.ask(catalog::request::DropSink{"NONE"});
    const Revision floor = require_value(catalog::feed_floor(world.sql()));
    require(
        world.revision().value() <= floor.value() + options.commits.committer.history.changes_max,
        "more history is kept than was asked for");
    require_up_to_date(followers, 2);
    require_up_to_date(late, 2);
}

// A view and a condition on it; often on the state, which rows come into and leave.
struct Filter {
    kinds::Entity entity = kinds::Entity::worker;
    sql::Expr where;
};

void showValue(const Filter& filter, std::ostream& os) {
    os << views::view_of(filter.entity).name << " WHERE " << sql::print(filter.where);
}

rc::Gen<Filter> any_filter() {
    return rc::gen::exec([] {
        Filter filter;
        filter.entity = static_cast<kinds::Entity>(between<std::size_t>(0, kinds::kEntityCount));
        const kinds::View& view = views::view_of(filter.entity);
        if (!view.column("STATE") || chance(40)) {
            filter.where = *any_condition(view, false);
            return filter;
        }
        sql::Expr column;
        column.node = sql::ColumnRef{{"STATE"}};
        sql::Expr state;
        state.node = sql::Literal(*rc::gen::element<std::string>(
            "ACTIVE", "UNREACHABLE", "PENDING", "DEPLOYING", "RUNNING", "STOPPED"));
        filter.where.node =
            sql::Binary{chance(50) ? sql::BinaryOp::eq : sql::BinaryOp::ne, {column, state}};
        return filter;
    });
}

RC_GTEST_PROP(Feed, FilteredGivesTheRowsOfShowWithThatFilter, ()) {
    const Sequence sequence = *any_sequence(40);
    constexpr std::size_t kFilters = 6;
    const auto filters = *rc::gen::container<std::vector<Filter>>(kFilters, any_filter());
    const auto start = between<std::size_t>(0, 10);
    World world(any_memory());
    Followers followers;
    for (std::size_t i = 0; i < sequence.items.size(); ++i) {
        for (const Filter& filter : filters) {
            if (i != start) break;
            followers.push_back(std::make_unique<Follower>(
                world.coordinator(), own_columns_of(views::view_of(filter.entity), filter.where)));
        }
        world.perform(sequence.items[i]);
        require_up_to_date(followers, 1'000);
    }
}

}  // namespace

}  // namespace baton::properties
