// The code samples of the thread manager's first description, one after the other, in C++, without
// those that run agents.
#include "contract/contract.h"
#include "skein/thread_manager.h"
#include "support/told.h"

namespace skein::test {
namespace {

class SeedSamples : public StoreContract {
 protected:
  Manifest created() { return must(manager_.create({.agent_id = "my-agent"})); }

  ThreadManager manager_{store()};
};
INSTANTIATE_TEST_SUITE_P(, SeedSamples, testing::ValuesIn(backend_names()), backend_of);

TEST_P(SeedSamples, CreatingThreads) {
  const Manifest thread = must(manager_.create({.agent_id = "my-agent"}));
  EXPECT_EQ(thread.status, ThreadStatus::kActive);

  const Manifest with_metadata = must(manager_.create({
      .agent_id = "my-agent",
      .metadata = json(R"({
        "user_id": "user-123", "session_id": "session-456", "channel": "web", "language": "en"
      })"),
  }));
  EXPECT_THAT(with_metadata.metadata.text(), testing::HasSubstr("session-456"));

  const Manifest with_system = must(manager_.create({
      .agent_id = "my-agent",
      .initial_messages = {{.role = Role::kSystem, .text = "You are a helpful trading assistant."}},
  }));
  EXPECT_EQ(must(manager_.messages(with_system.id.str())).at(0).role, Role::kSystem);
}

TEST_P(SeedSamples, AddingMessages) {
  const std::string thread = created().id.str();
  must(manager_.add_message(thread, {
                                        .role = Role::kUser,
                                        .text = "What is the current BTC price?",
                                    }));
  must(manager_.add_message(
      thread,
      {
          .role = Role::kAssistant,
          .text = "The current BTC price is $45,000.",
          .metadata = json(R"({"model":"claude-3-opus","tokens":{"input":50,"output":20}})"),
      }));
  const ThreadMessage tool = must(manager_.add_message(
      thread, {
                  .role = Role::kTool,
                  .text = R"({"price":45000,"currency":"USD"})",
                  .metadata = json(R"({"tool_call_id":"call_123","tool_name":"get_price"})"),
              }));
  EXPECT_EQ(tool.id, thread + "-3");
  EXPECT_THAT(must(manager_.messages(thread)), SizeIs(3));
}

TEST_P(SeedSamples, RetrievingMessages) {
  const std::string thread = created().id.str();
  for (int i = 1; i <= 12; ++i) {
    must(manager_.add_message(
        thread, {.role = i % 2 == 1 ? Role::kUser : Role::kAssistant, .text = std::to_string(i)}));
  }
  EXPECT_THAT(must(manager_.messages(thread)), SizeIs(12));
  const auto recent = must(
      manager_.messages(thread, {.limit = 10, .offset = 0, .order = MessageOrder::kNewestFirst}));
  ASSERT_THAT(recent, SizeIs(10));
  EXPECT_EQ(recent.front().text, "12");
  EXPECT_THAT(must(manager_.messages(thread, {.role = Role::kUser})), SizeIs(6));
}

TEST_P(SeedSamples, UpdatingAThread) {
  const std::string thread =
      must(manager_.create({.agent_id = "my-agent", .metadata = json(R"({"user_id":"user-123"})")}))
          .id.str();
  const Manifest escalated = must(manager_.update(
      thread,
      ManifestPatch().metadata(json(
          R"({"user_id":"user-123","escalated":true,"escalated_at":"2026-01-23T14:30:52Z"})"))));
  EXPECT_THAT(escalated.metadata.text(), testing::HasSubstr("escalated_at"));
  EXPECT_EQ(must(manager_.update_status(thread, ThreadStatus::kPaused)).status,
            ThreadStatus::kPaused);
  EXPECT_EQ(must(manager_.update_status(thread, ThreadStatus::kActive)).status,
            ThreadStatus::kActive);
}

TEST_P(SeedSamples, ClosingAndArchiving) {
  const std::string thread = created().id.str();
  must(manager_.close(thread));
  const Manifest closed =
      must(manager_.close(thread, {
                                      .summary = "User inquiry about BTC price resolved.",
                                      .resolution = "completed",
                                  }));
  EXPECT_EQ(closed.resolution, "completed");
  must(manager_.archive(thread));
  const Manifest archived =
      must(manager_.archive(thread, {.retention_days = 365, .reason = "compliance"}));
  EXPECT_EQ(archived.archive->retention_days, 365);
}

TEST_P(SeedSamples, ContextWindows) {
  const std::string thread = created().id.str();
  for (int i = 1; i <= 60; ++i) {
    must(manager_.add_message(thread, {.text = "Question " + std::to_string(i) + " about BTC."}));
  }
  for (const auto strategy :
       {ContextStrategy::kRecent, ContextStrategy::kSummary, ContextStrategy::kHybrid}) {
    const ContextWindow window =
        must(manager_.context(thread, {.max_tokens = 8000, .strategy = strategy}));
    EXPECT_LE(window.tokens, 8000u);
    EXPECT_THAT(window.messages, SizeIs(60));
  }

  EXPECT_FALSE(must(manager_.summarize(thread, {.threshold = 60, .keep_recent = 10})));
  const auto summary = must(manager_.summarize(thread, {.threshold = 50, .keep_recent = 10}));
  ASSERT_TRUE(summary);
  EXPECT_THAT(summary->covers, testing::ElementsAre(testing::FieldsAre(1, 50)));
  const ContextWindow after =
      must(manager_.context(thread, {.strategy = ContextStrategy::kSummary}));
  EXPECT_THAT(after.messages, SizeIs(11));  // the summary, and the ten that were kept
}

TEST_P(SeedSamples, ThreadEvents) {
  Told told;
  const Subscription on_created = must(
      manager_.on(ThreadEventKind::kCreated, [&](const ThreadEvent& event) { told.note(event); }));
  const std::string thread = created().id.str();
  EXPECT_THAT(told.wait_for(1), ElementsAre("created " + thread));

  Told messages;
  const Subscription on_message = must(manager_.on(ThreadEventKind::kMessage, messages.callback()));
  must(manager_.add_message(thread, {.role = Role::kUser, .text = "Hello"}));
  EXPECT_THAT(messages.wait_for(1), ElementsAre("message " + thread + " Hello"));

  Told closed;
  const Subscription on_closed = must(manager_.on(ThreadEventKind::kClosed, closed.callback()));
  must(manager_.close(thread));
  EXPECT_THAT(closed.wait_for(1), ElementsAre("closed " + thread));
}

TEST_P(SeedSamples, PersistenceAndThreadsOfAUser) {
  const Manifest thread = must(
      manager_.create({.agent_id = "my-agent", .metadata = json(R"({"user_id":"user-123"})")}));
  const auto retrieved = must(manager_.get(thread.id.str()));
  ASSERT_TRUE(retrieved.has_value());
  EXPECT_EQ(retrieved->agent_id, "my-agent");
  ListQuery query;
  query.metadata = {{"user_id", Json::string("user-123")}};
  query.status = ThreadStatus::kActive;
  EXPECT_THAT(must(manager_.list(query)), SizeIs(1));
}

TEST_P(SeedSamples, ThreadLimits) {
  ThreadManager manager(store(), {.active_limits = {{"user_id", 1}}});
  const NewConversation conversation{.agent_id = "my-agent",
                                     .metadata = json(R"({"user_id":"user-123"})")};
  must(manager.create(conversation));
  EXPECT_TRUE(fails(manager.create(conversation), ErrorCode::kConflict, {"user_id", "user-123"}));
}

TEST_P(SeedSamples, MemoryTypes) {
  const std::string thread = created().id.str();
  for (const MemoryType type :
       {MemoryType::kConversationTurn, MemoryType::kToolResult, MemoryType::kIntermediateResult,
        MemoryType::kContextSummary, MemoryType::kDecisionPoint}) {
    const auto added = must(manager_.add_message(
        thread, {.role = Role::kAssistant, .text = to_string(type), .memory_type = type}));
    EXPECT_EQ(added.memory_type, type);
  }
}

}  // namespace
}  // namespace skein::test
