#include "doors/yaml/tree.h"

#include <gtest/gtest.h>

namespace baton::yaml {

namespace {

std::string tree_complaint(std::string_view text) {
    const auto tree = read_tree(text);
    return tree ? "" : to_string(tree.error());
}

const Scalar& scalar_of(const Node& root) {
    return std::get<Scalar>(std::get<Mapping>(root.content).at(0).value.content);
}

TEST(Tree, TellsPlainValuesFromQuotedOnes) {
    const auto plain = read_tree("a: 5");
    ASSERT_TRUE(plain.has_value());
    EXPECT_TRUE(scalar_of(*plain).plain);
    for (const char* text : {"a: '5'", "a: \"5\"", "a: |\n  5", "a: >\n  5", "a: ! 5"}) {
        const auto quoted = read_tree(text);
        ASSERT_TRUE(quoted.has_value()) << text;
        EXPECT_FALSE(scalar_of(*quoted).plain) << text;
    }
}

TEST(Tree, KnowsWhereEverythingStands) {
    const auto tree = read_tree("a:\n  - b: 1\n    c: 2\n");
    ASSERT_TRUE(tree.has_value());
    const auto& items = std::get<Sequence>(std::get<Mapping>(tree->content)[0].value.content);
    const auto& entry = std::get<Mapping>(items[0].content)[1];
    EXPECT_EQ(entry.key, "c");
    EXPECT_EQ(entry.at.line, 3U);
    EXPECT_EQ(entry.at.column, 5U);
    EXPECT_EQ(entry.value.at.column, 8U);
}

TEST(Tree, RefusesWhatIsNotYaml) {
    EXPECT_EQ(tree_complaint("a: [1,\nb: 2"),
              "error 1002 at 2:1: not valid YAML: end of sequence flow not found");
    EXPECT_EQ(tree_complaint("a: [[1], [2"),
              "error 1002 at 1:10: a key must be a word; a bracket that is not closed may also be "
              "the reason");
    EXPECT_EQ(tree_complaint("\tb: 1").substr(0, 10), "error 1002");
    EXPECT_EQ(tree_complaint("a: \"x").substr(0, 10), "error 1002");
    EXPECT_EQ(tree_complaint("a: b: c").substr(0, 10), "error 1002");
}

TEST(Tree, RefusesAnEmptyFileAndASecondDocument) {
    EXPECT_EQ(tree_complaint(""), "error 1002: the file is empty");
    EXPECT_EQ(tree_complaint("# only a comment\n"), "error 1002: the file is empty");
    EXPECT_EQ(tree_complaint("a: 1\n---\nb: 2\n"),
              "error 1002 at 3:1: the file holds more than one document; use one file for each");
    EXPECT_EQ(tree_complaint("---\na: 1\n...\n"), "");
}

TEST(Tree, RefusesAnchorsAliasesMergeKeysAndTags) {
    EXPECT_EQ(
        tree_complaint("a: &x 1"),
        "error 1002 at 1:4: an anchor (\"&x\") cannot be used in a deployment file; write the "
        "value out");
    EXPECT_EQ(tree_complaint("a: *x").substr(0, 10), "error 1002");
    EXPECT_EQ(tree_complaint("<<: {a: 1}"),
              "error 1002 at 1:1: a merge key (\"<<\") cannot be used in a deployment file; write "
              "the values out");
    EXPECT_EQ(tree_complaint("a: !!int 5"),
              "error 1002 at 1:4: a tag (\"tag:yaml.org,2002:int\") cannot be used in a deployment "
              "file; write the value without it");
    EXPECT_EQ(tree_complaint("a: !mine {}").substr(0, 10), "error 1002");
    EXPECT_EQ(tree_complaint("a: !mine []").substr(0, 10), "error 1002");
    EXPECT_EQ(tree_complaint("a: &x {}").substr(0, 10), "error 1002");
    EXPECT_EQ(tree_complaint("&x a: 1").substr(0, 10), "error 1002");
}

TEST(Tree, ABillionLaughsAreNotLaughed) {
    EXPECT_NE(tree_complaint("a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n"), "");
}

TEST(Tree, RefusesAKeyWrittenTwiceInWhateverSpelling) {
    EXPECT_EQ(tree_complaint("a: 1\nb: 2\na: 3"), "error 1000 at 3:1: key \"a\" is written twice");
    EXPECT_EQ(tree_complaint("field_delimiter: 1\nfieldDelimiter: 2"),
              "error 1000 at 2:1: key \"fieldDelimiter\" is written twice");
    EXPECT_EQ(tree_complaint("a: {b: 1}\nb: {b: 1}"), "");
}

TEST(Tree, RefusesKeysThatAreNotWords) {
    for (const char* text : {"[1]: 2", "{a: 1}: 2", "? [a]\n: b", "~: 1", ": 1"}) {
        EXPECT_EQ(tree_complaint(text).substr(0, 10), "error 1002") << text;
    }
}

TEST(Tree, RefusesBytesThatAreNotText) {
    EXPECT_EQ(tree_complaint("a: \xFF"), "error 1002 at 1:4: the file is not text in UTF-8");
    EXPECT_EQ(tree_complaint("a: \"\\0\""),
              "error 1002 at 1:4: a text must not hold a zero byte; write the delimiter '\\0' in "
              "single quotes");
    EXPECT_NE(tree_complaint("a: \"\\uD800\""), "");
    EXPECT_EQ(tree_complaint("a: gr\xC3\xBC\xC3\x9F"), "");
}

TEST(Tree, RefusesWhatIsTooLargeTooDeepOrTooMany) {
    EXPECT_EQ(tree_complaint(std::string(kBytesMax + 1, '#')),
              "error 2005: the file is larger than 1048576 bytes");
    EXPECT_EQ(tree_complaint(std::string(17, '[') + std::string(17, ']')),
              "error 2005 at 1:17: the file nests deeper than 16 levels");
    EXPECT_EQ(tree_complaint(std::string(16, '[') + std::string(16, ']')), "");
    std::string many = "[";
    for (std::size_t i = 0; i < kNodesMax; ++i) many += "a,";
    EXPECT_EQ(tree_complaint(many + "]").substr(0, 10), "error 2005");
}

// A library that recurses or goes back over its input would not come through these in time.
TEST(Tree, AnswersToMegabytesOfMischief) {
    for (const char* piece : {"[", "- ", "{a: ", "\"", "a\n"}) {
        std::string text;
        while (text.size() + 8 < kBytesMax) text += piece;
        (void)tree_complaint(text);
    }
}

TEST(CanonicalKey, IsTheUpperSnakeCaseOfEverySpelling) {
    EXPECT_EQ(canonical_key("file_path"), "FILE_PATH");
    EXPECT_EQ(canonical_key("filePath"), "FILE_PATH");
    EXPECT_EQ(canonical_key("FILE_PATH"), "FILE_PATH");
    EXPECT_EQ(canonical_key("serverURI"), "SERVER_URI");
    EXPECT_EQ(canonical_key("flushIntervalMS"), "FLUSH_INTERVAL_MS");
    EXPECT_EQ(canonical_key("MQTTTopic"), "MQTT_TOPIC");
    EXPECT_EQ(canonical_key("x1Y"), "X1_Y");
    EXPECT_EQ(canonical_key(""), "");
}

}  // namespace

}  // namespace baton::yaml
