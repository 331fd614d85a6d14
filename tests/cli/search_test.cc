#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <csignal>

#include <boost/json.hpp>
#include <thread>

#include "cli/program.h"
#include "skein/recall.h"
#include "skein/store.h"
#include "support/builders.h"
#include "support/expect.h"

namespace skein::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Searching : public OnEveryBackend {
 protected:
  Ran words_only(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--embedder", "none"});
    return workspace_.run(std::move(arguments));
  }
  std::string thread_with(const std::string& text, std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--agent", "support"});
    const std::string id = workspace_.create(std::move(more));
    workspace_.append(id, text);
    return id;
  }
};

TEST_P(Searching, FindsWhatWasBackfilled) {
  const std::string id = thread_with("We retry three times.", {"--title", "Retry policy"});
  thread_with("Lunch is at noon.");
  EXPECT_EQ(words_only({"backfill", "--json"}).json().at("embedded").as_int64(), 2);
  const Ran ran = words_only({"search", "How often do we retry?", "--agent", "support", "--json"});
  ASSERT_EQ(ran.code, 0) << ran;
  const auto answer = ran.json();
  ASSERT_EQ(answer.at("results").as_array().size(), 1u);
  const auto& result = answer.at("results").at(0);
  EXPECT_EQ(result.at("threadId"), boost::json::value(id));
  EXPECT_EQ(result.at("threadTitle"), "Retry policy");
  EXPECT_EQ(result.at("messages").at(0).at("text"), "We retry three times.");
  EXPECT_EQ(result.at("messages").at(0).at("match"), true);
  EXPECT_EQ(answer.at("used").at(0), "words");
  EXPECT_EQ(answer.at("notIndexed"), 0);
  EXPECT_TRUE(result.at("why").at("words").is_number());
}

TEST_P(Searching, SaysWhatIsNotIndexedAndThatThereIsNoModel) {
  thread_with("We retry three times.");
  const Ran ran = words_only({"search", "retry", "--agent", "support"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, AllOf(HasSubstr("nothing found"), HasSubstr("1 messages are not indexed"),
                             HasSubstr("no model")));
}

TEST_P(Searching, HighlightsWordsOnATerminalOnly) {
  thread_with("We were retrying three times.");
  words_only({"backfill"});
  const std::vector<std::string> command = {"search",  "retry",      "--agent",
                                            "support", "--embedder", "none"};
  EXPECT_THAT(workspace_.run_on_terminal(command, {}, {"TERM=xterm"}).out,
              HasSubstr("\x1b[33mretrying\x1b[0m"));
  EXPECT_THAT(workspace_.run(command).out,
              AllOf(HasSubstr("We were retrying three times."), Not(HasSubstr("\x1b"))));
}

TEST_P(Searching, FiltersAndRefuses) {
  const std::string id = thread_with("A heron stood there.");
  workspace_.run({"thread", "update", id, "--json", R"({"metadata":{"tier":"gold"}})"});
  words_only({"backfill"});
  const auto results = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"search", "heron", "--json"});
    return words_only(more).json().at("results").as_array().size();
  };
  EXPECT_EQ(results({"--agent", "support", "--status", "active"}), 1u);
  EXPECT_EQ(results({"--agent", "support", "--status", "closed"}), 0u);
  EXPECT_EQ(results({"--agent", "support", "--role", "assistant"}), 0u);
  EXPECT_EQ(results({"--agent", "support", "--since", "2999-01-01"}), 0u);
  EXPECT_EQ(results({}), 1u);
  EXPECT_EQ(results({"--all-agents"}), 1u);
  EXPECT_EQ(results({"--agent", "default"}), 0u);
  EXPECT_EQ(words_only({"search", "x", "--agent", "a", "--all-agents"}).code, 2);
  EXPECT_EQ(words_only({"search", "?!", "--agent", "support"}).code, 1);
  EXPECT_EQ(words_only({"search", "x", "--agent", "../etc"}).code, 1);
  EXPECT_EQ(workspace_.run({"search", "x", "--embedder", "magic"}).code, 1);
}

TEST_P(Searching, CoversAllAgentsAndSaysSo) {
  thread_with("A heron stood there.");
  words_only({"backfill"});
  const Ran found = words_only({"search", "heron"});
  EXPECT_THAT(found.out, HasSubstr("A heron stood there."));
  EXPECT_THAT(found.err, HasSubstr("searched 1 message of all agents (support)"));
  const Ran missed = words_only({"search", "heron", "--agent", "coder"});
  EXPECT_EQ(missed.out, "");
  EXPECT_THAT(missed.err, HasSubstr("nothing found in 0 messages of agent coder"));
  const auto json = words_only({"search", "heron", "--json"}).json();
  EXPECT_EQ(json.at("allAgents"), true);
  EXPECT_EQ(json.at("agentCount"), 1);
  EXPECT_EQ(json.at("agents").at(0), "support");
  const auto of_one = words_only({"search", "heron", "--agent", "support", "--json"}).json();
  EXPECT_EQ(of_one.at("allAgents"), false);
  EXPECT_THAT(workspace_.run({"search", "--help"}).out, Not(HasSubstr("--all-agents")));
}

TEST_P(Searching, RemovesWhatIsGone) {
  const std::string id = thread_with("A heron stood there.");
  words_only({"backfill"});
  ASSERT_EQ(workspace_.run({"thread", "delete", id, "--yes"}).code, 0);
  EXPECT_EQ(words_only({"search", "heron", "--agent", "support", "--json"})
                .json()
                .at("results")
                .as_array()
                .size(),
            0u);
  const auto result = words_only({"backfill", "--json"}).json();
  EXPECT_EQ(result.at("embedded").as_int64(), 0);
  EXPECT_EQ(result.at("cleaned").as_int64(), 0) << "deleting took it out of the index at once";
}

INSTANTIATE_ON_EVERY_BACKEND(Searching);

// Only this store keeps vectors in files of their own.
class SearchingFiles : public Searching {};
INSTANTIATE_TEST_SUITE_P(, SearchingFiles, testing::Values("jsonl"));

TEST_P(SearchingFiles, ForgetsTheVectorsOfADeletedThreadAtOnce) {
  const std::string id = thread_with("A heron stood there.");
  const std::string other = thread_with("It flew away.");
  const auto line = [](const std::string& thread) {
    return "{\"threadId\":\"" + thread +
           "\",\"messageIndex\":0,\"role\":\"user\",\"text\":\"x\",\"embedding\":[1],"
           "\"timestamp\":\"2026-01-01T00:00:00.000Z\"}\n";
  };
  workspace_.write("store/support/embeddings.jsonl", line(id) + line(other));
  ASSERT_EQ(workspace_.run({"thread", "delete", id, "--yes"}).code, 0);
  EXPECT_EQ(workspace_.read("store/support/embeddings.jsonl"), line(other));
}

// Backfill as the program does it, killed and started again.
class KilledBackfill : public OnEveryBackend {
 protected:
  std::string folder() const { return (workspace_.path() / "data").string(); }
  std::string url() const {
    return GetParam() == "sqlite" ? "sqlite:" + folder() : "jsonl:" + folder();
  }
  std::string index() const {
    return GetParam() == "sqlite" ? folder() + ".recall" : folder() + "/.skein/recall.db";
  }
  void fill(int threads, int messages) const {
    auto store = must(open_store(url()));
    for (int i = 0; i < threads; ++i) {
      std::vector<Event> events;
      for (int k = 0; k < messages; ++k) {
        events.push_back(message("message " + std::to_string(k) + " of thread " + std::to_string(i),
                                 k % 2 == 0 ? Role::kUser : Role::kAssistant));
      }
      create_thread(*store, "agent", std::move(events));
    }
  }
  RecallStatus status(Embedder* embedder) const {
    auto store = must(open_store(url()));
    auto recall = must(Recall::open(*store, {.index_path = index(), .embedder = embedder}));
    return must(recall->status());
  }
  std::vector<std::string> command(const std::string& embedder) const {
    return {"--store", url(), "backfill", "--json", "--embedder", embedder};
  }

  // Kills backfills once they got further, `kills` times at most; then lets one end, and compares.
  template <class Count>
  void kill_and_finish(const std::string& embedder, int kills, std::uint64_t all, Count count) {
    std::uint64_t before = 0;
    for (int i = 0; i < kills && before < all; ++i) {
      Running running = workspace_.start(command(embedder));
      while (count() == before) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      running.signal(SIGKILL);
      running.finish();
      const std::uint64_t now = count();
      EXPECT_GE(now, before);
      before = now;
    }
    const Ran last = workspace_.run(command(embedder));
    ASSERT_EQ(last.code, 0) << last;
    EXPECT_EQ(static_cast<std::uint64_t>(last.json().at("embedded").as_int64()), all - before);
    EXPECT_EQ(last.json().at("cleaned").as_int64(), 0);
    EXPECT_EQ(count(), all);
    EXPECT_EQ(workspace_.run(command(embedder)).json().at("embedded").as_int64(), 0);
  }
};

TEST_P(KilledBackfill, IndexesEveryMessageOnce) {
  fill(40, 1000);
  kill_and_finish("none", 6, 40'000, [this] { return status(nullptr).messages; });
  const Ran ran = workspace_.run({"--store", url(), "search", "message 999 of thread 39", "--agent",
                                  "agent", "--json", "--embedder", "none"});
  EXPECT_EQ(ran.json().at("notIndexed").as_int64(), 0) << ran;
  EXPECT_EQ(ran.json().at("searched").as_int64(), 40'000);
}

TEST_P(KilledBackfill, EmbedsEveryMessageOnce) {
  fill(3, 48);
  const OpenedEmbedder opened = must(open_embedder("bge-small"));
  kill_and_finish("bge-small", 2, 144, [&] { return status(opened.embedder.get()).with_vectors; });
}

INSTANTIATE_ON_EVERY_BACKEND(KilledBackfill);

}  // namespace
}  // namespace skein::test
