// Runs over the LangGraph surface: what many clients at once, and late answers, come to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <span>
#include <sstream>
#include <thread>

#include "runner/run_book.h"
#include "support/http_server.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr const char* kConfig = R"({"defaultAgent":"echo","agents":{"other":{"engine":"echo"},
  "slow":{"engine":"echo","options":{"delayMs":50}},
  "asker":{"engine":"echo","capabilities":{"builtin":["work_items"],
                                           "confirm":["list_work_items"]}}}})";

class LangGraphRuns : public testing::Test {
 protected:
  LangGraphRuns() : server_({.config = kConfig}) {}

  Answered post(const std::string& path, const std::string& body) {
    return server_.ask("POST", path, body);
  }
  std::string make_thread(const std::string& body) {
    return std::string(post("/threads", body).json().at("thread_id").as_string());
  }
  boost::json::array messages(const std::string& thread) {
    return server_.ask("GET", "/threads/" + thread + "/state")
        .json()
        .at("values")
        .at("messages")
        .as_array();
  }
  // Asks twice, one question after the other.
  std::string thread_that_asks() {
    const std::string thread = make_thread(R"({"metadata":{"graph_id":"asker"}})");
    const Answered asked =
        post("/threads/" + thread + "/runs/wait",
             R"({"assistant_id":"asker","input":{"messages":"/again list_work_items {}"}})");
    EXPECT_EQ(asked.status, 200) << asked;
    return thread;
  }
  // Its run ended with that error.
  std::string failed_thread(const std::string& error) {
    const std::string thread = make_thread("{}");
    const Answered failed =
        post("/threads/" + thread + "/runs/wait",
             R"({"assistant_id":"echo","input":{"messages":"/fail )" + error + R"("}})");
    EXPECT_EQ(failed.status, 200) << failed;
    return thread;
  }
  ThreadId thread_id(const std::string& id) {
    return server_.store().get(ThreadRef::parse(id).value())->value().id;
  }
  std::string open_interrupt(const std::string& thread) {
    const auto tasks = server_.ask("GET", "/threads/" + thread + "/state").json().at("tasks");
    if (tasks.as_array().empty()) return "";
    return std::string(tasks.at(0).at("interrupts").at(0).at("id").as_string());
  }
  Answered resume(const std::string& thread, const std::string& answer) {
    return post("/threads/" + thread + "/runs/wait",
                R"({"assistant_id":"asker","command":{"resume":)" + answer + "}}");
  }
  // More than the agent `slow` says while a test runs.
  static std::string long_text() {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += "on and on ";
    return text;
  }
  static std::string by_id(const std::string& id) { return R"({")" + id + R"(":true})"; }

  // Their numbers (-1: none) and kinds.
  static std::vector<std::pair<int, std::string>> frames(const std::string& stream) {
    std::vector<std::pair<int, std::string>> found;
    std::istringstream lines(stream);
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (line.empty() || line.starts_with(':')) {
        inside = false;
        continue;
      }
      if (!std::exchange(inside, true)) found.emplace_back(-1, "");
      if (line.starts_with("id: ")) found.back().first = std::stoi(line.substr(4));
      if (line.starts_with("event: ")) found.back().second = line.substr(7);
    }
    return found;
  }

  // The statuses of as many requests, all at once.
  std::vector<int> at_once(int count, const std::string& path, const std::string& body) {
    std::vector<int> statuses(static_cast<std::size_t>(count));
    {
      std::vector<std::jthread> clients;
      for (int& status : statuses) {
        clients.emplace_back([&] { status = post(path, body).status; });
      }
    }
    return statuses;
  }

  TestServer server_;
};

TEST_F(LangGraphRuns, AnAnswerIsForOneQuestionOnly) {
  const std::string thread = thread_that_asks();
  const std::string first = open_interrupt(thread);
  ASSERT_NE(first, "");
  EXPECT_EQ(resume(thread, by_id("00000000-0000-0000-0000-000000000000")).status, 409);
  EXPECT_EQ(open_interrupt(thread), first);
  EXPECT_EQ(resume(thread, by_id(first)).status, 200);
  const std::string second = open_interrupt(thread);
  ASSERT_NE(second, "");
  EXPECT_NE(second, first);

  // A second click on the same button.
  const std::size_t so_far = messages(thread).size();
  const Answered late = resume(thread, by_id(first));
  EXPECT_EQ(late.status, 409);
  EXPECT_THAT(late.body, HasSubstr(second));
  EXPECT_EQ(messages(thread).size(), so_far);
  EXPECT_EQ(open_interrupt(thread), second);
  EXPECT_EQ(resume(thread, by_id(second)).status, 200);
  EXPECT_GT(messages(thread).size(), so_far);
}

TEST_F(LangGraphRuns, ACommandAnswersTheInterruptThatItNames) {
  const std::string thread = thread_that_asks();
  const std::string open = open_interrupt(thread);
  const auto respond = [&](const std::string& id) {
    return post("/threads/" + thread + "/commands",
                R"({"id":1,"method":"input.respond","params":{"interrupt_id":")" + id +
                    R"(","response":true}})");
  };
  const Answered wrong = respond("nonsense");
  EXPECT_THAT(wrong.body, HasSubstr("no_such_interrupt"));
  EXPECT_EQ(open_interrupt(thread), open);
  EXPECT_THAT(respond(open).body, HasSubstr(R"("success")"));
}

TEST_F(LangGraphRuns, WhatIsDroppedNowhereElseIsRefused) {
  const std::string thread = thread_that_asks();
  for (const char* more : {R"("command":{"resume":true,"update":{"topic":"x"}})",
                           R"("input":{"messages":"hi"},"command":{"update":{"topic":"x"}})"}) {
    const Answered answered = post("/threads/" + thread + "/runs/wait",
                                   R"({"assistant_id":"asker",)" + std::string(more) + "}");
    EXPECT_EQ(answered.status, 422) << more;
    EXPECT_THAT(answered.body, HasSubstr("command.update"));
  }
}

// Input with other values, which a run writes when its turn has come.
TEST_F(LangGraphRuns, InputIsWrittenWhenTheRunBegins) {
  const std::string thread = make_thread(R"({"metadata":{"graph_id":"slow"}})");
  const auto run = [&](const std::string& text, const std::string& strategy) {
    return R"({"assistant_id":"slow","multitask_strategy":")" + strategy +
           R"(","input":{"messages":[{"role":"user","content":")" + text + R"("}],"topic":")" +
           text + R"("}})";
  };
  const Answered first = post("/threads/" + thread + "/runs", run("one two three four", "enqueue"));
  ASSERT_EQ(first.status, 200) << first;
  const Answered second = post("/threads/" + thread + "/runs/wait", run("second", "enqueue"));
  ASSERT_EQ(second.status, 200) << second;
  std::vector<std::string> said;
  for (const auto& message : messages(thread)) {
    said.emplace_back(message.at("content").as_string());
  }
  EXPECT_THAT(said,
              testing::ElementsAre("one two three four", "one two three four", "second", "second"));
  EXPECT_EQ(second.json().at("topic").as_string(), "second");
  const auto kept = server_.ask("GET", "/threads/" + thread + "/runs").json().at(0).at("kwargs");
  EXPECT_EQ(kept.at("input").at("messages").at(0).at("content").as_string(), "second");

  ASSERT_EQ(post("/threads/" + thread + "/runs", run("third of four words", "enqueue")).status,
            200);
  ASSERT_EQ(post("/threads/" + thread + "/runs/wait", run("fourth", "rollback")).status, 200);
  const auto now = messages(thread);
  EXPECT_EQ(now.at(now.size() - 2).at("content").as_string(), "fourth");
  EXPECT_EQ(now.at(now.size() - 3).at("content").as_string(), "second");
}

TEST_F(LangGraphRuns, WhatAResumedRunSaidBeforeIsNotToldAgain) {
  const std::string thread = make_thread(R"({"metadata":{"graph_id":"asker"}})");
  const auto stream = [&](const std::string& more) {
    return frames(
        post("/threads/" + thread + "/runs/stream",
             R"({"assistant_id":"asker","stream_mode":["values","updates"],)" + more + "}")
            .body);
  };
  const auto before = stream(R"("input":{"messages":"/again list_work_items {}"})");
  const auto after = stream(R"("command":{"resume":true})");
  int last = 0;
  for (const auto& [id, event] : before) last = std::max(last, id);
  ASSERT_GT(last, 0);
  EXPECT_EQ(after.front().second, "metadata");
  EXPECT_EQ(after.at(1).first, last + 1);
}

TEST_F(LangGraphRuns, TextOfEachMessageIsToldOnceToWhoeverComesAgain) {
  const std::string id = make_thread(R"({"metadata":{"graph_id":"echo"}})");
  Store& store = server_.service().store();
  const ThreadId thread = store.get(ThreadRef::parse(id).value())->value().id;
  skein::Run run;
  run.id = "0199a3b0-5d1c-7000-8123-" + thread.str();
  run.thread = thread;
  run.agent_id = "echo";
  run.status = RunStatus::kSuccess;
  run.created_at = run.started_at = run.ended_at = server_.service().clock().now();
  run.kwargs = Json::trusted(R"({"stream_mode":["messages-tuple"]})");
  std::vector<Append> said(2);
  said[0].event.payload = AssistantText{"one two"};
  said[1].event.payload = Message{Role::kAssistant, "three four"};
  for (Append& append : said) {
    append.thread = thread;
    append.event.metadata = Json::trusted(R"({"runId":")" + run.id + R"("})");
  }
  for (const auto& appended : store.append(said)) run.last_seq = appended->seq;
  run.first_seq = 1;
  const auto lease = store.lease(thread, "test", 10s, std::nullopt);
  const RunBook book(store, server_.service().clock(), "test");
  skein::Run begun = run;
  begun.status = RunStatus::kRunning;
  ASSERT_TRUE(book.begin_first(store, begun, lease->token).has_value());
  ASSERT_TRUE(book.finish(store, run, lease->token, false).has_value());

  const auto join = [&](const std::string& after) {
    HttpConnection reader(server_.port());
    reader.send_request("GET", "/threads/" + id + "/runs/" + run.id + "/stream", {},
                        {{"Last-Event-ID", after}});
    EXPECT_EQ(reader.read_head().status, 200);
    std::vector<std::pair<std::string, std::string>> told;
    while (const auto event = reader.next_event()) {
      if (event->type != "messages") continue;
      const auto message = boost::json::parse(event->data).at(0);
      told.emplace_back(event->id, message.at("content").as_string());
    }
    return told;
  };
  const auto all = join("-1");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].second, "one two");
  EXPECT_EQ(all[1].second, "three four");
  const auto rest = join(all[0].first);
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0], all[1]);
}

TEST_F(LangGraphRuns, InputWithOtherValuesIsOneStep) {
  const std::string thread = make_thread(R"({"metadata":{"graph_id":"echo"}})");
  const auto told =
      frames(post("/threads/" + thread + "/runs/stream",
                  R"({"assistant_id":"echo","stream_mode":["values","updates"],"input":{"topic":"x",
               "messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"",
                 "tool_calls":[{"id":"c","name":"look","args":{}}]},
               {"role":"tool","tool_call_id":"c","content":"found"}]}})")
                 .body);
  std::vector<std::string> events;
  for (const auto& [id, event] : told) events.push_back(event);
  EXPECT_THAT(events, testing::ElementsAre("metadata", "values", "updates", "values"));
}

TEST_F(LangGraphRuns, ThreadsThatManyMakeAtOnceAreMadeOnce) {
  for (int i = 0; i < 10; ++i) {
    const std::string id = "10000000-0000-4000-8000-00000000000" + std::to_string(i);
    const std::string body = R"({"thread_id":")" + id + R"(","if_exists":"do_nothing"})";
    EXPECT_THAT(at_once(6, "/threads", body), testing::Each(200));
    const std::string fresh = "20000000-0000-4000-8000-00000000000" + std::to_string(i);
    const std::string run = R"({"assistant_id":"echo","if_not_exists":"create",)"
                            R"("multitask_strategy":"enqueue","input":{"messages":"hi"}})";
    EXPECT_THAT(at_once(4, "/threads/" + fresh + "/runs/wait", run), testing::Each(200));
    EXPECT_EQ(messages(fresh).size(), 8U);
  }
}

TEST_F(LangGraphRuns, FirstRunsThatManyStartAtOnceBindTheThreadOnce) {
  for (int i = 0; i < 10; ++i) {
    const std::string thread = make_thread("{}");
    const std::string run =
        R"({"assistant_id":"other","multitask_strategy":"enqueue","input":{"messages":"hi"}})";
    EXPECT_THAT(at_once(4, "/threads/" + thread + "/runs/wait", run), testing::Each(200));
    EXPECT_EQ(messages(thread).size(), 8U);
  }
}

TEST_F(LangGraphRuns, OfThoseThatInterruptAtOnceOnlyOneGoesOn) {
  for (int round = 0; round < 5; ++round) {
    const std::string thread = make_thread(R"({"metadata":{"graph_id":"slow"}})");
    const std::string runs = "/threads/" + thread + "/runs";
    const auto body = [](const std::string& text, const std::string& strategy) {
      return R"({"assistant_id":"slow","multitask_strategy":")" + strategy +
             R"(","input":{"messages":")" + text + R"("}})";
    };
    ASSERT_EQ(post(runs, body("one two three four five six seven eight", "reject")).status, 200);
    const auto statuses =
        at_once(6, runs, body("a b c d e f", round % 2 == 0 ? "interrupt" : "rollback"));
    EXPECT_THAT(statuses, testing::Each(200));
    const auto all = server_.ask("GET", runs).json().as_array();
    ASSERT_EQ(all.size(), 7U);
    int succeeded = 0;
    for (const auto& run : all) {
      const std::string id(run.at("run_id").as_string());
      server_.ask("GET", runs + "/" + id + "/join");
      const auto status = server_.ask("GET", runs + "/" + id).json().at("status").as_string();
      succeeded += status == "success" ? 1 : 0;
    }
    EXPECT_EQ(succeeded, 1);
  }
}

TEST_F(LangGraphRuns, AnAnswerIsToldInItsOwnModes) {
  const std::string thread = thread_that_asks();
  const Answered told = post("/threads/" + thread + "/runs/stream",
                             R"({"assistant_id":"asker","command":{"resume":true},
                                 "stream_mode":["updates"]})");
  std::vector<std::string> kinds;
  for (const auto& [number, kind] : frames(told.body)) kinds.push_back(kind);
  EXPECT_THAT(kinds, testing::Contains("updates"));
  EXPECT_THAT(kinds, testing::Not(testing::Contains("values")));
}

TEST_F(LangGraphRuns, ARollbackTakesBackARunAtWorkAndNoneThatHasEnded) {
  const std::string thread = make_thread(R"({"metadata":{"graph_id":"slow"}})");
  const std::string runs = "/threads/" + thread + "/runs";
  const auto start = [&](const std::string& text) {
    const Answered made =
        post(runs, R"({"assistant_id":"slow","input":{"messages":")" + text + R"("}})");
    EXPECT_EQ(made.status, 200) << made;
    return runs + "/" + std::string(made.json().at("run_id").as_string());
  };
  const std::string done = start("first");
  ASSERT_EQ(server_.ask("GET", done + "/join").status, 200);
  EXPECT_EQ(post(done + "/cancel?wait=1&action=rollback", "").status, 204);
  EXPECT_EQ(post(done + "/cancel?action=rollback", "").status, 202);
  EXPECT_EQ(messages(thread).size(), 2U);
  EXPECT_EQ(server_.ask("GET", done).json().at("status").as_string(), "success");

  const std::string at_work = start(long_text());
  EXPECT_EQ(post(at_work + "/cancel?action=rollback", "").status, 204);
  EXPECT_EQ(messages(thread).size(), 2U);
  const std::string stopped = start(long_text());
  EXPECT_EQ(post(stopped + "/cancel?wait=1", "").status, 204);
  EXPECT_EQ(messages(thread).size(), 4U);
  EXPECT_EQ(post(stopped + "/cancel?wait=1&action=rollback", "").status, 204);
  EXPECT_EQ(messages(thread).size(), 4U);
}

TEST_F(LangGraphRuns, AStateSaysWhatIsToBeDoneNext) {
  using Nodes = std::pair<std::string, std::string>;
  const auto next_of = [](const boost::json::value& state) {
    const auto& tasks = state.at("tasks").as_array();
    std::string names;
    for (const auto& task : tasks) names += boost::json::serialize(task.at("name"));
    return Nodes(boost::json::serialize(state.at("next")), names);
  };
  const auto next = [&](const std::string& thread) {
    const auto state = server_.ask("GET", "/threads/" + thread + "/state").json();
    const auto history = server_.ask("GET", "/threads/" + thread + "/history").json();
    EXPECT_EQ(next_of(history.at(0)), next_of(state));
    for (std::size_t i = 1; i < history.as_array().size(); ++i) {
      EXPECT_EQ(next_of(history.at(i)), Nodes("[]", ""));
    }
    return next_of(state);
  };
  const std::string thread = make_thread(R"({"metadata":{"graph_id":"slow"}})");
  const std::string runs = "/threads/" + thread + "/runs";
  const auto body = [](const std::string& text) {
    return R"({"assistant_id":"slow","multitask_strategy":"enqueue","input":{"messages":")" + text +
           R"("}})";
  };
  ASSERT_EQ(post(runs + "/wait", body("first")).status, 200);
  EXPECT_EQ(next(thread), Nodes("[]", ""));
  const Answered under_way = post(runs, body(long_text()));
  const Answered waits = post(runs, body("waits"));
  ASSERT_EQ(waits.status, 200);
  EXPECT_EQ(next(thread), Nodes(R"(["agent"])", R"("agent")"));
  ASSERT_EQ(post("/runs/cancel", R"({"status":"all","thread_id":")" + thread + R"("})").status,
            204);
  for (const Answered& started : {under_way, waits}) {
    const std::string run(started.json().at("run_id").as_string());
    ASSERT_EQ(server_.ask("GET", runs + "/" + run + "/join").status, 200);
  }
  EXPECT_EQ(next(thread), Nodes(R"(["agent"])", R"("agent")"));
  ASSERT_EQ(post("/threads/" + thread + "/state", R"({"values":{"topic":"x"}})").status, 200);
  EXPECT_EQ(next(thread), Nodes("[]", ""));
  ASSERT_EQ(post(runs + "/wait", body("/fail on purpose")).status, 200);
  EXPECT_EQ(next(thread), Nodes(R"(["agent"])", R"("agent")"));
  const auto failed = server_.ask("GET", "/threads/" + thread + "/state").json();
  EXPECT_EQ(failed.at("tasks").at(0).at("error").as_string(), "on purpose");

  const std::string asking = thread_that_asks();
  EXPECT_EQ(next(asking), Nodes(R"(["tools"])", R"("tools")"));
}

TEST_F(LangGraphRuns, AStateBelongsToTheRunThatWroteLastWhileAnotherOnlyWaits) {
  const std::string id = failed_thread("on purpose");
  skein::Run waiting;
  waiting.thread = thread_id(id);
  waiting.id = "0199a3b0-5d1c-7000-8123-" + waiting.thread.str();
  waiting.agent_id = "echo";
  waiting.created_at = server_.service().clock().now();
  RunBook book(server_.service().store(), server_.service().clock(), "elsewhere");
  ASSERT_TRUE(book.put_pending(waiting, 1h).has_value());
  const auto state = server_.ask("GET", "/threads/" + id + "/state").json();
  EXPECT_EQ(boost::json::serialize(state.at("next")), R"(["agent"])");
  EXPECT_EQ(state.at("tasks").at(0).at("error").as_string(), "on purpose");
}

TEST_F(LangGraphRuns, AStateSaysNothingOfARunOnAnotherThread) {
  const std::string secret = failed_thread("a secret");
  const std::string run(server_.ask("GET", "/threads/" + secret + "/state")
                            .json()
                            .at("tasks")
                            .at(0)
                            .at("id")
                            .as_string());
  const std::string id = failed_thread("on purpose");
  Append append;
  append.thread = thread_id(id);
  append.event.payload = Message{Role::kUser, "hello"};
  append.event.metadata = Json::trusted(R"({"runId":")" + run + R"("})");
  ASSERT_TRUE(server_.store().append(std::span(&append, 1)).front().has_value());
  const Answered state = server_.ask("GET", "/threads/" + id + "/state");
  EXPECT_EQ(boost::json::serialize(state.json().at("tasks")), "[]");
  EXPECT_THAT(state.body, testing::Not(HasSubstr("a secret")));
}

TEST_F(LangGraphRuns, PicturesAndLargeValuesFit) {
  const std::string big(100'000, 'A');
  const std::string thread = make_thread(R"({"metadata":{"graph_id":"echo"}})");
  const Answered shown = post("/threads/" + thread + "/runs/wait",
                              R"({"assistant_id":"echo","input":{"messages":[{"role":"user",
      "content":[{"type":"text","text":"what is this"},
                 {"type":"image_url","image_url":{"url":"data:image/png;base64,)" +
                                  big + R"("}}]}]}})");
  EXPECT_EQ(shown.status, 200) << shown.body.substr(0, 200);
  EXPECT_THAT(shown.body, HasSubstr(big));
  EXPECT_EQ(post("/threads/" + thread + "/state", R"({"values":{"big":")" + big + R"("}})").status,
            200);
  EXPECT_THAT(server_.ask("GET", "/threads/" + thread + "/state").body, HasSubstr(R"("big":"AA)"));
}

TEST_F(LangGraphRuns, ThreadsWithoutAThreadGoByThemselves) {
  const Answered run =
      post("/runs/wait", R"({"assistant_id":"echo","input":{"messages":"hello"}})");
  ASSERT_EQ(run.status, 200);
  const auto count = [&] { return post("/threads/count", "{}").body; };
  for (int i = 0; i < 3000 && count() != "0"; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(count(), "0");
}

}  // namespace
}  // namespace skein::test
