#include "http/schema.h"

#include <gtest/gtest.h>

#include "support/expect.h"

namespace skein::http {
namespace {

using skein::test::must;

std::string refusal(const Schema& schema, std::string_view json) {
  const Result<void> checked = schema.check(json);
  return checked ? "" : checked.error().message;
}

TEST(Schema, NamesPlaceRuleAndValue) {
  const std::string_view schema = R"({"type":"object","additionalProperties":false,"required":["a"],
    "properties":{"a":{"type":"integer","minimum":1,"maximum":10},
                  "b":{"type":"array","maxItems":2,"items":{"type":"object","required":["role"],
                       "properties":{"role":{"enum":["user","tool"]}}}},
                  "c":{"type":["string","null"],"minLength":1,"maxLength":3}}})";
  const Schema made = must(Schema::make(schema));
  EXPECT_EQ(refusal(made, R"({"a":3})"), "");
  EXPECT_EQ(refusal(made, R"( {"a":3.0,"b":[{"role":"tool"}],"c":null} )"), "");
  EXPECT_EQ(refusal(made, "[]"), "body must be an object, got []");
  EXPECT_EQ(refusal(made, "{}"), "body.a must be given");
  EXPECT_EQ(refusal(made, R"({"a":0})"), "body.a must be at least 1, got 0");
  EXPECT_EQ(refusal(made, R"({"a":11})"), "body.a must be at most 10, got 11");
  EXPECT_EQ(refusal(made, R"({"a":1.5})"), "body.a must be a whole number, got 1.5");
  EXPECT_EQ(refusal(made, R"({"a":"1"})"), "body.a must be a whole number, got \"1\"");
  EXPECT_EQ(refusal(made, R"({"a":1e400})"), "body.a must be a whole number, got 1e400");
  EXPECT_EQ(refusal(made, R"({"a":1,"x":2})"), "body has no such field: \"x\"");
  EXPECT_EQ(refusal(made, R"({"a":1,"a":2})"), "body.a must not be there twice");
  EXPECT_EQ(refusal(made, R"({"a":1,"b":[{"role":"tool"},{"role":"admin"}]})"),
            "body.b[1].role must be one of \"user\", \"tool\", got \"admin\"");
  EXPECT_EQ(refusal(made, R"({"a":1,"b":[{},{},{}]})"),
            "body.b must have at most 2 items, and has 3");
  EXPECT_EQ(refusal(made, R"({"a":1,"c":""})"), "body.c must not be empty");
  EXPECT_EQ(refusal(made, R"({"a":1,"c":"äöü"})"), "");
  EXPECT_EQ(refusal(made, R"({"a":1,"c":"\u00e4öü!"})"),
            "body.c must have at most 3 characters, and has 4");
  EXPECT_EQ(refusal(made, R"({"a":1,"c":7})"), "body.c must be a string or null, got 7");
}

TEST(Schema, SaysWhatIsWrongWithTheFormThatIsMeant) {
  const Schema made = must(Schema::make(
      R"({"anyOf":[{"$ref":"#/components/schemas/Note"},{"$ref":"#/components/schemas/Sum"}]})",
      {{"Note",
        R"({"type":"object","required":["type","text"],
            "properties":{"type":{"const":"note"},"text":{"type":"string"}}})"},
       {"Sum",
        R"({"type":"object","required":["type"],
            "properties":{"type":{"const":"sum"},"of":{"type":"array",
                          "items":{"$ref":"#/components/schemas/Sum"}}}})"}}));
  EXPECT_EQ(refusal(made, R"({"type":"note","text":"x"})"), "");
  EXPECT_EQ(refusal(made, R"({"type":"sum","of":[{"type":"sum","of":[]}]})"), "");
  EXPECT_EQ(refusal(made, R"({"type":"note","text":7})"), "body.text must be a string, got 7");
  EXPECT_EQ(refusal(made, R"({"type":"sum","of":[{"type":"sum","of":[{"type":"note"}]}]})"),
            "body.of[0].of[0].type must be \"sum\", got \"note\"");
  EXPECT_EQ(refusal(made, R"({"type":"else"})"),
            "body.type must be one of \"note\", \"sum\", got \"else\"");
  EXPECT_EQ(refusal(made, "{}"), "body has none of the forms that it may have, got {}");
}

TEST(Schema, ReadsParametersAsWhatTheyShouldBe) {
  const Schema whole = must(Schema::make(R"({"type":"integer","minimum":1,"maximum":1000})"));
  EXPECT_TRUE(whole.check_text("17"));
  for (const char* bad : {"", "0", "1001", "1.5", "abc", "true", "\"5\"", " 5", "5 ",
                          "99999999999999999999", "[1]", "\xff", "0x10", "+5"}) {
    EXPECT_FALSE(whole.check_text(bad)) << bad;
  }
  EXPECT_EQ(whole.check_text("2000").error().message, "must be at most 1000, got 2000");
  const Schema flag = must(Schema::make(R"({"type":"boolean"})"));
  EXPECT_TRUE(flag.check_text("true"));
  EXPECT_FALSE(flag.check_text("1"));
  EXPECT_FALSE(flag.check_text("TRUE"));
  const Schema word = must(Schema::make(R"({"type":"string","enum":["1","b"]})"));
  EXPECT_TRUE(word.check_text("1"));
  EXPECT_TRUE(word.check_text("b"));
  EXPECT_FALSE(word.check_text("c"));
  EXPECT_TRUE(must(Schema::make(R"({"type":"string"})")).check_text("true"));
}

TEST(Schema, IsRefusedWhenItMakesNoSense) {
  for (const char* bad :
       {"", "[]", "{", R"({"typ":"string"})", R"({"type":"text"})", R"({"minLength":-1})",
        R"({"$ref":"#/components/schemas/Nobody"})", R"({"$ref":"other.json"})", R"({"enum":[]})",
        R"({"pattern":"^a"})", R"({"items":{"type":"nothing"}})"}) {
    EXPECT_FALSE(Schema::make(bad)) << bad;
  }
}

TEST(Schema, EndsWhereItLeadsBackToItself) {
  const Schema made =
      must(Schema::make(R"({"$ref":"#/components/schemas/Loop"})",
                        {{"Loop", R"({"anyOf":[{"$ref":"#/components/schemas/Loop"}]})"}}));
  EXPECT_FALSE(made.check("1"));
}

}  // namespace
}  // namespace skein::http
