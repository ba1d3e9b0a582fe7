#include "doors/http/routes.h"

#include <set>

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "doors/http/manual.h"
#include "doors/http/target.h"

namespace baton::http {
namespace {

TEST(Routes, TheManualHasEveryRouteAndNoOther) {
    const YAML::Node manual_tree = YAML::Load(std::string(manual()));
    std::set<std::string> written;
    for (const auto& path : manual_tree["paths"]) {
        for (const auto& method : path.second) {
            std::string name = method.first.as<std::string>();
            for (char& c : name) c = static_cast<char>(std::toupper(c));
            written.insert(name + " " + path.first.as<std::string>());
        }
    }
    std::set<std::string> known;
    for (const Route& route : routes()) {
        known.insert(std::string(route.method) + " " + route.path);
    }
    EXPECT_EQ(written, known);
}

// Every {variable} of a path is described, and no other.
TEST(Routes, TheManualDescribesTheVariablesOfPaths) {
    const YAML::Node manual_tree = YAML::Load(std::string(manual()));
    std::set<std::string> operations;
    for (const auto& path : manual_tree["paths"]) {
        for (const auto& method : path.second) {
            EXPECT_TRUE(operations.insert(method.second["operationId"].as<std::string>()).second);
            std::string described;
            for (const auto& parameter : method.second["parameters"]) {
                if (!parameter["in"] || parameter["in"].as<std::string>() != "path") continue;
                described += "/{" + parameter["name"].as<std::string>() + "}";
            }
            std::string variables;
            const auto pattern = parse_target(path.first.as<std::string>());
            ASSERT_TRUE(pattern);
            for (const std::string& part : pattern->path) {
                if (part.starts_with('{')) variables += "/" + part;
            }
            EXPECT_EQ(described, variables) << path.first;
        }
    }
}

// Every reference of the manual leads somewhere.
void check_references(const YAML::Node& node, const YAML::Node& root) {
    if (node.IsMap()) {
        for (const auto& member : node) {
            if (member.first.as<std::string>() == "$ref") {
                const auto path = parse_target(member.second.as<std::string>().substr(1));
                ASSERT_TRUE(path);
                YAML::Node at = YAML::Clone(root);
                for (const std::string& part : path->path) at.reset(at[part]);
                EXPECT_TRUE(at.IsMap()) << member.second;
            } else {
                check_references(member.second, root);
            }
        }
    } else if (node.IsSequence()) {
        for (const auto& item : node) check_references(item, root);
    }
}

TEST(Routes, TheManualRefersToWhatItHas) {
    const YAML::Node manual_tree = YAML::Load(std::string(manual()));
    check_references(manual_tree["paths"], manual_tree);
}

TEST(Routes, AWordGoesBeforeAVariable) {
    const auto found = find_route("GET", {"v1", "queries", "watch"});
    ASSERT_TRUE(std::holds_alternative<Routed>(found));
    EXPECT_EQ(std::get<Routed>(found).route->endpoint, Endpoint::watch_list);
}

TEST(Routes, VariablesAreTakenFromThePath) {
    const auto found = find_route("HEAD", {"v1", "links", "a/b", "c"});
    ASSERT_TRUE(std::holds_alternative<Routed>(found));
    EXPECT_EQ(std::get<Routed>(found).variables, (std::vector<std::string>{"a/b", "c"}));
}

TEST(Target, PathsAndParametersAreDecoded) {
    const auto target = parse_target("/a%2Fb/%C3%A4?x=1+2&y=%26#end");
    ASSERT_TRUE(target);
    EXPECT_EQ(target->path, (std::vector<std::string>{"a/b", "\xC3\xA4"}));
    EXPECT_EQ(*target->parameter("x"), "1 2");
    EXPECT_EQ(*target->parameter("y"), "&");
    EXPECT_EQ(target->parameter("z"), nullptr);
}

TEST(Target, WhatIsMalformedIsRefused) {
    for (const char* text : {"", "a", "/%", "/%4", "/%4g", "/%00", "/%FF", "/?a=1&a=2", "/\xff"}) {
        EXPECT_FALSE(parse_target(text)) << text;
    }
}

TEST(Target, WhatIsEncodedIsDecodedTheSame) {
    std::string all;
    for (int c = 1; c < 128; ++c) all += static_cast<char>(c);
    const auto target = parse_target("/" + percent_encoded(all) + "?x=" + percent_encoded(all));
    ASSERT_TRUE(target);
    EXPECT_EQ(target->path.front(), all);
    EXPECT_EQ(*target->parameter("x"), all);
}

}  // namespace
}  // namespace baton::http
