// Every route of /v1, asked by everybody: who gets what, and that whoever gets nothing leaves no
// trace.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <set>

#include "http/schema.h"
#include "support/expect.h"
#include "support/rest_world.h"

namespace skein::test {
namespace {

using http::AgentOf;
using http::Route;

bool names_agent(const Sample& sample) {
  return (sample.target + sample.body).find("mine\"") != std::string::npos ||
         sample.target.find("agentId=mine") != std::string::npos;
}

bool workspace_wide(const Route& route) {
  static const std::set<std::string> kTags = {"items", "sessions", "checkpoints"};
  return kTags.contains(route.tag);
}

TEST(RestAccess, EveryRouteHasASample) {
  RestWorld world;
  std::set<std::string> sampled;
  for (const Sample& sample : world.samples()) sampled.insert(sample.route);
  std::set<std::string> there;
  for (const Route& route : world.routes().routes) there.insert(route.name);
  EXPECT_EQ(sampled, there);
}

// The target with that limit, whether it had one or not.
std::string with_limit(std::string target, std::uint64_t limit) {
  const std::size_t at = target.find("limit=");
  if (at != std::string::npos) target.erase(at, target.find('&', at) - at);
  return target + (target.find('?') == std::string::npos ? "?" : "&") +
         "limit=" + std::to_string(limit);
}

TEST(RestAccess, EveryLimitMayBeAsLargeAsItIsSaidToBe) {
  RestWorld world;
  int limits = 0;
  for (const Sample& sample : world.samples()) {
    for (const http::Parameter& parameter : world.route(sample.route).parameters) {
      if (parameter.name != "limit") continue;
      ++limits;
      const auto most =
          boost::json::parse(parameter.schema).at("maximum").to_number<std::uint64_t>();
      Sample asked = sample;
      asked.target = with_limit(sample.target, most);
      EXPECT_EQ(world.ask(asked, world.admin).status, 200) << asked.target;
      asked.target = with_limit(sample.target, most + 1);
      EXPECT_EQ(world.ask(asked, world.admin).status, 400) << asked.target;
    }
  }
  EXPECT_GE(limits, 6);
}

TEST(RestAccess, WithoutAKeyOrWithAWrongOneNothingIsToldAndNothingHappens) {
  RestWorld world;
  const std::string before = world.traces();
  for (const std::string& key :
       {std::string(), world.admin + "x", std::string("sk-none"), std::string(300, 'a')}) {
    for (const Sample& sample : world.samples()) {
      const Answered answered = world.ask(sample, key);
      EXPECT_EQ(answered.status, 401) << sample.route << " " << answered;
      EXPECT_EQ(answered.body.find(RestWorld::kSecret), std::string::npos);
    }
  }
  EXPECT_EQ(world.traces(), before);
}

TEST(RestAccess, AKeyThatMayOnlyReadChangesNothing) {
  RestWorld world;
  const std::string before = world.traces();
  for (const Sample& sample : world.samples()) {
    if (world.route(sample.route).access == http::Access::kRead) continue;
    const Answered answered = world.ask(sample, world.reader);
    EXPECT_EQ(answered.status, 403) << sample.route << " " << answered;
  }
  EXPECT_EQ(world.traces(), before);
}

TEST(RestAccess, AKeyThatMayOnlyReadReads) {
  RestWorld world;
  for (const Sample& sample : world.samples()) {
    if (world.route(sample.route).access != http::Access::kRead) continue;
    EXPECT_EQ(world.ask(sample, world.reader).status, sample.status) << sample.route;
  }
}

// What is documented for the key of another agent.
int status_for_others(const Route& route, const Sample& sample) {
  if (workspace_wide(route)) return 403;
  if (route.agent == AgentOf::kThread || route.agent == AgentOf::kRun) return 404;
  if (route.agent == AgentOf::kPath) return 403;
  if (route.path.find('{') != std::string::npos) return 404;
  if (sample.target.find("threadId=") != std::string::npos) return 404;
  if (names_agent(sample)) return 403;
  return 200;
}

TEST(RestAccess, TheKeyOfAnotherAgentFindsNothingAndChangesNothing) {
  RestWorld world;
  const std::string before = world.traces();
  for (const Sample& sample : world.samples()) {
    const Route& route = world.route(sample.route);
    const Answered answered = world.ask(sample, world.their_writer);
    EXPECT_EQ(answered.status, status_for_others(route, sample)) << sample.route << answered;
    if (answered.status != 200) continue;
    for (const std::string& hidden : {world.thread, world.run, world.task, world.trigger,
                                      std::string(RestWorld::kSecret), std::string("\"mine\"")}) {
      EXPECT_EQ(answered.body.find(hidden), std::string::npos) << sample.route << answered;
    }
  }
  EXPECT_EQ(world.traces(), before);
}

TEST(RestAccess, IdsOfOthersAnswerAsThoseThatDoNotExist) {
  RestWorld world;
  for (const Sample& sample : world.samples()) {
    const Route& route = world.route(sample.route);
    if (route.agent == AgentOf::kPath || workspace_wide(route) || sample.stream) continue;
    for (const auto& [id, other] :
         {std::pair<std::string, std::string>{world.thread, "0123456789ab"},
          {world.run, "0199a3b0-5d1c-7000-8123-0123456789ab"},
          {world.task, "task-0000000000000001"},
          {world.trigger, "trigger-0000000000000001"}}) {
      const std::size_t at = sample.target.find(id);
      if (at == std::string::npos) continue;
      Sample unknown = sample;
      unknown.target.replace(at, id.size(), other);
      const Answered theirs = world.ask(sample, world.their_writer);
      const Answered nobodys = world.ask(unknown, world.their_writer);
      EXPECT_EQ(theirs.status, nobodys.status) << sample.route;
      std::string said = std::string(theirs.json().at("detail").as_string());
      if (const std::size_t named = said.find(id); named != std::string::npos) {
        said.replace(named, id.size(), other);
      }
      EXPECT_EQ(said, nobodys.json().at("detail").as_string()) << sample.route;
    }
  }
}

TEST(RestAccess, ATaskOfAnotherAgentIsNotToBeHadByNamingIt) {
  RestWorld world;
  const std::string thread =
      std::string(world.ask("POST", "/v1/threads", R"({"agentId":"theirs"})", world.their_writer)
                      .json()
                      .at("threadId")
                      .as_string());
  const std::string before = world.traces();
  for (const std::string& task : {world.task, std::string("task-0000000000000001")}) {
    const std::string body = R"({"agentId":"theirs","taskId":")" + task + "\"}";
    EXPECT_EQ(world.ask("POST", "/v1/threads", body, world.their_writer).status, 404);
    EXPECT_EQ(world
                  .ask("PATCH", "/v1/threads/" + thread, R"({"taskId":")" + task + "\"}",
                       world.their_writer)
                  .status,
              404);
  }
  EXPECT_EQ(world.traces(), before);
  EXPECT_EQ(world
                .ask("POST", "/v1/threads", R"({"agentId":"mine","taskId":")" + world.task + "\"}",
                     world.my_writer)
                .status,
            201);
}

TEST(RestAccess, AKeyOfAnAgentDoesAllForThatAgent) {
  RestWorld world;
  for (const Sample& sample : world.samples()) {
    const Route& route = world.route(sample.route);
    const int status = workspace_wide(route) ? 403 : sample.status;
    const Answered answered = world.ask(sample, world.my_writer);
    EXPECT_EQ(answered.status, status) << sample.route << answered;
  }
}

// Whether an answer is what the route says that it gives.
void expect_as_described(const RestWorld& world, const Route& route, const Answered& answered) {
  const auto described =
      std::find_if(route.responses.begin(), route.responses.end(),
                   [&](const http::ResponseSpec& one) { return one.status == answered.status; });
  ASSERT_NE(described, route.responses.end()) << route.name << " " << answered.status;
  if (described->schema.empty()) return;
  EXPECT_TRUE(answered.header("content-type").starts_with(described->content_type)) << answered;
  if (described->content_type == "text/event-stream") return;
  const auto schema = http::Schema::make(described->schema, world.routes().schemas);
  ASSERT_TRUE(ok(schema));
  EXPECT_TRUE(ok(schema->check(answered.body))) << route.name << answered.body;
}

class RestOnEveryBackend : public testing::TestWithParam<std::string> {};

TEST_P(RestOnEveryBackend, EveryRouteAnswersAsItIsDescribed) {
  RestWorld world(GetParam());
  for (const Sample& sample : world.samples()) {
    const Answered answered = world.ask(sample, world.admin);
    EXPECT_EQ(answered.status, sample.status) << sample.route << answered;
    expect_as_described(world, world.route(sample.route), answered);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, RestOnEveryBackend, testing::Values("memory", "jsonl", "sqlite"),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace skein::test
