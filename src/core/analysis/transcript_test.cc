// Transcripts: statements that create sources and sinks, and queries with the plan or the error
// that they give. What a file creates, later commands of it can use.
#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/check.h"
#include "core/analysis/analysis.h"
#include "sql/parser.h"
#include "testing/plan_text.h"
#include "testing/script.h"

namespace baton::analysis {
namespace {

class Conversation {
public:
    std::string answer(const std::string& text) {
        const auto statements = sql::parse(text);
        if (!statements) return to_string(statements.error()) + "\n";
        std::string answers;
        for (const sql::Statement& statement : *statements) answers += answer(statement);
        return answers;
    }

private:
    std::string answer(const sql::Statement& statement) {
        if (const auto* source = std::get_if<sql::CreateLogicalSource>(&statement.node)) {
            sources_[source->name] = {.name = source->name, .schema = source->schema};
            return "source " + source->name + "\n";
        }
        if (const auto* sink = std::get_if<sql::CreateSink>(&statement.node)) {
            sinks_[sink->name] = {.name = sink->name, .schema = sink->schema, .type = sink->type};
            return "sink " + sink->name + "\n";
        }
        if (const auto* query = std::get_if<sql::CreateQuery>(&statement.node)) {
            return plan(query->query, query->sink);
        }
        const auto* explain = std::get_if<sql::Explain>(&statement.node);
        CHECK(explain != nullptr);
        return plan(explain->query, explain->sink);
    }

    std::string plan(const sql::Query& query, const std::optional<sql::SinkTarget>& target) {
        std::vector<std::string> sources;
        for (const auto& [name, source] : sources_) sources.push_back(name);
        std::vector<std::string> sinks;
        for (const auto& [name, sink] : sinks_) sinks.push_back(name);
        const Sink* sink = nullptr;
        if (target) {
            const auto* name = std::get_if<std::string>(&target->node);
            const auto found = name != nullptr ? sinks_.find(*name) : sinks_.end();
            if (found != sinks_.end()) sink = &found->second;
        }
        const auto plan = analyse(query, target,
                                  {.logical_sources = sources_,
                                   .sink = sink,
                                   .known_sources = sources,
                                   .known_sinks = sinks});
        return plan ? testing::plan_text(plan->root) : to_string(plan.error()) + "\n";
    }

    std::map<std::string, LogicalSource> sources_;
    std::map<std::string, Sink> sinks_;
};

TEST(AnalysisTranscripts, AnswerAsTheTranscriptsSay) {
    std::set<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(BATON_TESTDATA)) {
        paths.insert(entry.path().string());
    }
    EXPECT_FALSE(paths.empty());
    for (const std::string& path : paths) {
        Conversation conversation;
        testing::run_script(path,
                            [&](const std::string& text) { return conversation.answer(text); });
    }
}

}  // namespace
}  // namespace baton::analysis
