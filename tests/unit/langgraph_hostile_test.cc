// What nobody should send, sent to every route of LangGraph's face, its store and its saver that
// takes such a thing: refused without a trace, or inert; never an error of the server's own, and
// never more than was asked for.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <set>

#include "support/hostile.h"
#include "support/langgraph_world.h"

namespace skein::test {
namespace {

using http::Access;
using http::Route;

using Names = std::set<std::string>;

TEST(LangGraphHostile, IdsInPaths) {
  LangGraphWorld world;
  const std::string before = world.rest().traces();
  int asked = 0;
  for (const LangGraphSample& sample : world.samples()) {
    const Route& route = world.route(sample.route);
    for (std::size_t which = 0; which < parameters_in_path(route); ++which) {
      for (const std::string& id : hostile_ids()) {
        LangGraphSample hostile = sample;
        hostile.target = with_segment(route, sample.target, which, id);
        const Answered answered = world.ask(hostile, world.rest().admin);
        const bool none = answered.status == 200 && answered.body == "{}";
        const bool says_none = sample.route == "lgGetSubgraph" && which == 1 && none;
        EXPECT_TRUE(refused(answered) || says_none)
            << route.method << " " << hostile.target << answered;
        EXPECT_LT(answered.body.size(), 6000u) << hostile.target;
        ++asked;
      }
    }
  }
  EXPECT_GT(asked, 500);
  EXPECT_EQ(world.rest().traces(), before);
}

// --- Bodies ---

// These take members that they do not know, as the reference server does: none of them filters.
const Names kOpenBodies = {
    "lgCreateThread", "lgUpdateThread",   "lgUpdateState",  "lgCreateRun", "lgWaitRun",
    "lgStreamRun",    "lgCreateRunAlone", "lgWaitRunAlone", "lgBatchRuns", "lgStreamRunAlone",
    "lgCommand",      "lgCreateCron",     "lgPutItem"};

// Whatever they are sent, these say that there is no such thing here.
bool is_never_offered(const LangGraphSample& sample) { return sample.status == 422; }

TEST(LangGraphHostile, BodiesThatNobodyTakes) {
  LangGraphWorld world;
  const Names takes_any_object = {"lgCreateThread", "lgUpdateState"};
  for (const LangGraphSample& sample : world.samples()) {
    const Route& route = world.route(sample.route);
    if (!route.body) continue;
    for (const std::string& body : hostile_bodies()) {
      const std::string before = world.rest().traces();
      LangGraphSample hostile = sample;
      hostile.body = body;
      const Answered answered = world.ask(hostile, world.rest().admin);
      const std::string what = route.name + " " + body.substr(0, 80);
      if (takes_any_object.contains(route.name) && body.starts_with("{\"")) {
        EXPECT_LT(answered.status, 500) << what << answered;
      } else {
        EXPECT_TRUE(refused(answered)) << what << answered;
      }
      if (refused(answered)) EXPECT_EQ(world.rest().traces(), before) << what;
      EXPECT_LT(answered.body.size(), 6000u) << what << " is told back at length";
    }
  }
}

struct Mutation {
  std::string what;
  LangGraphSample sample;
};

boost::json::object properties_of(const Route& route) {
  if (!route.body || route.body->schema.empty()) return {};
  boost::json::object schema = boost::json::parse(route.body->schema).as_object();
  if (const auto* items = schema.if_contains("items")) schema = items->as_object();
  const auto* properties = schema.if_contains("properties");
  return properties == nullptr ? boost::json::object() : properties->as_object();
}

// The sample with one member of its body set; of its first element, where it is an array.
LangGraphSample with_member(const LangGraphSample& sample, const std::string& name,
                            const boost::json::value& value) {
  LangGraphSample changed = sample;
  boost::json::value body = boost::json::parse(sample.body);
  boost::json::value& object = body.is_array() ? body.as_array().front() : body;
  object.as_object()[name] = value;
  changed.body = boost::json::serialize(body);
  return changed;
}

std::vector<boost::json::value> hostile_members() {
  std::vector<boost::json::value> values;
  for (const char* json : {"7",
                           "-1",
                           "1e308",
                           "99999999999999999999999",
                           "true",
                           "[]",
                           "[[]]",
                           "[7]",
                           "{}",
                           R"([null])",
                           R"({"$ne":null})",
                           R"([{"$gt":""}])",
                           R"({"":{"":[]}})",
                           R"("")",
                           R"("..")",
                           R"("../../etc/passwd")",
                           R"("a/b")",
                           R"("\u0000")",
                           R"("' OR '1'='1")",
                           R"("*")",
                           R"("%")",
                           R"("00000000-0000-4000-8000-zzzzzzzzzzzz")",
                           R"([".."])",
                           R"(["\u0000"])",
                           R"({"checkpoint_id":".."})",
                           R"({"messages":[{"type":"\u0000","id":7}]})",
                           R"({"configurable":{"checkpoint_id":"*"}})"}) {
    values.push_back(boost::json::parse(json));
  }
  values.emplace_back(std::string(300, 'a'));
  values.emplace_back(std::string(70'000, 'a'));
  return values;
}

std::vector<Mutation> mutations(const LangGraphWorld& world) {
  std::vector<Mutation> all;
  for (const LangGraphSample& sample : world.samples()) {
    for (const auto& property : properties_of(world.route(sample.route))) {
      const std::string name(property.key());
      for (const auto& value : hostile_members()) {
        const std::string sent = boost::json::serialize(value);
        all.push_back({sample.route + "." + name + " " + sent.substr(0, 60) + " of " +
                           std::to_string(sent.size()) + " bytes",
                       with_member(sample, name, value)});
      }
    }
  }
  return all;
}

TEST(LangGraphHostile, NoMemberOfABodyMakesTheServerFailAndWhatIsRefusedLeavesNoTrace) {
  // In one world what each is answered; in another only those that are refused, so that nothing
  // else could have left a trace.
  std::set<std::string> to_refuse;
  std::size_t asked = 0;
  {
    LangGraphWorld world;
    for (const Mutation& mutation : mutations(world)) {
      const Answered answered = world.ask(mutation.sample, world.rest().admin);
      EXPECT_GE(answered.status, 200) << mutation.what << answered;
      EXPECT_LT(answered.status, 500) << mutation.what << answered;
      if (refused(answered)) to_refuse.insert(mutation.what);
      ++asked;
    }
  }
  EXPECT_GT(asked, 3000u);
  EXPECT_GT(to_refuse.size(), asked / 2);
  LangGraphWorld world;
  std::string before = world.rest().traces();
  for (const Mutation& mutation : mutations(world)) {
    if (!to_refuse.contains(mutation.what)) continue;
    const Answered answered = world.ask(mutation.sample, world.rest().admin);
    EXPECT_LT(answered.status, 500) << mutation.what << answered;
    if (std::string after = world.rest().traces(); after != before) {
      ADD_FAILURE() << mutation.what << " left a trace" << answered;
      before = std::move(after);
    }
  }
}

// --- What filters ---

TEST(LangGraphHostile, MembersThatARouteDoesNotKnowAreRefusedByTheirNames) {
  LangGraphWorld world;
  const std::string before = world.rest().traces();
  Names closed;
  for (const LangGraphSample& sample : world.samples()) {
    const Route& route = world.route(sample.route);
    if (!route.body || is_never_offered(sample) || kOpenBodies.contains(route.name)) continue;
    closed.insert(route.name);
    for (const char* name : {"filters", "nosuch", "__proto__", "threadid", "Metadata", ""}) {
      const auto hostile = with_member(sample, name, boost::json::object{{"tag", "x"}});
      const Answered answered = world.ask(hostile, world.rest().admin);
      EXPECT_EQ(answered.status, 400) << route.name << " " << name << answered;
      // Of a stream only the head is read.
      if (sample.target.find("stream") == std::string::npos) {
        EXPECT_NE(answered.body.find(name), std::string::npos) << route.name << answered;
      }
    }
  }
  for (const char* name : {"lgSearchThreads", "lgCountThreads", "lgSearchAssistants", "saverList",
                           "saverDelete", "lgSearchCrons", "lgSearchItems", "lgCancelRuns"}) {
    EXPECT_TRUE(closed.contains(name)) << name;
  }
  EXPECT_EQ(world.rest().traces(), before);
}

TEST(LangGraphHostile, ParametersThatAListDoesNotKnowAreRefusedByTheirNames) {
  LangGraphWorld world;
  const Names follow_one_run = {"lgJoinRun", "lgJoinStream", "lgJoinStreamAlone", "lgCancelRun"};
  const std::string before = world.rest().traces();
  for (const LangGraphSample& sample : world.samples()) {
    const Route& route = world.route(sample.route);
    if (route.parameters.empty() || follow_one_run.contains(route.name)) continue;
    for (const char* name : {"statuss", "nosuch", "__proto__"}) {
      LangGraphSample hostile = sample;
      hostile.target += sample.target.find('?') == std::string::npos ? "?" : "&";
      hostile.target += std::string(name) + "=x";
      const Answered answered = world.ask(hostile, world.rest().admin);
      EXPECT_EQ(answered.status, 400) << hostile.target << answered;
      EXPECT_NE(answered.body.find(name), std::string::npos) << hostile.target << answered;
    }
  }
  EXPECT_EQ(world.rest().traces(), before);
}

bool is_object(const boost::json::value& schema) {
  const auto* type = schema.as_object().if_contains("type");
  return type != nullptr && boost::json::serialize(*type).find("object") != std::string::npos;
}

TEST(LangGraphHostile, FiltersNeverWidenToEverything) {
  LangGraphWorld world;
  const Names shows_only = {"extract"};  // which members of what is found; it finds nothing
  const std::string before = world.rest().traces();
  Names filters;
  for (const LangGraphSample& sample : world.samples()) {
    const Route& route = world.route(sample.route);
    if (route.access != Access::kRead || is_never_offered(sample)) continue;
    for (const auto& property : properties_of(route)) {
      const std::string name(property.key());
      if (!is_object(property.value()) || shows_only.contains(name)) continue;
      filters.insert(route.name + "." + name);
      for (const char* filter : {R"({"tag' OR '1'='1":"x"})",
                                 R"({"graph_id') OR 1=1 --":"mine"})",
                                 R"({"$.tag":"it's"})",
                                 R"({"$.graph_id":"mine"})",
                                 R"({"tag\u0000":"it's"})",
                                 R"({"*":"it's"})",
                                 R"({"%":"it's"})",
                                 R"({"":"it's"})",
                                 R"({"TAG":"it's"})",
                                 R"({"$or":[{}]})",
                                 R"({"$where":"1"})",
                                 R"({"tag":["it's"]})",
                                 R"({"tag":"%"})",
                                 R"({"tag":"it_s"})",
                                 R"({"nothing":null})",
                                 R"({"tag":null})",
                                 R"({"tag":"it's","nothing":{}})",
                                 R"({"graph_id":"mine' OR '1'='1"})",
                                 R"({"graph_id":7})",
                                 R"({"tag":{"$nosuch":"x"}})",
                                 R"({"__proto__":{}})"}) {
        const auto hostile = with_member(sample, name, boost::json::parse(filter));
        const Answered answered = world.ask(hostile, world.rest().admin);
        const std::string what = route.name + "." + name + " " + filter;
        EXPECT_LT(answered.status, 500) << what << answered;
        if (refused(answered)) continue;
        EXPECT_EQ(world.shown_in(answered), "") << what << answered;
        if (route.path.ends_with("/count")) EXPECT_EQ(answered.body, "0") << what;
      }
    }
  }
  for (const char* name :
       {"lgSearchThreads.metadata", "lgSearchThreads.values", "lgCountThreads.metadata",
        "lgSearchItems.filter", "saverList.filter", "lgPostHistory.metadata",
        "lgPostHistory.before", "lgGetStateAt.checkpoint", "lgSearchCrons.metadata"}) {
    EXPECT_TRUE(filters.contains(name)) << name;
  }
  EXPECT_EQ(world.rest().traces(), before);
}

TEST(LangGraphHostile, TooMuchOfAGoodThingIsRefusedByItsLimit) {
  LangGraphWorld world;
  const std::string before = world.rest().traces();
  const std::string huge(17u << 20, 'a');
  for (const LangGraphSample& sample : world.samples()) {
    if (!world.route(sample.route).body) continue;
    LangGraphSample hostile = sample;
    hostile.body = "\"" + huge + "\"";
    EXPECT_EQ(world.ask(hostile, world.rest().admin).status, 413) << sample.route;
  }
  EXPECT_EQ(world.rest().traces(), before);
}

}  // namespace
}  // namespace skein::test
