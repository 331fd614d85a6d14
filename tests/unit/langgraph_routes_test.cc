// What the routes of the LangGraph face promise where the comparison with the reference server does
// not look.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "http/langgraph/thread_events.h"
#include "skein/threads.h"
#include "support/expect.h"
#include "support/http_server.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kConfig =
    R"({"agents":{"worker":{"engine":"echo","capabilities":{"builtin":["work_items"]}},)"
    R"("asker":{"engine":"echo","capabilities":{"builtin":["work_items"],)"
    R"("confirm":["list_work_items"]}},)"
    R"("slow":{"engine":"echo","options":{"delayMs":60000}}},"defaultAgent":"echo"})";
constexpr const char* kNowhere = "00000000-0000-6000-8000-000000000fff";

class LangGraphRoutes : public testing::Test {
 protected:
  LangGraphRoutes() : server_({.config = kConfig}) {}

  std::string make_thread() {
    const Answered made = server_.ask("POST", "/threads", "{}");
    EXPECT_EQ(made.status, 200) << made;
    return std::string(made.json().at("thread_id").as_string());
  }
  // Writes values into a thread; answers the checkpoint that this made.
  std::string update(const std::string& thread, const std::string& body) {
    const Answered made = server_.ask("POST", "/threads/" + thread + "/state", body);
    EXPECT_EQ(made.status, 200) << made;
    return std::string(made.json().at("checkpoint").at("checkpoint_id").as_string());
  }
  static std::string said(const std::string& text) {
    return R"({"messages":[{"type":"human","id":")" + text + R"(","content":")" + text + R"("}]})";
  }
  std::string say(const std::string& thread, const std::string& text) {
    return update(thread, R"({"values":)" + said(text) + "}");
  }
  void run(const std::string& thread, const std::string& text) {
    const Answered done = server_.ask("POST", "/threads/" + thread + "/runs/wait",
                                      R"({"assistant_id":"echo","input":)" + said(text) + "}");
    EXPECT_EQ(done.status, 200) << done;
  }

  static std::vector<std::string> texts_of(const boost::json::value& state) {
    std::vector<std::string> texts;
    for (const auto& message : state.at("values").at("messages").as_array()) {
      texts.emplace_back(message.at("content").as_string());
    }
    return texts;
  }
  std::vector<std::string> texts(const std::string& thread) {
    return texts_of(server_.ask("GET", "/threads/" + thread + "/state").json());
  }

  // The events of a run's stream, read to its end.
  std::vector<SseEvent> join(const std::string& thread, const std::string& run_id,
                             const std::string& modes, const std::string& after) {
    HttpConnection connection(server_.port());
    connection.send_request("GET", "/threads/" + thread + "/runs/" + run_id + "/stream" + modes, "",
                            {{"Last-Event-ID", after}});
    EXPECT_EQ(connection.read_head().status, 200);
    std::vector<SseEvent> events;
    while (auto event = connection.next_event()) events.push_back(std::move(*event));
    return events;
  }

  TestServer server_;
};

// A stream of what happens in a thread, by the thread protocol.
class ThreadStream {
 public:
  ThreadStream(std::uint16_t port, const std::string& thread, const std::string& body)
      : connection_(port) {
    connection_.send_request("POST", "/threads/" + thread + "/stream/events", body);
    EXPECT_EQ(connection_.read_head().status, 200);
  }
  boost::json::value next() {
    const auto event = connection_.next_event();
    EXPECT_TRUE(event);
    return event ? boost::json::parse(event->data) : boost::json::value();
  }
  // Up to the end of the run that ends with that event of the thread.
  std::vector<boost::json::value> read_to(std::uint64_t seq) {
    std::vector<boost::json::value> events;
    do {
      events.push_back(next());
      if (events.back().is_null()) break;
    } while (how(events.back()) == "running" || number(events.back()) < seq << 20);
    return events;
  }
  static std::uint64_t number(const boost::json::value& event) {
    return event.at("seq").to_number<std::uint64_t>();
  }
  static std::string how(const boost::json::value& event) {
    return std::string(event.at("params").at("data").at("event").as_string());
  }

 private:
  HttpConnection connection_;
};

// --- States ---

TEST_F(LangGraphRoutes, AnUpdateThatWritesNothingGoesBackToItsCheckpoint) {
  const std::string thread = make_thread();
  const std::string first = say(thread, "one");
  const std::string second = say(thread, "two");
  const std::string at_first = R"(,"checkpoint_id":")" + first + R"("})";
  const std::string back = update(thread, R"({"values":null)" + at_first);
  EXPECT_NE(back, first);
  EXPECT_NE(back, second);
  EXPECT_THAT(texts(thread), ElementsAre("one"));
  say(thread, "three");
  // Also where what is written is there already.
  update(thread, R"({"values":)" + said("one") + at_first);
  EXPECT_THAT(texts(thread), ElementsAre("one"));
  const std::string head = say(thread, "four");
  EXPECT_EQ(update(thread, R"({"values":null,"checkpoint_id":")" + head + R"("})"), head);
}

TEST_F(LangGraphRoutes, ACheckpointThatIsNotThereIsNotTheHead) {
  const std::string thread = "/threads/" + make_thread();
  for (const char* text : {"one", "two"}) say(thread.substr(9), text);
  for (const std::string nowhere : {kNowhere, "00000000-0000-6000-8000-000000000003"}) {
    const Answered updated =
        server_.ask("POST", thread + "/state",
                    R"({"values":)" + said("lost") + R"(,"checkpoint_id":")" + nowhere + R"("})");
    EXPECT_EQ(updated.status, 404) << updated;
    EXPECT_THAT(updated.body, HasSubstr(nowhere));
    EXPECT_EQ(server_
                  .ask("POST", thread + "/history",
                       R"({"checkpoint":{"checkpoint_id":")" + nowhere + R"("}})")
                  .body,
              "[]");
  }
  EXPECT_THAT(texts(thread.substr(9)), ElementsAre("one", "two"));
}

TEST_F(LangGraphRoutes, AFilteredHistoryHasAsManyStatesAsAskedFor) {
  const std::string thread = make_thread();
  for (const char* text : {"one", "two"}) say(thread, text);
  run(thread, "three");
  const auto history = [&](const std::string& body) {
    std::vector<std::vector<std::string>> found;
    const auto states = server_.ask("POST", "/threads/" + thread + "/history", body).json();
    for (const auto& state : states.as_array()) found.push_back(texts_of(state));
    return found;
  };
  using Texts = std::vector<std::string>;
  EXPECT_THAT(history(R"({"limit":1,"metadata":{"source":"update"}})"),
              ElementsAre(Texts{"one", "two"}));
  EXPECT_THAT(history(R"({"limit":9,"metadata":{"source":"update"}})"),
              ElementsAre(Texts{"one", "two"}, Texts{"one"}));
  EXPECT_THAT(history(R"({"limit":9,"metadata":{"step":0}})"), ElementsAre(Texts{"one"}));
  EXPECT_THAT(history(R"({"limit":1,"metadata":{"source":"loop"}})"),
              ElementsAre(ElementsAre("one", "two", "three", testing::_)));
  EXPECT_THAT(history(R"({"metadata":{"source":"update"},"before":")" +
                      std::string("00000000-0000-6000-8000-000000000002") + R"("})"),
              ElementsAre(Texts{"one"}));
  EXPECT_THAT(history(R"({"metadata":{"source":"nobody"}})"), IsEmpty());
}

// --- Threads of runs without a thread ---

TEST_F(LangGraphRoutes, HistoryHasWhatWasLeftBehindAndTheFirstMessageCanBeSaidAnew) {
  const std::string thread = make_thread();
  const std::string path = "/threads/" + thread;
  const auto run = [&](const std::string& text, const std::string& more) {
    const Answered done =
        server_.ask("POST", path + "/runs/wait",
                    R"({"assistant_id":"echo","input":{"messages":")" + text + "\"}" + more + "}");
    EXPECT_EQ(done.status, 200) << done;
  };
  const auto history = [&] {
    return server_.ask("POST", path + "/history", R"({"limit":100})").json().as_array();
  };
  run("one", "");
  run("two", "");
  const auto before = history();
  ASSERT_EQ(before.size(), 4U);
  const auto first = before.back().at("parent_checkpoint");
  ASSERT_TRUE(first.is_object());

  run("eins", R"(,"checkpoint":)" + boost::json::serialize(first));
  const auto now = server_.ask("GET", path + "/state").json();
  ASSERT_EQ(now.at("values").at("messages").as_array().size(), 2U);
  EXPECT_EQ(now.at("values").at("messages").at(0).at("content").as_string(), "eins");
  const auto after = history();
  ASSERT_EQ(after.size(), 6U);
  EXPECT_EQ(after[0].at("checkpoint"), now.at("checkpoint"));
  EXPECT_EQ(after[1].at("parent_checkpoint"), first);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i + 2], before[i]);
  EXPECT_EQ(
      server_
          .ask("POST", path + "/history",
               R"({"checkpoint":)" + boost::json::serialize(before.front().at("checkpoint")) + "}")
          .json()
          .as_array(),
      before);
  EXPECT_EQ(server_
                .ask("POST", path + "/state/checkpoint",
                     R"({"checkpoint":)" + boost::json::serialize(first) + "}")
                .status,
            200);
}

TEST_F(LangGraphRoutes, ACopyOfATemporaryThreadStays) {
  // What a process that died leaves, and its copies by each face.
  NewThread left;
  left.agent_id = "echo";
  left.fields.metadata(*Json::parse(R"({"langgraph_temporary":true,"user":"ada"})"));
  const std::string original = must(server_.store().create(left)).id.uuid();
  const Answered copied = server_.ask("POST", "/threads/" + original + "/copy");
  const Answered forked = server_.ask("POST", "/v1/threads/" + original + "/fork");
  const std::string by_library = must(Threads(server_.store()).fork(original)).id.uuid();
  for (const Answered& made : {copied, forked}) {
    EXPECT_LT(made.status, 300) << made;
    EXPECT_FALSE(made.json().at("metadata").as_object().contains("langgraph_temporary")) << made;
    EXPECT_EQ(made.json().at("metadata").at("user").as_string(), "ada");
  }
  // A run without a thread looks for what was left.
  const std::string run = R"({"assistant_id":"echo","input":{"messages":"alone"}})";
  EXPECT_EQ(server_.ask("POST", "/runs/wait", run).status, 200);
  EXPECT_EQ(server_.ask("GET", "/threads/" + original).status, 404);
  const std::string copy(copied.json().at("thread_id").as_string());
  const std::string fork(forked.json().at("threadId").as_string());
  for (const std::string& id : {copy, fork, by_library}) {
    EXPECT_EQ(server_.ask("GET", "/v1/threads/" + id).status, 200) << id;
  }
}

TEST_F(LangGraphRoutes, NobodyMarksAThreadAsTemporary) {
  const std::string thread = make_thread();
  const std::string metadata = R"({"metadata":{"langgraph_temporary":true}})";
  const std::string run = R"({"agentId":"echo","text":"x","threadMetadata":{)"
                          R"("langgraph_temporary":true}})";
  for (const auto& [method, path, body] :
       std::vector<std::array<std::string, 3>>{{"POST", "/threads", metadata},
                                               {"PATCH", "/threads/" + thread, metadata},
                                               {"POST", "/v1/threads", metadata},
                                               {"PATCH", "/v1/threads/" + thread, metadata},
                                               {"POST", "/v1/runs", run}}) {
    const Answered refused = server_.ask(method, path, body);
    EXPECT_EQ(refused.status, 400) << method << path << refused;
    EXPECT_THAT(refused.body, HasSubstr("langgraph_temporary")) << path;
  }
  EXPECT_EQ(server_.ask("POST", "/threads/count", "{}").body, "1");
}

// --- Streams ---

TEST_F(LangGraphRoutes, WhoeverHasANumberIsToldEveryRunSince) {
  const std::string thread = make_thread();
  const auto last_seq = [&] {
    return server_.ask("GET", "/v1/threads/" + thread).json().at("lastSeq").to_number<Seq>();
  };
  run(thread, "first");
  const std::string body = R"({"channels":["lifecycle"])";
  const auto begun = ThreadStream(server_.port(), thread, body + "}").read_to(last_seq());
  ASSERT_EQ(begun.size(), 2U);
  const std::uint64_t since = ThreadStream::number(begun.back());
  constexpr std::size_t kRuns = http::limits::kMaxReplayedRuns + 3;
  for (std::size_t i = 0; i < kRuns; ++i) run(thread, "run " + std::to_string(i));
  const auto after = [&](std::uint64_t number) {
    return ThreadStream(server_.port(), thread,
                        body + R"(,"since":)" + std::to_string(number) + "}")
        .read_to(last_seq());
  };
  EXPECT_EQ(after(since).size(), 2 * kRuns);
  // In the middle of a run: its beginning is known, its end is not.
  const auto rest = after(ThreadStream::number(begun.front()) + 1);
  EXPECT_EQ(rest.size(), 2 * kRuns + 1);
  EXPECT_EQ(ThreadStream::number(rest.front()), since);
}

TEST_F(LangGraphRoutes, AQuestionIsToldAsWhatIsAsked) {
  const std::string thread = make_thread();
  const Answered done =
      server_.ask("POST", "/threads/" + thread + "/runs/wait",
                  R"({"assistant_id":"asker","input":{"messages":"/tool list_work_items {}"}})");
  const auto interrupt = done.json().at("__interrupt__").at(0);
  ThreadStream stream(server_.port(), thread, R"({"channels":["input"]})");
  const auto asked = stream.next().at("params").at("data");
  EXPECT_EQ(asked.at("interrupt_id"), interrupt.at("id"));
  EXPECT_EQ(asked.at("payload"), interrupt.at("value"));
  EXPECT_EQ(asked.at("payload").at("action_requests").at(0).at("name").as_string(),
            "list_work_items");
}

TEST_F(LangGraphRoutes, ANumberOfAFrameMeansTheSameInEveryMode) {
  const std::string thread = make_thread();
  const Answered made =
      server_.ask("POST", "/threads/" + thread + "/runs",
                  R"({"assistant_id":"worker","input":{"messages":"/tool list_work_items {}"},)"
                  R"("stream_mode":["values","updates"]})");
  const std::string run_id(made.json().at("run_id").as_string());
  const auto all = join(thread, run_id, "", "-1");
  ASSERT_GT(all.size(), 5U);
  const auto told = [](const std::vector<SseEvent>& events) {
    std::vector<std::string> found;
    for (const SseEvent& event : events) found.push_back(event.id + " " + event.type + event.data);
    return found;
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<SseEvent> expected(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end());
    EXPECT_EQ(told(join(thread, run_id, "", all[i].id)), told(expected));
    std::erase_if(expected, [](const SseEvent& event) { return event.type != "values"; });
    EXPECT_EQ(told(join(thread, run_id, "?stream_mode=values", all[i].id)), told(expected));
  }
  // Those of modes that the run does not have are there as well, without a number.
  const auto messages = join(thread, run_id, "?stream_mode=messages", all.front().id);
  const auto complete = std::count_if(messages.begin(), messages.end(), [](const SseEvent& event) {
    return event.type == "messages/complete";
  });
  EXPECT_EQ(complete, std::count_if(all.begin(), all.end(),
                                    [](const SseEvent& event) { return event.type == "values"; }));
}

// --- Several runs at once ---

class LangGraphCancel : public LangGraphRoutes {
 protected:
  // On a thread of its own.
  struct Slow {
    std::string thread;
    std::string run;
  };
  Slow start() {
    const std::string thread = make_thread();
    const Answered made =
        server_.ask("POST", "/threads/" + thread + "/runs",
                    R"({"assistant_id":"slow","input":{"messages":"never to be said"}})");
    EXPECT_EQ(made.status, 200) << made;
    return {thread, std::string(made.json().at("run_id").as_string())};
  }
  int cancel(const std::string& body, const std::string& query = {}) {
    return server_.ask("POST", "/runs/cancel" + query, body).status;
  }
  static std::string ids(const Slow& slow) { return R"({"run_ids":[")" + slow.run + R"("])"; }
  bool goes_on(const Slow& slow) { return !must(server_.service().runner().get(slow.run)).ended(); }
  // Waits for its end.
  std::string end_of(const Slow& slow) {
    const std::string run = "/threads/" + slow.thread + "/runs/" + slow.run;
    EXPECT_EQ(server_.ask("GET", run + "/join").status, 200);
    return std::string(server_.ask("GET", run).json().at("status").as_string());
  }
};

TEST_F(LangGraphCancel, StopsRunsOfTheThreadThatIsNamed) {
  const Slow one = start();
  const Slow two = start();
  EXPECT_EQ(cancel(ids(one) + R"(,"thread_id":")" + two.thread + R"("})"), 404);
  EXPECT_EQ(cancel(ids(one) + R"(,"thread_id":"00000000-0000-4000-8000-0123456789ab"})"), 404);
  EXPECT_EQ(cancel(ids(one) + "}", "?action=rollback"), 422);
  EXPECT_EQ(cancel("{}"), 422);
  EXPECT_EQ(cancel(ids(one) + R"(,"status":"all"})"), 422);
  EXPECT_TRUE(goes_on(one));
  EXPECT_EQ(cancel(ids(one) + R"(,"thread_id":")" + one.thread + R"("})", "?action=interrupt"),
            204);
  EXPECT_EQ(end_of(one), "interrupted");
  EXPECT_TRUE(goes_on(two));
  EXPECT_EQ(cancel(ids(two) + "}"), 204);
  EXPECT_EQ(end_of(two), "interrupted");
}

TEST_F(LangGraphCancel, StopsRunsByTheirStatusThatTheCallerSees) {
  const Slow one = start();
  const Slow two = start();
  EXPECT_EQ(cancel(R"({"status":"running","thread_id":")" + one.thread + R"("})"), 204);
  EXPECT_EQ(end_of(one), "interrupted");
  EXPECT_TRUE(goes_on(two));
  const std::string others = server_.make_key(http::Access::kWrite, {"echo"});
  EXPECT_EQ(server_.ask("POST", "/runs/cancel", R"({"status":"all"})", others).status, 204);
  EXPECT_TRUE(goes_on(two));
  const std::string mine = server_.make_key(http::Access::kWrite, {"slow"});
  EXPECT_EQ(server_.ask("POST", "/runs/cancel", R"({"status":"all"})", mine).status, 204);
  EXPECT_TRUE(must(server_.service().runner().wait(two.run)).ended());
}

// --- Lists, and what is not offered ---

TEST_F(LangGraphRoutes, CronsAreFoundSortedAndShownAsAskedFor) {
  for (const char* schedule : {"0 3 * * *", "0 4 * * *"}) {
    const std::string cron = R"({"assistant_id":"echo","schedule":")" + std::string(schedule) +
                             R"(","input":{"messages":"hi"},"metadata":{}})";
    EXPECT_EQ(server_.ask("POST", "/runs/crons", cron).status, 200);
  }
  const auto schedules = [&](const std::string& body) {
    std::vector<std::string> found;
    const auto crons = server_.ask("POST", "/runs/crons/search", body).json();
    for (const auto& cron : crons.as_array()) found.emplace_back(cron.at("schedule").as_string());
    return found;
  };
  EXPECT_THAT(schedules("{}"), ElementsAre("0 3 * * *", "0 4 * * *"));
  EXPECT_THAT(schedules(R"({"sort_by":"cron_id","sort_order":"desc"})"),
              ElementsAre("0 4 * * *", "0 3 * * *"));
  EXPECT_THAT(schedules(R"({"sort_by":"cron_id","sort_order":"asc","limit":1})"),
              ElementsAre("0 3 * * *"));
  EXPECT_EQ(server_.ask("POST", "/runs/crons/search", R"({"select":["schedule"],"limit":1})").body,
            R"([{"schedule":"0 3 * * *"}])");
  // No cron has metadata.
  EXPECT_THAT(schedules(R"({"metadata":{"user":"ada"}})"), IsEmpty());
  EXPECT_EQ(server_.ask("POST", "/runs/crons/count", R"({"metadata":{"user":"ada"}})").body, "0");
  EXPECT_EQ(server_.ask("POST", "/runs/crons/count", R"({"metadata":{}})").body, "2");
}

TEST_F(LangGraphRoutes, AssistantsAreSorted) {
  const auto names = [&](const std::string& body) {
    std::vector<std::string> found;
    const auto all = server_.ask("POST", "/assistants/search", body).json();
    for (const auto& one : all.as_array()) found.emplace_back(one.at("name").as_string());
    return found;
  };
  EXPECT_THAT(names(R"({"sort_by":"name","sort_order":"asc"})"),
              ElementsAre("asker", "echo", "slow", "worker"));
  EXPECT_THAT(names(R"({"sort_by":"name","sort_order":"desc","limit":2,"offset":1})"),
              ElementsAre("slow", "echo"));
}

TEST_F(LangGraphRoutes, WhatIsRefusedIsRefusedForTheSameReasonWithABody) {
  const std::string body = R"({"graph_id":"echo","metadata":{}})";
  for (const auto& [method, path] :
       std::vector<std::pair<std::string, std::string>>{{"POST", "/assistants"},
                                                        {"PATCH", "/assistants/echo"},
                                                        {"POST", "/assistants/echo/latest"}}) {
    EXPECT_EQ(server_.ask(method, path, body).status, 422) << path;
    EXPECT_EQ(server_.ask(method, path).status, 422) << path;
  }
  EXPECT_EQ(server_.ask("POST", "/runs/wait", R"({"assistant_id":"echo","stream_mode":"nonsense"})")
                .status,
            400);
}

TEST_F(LangGraphRoutes, WhatIsNotOfferedIsRefusedByName) {
  const std::string thread = make_thread();
  const std::string cron =
      R"({"assistant_id":"echo","schedule":"0 3 * * *","input":{"messages":"hi"},)";
  for (const auto& [method, path, body, field] : std::vector<std::array<std::string, 4>>{
           {"PATCH", "/threads/" + thread, R"({"metadata":{"a":1},"ttl":{"ttl":5}})", "ttl"},
           {"PATCH", "/threads/" + thread, R"({"ttl":{"ttl":5}})", "ttl"},
           {"PUT", "/store/items", R"({"namespace":["a"],"key":"k","value":{},"ttl":5})", "ttl"},
           {"POST", "/runs/crons", cron + R"("metadata":{"user":"ada"}})", "metadata"},
           {"POST", "/runs/crons", cron + R"("on_run_completed":"delete"})", "on_run_completed"}}) {
    const Answered refused = server_.ask(method, path, body);
    EXPECT_EQ(refused.status, 422) << method << path << refused;
    EXPECT_THAT(refused.body, HasSubstr(field)) << path;
  }
  EXPECT_EQ(server_.ask("GET", "/store/items?namespace=a&key=k").body, "null");
  EXPECT_EQ(server_.ask("POST", "/runs/crons/count", "{}").body, "0");
  EXPECT_EQ(server_.ask("PATCH", "/threads/" + thread, "{}").status, 400);
  // Nothing given is nothing asked for.
  EXPECT_EQ(server_.ask("PATCH", "/threads/" + thread, R"({"metadata":{},"ttl":null})").status,
            200);
}

}  // namespace
}  // namespace skein::test
