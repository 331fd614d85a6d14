// The manager of conversations: creating them, their messages, and what is known of them.
#include "contract/contract.h"
#include "skein/thread_manager.h"

namespace skein::test {
namespace {

NewMessage said(std::string_view text, Role role = Role::kUser) {
  NewMessage message;
  message.role = role;
  message.text = text;
  return message;
}

NewConversation conversation(std::string_view metadata = "") {
  NewConversation made;
  made.agent_id = "my-agent";
  if (!metadata.empty()) made.metadata = json(metadata);
  return made;
}

std::vector<std::string> texts_of(const std::vector<ThreadMessage>& messages) {
  std::vector<std::string> all;
  for (const ThreadMessage& message : messages) all.push_back(message.text);
  return all;
}

class Conversations : public StoreContract {
 protected:
  std::string start(NewConversation made = conversation()) {
    return must(manager_.create(made)).id.str();
  }
  std::vector<std::string> texts_in(const std::string& id, const MessageSelection& which = {}) {
    return texts_of(must(manager_.messages(id, which)));
  }

  ThreadManager manager_{store(), {.clock = &clock()}};
};
INSTANTIATE_TEST_SUITE_P(, Conversations, testing::ValuesIn(backend_names()), backend_of);

TEST_P(Conversations, BeginWithMetadataASystemMessageAndInitialMessages) {
  NewConversation made = conversation(R"({"user_id":"user-123","channel":"web"})");
  made.title = "Prices";
  made.system_message = "You are a helpful trading assistant.";
  made.initial_messages = {said("Hello"), said("Hi", Role::kAssistant)};
  const Manifest manifest = must(manager_.create(made));
  EXPECT_EQ(manifest.agent_id, "my-agent");
  EXPECT_EQ(manifest.status, ThreadStatus::kActive);
  EXPECT_TRUE(same_json(manifest.metadata, made.metadata));
  const auto messages = must(manager_.messages(manifest.id.str()));
  ASSERT_THAT(messages, SizeIs(3));
  EXPECT_EQ(messages[0].role, Role::kSystem);
  EXPECT_EQ(messages[0].id, manifest.id.str() + "-1");
  EXPECT_THAT(texts_of(messages),
              ElementsAre("You are a helpful trading assistant.", "Hello", "Hi"));
}

TEST_P(Conversations, ThatBreakARuleAreNotMadeAtAll) {
  NewConversation made = conversation();
  made.initial_messages = {said("fine"), said("\xff")};
  EXPECT_TRUE(fails(manager_.create(made), ErrorCode::kInvalid));
  EXPECT_EQ(thread_count(), 0U);
}

TEST_P(Conversations, TakeMessagesOfAllFourRolesWithMetadataAndMemoryType) {
  const std::string id = start();
  for (const Role role : {Role::kUser, Role::kAssistant, Role::kSystem, Role::kTool}) {
    NewMessage message = said(to_string(role), role);
    message.metadata = json(R"({"tool_call_id":"call_123","tokens":{"input":50,"output":20}})");
    message.memory_type = MemoryType::kToolResult;
    const ThreadMessage added = must(manager_.add_message(id, message));
    EXPECT_EQ(added.role, role);
    EXPECT_EQ(added.id, id + "-" + std::to_string(added.seq));
    EXPECT_EQ(added.created_at, clock().now());
  }
  const auto messages = must(manager_.messages(id));
  ASSERT_THAT(messages, SizeIs(4));
  EXPECT_EQ(messages[3].text, "tool");
  EXPECT_EQ(messages[3].memory_type, MemoryType::kToolResult);
  EXPECT_TRUE(same_json(messages[3].metadata,
                        json(R"({"tool_call_id":"call_123","tokens":{"input":50,"output":20}})")));
}

TEST_P(Conversations, AnswerTheSameMessageForTheSameKey) {
  const std::string id = start();
  NewMessage message = said("once");
  message.key = "k";
  const ThreadMessage first = must(manager_.add_message(id, message));
  clock().advance(5s);
  const ThreadMessage again = must(manager_.add_message(id, message));
  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(again.created_at, first.created_at);
  must(manager_.close(id));
  EXPECT_EQ(must(manager_.add_message(id, message)).id, first.id);
  message.text = "other";
  EXPECT_TRUE(fails(manager_.add_message(id, message), ErrorCode::kConflict));
}

TEST_P(Conversations, GiveMessagesByPageOrderAndRole) {
  const std::string id = start();
  const ThreadId thread = must(ThreadId::parse(id));
  for (int i = 1; i <= 6; ++i) {
    must(manager_.add_message(
        id, said(std::to_string(i), i % 2 != 0 ? Role::kUser : Role::kAssistant)));
    must_append(store(), thread, tool_use("between"));
  }
  EXPECT_THAT(texts_in(id), ElementsAre("1", "2", "3", "4", "5", "6"));
  MessageSelection which;
  which.limit = 2;
  EXPECT_THAT(texts_in(id, which), ElementsAre("1", "2"));
  which.order = MessageOrder::kNewestFirst;
  which.offset = 1;
  EXPECT_THAT(texts_in(id, which), ElementsAre("5", "4"));
  which.role = Role::kUser;
  EXPECT_THAT(texts_in(id, which), ElementsAre("3", "1"));
  which.limit = 0;
  EXPECT_THAT(texts_in(id, which), IsEmpty());
}

TEST_P(Conversations, FollowTheCurrentPath) {
  const std::string id = start();
  for (const char* text : {"one", "two", "three"}) must(manager_.add_message(id, said(text)));
  NewMessage edited = said("two, edited");
  edited.base = 1;
  must(manager_.add_message(id, edited));
  EXPECT_THAT(texts_in(id), ElementsAre("one", "two, edited"));
}

TEST_P(Conversations, UpdateReplacesMetadataWholeAndLeavesTheTimeAloneIfNothingChanges) {
  const std::string id = start(conversation(R"({"user_id":"u","language":"en"})"));
  clock().advance(1s);
  const Manifest changed = must(
      manager_.update(id, ManifestPatch().metadata(json(R"({"user_id":"u","escalated":true})"))));
  EXPECT_TRUE(same_json(changed.metadata, json(R"({"escalated":true,"user_id":"u"})")));
  EXPECT_EQ(changed.updated_at, clock().now());
  clock().advance(1s);
  const Manifest same = must(
      manager_.update(id, ManifestPatch().metadata(json(R"({ "escalated":true,"user_id":"u"})"))));
  EXPECT_EQ(same.updated_at, changed.updated_at);
  EXPECT_EQ(same.version, changed.version);
}

TEST_P(Conversations, UpdateRefusesWhatHasAnOperationOfItsOwn) {
  const std::string id = start();
  for (const char* object : {R"({"status":"closed"})", R"({"closedAt":"2026-01-01T00:00:00Z"})",
                             R"({"archive":{"at":"2026-01-01T00:00:00Z"}})", R"({"agentId":"x"})",
                             R"({"createdAt":"2026-01-01T00:00:00Z"})", R"({"pins":[1]})",
                             R"({"sessionId":"s"})", R"({"sessionId":""})"}) {
    EXPECT_TRUE(fails(manager_.update(id, patch(object)), ErrorCode::kInvalid)) << object;
  }
}

TEST_P(Conversations, UpdateClearsTheEnginesSession) {
  const ThreadId id = must(manager_.create(conversation())).id;
  must(store().update(id, patch(R"({"sessionId":"s"})"), {}));
  EXPECT_FALSE(must(manager_.update(id.str(), patch(R"({"sessionId":null})"))).session_id);
  must(store().update(id, patch(R"({"sessionId":"t"})"), {}));
  EXPECT_FALSE(must(manager_.clear_session(id.str())).session_id);
}

TEST_P(Conversations, UpdateWithAnExpectedVersionConflictsInsteadOfClobbering) {
  const Manifest made = must(manager_.create(conversation()));
  must(manager_.update(made.id.str(), ManifestPatch().title("theirs")));
  EXPECT_TRUE(fails(manager_.update(made.id.str(), ManifestPatch().title("ours"),
                                    {.expect_version = made.version, .fence = {}}),
                    ErrorCode::kConflict));
  EXPECT_EQ(get_thread(store(), made.id).title, "theirs");
}

TEST_P(Conversations, AreListedByMetadataStatusAndAgent) {
  const std::string ours = start(conversation(R"({"user_id":"user-123"})"));
  const std::string closed = start(conversation(R"({"user_id":"user-123"})"));
  start(conversation(R"({"user_id":"user-456"})"));
  must(manager_.close(closed));
  ListQuery query;
  query.metadata = {{"user_id", json(R"("user-123")")}};
  EXPECT_THAT(must(manager_.list(query)), SizeIs(2));
  query.status = ThreadStatus::kActive;
  const auto active = must(manager_.list(query));
  ASSERT_THAT(active, SizeIs(1));
  EXPECT_EQ(active[0].id.str(), ours);
  query.agent_id = "other";
  EXPECT_THAT(must(manager_.list(query)), IsEmpty());
}

TEST_P(Conversations, AreListedAndCountedHoweverManyThereAre) {
  constexpr std::size_t kThreads = 53;  // more than a page has by itself
  for (std::size_t i = 0; i < kThreads; ++i) start(conversation(R"({"user_id":"user-123"})"));
  const std::string closed = start(conversation(R"({"user_id":"user-123"})"));
  must(manager_.close(closed));
  ListQuery query;
  query.metadata = {{"user_id", json(R"("user-123")")}};
  query.status = ThreadStatus::kActive;
  EXPECT_THAT(must(manager_.list(query)), SizeIs(kThreads));
  EXPECT_EQ(must(manager_.count(query)), kThreads);
  EXPECT_EQ(must(manager_.count()), kThreads + 1);
  const ThreadPage page = must(manager_.page(query));
  EXPECT_THAT(page.threads, SizeIs(50));
  query.after = page.next;
  EXPECT_THAT(must(manager_.page(query)).threads, SizeIs(3));
  EXPECT_THAT(must(manager_.list(query)), SizeIs(kThreads)) << "from the first on";
}

TEST_P(Conversations, PinAndUnpinEventsInAnyOrderAndAsOftenAsOneLikes) {
  const std::string id = start();
  for (int i = 0; i < 3; ++i) must(manager_.add_message(id, said("m")));
  must(manager_.pin(id, 3));
  must(manager_.pin(id, 1));
  EXPECT_THAT(must(manager_.pin(id, 3)).pins, ElementsAre(1, 3));
  must(manager_.unpin(id, 3));
  EXPECT_THAT(must(manager_.unpin(id, 3)).pins, ElementsAre(1));
  EXPECT_THAT(must(manager_.unpin(id, 1)).pins, IsEmpty());
  EXPECT_TRUE(fails(manager_.pin(id, 4), ErrorCode::kInvalid, {"1 to 3", "4"}));
  EXPECT_TRUE(fails(manager_.pin(id, 0), ErrorCode::kInvalid));
}

TEST_P(Conversations, ThatAreUnknownOrMisnamedAreRefusedByEveryOperation) {
  const std::string unknown = "0123456789ab";
  const auto operations = [&](const std::string& id) {
    return std::vector<std::pair<const char*, ErrorCode>>{
        {"add", manager_.add_message(id, said("x")).error().code},
        {"messages", manager_.messages(id).error().code},
        {"update", manager_.update(id, ManifestPatch().title("x")).error().code},
        {"status", manager_.update_status(id, ThreadStatus::kPaused).error().code},
        {"close", manager_.close(id).error().code},
        {"archive", manager_.archive(id).error().code},
        {"restore", manager_.restore(id).error().code},
        {"pin", manager_.pin(id, 1).error().code}};
  };
  for (const auto& [name, code] : operations(unknown))
    EXPECT_EQ(code, ErrorCode::kNotFound) << name;
  for (const auto& [name, code] : operations("../x")) EXPECT_EQ(code, ErrorCode::kInvalid) << name;
  EXPECT_FALSE(must(manager_.get(unknown)).has_value());
  EXPECT_FALSE(must(manager_.remove(unknown)));
  EXPECT_EQ(thread_count(), 0U);
}

TEST(MessageIds, AreTheThreadAndThePosition) {
  const ThreadId thread = must(ThreadId::parse("a1b2c3d4e5f6"));
  EXPECT_EQ(message_id(thread, 7), "a1b2c3d4e5f6-7");
  EXPECT_EQ(must(parse_message_id("a1b2c3d4e5f6-7")), std::pair(thread, Seq{7}));
  for (const char* bad :
       {"", "a1b2c3d4e5f6", "a1b2c3d4e5f6-", "a1b2c3d4e5f6-0", "a1b2c3d4e5f6-07", "a1b2c3d4e5f6-7x",
        "a1b2c3-7", "a1b2c3d4e5f6--7", "a1b2c3d4e5f6-99999999999999999999999"}) {
    EXPECT_TRUE(fails(parse_message_id(bad), ErrorCode::kInvalid)) << bad;
  }
}

}  // namespace
}  // namespace skein::test
