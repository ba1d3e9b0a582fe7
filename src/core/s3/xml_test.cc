#include "core/s3/xml.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace baton::s3 {
namespace {

std::string why(std::string_view text, const XmlLimits& limits = {}) {
    const auto read = read_xml(text, limits);
    if (read) return "";
    EXPECT_EQ(read.error().code, ErrorCode::malformed_message);
    const std::string& message = read.error().message;
    return message.substr(message.rfind(": ") + 2);
}

TEST(XmlTest, ReadsATree) {
    const auto root = read_xml(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- <no> -->"
        "<a:Root xmlns:a='x' b = \"&lt;\"><Key>k</Key><!-- c --><Empty/><Key>l</Key>\n</a:Root>\n");
    ASSERT_TRUE(root);
    EXPECT_EQ(root->name, "Root");
    EXPECT_EQ(root->text_of("Key"), "k");
    EXPECT_EQ(root->children.size(), 3U);
    EXPECT_EQ(root->text_of("Empty"), "");
    EXPECT_EQ(root->child("None"), nullptr);
}

TEST(XmlTest, DecodesEntitiesAndSections) {
    const auto root =
        read_xml("<a>&lt;&gt;&amp;&quot;&apos;&#65;&#x1F600;&#xe4;<![CDATA[<&]]>\xc3\xa4</a>");
    ASSERT_TRUE(root);
    EXPECT_EQ(root->text, "<>&\"'A\xf0\x9f\x98\x80\xc3\xa4<&\xc3\xa4");
}

TEST(XmlTest, RefusesAllThatIsNotNeeded) {
    EXPECT_EQ(why("<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>"), "a name is missing");
    EXPECT_EQ(why("<a>&b;</a>"), "an entity is unknown");
    EXPECT_EQ(why("<a><?php x?></a>"), "a name is missing");
    EXPECT_EQ(why("<a/><b/>"), "something stands behind the root element");
    EXPECT_EQ(why("<a></b>"), "an element is closed by another name");
    EXPECT_EQ(why("text"), "an element is missing");
    EXPECT_EQ(why(""), "an element is missing");
    EXPECT_EQ(why("<a>\xff</a>"), "it is not UTF-8");
    EXPECT_EQ(why(std::string_view("<a>\0</a>", 8)), "it has a control character");
    EXPECT_EQ(why("<a><![CDATA[\x01]]></a>"), "it has a control character");
    EXPECT_EQ(why("<a b></a>"), "an attribute has no value");
    EXPECT_EQ(why("<a b=c></a>"), "an attribute's value has no quotes");
    EXPECT_EQ(why("<a b='<'></a>"), "an attribute's value is damaged");
    for (const char* const entity :
         {"&#;", "&#x;", "&#0;", "&#xD800;", "&#x110000;", "&#65", "&#6a;"}) {
        EXPECT_EQ(why("<a>" + std::string(entity) + "</a>"), "an entity is damaged") << entity;
    }
}

TEST(XmlTest, EveryPrefixOfADocumentIsRefused) {
    const std::string text =
        "<?xml version='1.0'?><a b='c'><d>&amp;<![CDATA[x]]></d><!-- e --></a>";
    ASSERT_TRUE(read_xml(text));
    for (std::size_t size = 0; size < text.size(); ++size) {
        EXPECT_FALSE(read_xml(text.substr(0, size))) << size;
    }
}

TEST(XmlTest, IsBoundedInDepthAndElements) {
    std::string open;
    std::string close;
    for (int i = 0; i < 16; ++i) {
        open += "<a>";
        close += "</a>";
    }
    EXPECT_EQ(why(open + close), "");
    EXPECT_EQ(why("<a>" + open + close + "</a>"), "it is nested too deeply");
    EXPECT_EQ(why("<a><b/><b/></a>", {.depth = 2, .elements = 3}), "");
    EXPECT_EQ(why("<a><b/><b/><b/></a>", {.depth = 2, .elements = 3}), "it has too many elements");
}

TEST(XmlTest, NoMessageShowsTheText) {
    EXPECT_EQ(why("<a><secret></a>").find("secret"), std::string::npos);
}

RC_GTEST_PROP(XmlProperty, EscapedTextIsReadBack, ()) {
    const auto text = *rc::gen::container<std::string>(rc::gen::inRange<char>(' ', '\x7f'));
    const auto root = read_xml("<a>" + escape_xml(text + "\r\n\t") + "</a>");
    RC_ASSERT(root);
    RC_ASSERT(root->text == text + "\r\n\t");
}

}  // namespace
}  // namespace baton::s3
