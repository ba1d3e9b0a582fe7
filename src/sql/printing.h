// Printing is the text of one statement as it grows: the parts that the printers share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/ast.h"
#include "sql/grammar.h"
#include "sql/printer.h"

namespace baton::sql {

class Printing {
public:
    explicit Printing(const IsSecret& is_secret) : is_secret_(is_secret) {}

    // printer.cc
    void statement(const Statement& statement);
    void operator()(const CreateLogicalSource& node);
    void operator()(const CreatePhysicalSource& node);
    void operator()(const CreateSink& node);
    void operator()(const CreateTaskList& node);
    void operator()(const CreateWorker& node);
    void operator()(const CreateQuery& node);
    void operator()(const SelectOnce& node);
    // printer_tables.cc
    void operator()(const CreateTable& node);
    void operator()(const Question& node);
    void operator()(const Insert& node);
    void operator()(const Vacuum& node);
    void operator()(const Drop& node);
    void operator()(const StopQuery& node);
    void operator()(const DrainWorker& node);
    void operator()(const ResumeWorker& node);
    void operator()(const Show& node);
    void operator()(const Explain& node);
    void operator()(const Watch& node);
    void operator()(Begin node);
    void operator()(Commit node);
    void operator()(Rollback node);
    void operator()(const Cancel& node);
    void operator()(const WaitForQuery& node);
    void operator()(const LockStatement& node);

    // printer_queries.cc
    void query(const Query& query);
    void sink(const SinkTarget& target);
    void settings(const std::vector<Setting>& settings, const std::string& type);
    void settings_clause(const std::vector<Setting>& settings, const std::string& type);
    void schema(const Schema& schema);
    void span(const TimeSpan& span);

    // printer_expressions.cc
    // In parentheses if its operator binds less tightly than `loosest`.
    void expression(const Expr& expr, Binding loosest = Binding::logical_or);
    void literal(const Literal& literal);
    void name(const std::string& name);
    void string(std::string_view value);

    [[nodiscard]] std::string take() { return std::move(text_); }

private:
    void select(const Select& select);
    void relation(const Relation& relation);
    void join(const Join& join);
    void window(const Window& window);
    void alias(const std::optional<std::string>& alias);
    void names(const std::vector<std::string>& parts);
    void column_name(const std::string& column);
    void column_names(const std::vector<std::string>& columns);
    void setting(const Setting& setting, const std::string& type);
    void expressions(const std::vector<Expr>& list, std::size_t from = 0);
    void unary(const Unary& unary);
    void binary(const Binary& binary);
    void logical(const Logical& logical);
    void call(const Call& call);
    void target(const Target& target);
    void worker(const std::string& name);
    void mode(const std::optional<StopMode>& mode);
    void format(const std::optional<OutputFormat>& format);
    void put(std::string_view text) { text_ += text; }

    const IsSecret& is_secret_;
    std::string text_;
};

}  // namespace baton::sql
