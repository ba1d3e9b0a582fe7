// A Pipeline is one fragment, compiled and opened: leaves that give frames, operators between, and
// terminals.
//
// Rules:
//   - Leaves run on threads of their own. Where the ways of several leaves meet in an operator that
//     remembers something, a lock lets one in at a time, and its pushes stay under the lock. Locks
//     are taken on the way from the leaf to the root only, so there is no deadlock.
//   - Nothing is pushed before begin(), which is called when all leaves know their origins.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/operators/push_operator.h"
#include "engine/run/terminals.h"
#include "engine/streams/connectors.h"
#include "engine/streams/exchange.h"
#include "model/plan.h"

namespace baton::engine {

struct Leaf {
    std::unique_ptr<RowSource> source;           // one of both
    std::unique_ptr<ExchangeReceiver> receiver;  //
    std::size_t senders = 0;                     // of the receiver
    std::vector<std::string> origins;            // a receiver's are known later
    Outlet out;
    std::vector<PushOperator*> way;  // the operators from here to the root
    Terminal* terminal = nullptr;
    std::size_t root = 0;
    // The column whose largest value is the watermark, if a window further on asks for it.
    std::optional<std::size_t> time;
    bool needs_ticks = false;
};

class Pipeline {
public:
    struct ConnectorPorts {
        Connectors& connectors;
        Exchanges& exchanges;
    };

    // Compiles and opens everything: first what takes rows, then what gives them. `context`
    // outlives the pipeline.
    [[nodiscard]] static Result<std::unique_ptr<Pipeline>> open(const FragmentKey& key,
                                                                const FragmentPlan& plan,
                                                                OperatorContext& context,
                                                                ConnectorPorts doors);

    // All leaves know their origins: reports them to the operators, and to the receivers.
    [[nodiscard]] Result<Done> begin();

    [[nodiscard]] std::vector<std::unique_ptr<Leaf>>& leaves() { return leaves_; }
    [[nodiscard]] Terminal& terminal(std::size_t root) { return *roots_.at(root).terminal; }
    [[nodiscard]] std::size_t roots() const { return roots_.size(); }

    void interrupt_leaves();      // from any thread
    void interrupt_everything();  // from any thread
    void count(Counts& into) const;

private:
    // An operator with its inputs, to hand on what the origins are.
    struct Stage {
        PushOperator* op = nullptr;  // none: a leaf
        Leaf* leaf = nullptr;
        std::string own_origin;  // empty: the origins of its inputs
        std::vector<Stage> inputs;
    };
    struct Root {
        Terminal* terminal = nullptr;
        Stage stage;
    };
    class Builder;

    [[nodiscard]] static std::vector<std::string> begin(const Stage& stage);

    std::vector<std::unique_ptr<PushOperator>> operators_;
    std::vector<std::unique_ptr<Leaf>> leaves_;
    std::vector<Root> roots_;
};

}  // namespace baton::engine
