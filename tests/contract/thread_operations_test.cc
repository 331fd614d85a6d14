// The operations of the threads contract (skein/threads.h), on every backend.
#include "skein/threads.h"

#include "contract/contract.h"

namespace skein::test {
namespace {

constexpr std::string_view kAlias = "6f1c2f0e-9a57-4b0e-8f5e-0c1d2e3f4a5b";
constexpr std::string_view kUnknownAlias = "7f1c2f0e-9a57-4b0e-8f5e-0c1d2e3f4a5b";
constexpr std::string_view kUnknownId = "fedcba987654";

class ThreadOperations : public StoreContract {
 protected:
  Threads threads() { return Threads(store()); }

  std::string create(const CreateOptions& options = {}) {
    return must(threads().create("agent", options)).str();
  }
};
INSTANTIATE_TEST_SUITE_P(, ThreadOperations, testing::ValuesIn(backend_names()), backend_of);

TEST_P(ThreadOperations, CreateMakesAThreadWithWhatWasGiven) {
  CreateOptions options;
  options.task_id = "task-1";
  options.title = "Knots";
  options.alias = kAlias;
  options.metadata = json(R"({"topic":"knots"})");
  options.events = {message("hello")};
  const std::string id = create(options);
  EXPECT_EQ(id.size(), 12U);
  backend_.reopen();
  const std::optional<Manifest> found = must(threads().get(id));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->agent_id, "agent");
  EXPECT_EQ(found->task_id, "task-1");
  EXPECT_EQ(found->title, "Knots");
  EXPECT_EQ(found->alias, kAlias);
  EXPECT_TRUE(same_json(found->metadata, json(R"({"topic":"knots"})")));
  EXPECT_EQ(found->created_at, clock().now());
  EXPECT_EQ(found->updated_at, clock().now());
  EXPECT_THAT(texts(must(threads().load_events(id))), ElementsAre("hello"));
  EXPECT_NE(create(), create()) << "not idempotent";
}

TEST_P(ThreadOperations, CreateRefusesWhatBreaksTheRules) {
  EXPECT_TRUE(fails(threads().create("no/agent"), ErrorCode::kInvalid, {"no/agent"}));
  CreateOptions options;
  options.metadata = json("[]");
  EXPECT_TRUE(fails(threads().create("agent", options), ErrorCode::kInvalid));
  options = {};
  options.alias = "not a uuid";
  EXPECT_TRUE(fails(threads().create("agent", options), ErrorCode::kInvalid, {"not a uuid"}));
  EXPECT_EQ(thread_count(), 0U);
}

TEST_P(ThreadOperations, EveryOneRefusesAMalformedIdAndNamesTheRuleAndTheValue) {
  create();
  Threads all = threads();
  for (const std::string& bad :
       {std::string(""), std::string("0123456789a"), std::string("0123456789abc"),
        std::string("0123456789AB"), std::string("0123456789ag"), std::string("../../passwd"),
        std::string("0123456789a\0", 12), std::string(" 123456789ab"), std::string(300, 'a'),
        std::string("%2e%2e%2f%2e"), std::string("00000000-0000-4000-8000-0123456789a"),
        std::string("zzzzzzzz-0000-4000-8000-0123456789ab")}) {
    const std::initializer_list<std::string_view> names{"thread id", "[a-f0-9]{12}"};
    EXPECT_TRUE(fails(all.get(bad), ErrorCode::kInvalid, names)) << bad;
    EXPECT_TRUE(fails(all.remove(bad), ErrorCode::kInvalid, names)) << bad;
    EXPECT_TRUE(fails(all.append_message(bad, Role::kUser, "x"), ErrorCode::kInvalid, names));
    EXPECT_TRUE(fails(all.append_event(bad, message("x")), ErrorCode::kInvalid, names));
    EXPECT_TRUE(fails(all.load_events(bad), ErrorCode::kInvalid, names));
    EXPECT_TRUE(
        fails(all.read_events(bad, {}, [](Event&) { return true; }), ErrorCode::kInvalid, names));
    EXPECT_TRUE(
        fails(all.update_manifest(bad, patch(R"({"title":"x"})")), ErrorCode::kInvalid, names));
    EXPECT_TRUE(fails(all.fork(bad), ErrorCode::kInvalid, names));
    EXPECT_TRUE(fails(all.resolve(bad), ErrorCode::kInvalid, names));
  }
  EXPECT_TRUE(fails(all.get("0123456789AB"), ErrorCode::kInvalid, {"0123456789AB"}));
  EXPECT_EQ(thread_count(), 1U);
}

TEST_P(ThreadOperations, AnUnknownThreadIsNullOrEmptyOnReadsAndAnErrorOnWrites) {
  Threads all = threads();
  for (const std::string_view unknown : {kUnknownId, kUnknownAlias}) {
    EXPECT_FALSE(must(all.get(unknown)).has_value());
    EXPECT_THAT(must(all.load_events(unknown)), IsEmpty());
    EXPECT_TRUE(ok(all.read_events(unknown, {}, [](Event&) { return false; })));
    EXPECT_TRUE(ok(all.remove(unknown)));
    EXPECT_TRUE(
        fails(all.append_message(unknown, Role::kUser, "x"), ErrorCode::kNotFound, {unknown}));
    EXPECT_TRUE(fails(all.append_event(unknown, tool_use("t")), ErrorCode::kNotFound, {unknown}));
    EXPECT_TRUE(fails(all.update_manifest(unknown, patch(R"({"title":"x"})")), ErrorCode::kNotFound,
                      {unknown}));
    EXPECT_TRUE(fails(all.fork(unknown), ErrorCode::kNotFound, {unknown}));
  }
  EXPECT_TRUE(fails(all.resolve(kUnknownAlias), ErrorCode::kNotFound, {kUnknownAlias}));
  EXPECT_EQ(must(all.resolve(kUnknownId)).str(), kUnknownId) << "an id is not looked up";
  EXPECT_THAT(must(all.list("agent")), IsEmpty());
  EXPECT_EQ(thread_count(), 0U);
}

TEST_P(ThreadOperations, EveryOneTakesTheIdItsUuidFormAndTheAlias) {
  CreateOptions options;
  options.alias = kAlias;
  const std::string id = create(options);
  Threads all = threads();
  const std::string uuid = "00000000-0000-4000-8000-" + id;
  Seq seq = 0;
  for (const std::string& name : {id, uuid, std::string(kAlias)}) {
    EXPECT_EQ(must(all.get(name))->id.str(), id);
    EXPECT_EQ(must(all.resolve(name)).str(), id);
    EXPECT_EQ(must(all.append_message(name, Role::kUser, "x")).seq, ++seq);
    EXPECT_EQ(must(all.append_event(name, tool_use("t"))).seq, ++seq);
    EXPECT_THAT(must(all.load_events(name)), SizeIs(seq));
    EXPECT_EQ(must(all.update_manifest(name, ManifestPatch().title(name))).title, name);
    EXPECT_EQ(must(all.fork(name)).parent->thread.str(), id);
  }
  EXPECT_TRUE(ok(all.remove(kAlias)));
  EXPECT_FALSE(must(all.get(id)).has_value());
}

TEST_P(ThreadOperations, AppendMessageTakesUserAndAssistantOnlyAndSaysSo) {
  const std::string id = create();
  EXPECT_EQ(must(threads().append_message(id, Role::kUser, "hi")).seq, 1U);
  EXPECT_EQ(must(threads().append_message(id, Role::kAssistant, "hello")).seq, 2U);
  EXPECT_TRUE(fails(threads().append_message(id, Role::kSystem, "no"), ErrorCode::kInvalid,
                    {"user", "assistant", "system"}));
  EXPECT_TRUE(fails(threads().append_message(id, Role::kTool, "no"), ErrorCode::kInvalid,
                    {"user", "assistant", "tool"}));
  EXPECT_EQ(must(threads().append_event(id, message("yes", Role::kSystem))).seq, 3U);
  EXPECT_EQ(must(threads().append_event(id, message("yes", Role::kTool))).seq, 4U);
}

TEST_P(ThreadOperations, AppendTakesEventTypesOfTheContractOnly) {
  const std::string id = create();
  for (const std::string_view text :
       {R"({"type":"message","role":"user","text":"a"})", R"({"role":"user","text":"legacy"})",
        R"({"type":"tool_use","name":"t","input":{}})", R"({"type":"assistant_text","text":"b"})",
        R"({"type":"result","cost":1})"}) {
    EXPECT_TRUE(ok(threads().append_event(id, must(parse_event(text))))) << text;
  }
  for (const std::string_view text :
       {R"({"type":"msg","role":"user","text":"a"})", R"({"type":"","text":"a"})",
        R"({"type":"Message","role":"user","text":"a"})", R"({"type":null,"text":"a"})",
        R"({"type":"message","role":"bot","text":"a"})", R"({"type":"message","text":"a"})",
        R"({"type":"message","role":"user"})", R"({"type":"tool_use","input":{}})",
        R"({"type":"tool_use","name":"t","input":[]})", R"({"type":"assistant_text"})", "[]",
        "null", "", "{", R"({"type":"unreadable","reason":"x"})"}) {
    EXPECT_TRUE(fails(parse_event(text), ErrorCode::kInvalid)) << text;
  }
  EXPECT_THAT(must(threads().load_events(id)), SizeIs(5));
}

TEST_P(ThreadOperations, AppendsUpdateTheManifestsTime) {
  const std::string id = create();
  clock().advance(1s);
  must(threads().append_message(id, Role::kUser, "x"));
  EXPECT_EQ(must(threads().get(id))->updated_at, clock().now());
  clock().advance(1s);
  must(threads().append_event(id, run_result(1, 1)));
  EXPECT_EQ(must(threads().get(id))->updated_at, clock().now());
}

TEST_P(ThreadOperations, AppendHeedsFenceAndExpectedSeq) {
  const std::string id = create();
  AppendOptions options;
  options.expect_seq = 2;
  EXPECT_TRUE(fails(threads().append_message(id, Role::kUser, "x", options), ErrorCode::kConflict));
  options.expect_seq = 1;
  options.fence = 77;
  EXPECT_TRUE(fails(threads().append_message(id, Role::kUser, "x", options), ErrorCode::kFenced));
  options.fence = must(store().lease(must(ThreadId::parse(id)), "me", 5s, std::nullopt)).token;
  EXPECT_TRUE(ok(threads().append_message(id, Role::kUser, "x", options)));
}

TEST_P(ThreadOperations, ListGivesAllThreadsOfTheAgentNewestFirst) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    ids.insert(ids.begin(), create());
    clock().advance(1s);
  }
  must(threads().create("another"));
  std::vector<std::string> found;
  for (const Manifest& manifest : must(threads().list("agent"))) found.push_back(manifest.id.str());
  EXPECT_EQ(found, ids);
  EXPECT_THAT(must(threads().list("nobody")), IsEmpty());
  EXPECT_TRUE(fails(threads().list("../agent"), ErrorCode::kInvalid, {"../agent"}));
}

TEST_P(ThreadOperations, ListIsNotCutAtAPage) {
  for (std::size_t i = 0; i < limits::kMaxPageSize + 5; ++i) {
    if (GetParam() != "memory" && i == 30) break;  // pages are the same code; files cost flushes
    create();
  }
  EXPECT_EQ(must(threads().list("agent")).size(), thread_count());
}

TEST_P(ThreadOperations, RemoveIsIdempotent) {
  const std::string id = create();
  EXPECT_TRUE(ok(threads().remove(id)));
  EXPECT_TRUE(ok(threads().remove(id)));
  EXPECT_FALSE(must(threads().get(id)).has_value());
}

TEST_P(ThreadOperations, UpdateManifestMergesButRefusesStatusAgentAndCreation) {
  const std::string id = create();
  clock().advance(1s);
  const Manifest updated =
      must(threads().update_manifest(id, patch(R"({"title":"t","sessionId":"s"})")));
  EXPECT_EQ(updated.title, "t");
  EXPECT_EQ(updated.session_id, "s");
  EXPECT_EQ(updated.updated_at, clock().now());
  for (const std::string_view fields :
       {R"({"status":"closed"})", R"({"status":null})", R"({"agentId":"x"})", R"({"alias":null})",
        R"({"createdAt":"2020-01-01T00:00:00Z"})", R"({"threadId":"0123456789ab"})",
        R"({"title":7})"}) {
    EXPECT_TRUE(fails(threads().update_manifest(id, patch(fields)), ErrorCode::kInvalid)) << fields;
  }
  EXPECT_TRUE(fails(threads().update_manifest(id, patch(R"({"status":"closed"})")),
                    ErrorCode::kInvalid, {"status", "closed"}));
  EXPECT_EQ(describe(*must(threads().get(id))), describe(updated));
  UpdateOptions options;
  options.expect_version = updated.version + 1;
  EXPECT_TRUE(fails(threads().update_manifest(id, patch(R"({"title":"u"})"), options),
                    ErrorCode::kConflict));
}

TEST_P(ThreadOperations, ForkCopiesEventsTitleAndMetadataButNoSession) {
  CreateOptions options;
  options.title = "Knots";
  options.task_id = "task";
  options.alias = kAlias;
  options.metadata = json(R"({"a":1})");
  options.events = {message("1"), message("2"), message("3")};
  const std::string id = create(options);
  must(threads().update_manifest(id, patch(R"({"sessionId":"s"})")));
  const Manifest fork = must(threads().fork(id, 2));
  EXPECT_NE(fork.id.str(), id);
  EXPECT_EQ(fork.agent_id, "agent");
  EXPECT_EQ(fork.title, "Knots");
  EXPECT_TRUE(same_json(fork.metadata, json(R"({"a":1})")));
  EXPECT_FALSE(fork.session_id.has_value());
  EXPECT_FALSE(fork.alias.has_value());
  EXPECT_EQ(fork.parent->seq, 2U);
  EXPECT_THAT(texts(must(threads().load_events(fork.id.str()))), ElementsAre("1", "2"));
  EXPECT_EQ(must(threads().fork(id)).last_seq, 3U) << "all, by default";
  EXPECT_TRUE(fails(threads().fork(id, 4), ErrorCode::kInvalid, {"4"}));
}

TEST_P(ThreadOperations, ReadEventsReadsInParts) {
  CreateOptions options;
  options.events = {message("1"), message("2"), message("3")};
  const std::string id = create(options);
  ReadRange range;
  range.direction = Direction::kBackward;
  range.limit = 2;
  std::vector<std::string> seen;
  EXPECT_TRUE(ok(threads().read_events(id, range, [&seen](Event& event) {
    seen.push_back(text_of(event));
    return true;
  })));
  EXPECT_THAT(seen, ElementsAre("3", "2"));
}

}  // namespace
}  // namespace skein::test
