// What the page asks /v1 for, besides what everybody does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <set>

#include "support/expect.h"
#include "support/http_server.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PageNeeds : public testing::Test {
 protected:
  std::string make_thread(const std::string& body) {
    const Answered made = server_.ask("POST", "/v1/threads", body);
    EXPECT_EQ(made.status, 201) << made;
    return std::string(made.json().at("threadId").as_string());
  }

  std::vector<std::string> titles(const std::string& query) {
    const Answered page = server_.ask("GET", "/v1/threads?" + query);
    EXPECT_EQ(page.status, 200) << page;
    const auto answer = page.json();
    std::vector<std::string> found;
    for (const auto& thread : answer.at("threads").as_array()) {
      const auto& fields = thread.as_object();
      found.emplace_back(fields.contains("title") ? fields.at("title").as_string() : "");
    }
    return found;
  }

  TestServer server_;
};

TEST_F(PageNeeds, ThreadsAreFoundByTextInTitleIdAndMetadataWhateverItsCase) {
  make_thread(R"({"agentId":"a","title":"Retry policy"})");
  make_thread(R"({"agentId":"b","title":"Straße nach Norden","metadata":{"team":"Retriever"}})");
  const std::string id = make_thread(R"({"agentId":"b","title":"Something else"})");
  EXPECT_THAT(titles("text=RETR&order=oldest"), ElementsAre("Retry policy", "Straße nach Norden"));
  EXPECT_THAT(titles("text=STRASSE"), ElementsAre("Straße nach Norden"));
  EXPECT_THAT(titles("text=retr&agentId=a"), ElementsAre("Retry policy"));
  EXPECT_THAT(titles("text=" + id), ElementsAre("Something else"));
  EXPECT_THAT(titles("text=%25"), IsEmpty());
  const Answered counted = server_.ask("GET", "/v1/threads?text=a&total=true");
  EXPECT_EQ(counted.status, 400);
  EXPECT_THAT(counted.body, HasSubstr("total"));
}

TEST_F(PageNeeds, PagesOfThreadsByTextHaveEachOnce) {
  std::set<std::string> made;
  for (int i = 0; i < 25; ++i) {
    const std::string kind = i % 2 == 0 ? "even" : "odd";
    const std::string id = make_thread(R"({"agentId":"a","title":")" + kind + "\"}");
    if (i % 2 == 0) made.insert(id);
  }
  std::set<std::string> seen;
  std::string cursor;
  for (int pages = 0; pages < 20; ++pages) {
    const Answered page = server_.ask(
        "GET", "/v1/threads?text=even&limit=4" + (cursor.empty() ? "" : "&cursor=" + cursor));
    ASSERT_EQ(page.status, 200) << page;
    const auto fields = page.json().as_object();
    for (const auto& thread : fields.at("threads").as_array()) {
      EXPECT_TRUE(seen.emplace(thread.at("threadId").as_string()).second);
    }
    if (!fields.contains("next")) break;
    cursor = std::string(fields.at("next").as_string());
  }
  EXPECT_EQ(seen, made);
}

TEST_F(PageNeeds, UsageOfADayIsSplitByAgentAndByModel) {
  for (const char* run :
       {R"({"agentId":"echo","text":"one two"})", R"({"agentId":"echo","text":"three"})"}) {
    ASSERT_EQ(server_.ask("POST", "/v1/runs?wait=true", run).status, 200);
  }
  const Answered report = server_.ask("GET", "/v1/usage?by=day&split=agent");
  ASSERT_EQ(report.status, 200) << report;
  const auto rows = report.json().at("rows").as_array();
  std::uint64_t runs = 0;
  for (const auto& row : rows) {
    EXPECT_EQ(row.at("agent").as_string(), "echo");
    EXPECT_EQ(row.at("day").as_string().size(), 10U);
    runs += row.at("runs").to_number<std::uint64_t>();
  }
  EXPECT_EQ(runs, 2U);
  const Answered models = server_.ask("GET", "/v1/usage?by=day&split=model");
  EXPECT_TRUE(models.json().at("rows").at(0).as_object().contains("model"));
  EXPECT_EQ(server_.ask("GET", "/v1/usage?by=day&split=day").status, 400);
}

}  // namespace
}  // namespace skein::test
