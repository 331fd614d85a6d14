// Keys, versions, pages and streams of /v1.
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "support/builders.h"
#include "support/expect.h"
#include "support/git_sandbox.h"
#include "support/rest_world.h"

namespace skein::test {
namespace {

using Headers = std::vector<HttpHeader>;

std::string text_of(const boost::json::value& value, std::string_view name) {
  return std::string(value.as_object().at(name).as_string());
}

class Rest : public testing::Test {
 protected:
  Answered ask(const std::string& method, const std::string& target, const std::string& body = {},
               Headers headers = {}) {
    headers.push_back({"Authorization", "Bearer " + world_.admin});
    return HttpConnection(world_.server().port()).ask(method, target, body, headers);
  }
  std::string on_thread(const std::string& rest = {}) {
    return "/v1/threads/" + world_.thread + rest;
  }

  RestWorld world_;
};

TEST_F(Rest, AThreadIsMadeOnceForAKey) {
  const Headers key = {{"Idempotency-Key", "create-1"}};
  const std::string body = R"({"agentId":"mine","title":"Once"})";
  const Answered first = ask("POST", "/v1/threads", body, key);
  const Answered again = ask("POST", "/v1/threads", body, key);
  ASSERT_EQ(first.status, 201) << first;
  EXPECT_EQ(again.status, 201) << again;
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(again.header("location"), first.header("location"));
  EXPECT_EQ(again.header("idempotent-replayed"), "true");
  EXPECT_EQ(ask("POST", "/v1/threads", R"({"agentId":"mine","title":"Else"})", key).status, 409);
  // Another caller's key of that name is another key.
  const Answered other = HttpConnection(world_.server().port())
                             .ask("POST", "/v1/threads", body,
                                  {{"Authorization", "Bearer " + world_.my_writer}, key.front()});
  EXPECT_EQ(other.status, 201);
  EXPECT_NE(text_of(other.json(), "threadId"), text_of(first.json(), "threadId"));
}

TEST_F(Rest, WhatWasRefusedMayBeTriedAgainWithItsKey) {
  const Headers key = {{"Idempotency-Key", "task-1"}};
  const std::string body = R"({"agentId":"nobody","text":"Do it"})";
  EXPECT_EQ(ask("POST", "/v1/tasks", body, key).status, 404);
  EXPECT_EQ(ask("POST", "/v1/tasks", body, key).status, 404);
  EXPECT_EQ(ask("POST", "/v1/tasks", R"({"agentId":"mine","text":"Do it"})", key).status, 201);
}

TEST_F(Rest, ManyAtOnceWithOneKeyMakeOneThread) {
  const Headers key = {{"Idempotency-Key", "race"}};
  std::vector<Answered> answers(8);
  {
    std::vector<std::jthread> clients;
    for (Answered& answer : answers) {
      clients.emplace_back(
          [&] { answer = ask("POST", "/v1/threads", R"({"title":"Race"})", key); });
    }
  }
  std::set<std::string> made;
  for (const Answered& answer : answers) {
    ASSERT_TRUE(answer.status == 201 || answer.status == 409) << answer;
    if (answer.status == 201) made.insert(text_of(answer.json(), "threadId"));
  }
  EXPECT_EQ(made.size(), 1u);
}

TEST_F(Rest, AnAppendIsMadeOnceForAKey) {
  const Headers key = {{"Idempotency-Key", "event-1"}};
  const std::string body = R"({"role":"user","text":"Only once"})";
  const Answered first = ask("POST", on_thread("/events"), body, key);
  const Answered again = ask("POST", on_thread("/events"), body, key);
  EXPECT_EQ(first.status, 201) << first;
  EXPECT_EQ(again.status, 200) << again;
  EXPECT_EQ(again.json().at("seq"), first.json().at("seq"));
  EXPECT_TRUE(again.json().at("repeated").as_bool());
  EXPECT_EQ(ask("POST", on_thread("/events"), R"({"role":"user","text":"Else"})", key).status, 409);
  const Answered message = ask("POST", on_thread("/messages"), R"({"text":"Only once"})", key);
  EXPECT_EQ(message.json().at("seq"), first.json().at("seq")) << message;
}

TEST_F(Rest, ASeqInAnEventIsThePositionThatItMustGet) {
  const auto last = ask("GET", on_thread()).json().at("lastSeq").to_number<std::uint64_t>();
  const auto event = [](std::uint64_t seq) {
    return R"({"role":"user","text":"Here","seq":)" + std::to_string(seq) + "}";
  };
  EXPECT_EQ(ask("POST", on_thread("/events"), event(last)).status, 409);
  EXPECT_EQ(ask("POST", on_thread("/events"), event(last + 1)).status, 201);
}

TEST_F(Rest, UpdatesKeepToWhatIfMatchSays) {
  const std::string etag = ask("GET", on_thread()).header("etag");
  ASSERT_FALSE(etag.empty());
  // Appends leave the tag alone.
  ask("POST", on_thread("/messages"), R"({"text":"Hm"})");
  const Answered changed = ask("PATCH", on_thread(), R"({"title":"A"})", {{"If-Match", etag}});
  EXPECT_EQ(changed.status, 200) << changed;
  EXPECT_NE(changed.header("etag"), etag);
  EXPECT_EQ(text_of(changed.json(), "etag"), changed.header("etag"));
  const Answered late = ask("PATCH", on_thread(), R"({"title":"B"})", {{"If-Match", etag}});
  EXPECT_EQ(late.status, 412) << late;
  EXPECT_EQ(ask("PATCH", on_thread(), R"({"title":"C"})", {{"If-Match", "W/" + etag}}).status, 412);
  EXPECT_EQ(ask("PATCH", on_thread(), R"({"title":"D"})", {{"If-Match", "*"}}).status, 200);
  EXPECT_EQ(ask("PATCH", on_thread(), R"({"title":"E"})",
                {{"If-Match", "\"0\", " + ask("GET", on_thread()).header("etag")}})
                .status,
            200);
  EXPECT_EQ(text_of(ask("GET", on_thread()).json(), "title"), "E");
}

TEST_F(Rest, WhatTheServerSaysOfAThreadIsNotUpdated) {
  const std::string before = ask("GET", on_thread()).body;
  for (const char* field :
       {R"("pins":[99])", R"("pins":[])", R"("pins":null)", R"("runStatus":"error")",
        R"("runStatus":null)", R"("lastSeq":5)", R"("etag":"x")", R"("sessionId":"--settings={}")",
        R"("sessionId":"")", R"("sessionId":{})"}) {
    const Answered refused =
        ask("PATCH", on_thread(), R"({"title":"T",)" + std::string(field) + "}");
    EXPECT_EQ(refused.status, 400) << field << refused;
    const std::string name = std::string(field).substr(1, std::string(field).find('"', 1) - 1);
    EXPECT_NE(text_of(refused.json(), "detail").find(name), std::string::npos) << refused;
  }
  EXPECT_EQ(ask("GET", on_thread()).body, before);
  EXPECT_EQ(ask("PATCH", on_thread(), R"({"channel":"telegram"})").status, 200);
}

TEST_F(Rest, ASessionIdCanBeClearedButNotSet) {
  const ThreadId id = must(ThreadId::parse(world_.thread));
  must(world_.server().store().update(id, ManifestPatch().session_id("dead"), {}));
  EXPECT_EQ(text_of(ask("GET", on_thread()).json(), "sessionId"), "dead");
  EXPECT_EQ(ask("PATCH", on_thread(), R"({"sessionId":"other"})").status, 400);
  const std::string etag = ask("GET", on_thread()).header("etag");
  const Answered cleared =
      ask("PATCH", on_thread(), R"({"sessionId":null,"title":"Alive"})", {{"If-Match", etag}});
  EXPECT_EQ(cleared.status, 200) << cleared;
  EXPECT_FALSE(cleared.json().as_object().contains("sessionId")) << cleared;
  EXPECT_FALSE(get_thread(world_.server().store(), id).session_id);
}

TEST_F(Rest, OfUpdatesAtOnceWithOneTagOneIsMade) {
  const std::string etag = ask("GET", on_thread()).header("etag");
  std::vector<int> statuses(8);
  {
    std::vector<std::jthread> clients;
    for (std::size_t i = 0; i < statuses.size(); ++i) {
      clients.emplace_back([&, i] {
        const std::string body = R"({"title":"T)" + std::to_string(i) + "\"}";
        statuses[i] = ask("PATCH", on_thread(), body, {{"If-Match", etag}}).status;
      });
    }
  }
  EXPECT_EQ(std::count(statuses.begin(), statuses.end(), 200), 1);
  EXPECT_EQ(std::count(statuses.begin(), statuses.end(), 412), 7);
}

TEST_F(Rest, PagesOfThreadsShowEachOnceAndOnlyWhatTheKeySees) {
  const std::string both = world_.server().make_key(http::Access::kWrite, {"mine", "theirs"});
  for (int i = 0; i < 7; ++i) {
    const std::string agent = i % 2 == 0 ? "mine" : "theirs";
    ask("POST", "/v1/threads", R"({"agentId":")" + agent + R"(","metadata":{"batch":1}})");
  }
  ask("POST", "/v1/threads", R"({"agentId":"third","metadata":{"batch":1}})");
  std::vector<std::string> seen;
  std::string cursor;
  do {
    const std::string filter = "/v1/threads?metadata=%7B%22batch%22:1%7D&limit=2&total=true";
    const Answered page = world_.ask("GET", filter + cursor, "", both);
    ASSERT_EQ(page.status, 200) << page;
    const auto json = page.json();
    EXPECT_EQ(json.at("total").to_number<int>(), 7);
    for (const auto& thread : json.at("threads").as_array()) {
      seen.push_back(text_of(thread, "threadId"));
      EXPECT_NE(text_of(thread, "agentId"), "third");
    }
    const auto* next = json.as_object().if_contains("next");
    cursor = next == nullptr ? "" : "&cursor=" + std::string(next->as_string());
  } while (!cursor.empty());
  EXPECT_EQ(seen.size(), 7u);
  EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), 7u);
}

TEST_F(Rest, PagesOfMessagesAreOfTheThreadAsItWasAtTheFirst) {
  for (int i = 0; i < 6; ++i) {
    ask("POST", on_thread("/messages"), R"({"text":"m)" + std::to_string(i) + "\"}");
  }
  const auto texts = [](const Answered& page) {
    const auto json = page.json();
    std::vector<std::string> found;
    for (const auto& one : json.at("messages").as_array()) found.push_back(text_of(one, "text"));
    return found;
  };
  for (const std::string order : {"asc", "desc"}) {
    const std::vector<std::string> whole = texts(ask("GET", on_thread("/messages?order=" + order)));
    ASSERT_GT(whole.size(), 2U);
    std::vector<std::string> seen;
    std::string cursor;
    do {
      const Answered page = ask("GET", on_thread("/messages?limit=2&order=" + order) + cursor);
      ASSERT_EQ(page.status, 200) << page;
      for (const std::string& text : texts(page)) seen.push_back(text);
      const auto json = page.json();
      const auto* next = json.as_object().if_contains("next");
      cursor = next == nullptr ? "" : "&cursor=" + std::string(next->as_string());
      // What happens meanwhile is not on these pages, an edit of the past included.
      if (seen.size() == 2) {
        ask("POST", on_thread("/messages"), R"({"text":"instead","base":3})");
        ask("POST", on_thread("/messages"), R"({"text":"and more"})");
      }
    } while (!cursor.empty());
    EXPECT_EQ(seen, whole) << order;
    EXPECT_EQ(texts(ask("GET", on_thread("/messages?order=desc&limit=1")))[0], "and more");
  }
  EXPECT_EQ(ask("GET", on_thread("/messages?cursor=1-2")).status, 400);
  EXPECT_EQ(ask("GET", on_thread("/messages?cursor=0-0-0")).status, 400);
}

TEST_F(Rest, AStreamOfAThreadGoesOnAfterTheLastIdThatWasSeen) {
  const Headers key = {{"Authorization", "Bearer " + world_.admin}};
  std::string last;
  {
    HttpConnection reader(world_.server().port());
    reader.send_request("GET", on_thread("/stream"), {}, key);
    ASSERT_EQ(reader.read_head().status, 200);
    const auto first = reader.next_event();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->id, "1");
    EXPECT_EQ(first->type, "message");
    last = reader.next_event()->id;
  }
  const auto total = ask("GET", on_thread()).json().at("lastSeq").to_number<std::uint64_t>();
  HttpConnection reader(world_.server().port());
  reader.send_request("GET", on_thread("/stream"), {}, {key.front(), {"Last-Event-ID", last}});
  ASSERT_EQ(reader.read_head().status, 200);
  for (std::uint64_t seq = 3; seq <= total; ++seq) {
    EXPECT_EQ(reader.next_event()->id, std::to_string(seq));
  }
  ask("POST", on_thread("/messages"), R"({"text":"Live"})");
  const auto live = reader.next_event();
  ASSERT_TRUE(live);
  EXPECT_EQ(live->id, std::to_string(total + 1));
  EXPECT_NE(live->data.find("Live"), std::string::npos);
}

TEST_F(Rest, TheFeedTellsEachAgentItsOwn) {
  HttpConnection mine(world_.server().port());
  mine.send_request("GET", "/v1/events/stream", {},
                    {{"Authorization", "Bearer " + world_.my_writer}});
  ASSERT_EQ(mine.read_head().status, 200);
  HttpConnection theirs(world_.server().port());
  theirs.send_request("GET", "/v1/events/stream?event=thread:created", {},
                      {{"Authorization", "Bearer " + world_.their_writer}});
  ASSERT_EQ(theirs.read_head().status, 200);
  const std::string my_thread =
      text_of(ask("POST", "/v1/threads", R"({"agentId":"mine"})").json(), "threadId");
  const std::string their_thread =
      text_of(ask("POST", "/v1/threads", R"({"agentId":"theirs"})").json(), "threadId");
  EXPECT_NE(mine.next_event()->data.find(my_thread), std::string::npos);
  const auto told = theirs.next_event();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->type, "thread:created");
  EXPECT_NE(told->data.find(their_thread), std::string::npos);
  // And page by page, from the cursor on.
  const Answered page = world_.ask("GET", "/v1/events?since=" + told->id, "", world_.their_writer);
  EXPECT_EQ(page.json().at("events").as_array().size(), 0u) << page;
  const Answered all = world_.ask("GET", "/v1/events?limit=1000", "", world_.their_writer);
  EXPECT_EQ(all.json().at("events").as_array().size(), 1u) << all;
  EXPECT_EQ(ask("GET", "/v1/events/stream?since=nonsense").status, 400);
}

TEST_F(Rest, APageOfTheFeedWaitsForNews) {
  const std::string now = text_of(ask("GET", "/v1/events?since=now").json(), "cursor");
  Answered page;
  std::jthread waiting([&] {
    page = ask("GET", "/v1/events?waitMs=60000&threadId=" + world_.thread + "&since=" + now);
  });
  ask("POST", on_thread("/messages"), R"({"text":"News"})");
  waiting.join();
  ASSERT_EQ(page.status, 200) << page;
  EXPECT_EQ(page.json().at("events").as_array().size(), 1u) << page;
  const Answered empty = ask("GET", "/v1/events?waitMs=1&since=" + text_of(page.json(), "cursor"));
  EXPECT_EQ(empty.json().at("events").as_array().size(), 0u) << empty;
}

TEST_F(Rest, ARunIsStreamedToItsEndAndWaitedFor) {
  const Answered started =
      ask("POST", "/v1/runs", R"({"threadId":")" + world_.thread + R"(","text":"Hi there"})",
          {{"Idempotency-Key", "run-1"}});
  ASSERT_EQ(started.status, 202) << started;
  const std::string run = text_of(started.json(), "runId");
  EXPECT_EQ(started.header("location"), "/v1/runs/" + run);
  HttpConnection reader(world_.server().port());
  reader.send_request("GET", "/v1/runs/" + run + "/stream", {},
                      {{"Authorization", "Bearer " + world_.admin}});
  ASSERT_EQ(reader.read_head().status, 200);
  std::string last_status;
  std::size_t events = 0;
  while (const auto event = reader.next_event()) {
    if (event->type == "status") last_status = event->data;
    events += event->type == "event" ? 1 : 0;
  }
  EXPECT_NE(last_status.find("\"success\""), std::string::npos) << last_status;
  EXPECT_GE(events, 2u);
  const Answered outcome = ask("GET", "/v1/runs/" + run + "/wait");
  EXPECT_NE(text_of(outcome.json(), "response").find("Hi there"), std::string::npos) << outcome;
  // The same key waits for the same run.
  const Answered again = ask("POST", "/v1/runs?wait=true",
                             R"({"threadId":")" + world_.thread + R"(","text":"Hi there"})",
                             {{"Idempotency-Key", "run-1"}});
  EXPECT_EQ(text_of(again.json(), "runId"), run) << again;
}

TEST_F(Rest, CheckpointsListTheCommitsOfTheirSession) {
  init_repository(world_.server().folder());
  const std::string before = commit_file(world_.server().folder(), "a", "1", "before");
  const std::string session =
      text_of(ask("POST", "/v1/sessions", R"({"agent":"mine"})").json(), "session_id");
  const std::string made = commit_file(world_.server().folder(), "a", "2", "made in it");
  const Answered answered =
      ask("POST", "/v1/checkpoints", R"({"title":"x","session_id":")" + session + R"("})");
  ASSERT_EQ(answered.status, 201) << answered;
  const auto git = answered.json().at("git");
  EXPECT_EQ(text_of(git, "initial_commit"), before.substr(0, 7)) << answered;
  ASSERT_EQ(git.at("commits_made").as_array().size(), 1u) << answered;
  EXPECT_EQ(git.at("commits_made").at(0).as_string(), made.substr(0, 7) + ": made in it");
  const Answered unknown = ask("POST", "/v1/checkpoints", R"({"title":"x","session_id":"nosuch"})");
  EXPECT_EQ(unknown.status, 404) << unknown;
}

TEST_F(Rest, SearchCoversTheAgentsThatTheKeySees) {
  EXPECT_EQ(world_.ask("POST", "/v1/backfill", "{}", world_.my_writer).status, 200);
  const std::string search = "/v1/search?q=tourmaline";
  for (const std::string& key : {world_.admin, world_.reader}) {
    const Answered all = world_.ask("GET", search, "", key);
    EXPECT_NE(all.body.find(world_.thread), std::string::npos) << all;
    EXPECT_EQ(all.json().at("allAgents"), true);
    EXPECT_EQ(all.json().at("agents").at(0), "mine") << all;
  }
  const Answered mine = world_.ask("GET", search, "", world_.my_writer);
  EXPECT_NE(mine.body.find(world_.thread), std::string::npos) << mine;
  EXPECT_EQ(mine.json().at("allAgents"), false);
  EXPECT_EQ(mine.json().at("agents").at(0), "mine");
  const Answered theirs = world_.ask("GET", search, "", world_.their_writer);
  EXPECT_EQ(theirs.json().at("results").as_array().size(), 0u) << theirs;
  EXPECT_EQ(theirs.json().at("searched"), 0);
  EXPECT_EQ(world_.ask("GET", search + "&agentId=mine", "", world_.their_writer).status, 403);
}

TEST_F(Rest, AKeyForSomeAgentsCannotAskForAll) {
  const std::string all = "/v1/search?q=tourmaline&allAgents=true";
  EXPECT_EQ(world_.ask("GET", all, "", world_.admin).status, 200);
  EXPECT_EQ(world_.ask("GET", all, "", world_.reader).status, 200);
  EXPECT_EQ(world_.ask("GET", all, "", world_.my_writer).status, 403);
  EXPECT_EQ(world_.ask("GET", all + "&agentId=mine", "", world_.admin).status, 400);
  EXPECT_EQ(world_.ask("POST", "/v1/backfill", R"({"rebuild":true})", world_.my_writer).status,
            403);
  EXPECT_EQ(world_.ask("POST", "/v1/backfill", R"({"agentId":"mine"})", world_.their_writer).status,
            403);
}

TEST_F(Rest, TheDocumentAndThePageNeedNoKeyAndNameEveryRoute) {
  const Answered document = world_.ask("GET", "/openapi.json", "", "");
  const Answered page = world_.ask("GET", "/docs", "", "");
  ASSERT_EQ(document.status, 200);
  ASSERT_EQ(page.status, 200);
  EXPECT_EQ(document.json().at("openapi").as_string(), "3.1.0");
  for (const http::Route& route : world_.routes().routes) {
    EXPECT_NE(document.body.find("\"operationId\":\"" + route.name + "\""), std::string::npos);
    EXPECT_NE(page.body.find("id=\"" + route.name + "\""), std::string::npos) << route.name;
  }
  EXPECT_EQ(page.body.find("<script"), std::string::npos);
}

// --- Names of the thread manager's API ---

TEST_F(Rest, TakesTheNamesOfTheThreadManager) {
  const Answered made = ask("POST", "/v1/threads",
                            R"({"agent_id":"mine","metadata":{"user_id":"u-1"},"initialMessages":)"
                            R"([{"role":"system","content":"Be kind."}]})");
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(text_of(made.json(), "agentId"), "mine");
  const std::string id = text_of(made.json(), "threadId");
  const std::string messages = "/v1/threads/" + id + "/messages";
  const Answered added = ask("POST", messages,
                             R"({"role":"tool","content":"{\"price\":45000}","metadata":)"
                             R"({"tool_call_id":"call_123","tool_name":"get_price"}})");
  ASSERT_EQ(added.status, 201) << added;
  EXPECT_EQ(text_of(added.json(), "text"), R"({"price":45000})");
  const auto newest = ask("GET", messages + "?order=newest&limit=1").json();
  EXPECT_EQ(newest.at("messages").at(0).at("role").as_string(), "tool");
  EXPECT_EQ(ask("GET", messages + "?order=desc&limit=1").json().at("messages"),
            newest.at("messages"));
  EXPECT_EQ(
      ask("GET", messages + "?order=oldest").json().at("messages").at(0).at("role").as_string(),
      "system");

  const Answered run = ask("POST", "/v1/runs?wait=true",
                           R"({"agent_id":"mine","thread_id":")" + id +
                               R"(","input":{"messages":[{"role":"user","content":"Hello"}]}})");
  ASSERT_EQ(run.status, 200) << run;
  EXPECT_EQ(text_of(run.json(), "threadId"), id);
  const Answered on =
      ask("POST", "/v1/runs?wait=true",
          R"({"agent_id":"mine","thread_id":")" + id + R"(","input":{"messages":[]}})");
  EXPECT_EQ(on.status, 200) << on;
  const auto listed = ask("GET", "/v1/threads?agent_id=mine&order=newest").json();
  EXPECT_EQ(listed.at("threads").at(0).at("threadId").as_string(), boost::json::string(id));
  EXPECT_EQ(ask("GET", "/v1/runs?thread_id=" + id).json().at("runs").as_array().size(), 2U);
}

TEST_F(Rest, RefusesOneThingByTwoNames) {
  for (const auto& [target, body, mention] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"/v1/threads", R"({"agentId":"mine","agent_id":"mine"})", "agent_id"},
           {"/v1/threads", R"({"agentId":"mine","messages":[],"initialMessages":[]})",
            "initialMessages"},
           {on_thread("/messages"), R"({"text":"a","content":"a"})", "content"},
           {"/v1/runs", R"({"agentId":"mine","messages":[],"input":{"messages":[]}})", "input"},
           {"/v1/runs", R"({"agentId":"mine","input":{"values":1}})", "values"},
           {"/v1/runs", R"({"agentId":"mine","input":7})", "input"}}) {
    const Answered refused = ask("POST", target, body);
    EXPECT_EQ(refused.status, 400) << body << refused;
    EXPECT_NE(refused.body.find(mention), std::string::npos) << refused;
  }
  EXPECT_EQ(ask("GET", "/v1/threads?agent_id=mine&agentId=mine").status, 400);
  EXPECT_EQ(ask("GET", "/v1/threads?order=sideways").status, 400);
  EXPECT_EQ(ask("GET", "/v1/items?agent_id=mine").status, 400) << "no such parameter there";
}

TEST_F(Rest, NamesTheTypesThatAnEventMayHave) {
  for (const std::string& body :
       {std::string(R"({"type":"thought","text":"hm"})"), std::string(R"({"type":7})")}) {
    const Answered refused = ask("POST", on_thread("/events"), body);
    EXPECT_EQ(refused.status, 400) << refused;
    for (const char* type : {"message", "tool_use", "assistant_text", "result"}) {
      EXPECT_NE(refused.body.find(type), std::string::npos) << refused;
    }
    EXPECT_NE(refused.body.find("body.type"), std::string::npos) << refused;
  }
  const Answered kind = ask("GET", "/v1/events?event=thread:opened");
  EXPECT_EQ(kind.status, 400) << kind;
  EXPECT_NE(kind.body.find("thread:created"), std::string::npos) << kind;
}

}  // namespace
}  // namespace skein::test
