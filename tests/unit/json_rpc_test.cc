#include "rpc/json_rpc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rpc/dispatcher.h"

namespace skein::test {
namespace {

using testing::HasSubstr;

RpcRefusal refusal(std::string_view text) {
  const auto parsed = parse_rpc(text);
  EXPECT_FALSE(parsed.has_value()) << text;
  return parsed ? RpcRefusal{} : parsed.error();
}

// What a server would answer to it.
std::string answer_to(std::string_view text) { return rpc_line(refusal(text)); }

TEST(JsonRpc, TellsRequestsNotificationsAndResponsesApart) {
  const auto request = parse_rpc(R"( {"jsonrpc":"2.0","id":"a","method":"m","params":{"x":1}} )");
  ASSERT_TRUE(std::holds_alternative<RpcRequest>(*request));
  EXPECT_EQ(std::get<RpcRequest>(*request).id.text(), "\"a\"");
  EXPECT_EQ(std::get<RpcRequest>(*request).method, "m");
  EXPECT_EQ(std::get<RpcRequest>(*request).params.text(), R"({"x":1})");
  const auto notification = parse_rpc(R"({"method":"n","jsonrpc":"2.0"})");
  ASSERT_TRUE(std::holds_alternative<RpcNotification>(*notification));
  EXPECT_TRUE(std::get<RpcNotification>(*notification).params.empty());
  const auto result = parse_rpc(R"({"jsonrpc":"2.0","id":7,"result":null})");
  ASSERT_TRUE(std::holds_alternative<RpcResponse>(*result));
  EXPECT_EQ(std::get<RpcResponse>(*result).outcome->text(), "null");
  const auto error = parse_rpc(
      R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"bad","data":[1]}})");
  ASSERT_TRUE(std::holds_alternative<RpcResponse>(*error));
  const RpcError& why = std::get<RpcResponse>(*error).outcome.error();
  EXPECT_EQ(why.code, kRpcParseError);
  EXPECT_EQ(why.message, "bad");
  EXPECT_EQ(why.data.text(), "[1]");
}

TEST(JsonRpc, RefusesWhatIsNoJsonAsAParseErrorWithoutAnId) {
  for (const std::string_view text :
       {"", "{", "nonsense", "{\"jsonrpc\":\"2.0\",}", "\xFF\xFE", "{\"a\":\"\\ud800\"}"}) {
    EXPECT_EQ(refusal(text).error.code, kRpcParseError) << text;
    EXPECT_EQ(refusal(text).id.text(), "null") << text;
  }
}

TEST(JsonRpc, RefusesWhatIsNoMessageAsAnInvalidRequestWithTheIdWhereThereIsOne) {
  EXPECT_THAT(answer_to(R"({"jsonrpc":"1.0","id":3,"method":"m"})"),
              testing::AllOf(HasSubstr("\"id\":3"), HasSubstr("-32600"), HasSubstr("2.0")));
  EXPECT_THAT(answer_to(R"({"jsonrpc":"2.0","id":3,"method":1})"), HasSubstr("\"id\":3"));
  EXPECT_THAT(answer_to(R"({"jsonrpc":"2.0","id":3,"method":"m","params":1})"),
              HasSubstr("params"));
  EXPECT_THAT(answer_to(R"({"jsonrpc":"2.0","id":[1],"method":"m"})"), HasSubstr("\"id\":null"));
  EXPECT_THAT(answer_to(R"({"jsonrpc":"2.0","id":null,"method":"m"})"), HasSubstr("-32600"));
  EXPECT_THAT(answer_to(R"({"jsonrpc":"2.0","id":1})"), HasSubstr("-32600"));
  EXPECT_THAT(answer_to(R"({"jsonrpc":"2.0","result":1})"), HasSubstr("-32600"));
  EXPECT_THAT(answer_to(R"({"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1}})"),
              HasSubstr("not both"));
  EXPECT_THAT(answer_to(R"({"jsonrpc":"2.0","id":1,"error":"bad"})"), HasSubstr("code"));
  EXPECT_THAT(answer_to("[]"), HasSubstr("object"));
  EXPECT_THAT(answer_to("1"), HasSubstr("object"));
  const std::string long_id(limits::kMaxRpcIdBytes, 'x');
  EXPECT_THAT(answer_to("{\"jsonrpc\":\"2.0\",\"id\":\"" + long_id + "\",\"method\":\"m\"}"),
              HasSubstr("256"));
}

TEST(JsonRpc, LimitsDepthAndSize) {
  const std::size_t deep = limits::kMaxRpcDepth;
  const std::string nested = std::string(deep, '[') + std::string(deep, ']');
  EXPECT_EQ(refusal(R"({"jsonrpc":"2.0","method":"m","params":)" + nested + "}").error.code,
            kRpcParseError);
  const std::string large(limits::kMaxRpcBytes, 'x');
  EXPECT_THAT(refusal(R"({"jsonrpc":"2.0","method":")" + large + "\"}").error.message,
              HasSubstr("16777216"));
}

TEST(JsonRpc, TakesArraysOfMessagesApart) {
  const auto batch = parse_rpc_batch(
      R"([{"jsonrpc":"2.0","id":1,"method":"a"},1,{"jsonrpc":"2.0","method":"b"}])");
  ASSERT_EQ(batch.size(), 3U);
  EXPECT_TRUE(batch[0].has_value());
  EXPECT_EQ(batch[1].error().error.code, kRpcInvalidRequest);
  EXPECT_TRUE(batch[2].has_value());
  EXPECT_EQ(parse_rpc_batch("[]").at(0).error().error.code, kRpcInvalidRequest);
  EXPECT_EQ(parse_rpc_batch("[1").at(0).error().error.code, kRpcParseError);
  std::string many = "[1";
  for (std::size_t i = 0; i < limits::kMaxRpcBatch; ++i) many += ",1";
  EXPECT_THAT(parse_rpc_batch(many + "]").at(0).error().error.message, HasSubstr("1000"));
  EXPECT_TRUE(parse_rpc_batch(R"({"jsonrpc":"2.0","method":"b"})").at(0).has_value());
}

TEST(JsonRpc, WritesEachMessageOnOneLineAndReadsItBack) {
  const Json params = Json::trusted("{\n \"a\":\r\n 1}");
  EXPECT_EQ(rpc_line(RpcRequest{Json::number(1), "m", params}),
            R"({"jsonrpc":"2.0","id":1,"method":"m","params":{  "a":   1}})");
  EXPECT_EQ(rpc_line(RpcNotification{"n"}), R"({"jsonrpc":"2.0","method":"n"})");
  EXPECT_EQ(rpc_line(RpcResponse{Json::string("x"), Json::trusted("[]")}),
            R"({"jsonrpc":"2.0","id":"x","result":[]})");
  EXPECT_EQ(rpc_line(RpcResponse{Json::number(2), tl::unexpected(RpcError{-5, "no", params})}),
            R"({"jsonrpc":"2.0","id":2,"error":{"code":-5,"message":"no","data":{  "a":   1}}})");
}

TEST(JsonRpc, ComparesIdsByWhatTheyMean) {
  EXPECT_TRUE(same_rpc_id(Json::trusted("1"), Json::trusted("1.0")));
  EXPECT_FALSE(same_rpc_id(Json::trusted("1"), Json::trusted("\"1\"")));
  EXPECT_FALSE(same_rpc_id(Json(), Json()));
}

TEST(RpcDispatcher, AnswersByNameAndNamesMethodsThatItDoesNotKnow) {
  RpcDispatcher dispatcher;
  std::string heard;
  dispatcher.on_request("double", [](const Json& params) -> RpcDispatcher::Answer {
    if (params.empty()) return tl::unexpected(RpcError{kRpcInvalidParams, "double what?"});
    return Json::trusted(params.text());
  });
  dispatcher.on_notification("note", [&](const Json& params) { heard = params.text(); });
  EXPECT_EQ(rpc_line(dispatcher.answer({Json::number(1), "double", Json::trusted("[1]")})),
            R"({"jsonrpc":"2.0","id":1,"result":[1]})");
  EXPECT_THAT(rpc_line(dispatcher.answer({Json::number(2), "double"})), HasSubstr("-32602"));
  EXPECT_THAT(rpc_line(dispatcher.answer({Json::string("x"), "treble"})),
              testing::AllOf(HasSubstr("-32601"), HasSubstr("treble"), HasSubstr("\"id\":\"x\"")));
  dispatcher.tell({"note", Json::trusted("{}")});
  dispatcher.tell({"unknown"});
  EXPECT_EQ(heard, "{}");
}

}  // namespace
}  // namespace skein::test
