// Work items and working sessions of /v1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "api/work/place.h"
#include "support/expect.h"
#include "support/manual_clock.h"
#include "support/rest_world.h"

namespace skein::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

class RestWork : public testing::Test {
 protected:
  Answered ask(const std::string& method, const std::string& target, const std::string& body = {}) {
    return world_.ask(method, target, body, world_.admin);
  }
  std::string item(const std::string& text) {
    const Answered made = ask("POST", "/v1/items", R"({"text":")" + text + R"("})");
    EXPECT_EQ(made.status, 201) << made;
    return std::string(made.json().at("id").as_string());
  }

  // An open session of a project of its own, with an item.
  void start(const std::string& session, const std::string& project, const std::string& text) {
    const Answered began =
        ask("POST", "/v1/sessions",
            R"({"session_id":")" + session + R"(","project":")" + project + R"("})");
    ASSERT_EQ(began.status, 201) << began;
    const Answered made =
        ask("POST", "/v1/items", R"({"text":")" + text + R"(","session_id":")" + session + R"("})");
    ASSERT_EQ(made.status, 201) << made;
  }
  std::vector<std::string> texts(const std::string& query) {
    const Answered listed = ask("GET", "/v1/items" + query);
    EXPECT_EQ(listed.status, 200) << listed;
    std::vector<std::string> found;
    const auto json = listed.json();
    for (const auto& each : json.at("items").as_array()) {
      found.emplace_back(each.at("text").as_string());
    }
    return found;
  }

  RestWorld world_;
};

TEST_F(RestWork, APositionIsThatOfTheList) {
  start("a", "alpha", "Paint the fence");
  start("b", "beta", "Mow the lawn");
  EXPECT_THAT(texts("?project=alpha"), ElementsAre("Paint the fence"));
  EXPECT_THAT(texts("?session_id=b"), ElementsAre("Mow the lawn"));
  EXPECT_THAT(texts(""), IsSupersetOf({"Paint the fence", "Mow the lawn"}));

  const Answered undetermined = ask("POST", "/v1/items/resolve", R"({"text_match":"#1"})");
  EXPECT_EQ(undetermined.status, 400) << undetermined;
  EXPECT_THAT(undetermined.body,
              AllOf(HasSubstr("#1"), HasSubstr("project"), HasSubstr("session_id")));
  EXPECT_THAT(texts("?project=alpha"), ElementsAre("Paint the fence"));
  const Answered of_project =
      ask("POST", "/v1/items/resolve", R"({"text_match":"#1","project":"alpha"})");
  ASSERT_EQ(of_project.status, 200) << of_project;
  EXPECT_EQ(of_project.json().at("text"), "Paint the fence");
  const Answered of_session =
      ask("POST", "/v1/items/resolve", R"({"text_match":"#1","session_id":"b"})");
  ASSERT_EQ(of_session.status, 200) << of_session;
  EXPECT_EQ(of_session.json().at("text"), "Mow the lawn");
}

TEST_F(RestWork, ASessionThatNobodyKnowsIsNotFound) {
  const std::string id = item("Paint the fence");
  for (const auto& [method, target, body] :
       {std::tuple("POST", std::string("/v1/items"), R"({"text":"x","session_id":"nosuch"})"),
        std::tuple("POST", "/v1/items/" + id + "/resolve", R"({"session_id":"nosuch"})"),
        std::tuple("POST", std::string("/v1/items/resolve"),
                   R"({"text_match":"fence","session_id":"nosuch"})"),
        std::tuple("GET", std::string("/v1/items?session_id=nosuch"), "")}) {
    const Answered refused = ask(method, target, body);
    EXPECT_EQ(refused.status, 404) << target << " " << refused;
    EXPECT_THAT(refused.body, HasSubstr("nosuch")) << target;
  }
  EXPECT_EQ(ask("GET", "/v1/items/" + id).json().at("status"), "open");
}

TEST_F(RestWork, AResumedCheckpointHasTheItemsOfTheProject) {
  start("a", "alpha", "Paint the fence");
  start("b", "beta", "Mow the lawn");
  const Answered resumed = ask("GET", "/v1/checkpoints/" + world_.checkpoint + "/resume");
  ASSERT_EQ(resumed.status, 200) << resumed;
  const auto items = resumed.json().at("open_items").as_array();
  ASSERT_EQ(items.size(), 1U) << resumed;
  EXPECT_EQ(items[0].at("text"), "Mow the lawn");
  EXPECT_EQ(resumed.json().at("project"), "beta");
}

TEST_F(RestWork, ADuplicateThatANoteNamesIsResolvedAndAnswered) {
  const std::string first = item("Grease the hinges");
  const std::string second = item("Paint the fence");
  const Answered resolved = ask("POST", "/v1/items/" + first + "/resolve",
                                R"({"resolution_note":"Duplicate of )" + second + R"("})");
  ASSERT_EQ(resolved.status, 200) << resolved;
  ASSERT_TRUE(resolved.json().as_object().contains("also_resolved")) << resolved;
  const auto also = resolved.json().at("also_resolved").as_array();
  ASSERT_EQ(also.size(), 1U);
  EXPECT_EQ(also[0].at("id").as_string(), second);
  EXPECT_EQ(ask("GET", "/v1/items/" + second).json().at("status"), "resolved");
  const Answered alone = ask("POST", "/v1/items/" + item("Mow the lawn") + "/resolve", "{}");
  EXPECT_FALSE(alone.json().as_object().contains("also_resolved")) << alone;
}

TEST_F(RestWork, SessionsOfMoreThanADayAreClosedTogether) {
  const Answered fresh = ask("POST", "/v1/sessions", R"({"agent":"mine","session_id":"fresh"})");
  ASSERT_EQ(fresh.status, 201) << fresh;
  ManualClock past;  // months ago
  WorkSessions before(world_.server().store(), work_place(world_.server().service().settings()),
                      past, random_ids());
  for (const char* id : {"old-1", "old-2"}) {
    StartSession wanted;
    wanted.agent = "mine";
    wanted.session_id = id;
    must(before.start(wanted));
  }
  const Answered closed = ask("POST", "/v1/sessions/close-stale");
  ASSERT_EQ(closed.status, 200) << closed;
  EXPECT_EQ(closed.json().at("closed").as_array().size(), 2U) << closed;
  EXPECT_TRUE(ask("GET", "/v1/sessions/old-1").json().as_object().contains("closed_at"));
  EXPECT_FALSE(ask("GET", "/v1/sessions/fresh").json().as_object().contains("closed_at"));
  EXPECT_EQ(ask("POST", "/v1/sessions/close-stale").json().at("closed").as_array().size(), 0U);
}

}  // namespace
}  // namespace skein::test
