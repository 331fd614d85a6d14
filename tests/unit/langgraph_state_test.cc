#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "api/langgraph/items.h"
#include "api/langgraph/saver.h"
#include "api/langgraph/state.h"
#include "api/langgraph/update.h"
#include "core/json_contains.h"
#include "core/name_uuid.h"
#include "support/expect.h"

namespace skein::test {
namespace {

using namespace langgraph;
using testing::ElementsAre;
using testing::HasSubstr;

class LangGraphState : public testing::Test {
 protected:
  LangGraphState() : store_(must(open_store("memory:"))) {
    NewThread thread;
    thread.agent_id = "helper";
    id_ = must(store_->create(thread)).id;
  }

  Manifest manifest() { return *must(store_->get(id_)); }

  // Writes values as a client does; answers the seq of the last event.
  Seq write(std::string_view values, std::optional<Seq> at = std::nullopt) {
    const UpdatePlan plan = must(plan_update(*store_, manifest(), at, values));
    return must(write_plan(*store_, threads_, manifest(), plan));
  }

  boost::json::value values(Seq head = kLastSeq) {
    return boost::json::parse(must(read_state(*store_, id_, head)).values());
  }

  std::vector<std::string> texts(Seq head = kLastSeq) {
    std::vector<std::string> found;
    const boost::json::value all = values(head);
    for (const auto& message : all.at("messages").as_array()) {
      found.emplace_back(message.at("content").as_string());
    }
    return found;
  }

  std::unique_ptr<Store> store_;
  ThreadManager threads_{*store_};
  ThreadId id_;
};

TEST_F(LangGraphState, ANewThreadHasNoValues) {
  EXPECT_EQ(must(read_state(*store_, id_)).values(), "{}");
}

TEST_F(LangGraphState, MessagesComeBackAsTheyWereSent) {
  write(R"({"messages":[
    {"role":"user","content":"Hi"},
    {"type":"human","id":"h1","name":"Ada","content":[{"type":"text","text":"Look"},
      {"type":"image_url","image_url":{"url":"data:"}}],"additional_kwargs":{"a":1}},
    {"type":"ai","content":"Looking.","tool_calls":[{"id":"c1","name":"look","args":{"x":1}}]},
    {"type":"tool","tool_call_id":"c1","name":"look","content":"seen","status":"error"},
    ["system","Be brief"], "bare"]})");
  const auto messages = values().at("messages");
  EXPECT_EQ(messages.at(0).at("type").as_string(), "human");
  EXPECT_EQ(messages.at(1).at("id").as_string(), "h1");
  EXPECT_EQ(messages.at(1).at("name").as_string(), "Ada");
  EXPECT_EQ(messages.at(1).at("content").at(1).at("type").as_string(), "image_url");
  EXPECT_EQ(messages.at(1).at("additional_kwargs").at("a").as_int64(), 1);
  EXPECT_EQ(messages.at(2).at("content").as_string(), "Looking.");
  EXPECT_EQ(messages.at(2).at("tool_calls").at(0).at("args").at("x").as_int64(), 1);
  EXPECT_EQ(messages.at(3).at("tool_call_id").as_string(), "c1");
  EXPECT_EQ(messages.at(3).at("status").as_string(), "error");
  EXPECT_EQ(messages.at(4).at("type").as_string(), "system");
  EXPECT_EQ(messages.at(5).at("content").as_string(), "bare");
}

TEST_F(LangGraphState, MessagesThatAreObjectsOfLangChainAreUnderstood) {
  write(R"({"messages":[{"lc":1,"type":"constructor","id":["langchain_core","messages","AIMessage"],
    "kwargs":{"content":"made","id":"a7"}}]})");
  EXPECT_EQ(values().at("messages").at(0).at("type").as_string(), "ai");
  EXPECT_EQ(values().at("messages").at(0).at("id").as_string(), "a7");
}

TEST_F(LangGraphState, OtherValuesAreKeptAndTheLastWriteWins) {
  write(R"({"topic":"a","depth":1})");
  write(R"({"messages":"x","topic":"b"})");
  EXPECT_EQ(values().at("topic").as_string(), "b");
  EXPECT_EQ(values().at("depth").as_int64(), 1);
}

TEST_F(LangGraphState, AnUpdateAtACheckpointLeavesTheRestBehind) {
  const Seq first = write(R"({"messages":"first"})");
  write(R"({"messages":"second"})");
  write(R"({"messages":"instead"})", first);
  EXPECT_THAT(texts(), ElementsAre("first", "instead"));
  EXPECT_THAT(texts(first + 1), ElementsAre("first", "second"));
}

TEST_F(LangGraphState, AMessageWithAKnownIdReplacesTheOther) {
  write(
      R"({"messages":[{"type":"human","id":"1","content":"a"},{"type":"human","id":"2","content":"b"},
    {"type":"human","id":"3","content":"c"}],"kept":true})");
  write(R"({"messages":[{"type":"human","id":"2","content":"B"}]})");
  EXPECT_THAT(texts(), ElementsAre("a", "B", "c"));
  EXPECT_EQ(values().at("messages").at(2).at("id").as_string(), "3");
  EXPECT_TRUE(values().at("kept").as_bool());
  write(R"({"messages":[{"type":"remove","id":"1"}]})");
  EXPECT_THAT(texts(), ElementsAre("B", "c"));
  write(
      R"({"messages":[{"type":"remove","id":"__remove_all__"},{"type":"human","content":"new"}]})");
  EXPECT_THAT(texts(), ElementsAre("new"));
}

TEST_F(LangGraphState, AReplacementLeavesNothingBehindThatItDidNotKnow) {
  write(R"({"messages":[{"type":"human","id":"1","content":"a"},
                        {"type":"human","id":"2","content":"b"}]})");
  const UpdatePlan plan =
      must(plan_update(*store_, manifest(), std::nullopt,
                       R"({"messages":[{"type":"human","id":"1","content":"A"}]})"));
  ASSERT_GT(plan.events.size(), 1U);
  write(R"({"messages":"said meanwhile"})");
  EXPECT_TRUE(fails(write_plan(*store_, threads_, manifest(), plan), ErrorCode::kConflict));
  EXPECT_THAT(texts(), ElementsAre("a", "b", "said meanwhile"));
}

TEST_F(LangGraphState, AReplacementIsNotRefusedForATitleThatCameMeanwhile) {
  write(R"({"messages":[{"type":"human","id":"1","content":"a"}]})");
  const Manifest read = manifest();
  const UpdatePlan plan = must(plan_update(
      *store_, read, std::nullopt, R"({"messages":[{"type":"human","id":"1","content":"A"}]})"));
  must(store_->update(id_, ManifestPatch().title("new"), {}));
  EXPECT_TRUE(ok(write_plan(*store_, threads_, read, plan)));
  EXPECT_THAT(texts(), ElementsAre("A"));
}

TEST_F(LangGraphState, TheSameMessageAgainWritesNothing) {
  write(R"({"messages":[{"type":"human","id":"1","content":"a"}]})");
  const auto plan = must(plan_update(*store_, manifest(), std::nullopt,
                                     R"({"messages":[{"type":"human","id":"1","content":"a"}]})"));
  EXPECT_TRUE(plan.events.empty());
}

TEST_F(LangGraphState, BadMessagesAreRefusedAndNamed) {
  for (const char* values :
       {R"({"messages":[{"content":"x"}]})", R"({"messages":[{"type":"alien","content":"x"}]})",
        R"({"messages":[7]})", R"({"messages":[{"type":"remove"}]})",
        R"({"messages":[{"type":"remove","id":"none"}]})",
        R"({"messages":[{"type":"ai","tool_calls":[{"id":"1"}]}]})", "7"}) {
    const auto plan = plan_update(*store_, manifest(), std::nullopt, values);
    ASSERT_FALSE(plan) << values;
    EXPECT_EQ(plan.error().code, ErrorCode::kInvalid) << values;
  }
}

TEST_F(LangGraphState, CheckpointIdsEncodePositionsAndGrow) {
  EXPECT_EQ(parse_checkpoint_id(checkpoint_id(77)), Seq{77});
  EXPECT_LT(checkpoint_id(9), checkpoint_id(10));
  EXPECT_EQ(parse_checkpoint_id("1f1e1aad-67bb-6f00-8001-272f2bc4f372"), std::nullopt);
  EXPECT_EQ(parse_checkpoint_id("x"), std::nullopt);
}

TEST_F(LangGraphState, TheCacheFollowsAppendsAndBranches) {
  StateCache cache(*store_);
  const auto now = [&] { return boost::json::parse(*must(cache.current(manifest())).values); };
  const Seq first = write(R"({"messages":"one"})");
  EXPECT_EQ(now().at("messages").as_array().size(), 1U);
  write(R"({"messages":"two"})");
  EXPECT_EQ(now().at("messages").as_array().size(), 2U);
  EXPECT_EQ(now(), values());
  write(R"({"messages":["three","four"]})", first);
  EXPECT_EQ(now(), values());
  EXPECT_EQ(now().at("messages").as_array().size(), 3U);
}

TEST_F(LangGraphState, TheCacheForgetsAThreadThatWasPutBack) {
  StateCache cache(*store_);
  write(R"({"messages":"secret"})");
  const Manifest before = manifest();
  EXPECT_THAT(*must(cache.current(before)).values, HasSubstr("secret"));
  must(store_->remove(id_));
  NewThread again;
  again.agent_id = "helper";
  again.id = id_;
  again.fields.set("createdAt", Json::string(before.created_at.str()));
  must(store_->create(again));
  write(R"({"messages":"nothing"})");
  EXPECT_EQ(manifest().created_at, before.created_at);
  EXPECT_THAT(*must(cache.current(manifest())).values, HasSubstr("nothing"));
}

TEST_F(LangGraphState, ItemsAreFoundByNamespaceAndFilter) {
  Items items(*store_, system_clock());
  must(items.put({"a", "b"}, "one", R"({"size":1,"tags":["x","y"]})"));
  must(items.put({"a", "bb"}, "two", R"({"size":2})"));
  must(items.put({"ab"}, "three/%", R"({"size":3})"));
  EXPECT_EQ(must(items.search({.prefix = {"a"}})).size(), 2U);
  EXPECT_EQ(must(items.search({.prefix = {"a", "b"}})).size(), 1U);
  EXPECT_EQ(must(items.search({.filter = R"({"size":{"$gte":2}})"})).size(), 2U);
  EXPECT_EQ(must(items.search({.filter = R"({"tags":["y"]})"})).size(), 1U);
  EXPECT_EQ(must(items.search({.filter = R"({"size":"2"})"})).size(), 0U);
  EXPECT_EQ(must(items.search({.filter = R"({"size":{"$ne":2}})"})).size(), 2U);
  // What is not there differs from everything, and meets nothing else.
  EXPECT_EQ(must(items.search({.filter = R"({"tags":{"$ne":["x","y"]}})"})).size(), 2U);
  EXPECT_EQ(must(items.search({.filter = R"({"tags":{"$ne":null}})"})).size(), 3U);
  EXPECT_EQ(must(items.search({.filter = R"({"none":{"$ne":1,"$lt":2}})"})).size(), 0U);
  EXPECT_EQ(must(items.search({.filter = R"({"none":{"$eq":null}})"})).size(), 0U);
  EXPECT_EQ(must(items.search({.filter = R"({"none":null})"})).size(), 0U);
  EXPECT_FALSE(items.search({.filter = R"({"size":{"$where":"1"}})"}));
  EXPECT_THAT(must(items.get({"ab"}, "three/%")).value(), HasSubstr(R"("size":3)"));
  EXPECT_THAT(must(items.namespaces({.max_depth = 1})),
              ElementsAre(Namespace{"a"}, Namespace{"ab"}));
  EXPECT_THAT(must(items.namespaces({.suffix = {"bb"}})), ElementsAre(Namespace{"a", "bb"}));
  EXPECT_FALSE(items.put({}, "k", "{}"));
  EXPECT_FALSE(items.put({"a.b"}, "k", "{}"));
}

TEST_F(LangGraphState, SavedCheckpointsAreListedNewestFirstOverAllThreads) {
  Saver saver(*store_);
  for (const char* id : {"1", "3", "2"}) {
    must(saver.put({{*id == '2' ? "other" : "mine", "", id}, "", "{}", R"({"source":"loop"})"}));
  }
  const auto found = must(saver.list({}));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found.front().saved.name.id, "3");
  EXPECT_EQ(must(saver.list({.before = "3"})).size(), 2U);
  EXPECT_EQ(must(saver.list({.filter = R"({"source":"input"})"})).size(), 0U);
  EXPECT_EQ(must(saver.get("mine", "", std::nullopt))->saved.name.id, "3");
  must(saver.remove("mine"));
  EXPECT_EQ(must(saver.list({})).size(), 1U);
}

TEST(JsonContains, ComparesLikeADatabase) {
  EXPECT_TRUE(json_contains(R"({"a":{"b":1,"c":2},"d":[1,{"e":2,"f":3}]})",
                            R"({"a":{"b":1.0},"d":[{"e":2}]})"));
  EXPECT_FALSE(json_contains(R"({"a":1})", R"({"a":"1"})"));
  EXPECT_FALSE(json_contains(R"({"a":1})", R"({"b":null})"));
  EXPECT_TRUE(json_contains(R"({"a":1})", "{}"));
}

TEST(NameUuid, IsTheOneOfTheStandard) {
  // RFC 9562, appendix A.4.
  EXPECT_EQ(name_uuid("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "www.example.com"),
            "2ed6657d-e927-568b-95e1-2665a8aea6a2");
}

}  // namespace
}  // namespace skein::test
