// Searches of the LangGraph face: what of a thread is shown, and how items are ranked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/http_server.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LangGraphSearch : public testing::Test {
 protected:
  LangGraphSearch() : server_({.config = R"({"defaultAgent":"echo"})"}) {}

  Answered search(const std::string& body) { return server_.ask("POST", "/threads/search", body); }
  void put(const std::string& key, const std::string& value) {
    const Answered done =
        server_.ask("PUT", "/store/items",
                    R"({"namespace":["notes"],"key":")" + key + R"(","value":)" + value + "}");
    EXPECT_EQ(done.status, 204) << done;
  }
  using Found = std::pair<std::string, double>;  // a key, and its score
  std::vector<Found> find(const std::string& more) {
    const Answered found =
        server_.ask("POST", "/store/items/search", R"({"namespace_prefix":["notes"])" + more + "}");
    EXPECT_EQ(found.status, 200) << found;
    std::vector<Found> items;
    const auto json = found.json();
    for (const auto& item : json.at("items").as_array()) {
      const auto* score = item.as_object().if_contains("score");
      items.emplace_back(item.at("key").as_string(),
                         score == nullptr ? -1 : score->to_number<double>());
    }
    return items;
  }

  TestServer server_;
};

TEST_F(LangGraphSearch, ExtractsWhatPathsName) {
  const Answered made =
      server_.ask("POST", "/threads", R"({"metadata":{"user":{"name":"ada"},"odd.name":1}})");
  const std::string thread = "/threads/" + std::string(made.json().at("thread_id").as_string());
  ASSERT_EQ(server_
                .ask("POST", thread + "/state",
                     R"({"values":{"messages":[{"role":"user","content":"first"},
                         {"role":"user","content":"last"}],"topic":"paths","grid":[[1,2],[3]]}})")
                .status,
            200);
  const Answered found = search(
      R"({"select":["thread_id"],"extract":{"name":"metadata.user.name","topic":"values.topic",
          "newest":"values.messages[-1].content","oldest":"values.messages[0].content",
          "cell":"values.grid[0][1]","beyond":"values.messages[2]","before":"values.messages[-3]",
          "none":"values.no.such","status":"status"}})");
  ASSERT_EQ(found.status, 200) << found;
  const auto shown = found.json().at(0).as_object();
  EXPECT_EQ(shown.size(), 2U);
  EXPECT_EQ(shown.at("extracted"), boost::json::parse(R"({"name":"ada","topic":"paths",
      "newest":"last","oldest":"first","cell":2,"beyond":null,"before":null,"none":null,
      "status":"idle"})"));
  EXPECT_FALSE(search("{}").json().at(0).as_object().contains("extracted"));
  EXPECT_FALSE(search(R"({"extract":null})").json().at(0).as_object().contains("extracted"));
}

TEST_F(LangGraphSearch, PathsThatAreNoneAreRefusedByTheirAlias) {
  for (const char* path : {"", ".", "values.", "values..a", "values[", "values[x]", "values[1",
                           "values[1]a", "[0]", "values[99999999999999999999]", "nothing.a"}) {
    const Answered refused = search(R"({"extract":{"mine":")" + std::string(path) + R"("}})");
    EXPECT_EQ(refused.status, 400) << path << refused;
    EXPECT_THAT(refused.body, HasSubstr("extract.mine")) << path;
  }
  EXPECT_EQ(search(R"({"extract":{"mine":7}})").status, 400);
  EXPECT_EQ(search(R"({"extract":[]})").status, 400);
  std::string many;
  for (int i = 0; i < 11; ++i) many += (i > 0 ? ",\"" : "\"") + std::to_string(i) + R"(":"values")";
  EXPECT_EQ(search(R"({"extract":{)" + many + "}}").status, 400);
}

TEST_F(LangGraphSearch, ItemsAreRankedByTheWordsOfAQuery) {
  put("a", R"({"text":"Ships sail\nby night"})");
  put("b", R"({"text":"nothing of the kind"})");
  put("c", R"({"deep":[{"er":"The NIGHT train"},"a Ship"],"n":7})");
  put("d", R"({"text":"the night ship sails"})");
  EXPECT_THAT(find(""),
              ElementsAre(Found("a", -1.0), Found("b", -1.0), Found("c", -1.0), Found("d", -1.0)));
  EXPECT_THAT(find(R"(,"query":"  ")").front(), Found("a", -1.0));
  EXPECT_THAT(find(R"(,"query":"night ship")"),
              ElementsAre(Found("c", 1.0), Found("d", 1.0), Found("a", 0.5), Found("b", 0.0)));
  EXPECT_THAT(find(R"(,"query":"night ship","limit":2,"offset":1)"),
              ElementsAre(Found("d", 1.0), Found("a", 0.5)));
  EXPECT_THAT(find(R"(,"query":"night ship","filter":{"n":7})"), ElementsAre(Found("c", 1.0)));
  const std::string much(10'000, 'x');
  const Answered refused = server_.ask("POST", "/store/items/search",
                                       R"({"namespace_prefix":[],"query":")" + much + R"("})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(refused.body, HasSubstr("query"));
}

}  // namespace
}  // namespace skein::test
