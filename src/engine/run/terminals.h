// The ends of pipelines: a sink, or an exchange to another worker.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "engine/operators/push_operator.h"
#include "engine/streams/exchange.h"
#include "engine/streams/row_sink.h"
#include "model/control.h"

namespace baton::engine {

class Terminal : public PushOperator {
public:
    std::size_t begin(const std::vector<std::size_t>& origins) override { return origins.at(0); }

    // Once, before the first frame.
    [[nodiscard]] virtual Result<Done> announce(const std::vector<std::string>& origins) = 0;
    // After the last frame; nothing more is pushed.
    [[nodiscard]] virtual Result<Done> finish() = 0;
    virtual void interrupt() = 0;  // from any thread
    // From any thread: whether a tick would do something.
    [[nodiscard]] virtual bool unflushed() const = 0;
    virtual void count(Counts& into) const = 0;  // from any thread
};

class SinkTerminal : public Terminal {
public:
    SinkTerminal(std::unique_ptr<RowSink> sink, const OperatorContext& context)
        : sink_(std::move(sink)), context_(context) {}

    Result<Done> push(std::size_t input, Frame frame) override;
    Result<Done> tick() override;
    Result<Done> announce(const std::vector<std::string>&) override { return Done{}; }
    Result<Done> finish() override { return sink_->finish(); }
    void interrupt() override { sink_->interrupt(); }
    [[nodiscard]] bool unflushed() const override { return unflushed_ || sink_->wants_flush(); }
    void count(Counts& into) const override;

private:
    std::unique_ptr<RowSink> sink_;
    const OperatorContext& context_;
    std::atomic<bool> unflushed_ = false;
};

class SendTerminal : public Terminal {
public:
    SendTerminal(std::unique_ptr<ExchangeSender> sender, const OperatorContext& context)
        : sender_(std::move(sender)), context_(context) {}

    Result<Done> push(std::size_t input, Frame frame) override;
    Result<Done> announce(const std::vector<std::string>& origins) override {
        return sender_->announce(origins);
    }
    Result<Done> finish() override { return sender_->finish(); }
    void interrupt() override { sender_->interrupt(); }
    [[nodiscard]] bool unflushed() const override { return false; }
    void count(Counts& into) const override;

private:
    std::unique_ptr<ExchangeSender> sender_;
    const OperatorContext& context_;
};

}  // namespace baton::engine
