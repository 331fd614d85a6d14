#include "rpc/mcp_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rpc/mcp_headers.h"
#include "support/expect.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Json json(std::string text) { return must(Json::parse(text)); }

TEST(ToolPages, HaveToolsACursorAndHowLongTheyAreGood) {
  const McpToolPage page = must(parse_tool_page(json(
      R"({"tools":[{"name":"a","description":"A","inputSchema":{"type":"object"}},
                   {"name":"b","title":"B","inputSchema":{}}],"nextCursor":"c","ttlMs":5000})")));
  ASSERT_THAT(page.tools, SizeIs(2));
  EXPECT_EQ(page.tools[0].description, "A");
  EXPECT_EQ(page.tools[0].input_schema.text(), R"({"type":"object"})");
  EXPECT_EQ(page.tools[1].description, "B");
  EXPECT_EQ(page.next, "c");
  EXPECT_EQ(page.fresh_for, std::chrono::seconds(5));
}

TEST(ToolPages, LeaveOutToolsThatBreakARuleAndSayWhy) {
  const McpToolPage page = must(parse_tool_page(json(
      R"({"tools":[{"name":"","inputSchema":{}},{"name":"b"},1,{"name":"d","inputSchema":{}}]})")));
  ASSERT_THAT(page.tools, SizeIs(1));
  EXPECT_THAT(page.left_out,
              ElementsAre(HasSubstr("name"), HasSubstr("inputSchema"), HasSubstr("name")));
  EXPECT_EQ(page.fresh_for.count(), 0);
  EXPECT_TRUE(fails(parse_tool_page(json("[]")), ErrorCode::kInvalid, {"tools/list"}));
  EXPECT_TRUE(fails(parse_tool_page(json("{}")), ErrorCode::kInvalid, {"tools"}));
}

TEST(ToolResults, BecomeText) {
  const McpToolResult result = must(parse_tool_result(json(
      R"({"content":[{"type":"text","text":"one"},{"type":"image","data":"AAAA","mimeType":"image/png"},
          {"type":"resource_link","name":"n","uri":"file:///x"},
          {"type":"resource","resource":{"uri":"u","text":"inside"}},
          {"type":"resource","resource":{"uri":"u","blob":"AAAA","mimeType":"a/b"}},
          {"type":"new"}],"isError":true})")));
  EXPECT_TRUE(result.is_error);
  EXPECT_EQ(result.text,
            "one\n[image image/png, 3 bytes]\n[resource n: file:///x]\ninside\n"
            "[resource u a/b, 3 bytes]\n[content of type \"new\"]");
  EXPECT_EQ(must(parse_tool_result(json(R"({"content":[],"structuredContent":{"a":1}})"))).text,
            R"({"a":1})");
  EXPECT_EQ(must(parse_tool_result(json(R"({"content":[]})"))).text, "");
  EXPECT_TRUE(fails(parse_tool_result(json("{}")), ErrorCode::kInvalid, {"content"}));
}

TEST(ToolResults, MayAskForInputFirst) {
  EXPECT_FALSE(must(parse_input_required(json(R"({"content":[]})"))));
  EXPECT_FALSE(must(parse_input_required(json(R"({"resultType":"complete"})"))));
  const auto required = must(parse_input_required(
      json(R"({"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}},
               "requestState":"s"})")));
  ASSERT_TRUE(required);
  ASSERT_THAT(required->requests, SizeIs(1));
  EXPECT_EQ(required->requests[0].key, "k");
  EXPECT_EQ(required->requests[0].method, "roots/list");
  EXPECT_EQ(required->state.text(), "\"s\"");
  EXPECT_TRUE(
      fails(parse_input_required(json(R"({"resultType":"odd"})")), ErrorCode::kInvalid, {"odd"}));
}

TEST(HeaderValues, AreBase64WhereTheyCannotStandAsTheyAre) {
  EXPECT_EQ(mcp_header_value("us-west1"), "us-west1");
  EXPECT_EQ(mcp_header_value("a b"), "a b");
  EXPECT_EQ(mcp_header_value("Hello, 世界"), "=?base64?SGVsbG8sIOS4lueVjA==?=");
  EXPECT_EQ(mcp_header_value(" padded "), "=?base64?IHBhZGRlZCA=?=");
  EXPECT_EQ(mcp_header_value("line1\nline2"), "=?base64?bGluZTEKbGluZTI=?=");
  EXPECT_EQ(mcp_header_value("=?base64?literal?="), "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
}

TEST(MirroredParameters, AreFoundThroughPropertiesAndTakenFromArguments) {
  const auto marks = must(mirrored_parameters(json(
      R"({"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},
          "deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}},
          "flag":{"type":"boolean","x-mcp-header":"Flag"},"other":{"type":"string"}}})")));
  ASSERT_THAT(marks, SizeIs(3));
  const auto headers =
      mirrored_headers(marks, json(R"({"region":"eu","deep":{"n":42.0},"flag":null,"other":"x"})"));
  ASSERT_THAT(headers, SizeIs(2));
  EXPECT_EQ(headers[0].name, "Mcp-Param-Region");
  EXPECT_EQ(headers[0].value, "eu");
  EXPECT_EQ(headers[1].name, "Mcp-Param-N");
  EXPECT_EQ(headers[1].value, "42");
  EXPECT_THAT(mirrored_headers(marks, Json()), IsEmpty());
  EXPECT_THAT(mirrored_headers(marks, json(R"({"deep":1})")), IsEmpty());
}

TEST(MirroredParameters, RefuseMarksThatBreakARule) {
  const auto schema = [](std::string inner) {
    return json(R"({"type":"object","properties":{)" + inner + "}}");
  };
  const auto refused = [&](std::string inner, std::string_view why) {
    return fails(mirrored_parameters(schema(std::move(inner))), ErrorCode::kInvalid, {why});
  };
  EXPECT_TRUE(refused(R"("a":{"type":"string","x-mcp-header":""})", "name"));
  EXPECT_TRUE(refused(R"("a":{"type":"string","x-mcp-header":"a b"})", "name"));
  EXPECT_TRUE(refused(R"("a":{"type":"string","x-mcp-header":"a\r\nB: c"})", "name"));
  EXPECT_TRUE(refused(R"("a":{"type":"string","x-mcp-header":1})", "name"));
  EXPECT_TRUE(refused(R"("a":{"type":"number","x-mcp-header":"A"})", "type"));
  EXPECT_TRUE(refused(R"("a":{"type":"string","x-mcp-header":"X"},
                         "b":{"type":"string","x-mcp-header":"x"})",
                      "twice"));
  EXPECT_TRUE(refused(R"("a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}})",
                      "properties"));
  EXPECT_TRUE(refused(R"("a":{"anyOf":[{"type":"string","x-mcp-header":"A"}]})", "properties"));
  EXPECT_TRUE(fails(mirrored_parameters(json(R"({"type":"string","x-mcp-header":"A"})")),
                    ErrorCode::kInvalid));
  EXPECT_TRUE(ok(mirrored_parameters(schema(R"("a":{"default":{"x-mcp-header":"A"}})"))));
}

}  // namespace
}  // namespace skein::test
