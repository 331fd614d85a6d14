// Listening to runs: live, later, and from elsewhere, on every backend.
#include <future>
#include <thread>

#include "contract/run_fixture.h"

namespace skein::test {
namespace {

class RunStreams : public RunContract {
 protected:
  // "running", "text: …", "event: …", "success".
  static std::vector<std::string> listen(RunStream& stream, std::string* position = nullptr) {
    std::vector<std::string> lines;
    while (!stream.ended()) {
      auto event = must(stream.next(10s));
      if (!event) continue;
      if (position != nullptr) *position = event->position;
      lines.push_back(tell(*event));
    }
    return lines;
  }
  static std::string tell(const RunEvent& event) {
    switch (event.kind) {
      case RunEventKind::kStatus:
        return to_string(event.run->status);
      case RunEventKind::kText:
        return "text: " + event.text;
      case RunEventKind::kThinking:
        return "thinking: " + event.text;
      case RunEventKind::kEvent:
        break;
    }
    return "event: " + gist(*event.event);
  }

  // Says "one ", and the rest when it is told to.
  void agent_waits() {
    agents_.set("agent", [this](const EngineRequest&, EngineSink& sink, std::stop_token) {
      sink.on_thinking("hm");
      sink.on_text("one ");
      log_.note("said one");
      go_on_.get_future().wait();
      sink.on_text("two");
      return Result<EngineTurn>(says("one two"));
    });
  }

  std::promise<void> go_on_;
};
INSTANTIATE_TEST_SUITE_P(, RunStreams, testing::ValuesIn(backend_names()), backend_of);

TEST_P(RunStreams, TellWhoeverJoinsWhatWasSoFarAndWhatComes) {
  agent_waits();
  const ThreadId thread = thread_of();
  const std::string id = must(runner().start(run_request("agent", thread.str(), "hi"))).id;
  log_.wait_for("said one");
  std::vector<std::future<std::vector<std::string>>> listeners;
  for (int i = 0; i < 3; ++i) {
    listeners.push_back(std::async(
        std::launch::async, [&, stream = must(runner().join(id))] { return listen(*stream); }));
  }
  const auto first = must(runner().join(id));
  EXPECT_EQ(tell(*must(first->next(10s))), "running");
  EXPECT_EQ(tell(*must(first->next(10s))), "event: user: hi");
  EXPECT_EQ(tell(*must(first->next(10s))), "thinking: hm");
  const RunEvent text = *must(first->next(10s));
  EXPECT_EQ(tell(text), "text: one ");
  EXPECT_FALSE(must(first->next(0ms)));
  // From that position on: nothing is repeated.
  const auto second = must(runner().join(id, text.position));
  EXPECT_EQ(tell(*must(second->next(10s))), "running");
  go_on_.set_value();
  const std::vector<std::string> rest = listen(*second);
  EXPECT_THAT(rest, testing::Not(testing::Contains("text: one ")));
  EXPECT_THAT(rest, testing::IsSupersetOf({"event: result", "event: assistant: one two"}));
  EXPECT_EQ(rest.back(), "success");
  for (auto& listener : listeners) {
    const std::vector<std::string> lines = listener.get();
    EXPECT_THAT(lines, testing::IsSupersetOf({"event: user: hi", "event: result",
                                              "event: assistant: one two", "success"}));
  }
}

TEST_P(RunStreams, OfARunThatIsSaidNothingTellItsTextOnce) {
  agent_waits();
  const ThreadId thread = thread_of();
  must_append(store(), thread, message("hi"));
  RunRequest request;
  request.agent_id = "agent";
  request.thread_id = thread.str();
  const std::string id = must(runner().start(request)).id;
  log_.wait_for("said one");
  const auto stream = must(runner().join(id));
  EXPECT_EQ(tell(*must(stream->next(10s))), "running");
  EXPECT_EQ(tell(*must(stream->next(10s))), "thinking: hm");
  EXPECT_EQ(tell(*must(stream->next(10s))), "text: one ");
  EXPECT_FALSE(must(stream->next(0ms)));
  go_on_.set_value();
  const std::vector<std::string> rest = listen(*stream);
  EXPECT_THAT(rest, testing::Not(testing::Contains("text: one ")));
  EXPECT_EQ(rest.back(), "success");
}

TEST_P(RunStreams, OfARunThatEndedTellItsEventsFromAnyPosition) {
  const ThreadId thread = thread_of();
  must(run(thread, "before"));
  const RunOutcome outcome = must(run(thread, "hi"));
  must(run(thread, "after"));
  Runner elsewhere(store(), agents_, options());
  std::string position;
  EXPECT_THAT(
      listen(*must(elsewhere.join(outcome.run.id)), &position),
      ElementsAre("event: user: hi", "event: result", "event: assistant: re: hi", "success"));
  EXPECT_THAT(listen(*must(elsewhere.join(outcome.run.id, position))), ElementsAre("success"));
  EXPECT_TRUE(fails(elsewhere.join(outcome.run.id, "x"), ErrorCode::kInvalid, {"\"x\""}));
  EXPECT_TRUE(fails(elsewhere.join("0190163d-8694-7000-8000-0123456789ab"), ErrorCode::kNotFound));
}

TEST_P(RunStreams, OfAnotherProcessTellEventsAndTheEnd) {
  agent_waits();
  const ThreadId thread = thread_of();
  const std::string id = must(runner().start(run_request("agent", thread.str(), "hi"))).id;
  log_.wait_for("said one");
  Runner elsewhere(store(), agents_, options());
  const auto stream = must(elsewhere.join(id));
  EXPECT_EQ(tell(*must(stream->next(10s))), "running");
  EXPECT_EQ(tell(*must(stream->next(10s))), "event: user: hi");
  go_on_.set_value();
  EXPECT_THAT(listen(*stream),
              ElementsAre("event: result", "event: assistant: one two", "success"));
}

TEST_P(RunStreams, AreAbandonedWithoutHarm) {
  agent_waits();
  const ThreadId thread = thread_of();
  const std::string id = must(runner().start(run_request("agent", thread.str(), "hi"))).id;
  log_.wait_for("said one");
  std::stop_source stop;
  std::jthread listener([&] {
    const auto stream = must(runner().join(id));
    while (!stop.stop_requested()) must(stream->next(10s, stop.get_token()));
  });
  stop.request_stop();
  listener.join();
  go_on_.set_value();
  EXPECT_EQ(must(runner().wait(id)).status, RunStatus::kSuccess);
}

}  // namespace
}  // namespace skein::test
