#include "core/json_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/expect.h"

namespace skein::test {
namespace {

using testing::ElementsAre;

TEST(JsonPaths, AreNamesWithDotsBetweenThem) {
  EXPECT_THAT(must(parse_json_path("limits.turns")), ElementsAre("limits", "turns"));
  EXPECT_THAT(must(parse_json_path(R"(headers.X\.Y\\)")), ElementsAre("headers", R"(X.Y\)"));
  for (const char* wrong : {"", ".", "a.", ".a", "a..b"}) {
    EXPECT_TRUE(fails(parse_json_path(wrong), ErrorCode::kInvalid)) << wrong;
  }
}

TEST(JsonEdit, KeepsOrderAndSpellingOfTheRest) {
  const std::string before = R"({"b": 1e3, "a": {"x": "\u00e4", "y": [1,  2]}, "c": null})";
  EXPECT_EQ(must(json_with(before, {"a", "x"}, "7")),
            R"({"b":1e3,"a":{"x":7,"y":[1,  2]},"c":null})");
  EXPECT_EQ(must(json_with(before, {"new", "deep", "er"}, "true")),
            R"({"b":1e3,"a":{"x": "\u00e4", "y": [1,  2]},"c":null,"new":{"deep":{"er":true}}})");
  EXPECT_EQ(json_without(before, {"a", "x"}), R"({"b":1e3,"a":{"y":[1,  2]},"c":null})");
  EXPECT_EQ(json_without("{}", {"a", "x"}), "{}");
  EXPECT_TRUE(fails(json_with(before, {"b", "x"}, "7"), ErrorCode::kInvalid, {"1e3"}));
}

TEST(JsonEdit, ReplacesEveryMemberOfARepeatedName) {
  EXPECT_EQ(must(json_with(R"({"a":1,"b":2,"a":3})", {"a"}, "9")), R"({"a":9,"b":2})");
  EXPECT_EQ(json_without(R"({"a":1,"b":2,"a":3})", {"a"}), R"({"b":2})");
  EXPECT_EQ(json_at(R"({"a":1,"a":3})", {"a"}), "3");
  EXPECT_EQ(json_at(R"({"a":1})", {"a", "b"}), std::nullopt);
}

TEST(JsonEdit, TakesTypedValuesAsJsonOrText) {
  EXPECT_EQ(json_of_typed(" 3 ").text(), "3");
  EXPECT_EQ(json_of_typed("true").text(), "true");
  EXPECT_EQ(json_of_typed("none").text(), "\"none\"");
  EXPECT_EQ(json_of_typed("\"3\"").text(), "\"3\"");
  EXPECT_EQ(json_of_typed("").text(), "\"\"");
  EXPECT_EQ(json_of_typed(R"([1,"a"])").text(), R"([1,"a"])");
}

TEST(JsonEdit, IndentsByTwoSpaces) {
  EXPECT_EQ(indented_json(R"({"a":{"b":[1,"x"],"c":{}},"d":[{"e":1e3}],"f":[]})"),
            "{\n  \"a\": {\n    \"b\": [1, \"x\"],\n    \"c\": {}\n  },\n  \"d\": [\n    {\n      "
            "\"e\": 1e3\n    }\n  ],\n  \"f\": []\n}");
}

}  // namespace
}  // namespace skein::test
