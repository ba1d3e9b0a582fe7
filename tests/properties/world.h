// World is a coordinator over a real database beside the model of what must be in it.
//
// Every function that finds a difference fails the property, saying what was asked and which lines
// differ.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "adapters/system/system_clock.h"
#include "coordinator/coordinator_runtime.h"
#include "ports/sql.h"
#include "properties/asks.h"
#include "properties/model.h"

namespace baton::properties {

class World {
public:
    explicit World(coordinator::CoordinatorOptions options = {});

    // Asks the catalog and the model; their answers, and what each changed, must be the same.
    void perform(const Item& item);
    void perform(const Sequence& sequence);
    // One request by itself.
    coordinator::Outcome ask(const catalog::Request& request, bool keep = true);
    // The same, which must be refused with that error and leave everything as it was.
    Error must_refuse(const catalog::Request& request, ErrorCode code);

    // The catalog holds what the model says, and nothing is wrong with it.
    void compare();
    void check_soundness();

    [[nodiscard]] const ModelState& expected() const { return model_.state(); }
    [[nodiscard]] ModelState actual();
    [[nodiscard]] Revision revision();
    [[nodiscard]] coordinator::CoordinatorRuntime& coordinator() { return *coordinator_; }
    [[nodiscard]] Sql& sql() { return *sql_; }  // reads, beside the coordinator
    // Called once, when the next query is planned: between its look at the catalog and its commit.
    void interfere(std::function<void()> meanwhile) { meanwhile_ = std::move(meanwhile); }
    [[nodiscard]] const Model& model() const { return model_; }

private:
    system::SystemClock clock_;
    std::function<void()> meanwhile_;
    std::unique_ptr<Sql> sql_;
    std::unique_ptr<coordinator::CoordinatorRuntime> coordinator_;
    Model model_;
};

[[nodiscard]] bool accepted(const coordinator::Outcome& outcome);
// Fails the property if the query finds a row; `what` says of what kind it is.
void require_none(World& world, const std::string& sql, const std::string& what);

// Fails the property unless both are the same.
void require_same_lines(const std::set<std::string>& expected, const std::set<std::string>& actual,
                        const std::string& of_what);

// Fails the property with the message unless `condition` holds.
void require(bool condition, const std::string& message);

template <class T>
T require_value(Result<T> result) {
    require(result.has_value(), result ? "" : to_string(result.error()));
    return *std::move(result);
}

}  // namespace baton::properties
