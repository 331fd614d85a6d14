// cancel with action=rollback over the LangGraph surface: what is taken back, and what stays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <future>
#include <optional>
#include <span>
#include <thread>

#include "support/http_server.h"
#include "support/runs.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

// A run is at work in another process, until it is stopped and released.
class LangGraphRollback : public testing::Test {
 protected:
  LangGraphRollback() : server_({.config = R"({"agents":{"agent":{"engine":"echo"}}})"}) {
    const auto made = server_.ask("POST", "/threads", R"({"metadata":{"graph_id":"agent"}})");
    id_ = made.json().at("thread_id").as_string();
    thread_ = server_.store().get(ThreadRef::parse(id_).value())->value().id;
    agents_.set("agent", [this](const EngineRequest& request, EngineSink& sink,
                                const std::stop_token& stop) {
      auto turn = wait_for_stop(request, sink, stop);
      log_.note("stopped");
      released_.wait();
      return turn;
    });
    RunnerOptions options;
    options.signer = server_.signer();  // a process of the same user
    elsewhere_.emplace(server_.store(), agents_, std::move(options));
    run_ = elsewhere_->start(run_request("agent", id_, "wrong"), noting_callbacks(log_))->id;
    log_.wait_for("on_text: half a sen");
  }

  std::string cancel_path() const {
    return "/threads/" + id_ + "/runs/" + run_ + "/cancel?action=rollback";
  }
  void say(const std::string& text) {
    Append append;
    append.thread = thread_;
    append.event.payload = Message{Role::kUser, text};
    ASSERT_TRUE(server_.store().append(std::span(&append, 1)).front().has_value());
  }
  std::vector<std::string> said() {
    const auto state = server_.ask("GET", "/threads/" + id_ + "/state").json();
    const auto* messages = state.at("values").as_object().if_contains("messages");
    std::vector<std::string> texts;
    if (messages == nullptr) return texts;
    for (const auto& message : messages->as_array()) {
      texts.emplace_back(message.at("content").as_string());
    }
    return texts;
  }

  TestServer server_;
  std::string id_;
  ThreadId thread_;
  Log log_;
  ScriptedAgents agents_;
  std::promise<void> release_;
  std::shared_future<void> released_{release_.get_future()};
  std::optional<Runner> elsewhere_;
  std::string run_;
};

TEST_F(LangGraphRollback, TakesBackWhatARunOfAnotherProcessWrote) {
  release_.set_value();
  EXPECT_EQ(server_.ask("POST", cancel_path()).status, 204);
  EXPECT_THAT(said(), ElementsAre());
}

TEST_F(LangGraphRollback, LeavesWhatOthersSaidMeanwhile) {
  say("by somebody else");
  release_.set_value();
  EXPECT_EQ(server_.ask("POST", cancel_path()).status, 204);
  EXPECT_THAT(said(), ElementsAre("wrong", "by somebody else", "(stopped by user)"));
}

TEST_F(LangGraphRollback, HappensAlsoWhenTheClientDoesNotWaitForIt) {
  {
    HttpConnection client(server_.port());
    client.send_request("POST", cancel_path());
    log_.wait_for("stopped");
  }
  std::this_thread::sleep_for(100ms);  // for the server to see that it is gone
  release_.set_value();
  ASSERT_TRUE(elsewhere_->wait(run_).has_value());
  EXPECT_THAT(said(), ElementsAre());
}

TEST_F(LangGraphRollback, IsToldAfterTheEndOfTheRun) {
  HttpConnection reader(server_.port());
  reader.send_request("POST", "/threads/" + id_ + "/stream/events",
                      R"({"channels":["lifecycle","values"]})");
  ASSERT_EQ(reader.read_head().status, 200);
  release_.set_value();
  EXPECT_EQ(server_.ask("POST", cancel_path()).status, 204);
  std::vector<std::string> told;
  std::uint64_t last = 0;
  while (told.empty() || told.back() != "nothing said") {
    const auto event = reader.next_event();
    ASSERT_TRUE(event);
    const auto frame = boost::json::parse(event->data);
    const auto& data = frame.at("params").at("data").as_object();
    const bool values = frame.at("method").as_string() == "values";
    told.emplace_back(values ? "said" : data.at("event").as_string());
    if (values && data.at("messages").as_array().empty()) told.back() = "nothing said";
    EXPECT_GT(frame.at("seq").to_number<std::uint64_t>(), last) << event->data;
    last = frame.at("seq").to_number<std::uint64_t>();
  }
  EXPECT_THAT(told, ElementsAre("running", "said", "said", "interrupted", "nothing said"));
}

TEST_F(LangGraphRollback, IsNotSeenInTheValuesOfTheRunThatRollsBack) {
  release_.set_value();
  const auto told = server_.ask("POST", "/threads/" + id_ + "/runs/stream",
                                R"({"assistant_id":"agent","multitask_strategy":"rollback",
                                    "input":{"messages":"right"}})");
  EXPECT_EQ(told.status, 200) << told.body;
  EXPECT_THAT(told.body, testing::HasSubstr("right"));
  EXPECT_THAT(told.body, testing::Not(testing::HasSubstr("wrong")));
}

}  // namespace
}  // namespace skein::test
