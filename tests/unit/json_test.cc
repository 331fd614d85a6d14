#include "core/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>

#include "skein/limits.h"
#include "support/expect.h"

namespace skein::test {
namespace {

using namespace std::string_literals;

Json parsed(std::string_view text) { return must(Json::parse(text)); }

TEST(JsonText, IsKeptAsItCame) {
  for (const std::string_view text :
       {"null", "true", "0", "-0.0", "1E+400", "12345678901234567890123", "\"\\u00e9\"", "\"\\/\"",
        "[ 1 , 2 ]", "{\"b\":1,\"a\":2,\"b\":3}"}) {
    EXPECT_EQ(parsed(text).text(), text);
  }
  EXPECT_EQ(parsed(" \t\r\n{} \n").text(), "{}") << "without the white space around it";
}

TEST(JsonText, IsRefusedWhenItIsNotJson) {
  for (const std::string& bad : {""s,
                                 " "s,
                                 "{"s,
                                 "}"s,
                                 "{]"s,
                                 "[1,]"s,
                                 "{\"a\":1,}"s,
                                 "{a:1}"s,
                                 "'a'"s,
                                 "01"s,
                                 "1."s,
                                 ".5"s,
                                 "+1"s,
                                 "1e"s,
                                 "NaN"s,
                                 "Infinity"s,
                                 "-"s,
                                 "tru"s,
                                 "nul"s,
                                 "\"a"s,
                                 "\"\n\""s,
                                 "\"\t\""s,
                                 "\"\\x\""s,
                                 "\"\\u12\""s,
                                 "{} {}"s,
                                 "1 2"s,
                                 "// c\n1"s,
                                 "\"\0\""s,
                                 "\0"s,
                                 "[1\0]"s,
                                 "\xef\xbb\xbf{}"s,
                                 "{\"a\" 1}"s,
                                 "{1:1}"s}) {
    EXPECT_TRUE(fails(Json::parse(bad), ErrorCode::kInvalid)) << bad;
  }
}

TEST(JsonText, IsRefusedWithLoneSurrogatesAndInvalidUtf8) {
  for (const std::string& bad :
       {R"("\ud800")"s, R"("\udc00")"s, R"("\ud800\ud800")"s, R"("\udc00\ud800")"s, R"("\ud800x")"s,
        R"({"\ud800":1})"s, "\"\xff\""s, "\"\xed\xa0\x80\""s, "\"\xc0\x80\""s, "{\"\xf5\":1}"s}) {
    EXPECT_TRUE(fails(Json::parse(bad), ErrorCode::kInvalid)) << bad;
  }
  EXPECT_TRUE(ok(Json::parse(R"("\ud83e\uddf6\u0000\ufffe")")));
}

TEST(JsonText, IsRefusedWhenNestedTooDeep) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  EXPECT_TRUE(ok(Json::parse(nested(limits::kMaxJsonDepth))));
  EXPECT_TRUE(fails(Json::parse(nested(limits::kMaxJsonDepth + 1)), ErrorCode::kInvalid, {"64"}));
  EXPECT_TRUE(fails(Json::parse(std::string(1 << 20, '[')), ErrorCode::kInvalid));
}

TEST(JsonText, KnowsItsKind) {
  EXPECT_EQ(Json().kind(), Json::Kind::kAbsent);
  EXPECT_EQ(parsed("null").kind(), Json::Kind::kNull);
  EXPECT_EQ(parsed("false").kind(), Json::Kind::kBool);
  EXPECT_EQ(parsed("-1").kind(), Json::Kind::kNumber);
  EXPECT_EQ(parsed("\"\"").kind(), Json::Kind::kString);
  EXPECT_EQ(parsed("[]").kind(), Json::Kind::kArray);
  EXPECT_EQ(parsed("{}").kind(), Json::Kind::kObject);
  EXPECT_TRUE(ok(Json::parse_object("{}")));
  EXPECT_TRUE(fails(Json::parse_object("[]"), ErrorCode::kInvalid, {"object"}));
}

TEST(JsonStrings, AreEscapedAndUnescapedWithoutLoss) {
  std::string every;
  for (int c = 0; c < 0x80; ++c) every.push_back(static_cast<char>(c));
  every += "\xc3\xa9\xe2\x80\xa8\xf0\x9f\xa7\xb6\xf4\x8f\xbf\xbf";
  const Json json = Json::string(every);
  EXPECT_TRUE(ok(Json::parse(json.text())));
  EXPECT_EQ(unescape_json_string(json.text()), every);
  EXPECT_EQ(json.text().find('\n'), std::string::npos) << "it fits a line";
  EXPECT_EQ(unescape_json_string(R"("\u00e9\ud83e\uddf6\/\b\f\n\r\t\"\\\u0000")"),
            "\xc3\xa9\xf0\x9f\xa7\xb6/\b\f\n\r\t\"\\\0"s);
  EXPECT_EQ(json_to_string("\"a\""), "a");
  EXPECT_FALSE(json_to_string("1").has_value());
}

TEST(JsonNumbers, AreReadAsWholeOnesOnlyWhenTheyAre) {
  EXPECT_EQ(json_to_int("3"), 3);
  EXPECT_EQ(json_to_int("3.0"), 3);
  EXPECT_EQ(json_to_int("-3e2"), -300);
  EXPECT_EQ(json_to_int("120e-1"), 12);
  EXPECT_EQ(json_to_int("-0"), 0);
  EXPECT_EQ(json_to_int("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(json_to_int("-9223372036854775808"), INT64_MIN);
  for (const std::string_view other :
       {"9223372036854775808", "3.5", "1e19", "1e400", "\"3\"", "true", "null", "[3]", ""}) {
    EXPECT_FALSE(json_to_int(other).has_value()) << other;
  }
  EXPECT_EQ(json_to_double("0.1"), 0.1);
  EXPECT_FALSE(json_to_double("1e400").has_value());
  EXPECT_FALSE(json_to_double("\"1\"").has_value());
}

TEST(JsonNumbers, AreWrittenAsTheShortestTextThatReadsBack) {
  const auto written = [](auto value) {
    std::string out;
    append_json_number(out, value);
    return out;
  };
  EXPECT_EQ(written(0.1), "0.1");
  EXPECT_EQ(written(std::int64_t{-5}), "-5");
  EXPECT_EQ(written(std::uint64_t{18446744073709551615U}), "18446744073709551615");
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    double value = 0;
    const std::uint64_t bits = random();
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    const std::string text = written(value);
    ASSERT_EQ(json_to_double(text), value) << text;
    ASSERT_TRUE(ok(Json::parse(text))) << text;
  }
}

TEST(JsonMeaning, IgnoresSpaceOrderAndSpelling) {
  const auto same = [](std::string_view a, std::string_view b) {
    return same_json(parsed(a), parsed(b));
  };
  EXPECT_TRUE(same(R"({"a":1,"b":[true,null]})", " {\"b\" : [ true , null ], \"a\":1.0 }"));
  EXPECT_TRUE(same(R"({"\u0061":"\u00e9"})", R"({"a":"é"})"));
  EXPECT_TRUE(same("1e2", "100"));
  EXPECT_TRUE(same("1.50", "15e-1"));
  EXPECT_TRUE(same("-0.0", "0"));
  EXPECT_TRUE(same("0e5", "0"));
  EXPECT_TRUE(same("12345678901234567890123.0", "12345678901234567890123"));
  EXPECT_TRUE(same("1e30", "1000000000000000000000000000000"));
  EXPECT_FALSE(same("12345678901234567890123", "12345678901234567890124"));
  EXPECT_FALSE(same("0.1", "0.1000000000000000055511"));
  EXPECT_FALSE(same("1", "\"1\""));
  EXPECT_FALSE(same("1", "-1"));
  EXPECT_FALSE(same("1e400", "1e401"));
  EXPECT_FALSE(same("[1,2]", "[2,1]"));
  EXPECT_FALSE(same("[]", "{}"));
  EXPECT_FALSE(same("[[1],[]]", "[[],[1]]"));
  EXPECT_FALSE(same(R"({"a":{"b":1}})", R"({"a":{},"b":1})"));
  EXPECT_FALSE(same("null", "false"));
  EXPECT_TRUE(same_json(Json(), Json()));
  EXPECT_FALSE(same_json(Json(), parsed("null")));
}

TEST(JsonScalars, HaveOneTextForEqualValues) {
  EXPECT_EQ(canonical_scalar("1.0"), canonical_scalar("1"));
  EXPECT_EQ(canonical_scalar(R"("\u0041")"), canonical_scalar("\"A\""));
  EXPECT_NE(canonical_scalar("\"true\""), canonical_scalar("true"));
  EXPECT_NE(canonical_scalar("\"1\""), canonical_scalar("1"));
  EXPECT_FALSE(canonical_scalar("{}").has_value());
  EXPECT_FALSE(canonical_scalar("[1]").has_value());
  EXPECT_FALSE(canonical_scalar("").has_value());
}

TEST(JsonObjects, AreTakenApartInOrderWithRepeatedNames) {
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  ASSERT_TRUE(
      reader.read(R"( { "a" : 1 , "\u0062" : { "x" : [ ] } , "a" : "s" , "" : null } )", members));
  ASSERT_THAT(members, testing::SizeIs(4));
  EXPECT_EQ(members[0].name, "a");
  EXPECT_EQ(members[0].value, "1");
  EXPECT_EQ(members[1].name, "b");
  EXPECT_EQ(members[1].value, R"({ "x" : [ ] })");
  EXPECT_EQ(members[2].name, "a");
  EXPECT_EQ(members[2].value, "\"s\"");
  EXPECT_EQ(members[3].name, "");
  EXPECT_EQ(members[3].value, "null");
  EXPECT_FALSE(reader.read("[1]", members));
  EXPECT_FALSE(reader.read("1", members));
  ASSERT_TRUE(reader.read("{}", members));
  EXPECT_THAT(members, testing::IsEmpty());
}

}  // namespace
}  // namespace skein::test
