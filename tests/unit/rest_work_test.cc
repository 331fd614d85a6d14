// Work items and working sessions of /v1.
#include <gtest/gtest.h>

#include "api/work/place.h"
#include "support/expect.h"
#include "support/manual_clock.h"
#include "support/rest_world.h"

namespace skein::test {
namespace {

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

  RestWorld world_;
};

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
