// Sessions of Claude Code become threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "skein/context.h"
#include "transcript_fixture.h"

namespace skein::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

constexpr const char* kSession = "11111111-2222-4333-8444-555555555555";

// Entries of a session; each line has its own name and that of the one above it.
class Session {
 public:
  explicit Session(std::string session = kSession) : session_(std::move(session)) {}

  Session& add(const std::string& uuid, const std::string& parent, const std::string& more) {
    const int second = count_++ % 60;
    text_ += R"({"uuid":")" + uuid + R"(","parentUuid":)" +
             (parent.empty() ? "null" : "\"" + parent + "\"") + R"(,"sessionId":")" + session_ +
             R"(","timestamp":"2026-01-23T14:30:)" + (second < 10 ? "0" : "") +
             std::to_string(second) + R"(.000Z","cwd":"/srv/app","version":"2.1.325",)" + more +
             "}\n";
    return *this;
  }
  Session& user(const std::string& uuid, const std::string& parent, const std::string& text,
                const std::string& more = "") {
    return add(uuid, parent,
               R"("type":"user","message":{"role":"user","content":")" + text + R"("})" + more);
  }
  Session& assistant(const std::string& uuid, const std::string& parent, const std::string& id,
                     const std::string& block, const std::string& more = "") {
    return add(
        uuid, parent,
        R"("type":"assistant","message":{"id":")" + id +
            R"(","role":"assistant","model":"claude-x","stop_reason":")" +
            (id.starts_with("tools") ? "tool_use" : "end_turn") + R"(","content":[)" + block +
            R"(],"usage":{"input_tokens":10,"output_tokens":5,"cache_read_input_tokens":7}})" +
            more);
  }
  Session& result(const std::string& uuid, const std::string& parent, const std::string& call,
                  const std::string& text, const std::string& more = "") {
    return add(uuid, parent,
               R"("type":"user","message":{"role":"user","content":[{"type":"tool_result",)"
               R"("tool_use_id":")" +
                   call + R"(","content":")" + text + "\"" + more + "}]}");
  }
  Session& line(const std::string& json) {
    text_ += json + "\n";
    return *this;
  }

  static std::string text_block(const std::string& text) {
    return R"({"type":"text","text":")" + text + R"("})";
  }
  static std::string call_block(const std::string& id, const std::string& input = "{}") {
    return R"({"type":"tool_use","id":")" + id + R"(","name":"Bash","input":)" + input + "}";
  }

  const std::string& text() const { return text_; }

 private:
  const std::string session_;
  std::string text_;
  int count_ = 0;
};

class ClaudeTranscripts : public Transcripts {
 protected:
  using Transcripts::shapes;
  std::vector<std::string> shapes(View view = View::kLog) {
    return shapes(thread(kSession).id, view);
  }
  ImportSummary import_session(const Session& session, const ImportOptions& options = {}) {
    return import(put(std::string("projects/-srv-app/") + kSession + ".jsonl", session.text()),
                  options);
  }
};

Session small_session() {
  Session session;
  session.user("u1", "", "Look around")
      .assistant("a1", "u1", "m1", R"({"type":"thinking","thinking":"hm"})")
      .assistant("a2", "a1", "m1", Session::text_block("I will look."))
      .assistant("a3", "a2", "m1", Session::call_block("c1", R"({"command":"ls","n":1.50})"))
      .result("r1", "a3", "c1", "README.md")
      .assistant("a4", "r1", "m2", Session::text_block("There is a README."));
  return session;
}

TEST_F(ClaudeTranscripts, BecomeThreadsWithMessagesCallsAndTheirResults) {
  const ImportSummary summary = import_session(small_session());
  EXPECT_EQ(summary.imported, 1u);
  EXPECT_EQ(summary.imported_events, 5u);
  EXPECT_THAT(summary.ignored, ElementsAre(Pair("thinking", 1)));
  EXPECT_THAT(shapes(), ElementsAre("user Look around", "narration I will look.", "call Bash",
                                    "tool README.md", "assistant There is a README."));

  const Manifest manifest = thread(kSession);
  EXPECT_EQ(manifest.agent_id, "claude-code");
  EXPECT_EQ(manifest.session_id, kSession) << "what the program resumes it by";
  EXPECT_EQ(manifest.created_at.str(), "2026-01-23T14:30:00.000Z");
  EXPECT_EQ(manifest.updated_at.str(), "2026-01-23T14:30:05.000Z");
  EXPECT_EQ(manifest.metadata.text(), std::string(R"({"source":"claude-code","session_id":")") +
                                          kSession + R"(","cwd":"/srv/app","version":"2.1.325"})");

  const auto all = events(manifest.id);
  EXPECT_EQ(all[0].timestamp.str(), "2026-01-23T14:30:00.000Z");
  EXPECT_EQ(all[0].metadata.text(), R"({"source":"claude-code"})");
  EXPECT_EQ(
      all[1].metadata.text(),
      R"({"source":"claude-code","model":"claude-x","tokens":{"input":10,"output":5,"cacheRead":7}})");
  EXPECT_EQ(std::get<ToolUse>(all[2].payload).input.text(), R"({"command":"ls","n":1.50})");
  EXPECT_EQ(all[2].metadata.text(),
            R"({"source":"claude-code","model":"claude-x","tool_call_id":"c1"})")
      << "the tokens of an answer are counted once";
  EXPECT_EQ(all[3].metadata.text(),
            R"({"source":"claude-code","tool_call_id":"c1","tool_name":"Bash"})");
  EXPECT_EQ(all[3].memory_type, MemoryType::kToolResult);
}

TEST_F(ClaudeTranscripts, TwiceAreOnceAndGrowOnlyByWhatIsNew) {
  Session session = small_session();
  import_session(session);
  const ImportSummary again = import_session(session);
  EXPECT_EQ(again.present, 1u);
  EXPECT_EQ(again.imported + again.extended + again.new_events + again.conflicts, 0u);

  session.user("u2", "a4", "Go on");
  const ImportSummary grown = import_session(session);
  EXPECT_EQ(grown.extended, 1u);
  EXPECT_EQ(grown.new_events, 1u);
  EXPECT_THAT(shapes(), SizeIs(6));
  EXPECT_EQ(shapes().back(), "user Go on");
}

TEST_F(ClaudeTranscripts, ResultsOfCallsMadeAtOnceAreNoBranches) {
  Session session;
  session.user("u1", "", "Both")
      .assistant("a1", "u1", "m1", Session::call_block("c1"))
      .assistant("a2", "a1", "m1", Session::call_block("c2"))
      .result("r1", "a1", "c1", "one")
      .result("r2", "a2", "c2", "two", R"(,"is_error":true)")
      .assistant("a3", "r2", "m2", Session::text_block("Done."));
  import_session(session);
  EXPECT_THAT(shapes(), ElementsAre("user Both", "call Bash", "call Bash", "tool one", "tool two",
                                    "assistant Done."));
  EXPECT_THAT(events(thread(kSession).id)[4].metadata.text(), HasSubstr(R"("is_error":true)"));
}

TEST_F(ClaudeTranscripts, AnEditedPromptIsABranchFromWhereItWasEdited) {
  Session session = small_session();
  session.user("u2", "a4", "First try")
      .assistant("a5", "u2", "m3", Session::text_block("So."))
      .user("u3", "a4", "Second try")
      .assistant("a6", "u3", "m4", Session::text_block("Better."));
  import_session(session);
  EXPECT_THAT(
      shapes(View::kPath),
      ElementsAre("user Look around", "narration I will look.", "call Bash", "tool README.md",
                  "assistant There is a README.", "user Second try <5", "assistant Better."));
  EXPECT_THAT(shapes(), SizeIs(9)) << "what was left behind stays in the log";
}

TEST_F(ClaudeTranscripts, AnEditedFirstPromptContinuesFromNothing) {
  Session session;
  session.add("h1", "", R"("type":"attachment","attachment":{"type":"hook"})")
      .user("u1", "h1", "First try")
      .assistant("a1", "u1", "m1", Session::text_block("So."))
      .user("u2", "h1", "Second try");
  import_session(session);
  EXPECT_THAT(shapes(View::kPath), ElementsAre("user Second try <0"));
}

TEST_F(ClaudeTranscripts, WhatWentOnInTheStoreStaysAsABranch) {
  Session session = small_session();
  import_session(session);
  Event event;
  event.payload = Message{Role::kUser, "said here"};
  const std::vector<Append> appends = {{thread(kSession).id, event, std::nullopt, std::nullopt}};
  must(store_->append(appends)[0]);
  EXPECT_EQ(import_session(session).present, 1u);
  session.user("u2", "a4", "said there");
  EXPECT_EQ(import_session(session).new_events, 1u);
  EXPECT_EQ(shapes()[5], "user said here");
  EXPECT_EQ(shapes()[6], "user said there <5");
}

TEST_F(ClaudeTranscripts, SidechainsAreThreadsOfTheirOwnThatNameTheirParent) {
  Session session;
  session.user("u1", "", "Delegate")
      .assistant("a1", "u1", "m1", Session::call_block("c1"))
      .user("s1", "", "Count", R"(,"isSidechain":true)")
      .assistant("s2", "s1", "m2", Session::text_block("3"), R"(,"isSidechain":true)")
      .user("t1", "", "Sum", R"(,"isSidechain":true)")
      .user("n1", "", "Named", R"(,"isSidechain":true,"agentId":"abc")")
      .result("r1", "a1", "c1", "3");
  const ImportSummary summary = import_session(session);
  EXPECT_EQ(summary.imported, 4u);
  const ThreadId main = thread(kSession).id;
  EXPECT_THAT(shapes(main), ElementsAre("user Delegate", "call Bash", "tool 3"));
  std::vector<std::vector<std::string>> others;
  for (const Manifest& manifest : threads()) {
    if (manifest.id == main) continue;
    others.push_back(shapes(manifest.id));
    EXPECT_THAT(manifest.metadata.text(), HasSubstr("\"parent_thread\":\"" + main.str() + "\""));
    EXPECT_EQ(manifest.session_id, std::nullopt);
  }
  EXPECT_THAT(others, ElementsAre(ElementsAre("user Count", "assistant 3"), ElementsAre("user Sum"),
                                  ElementsAre("user Named")));
  EXPECT_EQ(import_session(session).present, 4u);
}

TEST_F(ClaudeTranscripts, FilesOfSubagentsAreFoundBesideTheirSession) {
  import_session(small_session());
  const std::string place = std::string("projects/-srv-app/") + kSession + "/subagents/agent-a7";
  Session agent;
  agent.user("s1", "", "Count", R"(,"isSidechain":true,"agentId":"a7")");
  put(place + ".jsonl", agent.text());
  put(place + ".meta.json",
      R"({"agentType":"Explore","description":"count files","toolUseId":"c1"})");
  EXPECT_EQ(import(folder_.path()).imported, 1u);
  ListQuery query;
  query.metadata = {{.key = "agent_id", .value = Json::string("a7")}};
  const auto page = must(store_->list(query));
  ASSERT_THAT(page.threads, SizeIs(1));
  EXPECT_EQ(page.threads[0].title, "count files");
  EXPECT_THAT(page.threads[0].metadata.text(),
              AllOf(HasSubstr(R"("agent_type":"Explore")"), HasSubstr(R"("tool_call_id":"c1")"),
                    HasSubstr(thread(kSession).id.str())));
}

TEST_F(ClaudeTranscripts, ACompactionIsASummaryOfWhatCameBefore) {
  Session session = small_session();
  session
      .add("b1", "",
           R"("type":"system","subtype":"compact_boundary","logicalParentUuid":"a4","content":"x")")
      .user("k1", "b1", "We looked around.", R"(,"isCompactSummary":true)")
      .user("u2", "k1", "Go on");
  import_session(session);
  EXPECT_EQ(shapes()[5], "system We looked around.");
  EXPECT_EQ(shapes()[6], "user Go on");
  const auto all = events(thread(kSession).id);
  EXPECT_EQ(all[5].memory_type, MemoryType::kContextSummary);
  EXPECT_THAT(all[5].metadata.text(), HasSubstr(R"("covers":[[1,5]])"));
  const ContextWindow context = must(make_context(
      *store_, thread(kSession).id, {.max_tokens = 1000, .strategy = ContextStrategy::kSummary}));
  EXPECT_THAT(context.messages, SizeIs(2)) << "the summary stands for the five before it";
}

TEST_F(ClaudeTranscripts, WhatIsNoPartOfTheConversationIsIgnoredAndCounted) {
  Session session = small_session();
  session.add("x1", "a4", R"("type":"attachment","attachment":{"type":"date"})")
      .add("x2", "x1", R"("type":"system","content":"hook ran")")
      .user("x3", "x2", "caveat", R"(,"isMeta":true)")
      .user("x4", "x3", "<local-command-stdout>ok</local-command-stdout>")
      .add("x5", "x4",
           R"("type":"assistant","message":{"id":"s","model":"<synthetic>","content":"API Error"})")
      .line(R"({"type":"file-history-snapshot","messageId":"u1","snapshot":{}})")
      .line(R"({"type":"something-new","sessionId":"x","deep":{"er":[1]}})")
      .add(
          "x6", "x5",
          R"("type":"attachment","attachment":{"type":"queued_command","prompt":"And hurry","commandMode":"prompt"})")
      .user("u2", "x6", "Go on");
  const ImportSummary summary = import_session(session);
  EXPECT_THAT(
      summary.ignored,
      ElementsAre(Pair("answer that no model gave", 1), Pair("attachment", 1),
                  Pair("file-history-snapshot", 1), Pair("meta", 1), Pair("output of a command", 1),
                  Pair("something-new", 1), Pair("system", 1), Pair("thinking", 1)));
  EXPECT_EQ(shapes()[5], "user And hurry") << "typed while the agent was at work";
  EXPECT_EQ(shapes()[6], "user Go on") << "entries that are left out do not break the path";
  EXPECT_EQ(summary.unreadable, 0u);
}

TEST_F(ClaudeTranscripts, TitlesOfPeopleCountMoreThanThoseOfPrograms) {
  Session session = small_session();
  import_session(session);
  EXPECT_EQ(thread(kSession).title, std::nullopt);
  session.line(R"({"type":"custom-title","customTitle":"My title","sessionId":"x"})")
      .line(R"({"type":"ai-title","aiTitle":"Its title","sessionId":"x"})");
  import_session(session);
  EXPECT_EQ(thread(kSession).title, "My title");
}

TEST_F(ClaudeTranscripts, LinesThatAreDamagedStopNothing) {
  Session session;
  session.user("u1", "", R"(half of a \ud83d pair, a whole \ud83d\ude00 one)")
      .line("garbage")
      .line("[1]")
      .user("u2", "u1", "next");
  const ImportSummary summary = import_session(session);
  EXPECT_EQ(summary.unreadable, 2u);
  EXPECT_THAT(
      shapes(),
      ElementsAre("user half of a \xEF\xBF\xBD pair, a whole \xF0\x9F\x98\x80 one", "user next"));
}

TEST_F(ClaudeTranscripts, ADryRunWritesNothing) {
  const ImportSummary summary = import_session(small_session(), {.dry_run = true});
  EXPECT_EQ(summary.imported, 1u);
  EXPECT_EQ(summary.imported_events, 5u);
  EXPECT_THAT(threads(), IsEmpty());
}

TEST_F(ClaudeTranscripts, AreOfTheAgentThatOneNamesAndStayIts) {
  import_session(small_session(), {.agent = "helper"});
  EXPECT_EQ(thread(kSession).agent_id, "helper");
  EXPECT_EQ(import_session(small_session()).present, 1u);
  EXPECT_EQ(import_session(small_session(), {.agent = "other"}).conflicts, 1u);
}

TEST_F(ClaudeTranscripts, CredentialsGoFromTextInputAndResults) {
  const std::string key = std::string("ghp_") + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
  Session session;
  session.user("u1", "", "Use " + key)
      .assistant("a1", "u1", "m1", Session::call_block("c1", R"({"env":")" + key + R"("})"))
      .result("r1", "a1", "c1", "it was " + key);
  const Redactor redactor;
  EXPECT_EQ(import_session(session, {.redactor = &redactor}).redacted, 3u);
  for (const Event& event : events(thread(kSession).id)) {
    EXPECT_THAT(to_json(event),
                AllOf(HasSubstr("[redacted:github-token]"), testing::Not(HasSubstr(key))));
  }
  EXPECT_EQ(import_session(session).present, 1u) << "what is there stays as it is";
}

TEST_F(ClaudeTranscripts, ALongSessionComesOverWholeAndInOrder) {
  Session session;
  session.user("u0", "", "0");
  for (int i = 1; i < 2500; ++i) {
    session.user("u" + std::to_string(i), "u" + std::to_string(i - 1), std::to_string(i));
  }
  EXPECT_EQ(import_session(session).imported_events, 2500u);
  const auto all = shapes(View::kPath);
  ASSERT_THAT(all, SizeIs(2500));
  for (int i = 0; i < 2500; ++i) ASSERT_EQ(all[i], "user " + std::to_string(i));
}

// A session in which prompts are edited, tools called at once, and much is no conversation.
class RandomSession {
 public:
  explicit RandomSession(std::uint64_t seed) : random_(seed) {
    for (int turn = 0; turn < 12; ++turn) {
      prompt();
      if (pick(2) == 0) call_tools();
      answer();
    }
  }
  const std::string& text() const { return session_.text(); }

 private:
  std::size_t pick(std::size_t below) { return random_() % below; }

  std::string next() {
    const std::string uuid = "e" + std::to_string(uuids_.size());
    uuids_.push_back(uuid);
    return uuid;
  }
  void prompt() {
    const bool edited = pick(3) == 0 && !ends_.empty();
    const std::string parent = edited ? ends_[pick(ends_.size())] : last_;
    last_ = next();
    session_.user(last_, parent, "prompt " + last_);
  }
  void call_tools() {
    const std::string id = "tools-" + last_;
    std::vector<std::string> calls;
    for (std::size_t count = 1 + pick(3); count > 0; --count) {
      const std::string uuid = next();
      const bool says = calls.empty() && pick(2) == 0;
      session_.assistant(uuid, last_, id,
                         says ? Session::text_block("says " + uuid) : Session::call_block(uuid));
      last_ = uuid;
      if (!says) calls.push_back(uuid);
    }
    std::shuffle(calls.begin(), calls.end(), random_);
    for (const std::string& call : calls) {
      last_ = next();
      session_.result(last_, call, call, "result " + call);
    }
  }
  void answer() {
    if (pick(2) == 0) {
      const std::string uuid = next();
      session_.add(uuid, last_, R"("type":"attachment","attachment":{"type":"date"})");
      last_ = uuid;
    }
    const std::string uuid = next();
    session_.assistant(uuid, last_, "answer-" + uuid, Session::text_block("answer " + uuid));
    last_ = uuid;
    ends_.push_back(uuid);
  }

  std::mt19937_64 random_;
  Session session_;
  std::vector<std::string> uuids_;
  std::vector<std::string> ends_;  // where a prompt may follow
  std::string last_;
};

TEST_F(ClaudeTranscripts, ImportedAtAnyTimesAreWhatTheyAreImportedAtOnce) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    const std::string whole = RandomSession(seed).text();
    const std::string name = std::string("projects/x/") + kSession + ".jsonl";
    store_ = must(open_store("memory:"));
    import(put(name, whole));
    const auto at_once = events(thread(kSession).id);
    ASSERT_GT(at_once.size(), 20u);

    store_ = must(open_store("memory:"));
    std::mt19937_64 random(seed);
    for (std::size_t end = 0; end < whole.size();) {
      end = whole.find('\n', std::min(whole.size() - 1, end + random() % 3000)) + 1;
      import(put(name, whole.substr(0, end)));
    }
    const auto bit_by_bit = events(thread(kSession).id);
    ASSERT_EQ(bit_by_bit.size(), at_once.size()) << seed;
    for (std::size_t i = 0; i < at_once.size(); ++i) {
      ASSERT_TRUE(same_event(bit_by_bit[i], at_once[i])) << seed << "\n"
                                                         << to_json(bit_by_bit[i]) << "\n"
                                                         << to_json(at_once[i]);
      ASSERT_EQ(bit_by_bit[i].timestamp, at_once[i].timestamp);
    }

    // Every result of a tool is on the path if its call is, and after it.
    std::set<std::string> called;
    for (const Event& event : events(thread(kSession).id, View::kPath)) {
      if (std::holds_alternative<ToolUse>(event.payload)) called.insert(event.key);
      const auto* message = std::get_if<Message>(&event.payload);
      if (message == nullptr || message->role != Role::kTool) continue;
      EXPECT_EQ(called.erase(message->text.substr(7)), 1u) << seed << " " << message->text;
    }
    EXPECT_THAT(called, IsEmpty()) << seed;
  }
}

}  // namespace
}  // namespace skein::test
