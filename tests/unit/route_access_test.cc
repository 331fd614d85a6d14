// Every route of every face, as the server has them, asked by everybody who may not.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "http/routes.h"
#include "support/langgraph_world.h"
#include "support/mcp_stdio.h"
#include "support/rest_world.h"

namespace skein::test {
namespace {

using http::Access;
using http::Route;
using http::RouteSet;

std::vector<RouteSet> all_sets(RestWorld& world) {
  return http::all_routes(world.server().service(), {.metrics = [] { return std::string(); },
                                                     .stopping = [] { return false; }});
}

// A path of the route, with what there is in the world.
std::string path_of(const RestWorld& world, const Route& route) {
  std::string path = route.path;
  for (std::size_t at = path.find('{'); at != std::string::npos; at = path.find('{')) {
    const std::size_t end = path.find('}', at);
    const std::string name = path.substr(at + 1, end - at - 1);
    std::string value = "mine";
    if (name == "thread_id") value = world.thread;
    if (name == "run_id") value = world.run;
    path.replace(at, end + 1 - at, value);
  }
  return path;
}

TEST(RouteAccess, OnlyTheseNeedNoKey) {
  RestWorld world;
  std::set<std::string> open;
  for (const RouteSet& set : all_sets(world)) {
    if (set.name == "page") continue;  // files that everybody has
    for (const Route& route : set.routes) {
      if (route.access == Access::kOpen) open.insert(route.name);
    }
  }
  EXPECT_EQ(open,
            (std::set<std::string>{"health", "readiness", "openapi", "docs", "lgOk", "lgInfo"}));
}

TEST(RouteAccess, WithoutAKeyOrWithAWrongOneNothingIsToldAndNothingHappens) {
  RestWorld world;
  const std::string before = world.traces();
  for (const RouteSet& set : all_sets(world)) {
    for (const Route& route : set.routes) {
      if (route.access == Access::kOpen) continue;
      for (const std::string& key : {std::string(), world.admin + "x", std::string("sk-none")}) {
        const std::string body = route.body ? "{}" : "";
        const Answered answered = world.ask(route.method, path_of(world, route), body, key);
        EXPECT_EQ(answered.status, 401) << route.name << " " << answered;
        EXPECT_EQ(answered.body.find(RestWorld::kSecret), std::string::npos) << route.name;
      }
    }
  }
  EXPECT_EQ(world.traces(), before);
}

TEST(RouteAccess, AKeyThatMayLessThanTheRouteWantsChangesNothing) {
  RestWorld world;
  const std::string before = world.traces();
  for (const RouteSet& set : all_sets(world)) {
    for (const Route& route : set.routes) {
      for (const auto& [key, access] :
           {std::pair{world.reader, Access::kRead}, std::pair{world.my_writer, Access::kWrite}}) {
        if (route.access <= access) continue;
        const std::string body = route.body ? "{}" : "";
        const Answered answered = world.ask(route.method, path_of(world, route), body, key);
        EXPECT_EQ(answered.status, 403) << route.name << " " << answered;
      }
    }
  }
  EXPECT_EQ(world.traces(), before);
}

// --- LangGraph's routes, and the key of another agent ---

TEST(LangGraphAccess, EveryRouteHasASample) {
  const LangGraphWorld world;
  std::set<std::string> sampled;
  for (const LangGraphSample& sample : world.samples()) sampled.insert(sample.route);
  std::set<std::string> there;
  for (const Route& one : world.routes().routes) there.insert(one.name);
  EXPECT_EQ(sampled, there);
}

// So that the others are refused for who asks, and not for what; limits are at their largest.
TEST(LangGraphAccess, TheSamplesAreGoodForAKeyThatMay) {
  LangGraphWorld world;
  for (const LangGraphSample& sample : world.samples()) {
    const Answered answered = world.ask(sample, world.rest().admin);
    EXPECT_EQ(answered.status, sample.status) << sample.route << answered;
  }
}

TEST(LangGraphAccess, TheKeyOfAnotherAgentFindsNothingAndChangesNothing) {
  LangGraphWorld world;
  const std::string before = world.rest().traces();
  for (const LangGraphSample& sample : world.samples()) {
    const Answered answered = world.ask(sample, world.rest().their_writer);
    EXPECT_EQ(answered.status, sample.others) << sample.route << answered;
    if (answered.status == 200) {
      EXPECT_EQ(world.shown_in(answered), "") << sample.route << answered;
    }
  }
  EXPECT_EQ(world.rest().traces(), before);
}

// --- The tools of MCP ---

class McpAccess : public testing::Test {
 protected:
  Answered call(const std::string& method, const std::string& members, const std::string& name,
                const std::string& key) {
    std::vector<HttpHeader> headers = {{"MCP-Protocol-Version", "2026-07-28"},
                                       {"Mcp-Method", method},
                                       {"Accept", "application/json, text/event-stream"},
                                       {"X-Api-Key", key}};
    if (!name.empty()) headers.push_back({"Mcp-Name", name});
    const std::string body = R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{)" +
                             members + (members.empty() ? "" : ",") + std::string(kModernMeta) +
                             "}}";
    return HttpConnection(world_.server().port()).ask("POST", "/mcp", body, headers);
  }
  Answered call_tool(const std::string& name, const std::string& arguments,
                     const std::string& key) {
    return call("tools/call", R"("name":")" + name + R"(","arguments":)" + arguments, name, key);
  }
  boost::json::array tools() {
    const Answered answered = call("tools/list", "", "", world_.admin);
    EXPECT_EQ(answered.status, 200) << answered;
    return answered.json().at("result").at("tools").as_array();
  }

  RestWorld world_;
};

TEST_F(McpAccess, NoToolThatWritesDoesSoForAKeyThatMayOnlyRead) {
  const std::string before = world_.traces();
  int writing = 0;
  for (const auto& tool : tools()) {
    if (tool.at("annotations").at("readOnlyHint").as_bool()) continue;
    ++writing;
    const std::string name(tool.at("name").as_string());
    const Answered answered = call_tool(name, "{}", world_.reader);
    EXPECT_EQ(answered.status, 200) << name << answered;
    EXPECT_NE(answered.body.find("this key may only read"), std::string::npos) << name << answered;
  }
  EXPECT_GE(writing, 5);
  EXPECT_EQ(world_.traces(), before);
}

// Every argument that a tool has, with what belongs to somebody else.
std::string arguments_for(const RestWorld& world, const boost::json::value& tool) {
  boost::json::object arguments;
  const auto& schema = tool.at("inputSchema").as_object();
  const auto* properties = schema.if_contains("properties");
  if (properties == nullptr) return "{}";
  const auto* required = schema.if_contains("required");
  for (const auto& [key, about] : properties->as_object()) {
    const std::string name(key);
    const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
    const bool needed =
        required != nullptr && std::find(required->as_array().begin(), required->as_array().end(),
                                         boost::json::value(key)) != required->as_array().end();
    if (has("conversation")) {
      arguments[key] = world.thread;
    } else if (has("agent")) {
      arguments[key] = "mine";
    } else if (has("session")) {
      arguments[key] = world.session;
    } else if (has("thread") && has("id")) {
      arguments[key] = name.starts_with("checkpoint") ? world.checkpoint : world.item;
    } else if (needed) {
      const auto* type = about.as_object().if_contains("type");
      const std::string kind =
          type != nullptr && type->is_string() ? std::string(type->as_string()) : "";
      arguments[key] = kind == "integer" || kind == "number" ? boost::json::value(1)
                       : kind == "array" ? boost::json::value(boost::json::array())
                                         : boost::json::value("x");
    }
  }
  return boost::json::serialize(arguments);
}

TEST_F(McpAccess, NoToolShowsOrChangesWhatBelongsToAnotherAgent) {
  const std::string before = world_.traces();
  for (const auto& tool : tools()) {
    const std::string name(tool.at("name").as_string());
    const std::string arguments = arguments_for(world_, tool);
    const Answered answered = call_tool(name, arguments, world_.their_writer);
    EXPECT_EQ(answered.status, 200) << name << answered;
    EXPECT_EQ(answered.body.find(RestWorld::kSecret), std::string::npos)
        << name << arguments << answered;
    EXPECT_EQ(world_.traces(), before) << name << arguments << answered;
  }
}

TEST_F(McpAccess, NoResourceOrPromptShowsWhatBelongsToAnotherAgent) {
  std::vector<std::string> uris;
  const auto listed = call("resources/list", "", "", world_.admin).json();
  for (const auto& resource : listed.at("result").at("resources").as_array()) {
    uris.emplace_back(resource.at("uri").as_string());
  }
  EXPECT_GE(uris.size(), 6U);
  std::vector<Answered> all = {call("resources/list", "", "", world_.their_writer)};
  for (const std::string& uri : uris) {
    all.push_back(call("resources/read", R"("uri":")" + uri + "\"", uri, world_.their_writer));
  }
  for (const std::string name :
       {"start_session", "close_session", "hand_off", "checkpoint", "search"}) {
    all.push_back(call("prompts/get", R"("name":")" + name + "\"", name, world_.their_writer));
  }
  for (const Answered& answered : all) {
    if (answered.json().as_object().contains("error")) continue;  // which names what was asked for
    EXPECT_EQ(answered.body.find(RestWorld::kSecret), std::string::npos) << answered;
    EXPECT_EQ(answered.body.find(world_.thread + "\""), std::string::npos) << answered;
  }
}

}  // namespace
}  // namespace skein::test
