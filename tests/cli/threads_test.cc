#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "program.h"
#include "skein/store.h"
#include "support/builders.h"
#include "support/expect.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

constexpr const char* kAlias = "6f1c2f0e-9a57-4b0e-8f5e-0c1d2e3f4a5b";

class ThreadCommands : public OnEveryBackend {};

INSTANTIATE_ON_EVERY_BACKEND(ThreadCommands);

std::vector<std::string> ids_of(const Ran& list) {
  std::vector<std::string> ids;
  const auto manifests = list.json();
  for (const auto& manifest : manifests.as_array()) {
    ids.emplace_back(manifest.at("threadId").as_string());
  }
  return ids;
}

TEST_P(ThreadCommands, CreatePrintsTheNewIdAloneOrAsJson) {
  EXPECT_THAT(workspace_.run({"thread", "create"}).out, MatchesRegex("[a-f0-9]{12}\n"));
  const Ran json = workspace_.run({"thread", "create", "--json"});
  EXPECT_EQ(json.code, 0) << json;
  EXPECT_THAT(json.out, MatchesRegex("\\{\"threadId\":\"[a-f0-9]{12}\"\\}\n"));
}

TEST_P(ThreadCommands, CreateKeepsAllThatItIsGiven) {
  const std::string id = workspace_.create(
      {"--agent", "support", "--title", "A \"title\"", "--task-id", "t-7", "--alias", kAlias,
       "--metadata", R"({"n":1.50})", "--message", "[one,two]", "--message", "-three"});
  const auto shown = workspace_.run({"thread", "show", id, "--json"}).json();
  EXPECT_EQ(shown.at("threadId").as_string(), id);
  EXPECT_EQ(shown.at("agentId").as_string(), "support");
  EXPECT_EQ(shown.at("title").as_string(), "A \"title\"");
  EXPECT_EQ(shown.at("taskId").as_string(), "t-7");
  EXPECT_EQ(shown.at("alias").as_string(), kAlias);
  EXPECT_EQ(shown.at("metadata").at("n").as_double(), 1.5);
  EXPECT_THAT(workspace_.texts(id), ElementsAre("[one,two]", "-three"));
}

TEST_P(ThreadCommands, CreateRefusesABadAgentAndAnAliasThatIsTaken) {
  const Ran bad = workspace_.run({"thread", "create", "--agent", "../x"});
  EXPECT_EQ(bad.code, 1) << bad;
  EXPECT_THAT(bad.err, StartsWith("skein: "));
  workspace_.create({"--alias", kAlias});
  const Ran taken = workspace_.run({"thread", "create", "--alias", kAlias, "--json"});
  EXPECT_EQ(taken.code, 4) << taken;
  EXPECT_THAT(taken.err, HasSubstr(R"({"error":{"code":"conflict","message":)"));
}

TEST_P(ThreadCommands, ShowTakesTheIdItsUuidFormOrTheAlias) {
  const std::string id = workspace_.create({"--alias", kAlias, "--title", "Found"});
  for (const std::string& name : {id, "00000000-0000-4000-8000-" + id, std::string(kAlias)}) {
    const Ran ran = workspace_.run({"thread", "show", name});
    EXPECT_EQ(ran.code, 0) << ran;
    EXPECT_THAT(ran.out, HasSubstr("title     Found\n"));
    EXPECT_THAT(ran.out, HasSubstr("thread    " + id));
  }
}

TEST_P(ThreadCommands, AnUnknownThreadIsNotFoundByAnyCommand) {
  workspace_.create();
  const std::string unknown = "0123456789ab";
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"thread", "show", unknown},
                                             {"thread", "append", unknown, "--text", "x"},
                                             {"thread", "append", unknown, "--jsonl"},
                                             {"thread", "events", unknown},
                                             {"thread", "events", unknown, "--follow"},
                                             {"thread", "fork", unknown},
                                             {"thread", "delete", unknown, "--yes"},
                                             {"export", unknown}}) {
    const Ran ran = workspace_.run(command);
    EXPECT_EQ(ran.code, 3) << command[1] << ": " << ran;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr(unknown));
  }
  EXPECT_EQ(ids_of(workspace_.run({"thread", "list", "--json"})).size(), 1u);
}

TEST_P(ThreadCommands, AMalformedIdIsWrongUsageAndNamesTheRule) {
  for (const char* command : {"show", "append", "events", "fork", "delete"}) {
    const Ran ran = workspace_.run({"thread", command, "../../etc"});
    EXPECT_EQ(ran.code, 2) << ran;
    EXPECT_THAT(ran.err, HasSubstr("[a-f0-9]{12}"));
  }
}

TEST_P(ThreadCommands, AppendAnswersThePositionAsTextOrJson) {
  const std::string id = workspace_.create();
  EXPECT_EQ(workspace_.run({"thread", "append", id, "--text", "one"}).out, id + " 1\n");
  const Ran json =
      workspace_.run({"thread", "append", id, "--role", "assistant", "--text", "two", "--json"});
  EXPECT_EQ(json.out, "{\"seq\":2}\n");
  const auto events = workspace_.events(id);
  EXPECT_EQ(events.at(0).at("role").as_string(), "user");
  EXPECT_EQ(events.at(1).at("role").as_string(), "assistant");
}

TEST_P(ThreadCommands, AppendTakesTheTextFromStandardInput) {
  const std::string id = workspace_.create();
  const Ran ran =
      workspace_.run({"thread", "append", id, "--role", "tool"}, "line one\nline two\n");
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_THAT(workspace_.texts(id), ElementsAre("line one\nline two"));
}

TEST_P(ThreadCommands, AppendRefusesWhatIsNoText) {
  const std::string id = workspace_.create();
  const Ran ran = workspace_.run({"thread", "append", id, "--json"}, "\xff\xfe");
  EXPECT_EQ(ran.code, 1) << ran;
  EXPECT_THAT(ran.err, HasSubstr(R"("code":"invalid")"));
  EXPECT_TRUE(workspace_.events(id).empty());
}

TEST_P(ThreadCommands, AppendTakesAKeyOnceAndRefusesItForOtherText) {
  const std::string id = workspace_.create();
  const std::vector<std::string> append = {"thread", "append", id,  "--text",
                                           "pay",    "--key",  "k", "--json"};
  EXPECT_EQ(workspace_.run(append).out, "{\"seq\":1}\n");
  EXPECT_EQ(workspace_.run(append).out, "{\"seq\":1,\"repeated\":true}\n");
  const Ran other = workspace_.run({"thread", "append", id, "--text", "pay more", "--key", "k"});
  EXPECT_EQ(other.code, 4) << other;
  EXPECT_THAT(workspace_.texts(id), ElementsAre("pay"));
}

TEST_P(ThreadCommands, AppendRefusesAnotherPositionThanTheExpectedOneAndAWrongFence) {
  const std::string id = workspace_.create();
  EXPECT_EQ(workspace_.run({"thread", "append", id, "--text", "x", "--expect-seq", "2"}).code, 4);
  EXPECT_EQ(workspace_.run({"thread", "append", id, "--text", "x", "--fence", "77"}).code, 4);
  EXPECT_EQ(workspace_.run({"thread", "append", id, "--text", "x", "--expect-seq", "1"}).code, 0);
  EXPECT_THAT(workspace_.texts(id), ElementsAre("x"));
}

TEST_P(ThreadCommands, AppendWithABaseLeavesThePathOfWhatItReplaces) {
  const std::string id = workspace_.create({"--message", "one", "--message", "two"});
  const Ran ran = workspace_.run({"thread", "append", id, "--text", "instead", "--base", "1",
                                  "--metadata", R"({"why":"edit"})"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_THAT(workspace_.texts(id), ElementsAre("one", "two", "instead"));
  EXPECT_THAT(workspace_.texts(id, {"--path"}), ElementsAre("one", "instead"));
  EXPECT_EQ(workspace_.events(id).at(2).at("metadata").at("why").as_string(), "edit");
}

TEST_P(ThreadCommands, JsonThatCameOnSeveralLinesIsKeptOnOne) {
  const std::string id = workspace_.create({"--metadata", "{\n  \"a\": 1\r\n}"});
  const Ran appended =
      workspace_.run({"thread", "append", id, "--text", "x", "--metadata", "{\"b\":[1,\n2]}"});
  EXPECT_EQ(appended.code, 0) << appended;
  const auto events = workspace_.events(id);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].at("metadata").at("b").as_array().size(), 2u);
  EXPECT_EQ(workspace_.run({"export", id}).json_lines().size(), 2u);
  EXPECT_EQ(workspace_.run({"doctor", "--json"}).json().at("health").as_string(), "healthy");
}

TEST_P(ThreadCommands, EventsAreAnArrayOrLinesOrText) {
  const std::string id = workspace_.create();
  EXPECT_EQ(workspace_.run({"thread", "events", id, "--json"}).out, "[]\n");
  EXPECT_EQ(workspace_.run({"thread", "events", id}).out, "");
  workspace_.append(id, "first line\nsecond line");
  workspace_.append(id, "two");
  const auto array = workspace_.run({"thread", "events", id, "--json"}).json().as_array();
  ASSERT_EQ(array.size(), 2u);
  EXPECT_EQ(array.at(1).at("seq").as_int64(), 2);
  EXPECT_EQ(array.at(1).at("type").as_string(), "message");
  EXPECT_EQ(workspace_.events(id).size(), 2u);
  const Ran text = workspace_.run({"thread", "events", id});
  EXPECT_THAT(text.out, HasSubstr("  user\n      first line\n      second line\n"));
}

TEST_P(ThreadCommands, EventsReadInPartsAndBackwards) {
  const std::string id = workspace_.create(
      {"--message", "1", "--message", "2", "--message", "3", "--message", "4", "--message", "5"});
  EXPECT_THAT(workspace_.texts(id, {"--since", "3"}), ElementsAre("4", "5"));
  EXPECT_THAT(workspace_.texts(id, {"--since", "1", "--limit", "2"}), ElementsAre("2", "3"));
  EXPECT_THAT(workspace_.texts(id, {"--reverse", "--limit", "2"}), ElementsAre("5", "4"));
  EXPECT_THAT(workspace_.texts(id, {"--reverse", "--since", "3"}), ElementsAre("5", "4"));
  EXPECT_TRUE(workspace_.texts(id, {"--since", "5"}).empty());
  EXPECT_TRUE(workspace_.texts(id, {"--since", "18446744073709551615"}).empty());
}

TEST_P(ThreadCommands, ListFiltersByAgentStatusAndMetadata) {
  const std::string a =
      workspace_.create({"--agent", "a", "--metadata", R"({"n":42,"tier":"gold"})"});
  const std::string b = workspace_.create({"--agent", "b", "--metadata", R"({"n":"42"})"});
  const auto list = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"thread", "list", "--json"});
    return ids_of(workspace_.run(more));
  };
  EXPECT_THAT(list({"--agent", "a"}), ElementsAre(a));
  EXPECT_THAT(list({"--meta", "n=42"}), ElementsAre(a));
  EXPECT_THAT(list({"--meta", "n=\"42\""}), ElementsAre(b));
  EXPECT_THAT(list({"--meta", "n=42", "--meta", "tier=gold"}), ElementsAre(a));
  EXPECT_TRUE(list({"--meta", "n=42", "--meta", "tier=tin"}).empty());
  EXPECT_TRUE(list({"--status", "closed"}).empty());
  EXPECT_EQ(list({"--status", "active"}).size(), 2u);
}

TEST_P(ThreadCommands, ListShowsTheNewestFirstAndGoesOnFromACursor) {
  const std::string first = workspace_.create({"--title", "first\nline"});
  const std::string second = workspace_.create();
  workspace_.append(first, "moves it to the front");
  EXPECT_THAT(ids_of(workspace_.run({"thread", "list", "--json"})), ElementsAre(first, second));
  EXPECT_THAT(ids_of(workspace_.run({"thread", "list", "--json", "--order", "oldest", "--all"})),
              ElementsAre(first, second));
  const Ran page = workspace_.run({"thread", "list", "--json", "--limit", "1"});
  EXPECT_THAT(ids_of(page), ElementsAre(first));
  EXPECT_THAT(page.err, StartsWith(R"({"next":")"));
  const std::string cursor = page.err.substr(9, page.err.size() - 12);
  const Ran next = workspace_.run({"thread", "list", "--json", "--after", cursor});
  EXPECT_THAT(ids_of(next), ElementsAre(second));
  EXPECT_EQ(next.err, "");

  const Ran table = workspace_.run({"thread", "list"});
  EXPECT_THAT(table.out, StartsWith("THREAD "));
  EXPECT_THAT(table.out, HasSubstr("first\\nline\n"));
}

TEST_P(ThreadCommands, ListRefusesWhatItCannotFilterBy) {
  EXPECT_EQ(workspace_.run({"thread", "list", "--meta", "novalue"}).code, 2);
  EXPECT_EQ(workspace_.run({"thread", "list", "--status", "open"}).code, 2);
  EXPECT_EQ(workspace_.run({"thread", "list", "--limit", "0"}).code, 2);
  EXPECT_EQ(workspace_.run({"thread", "list", "--limit", "-1"}).code, 2);
  workspace_.create();
  EXPECT_EQ(workspace_.run({"thread", "list", "--after", "nonsense"}).code, 1);
}

TEST_P(ThreadCommands, ForkCopiesUpToAPointAndNamesItsParent) {
  const std::string id = workspace_.create({"--message", "one", "--message", "two"});
  const Ran ran = workspace_.run({"thread", "fork", id, "--at", "1", "--json"});
  EXPECT_EQ(ran.code, 0) << ran;
  const std::string fork(ran.json().at("threadId").as_string());
  EXPECT_THAT(workspace_.texts(fork), ElementsAre("one"));
  const auto shown = workspace_.run({"thread", "show", fork, "--json"}).json();
  EXPECT_EQ(shown.at("parent").at("threadId").as_string(), id);
  EXPECT_EQ(shown.at("parent").at("seq").as_int64(), 1);
  EXPECT_THAT(workspace_.texts(workspace_.run({"thread", "fork", id}).out_line()),
              ElementsAre("one", "two"));
}

TEST_P(ThreadCommands, AForkLosesTheMarkOfATemporaryThreadThatNobodyElseSets) {
  const std::string store = workspace_.url(GetParam(), "served");
  NewThread temporary;
  temporary.agent_id = "echo";
  temporary.fields = patch(R"({"metadata":{"langgraph_temporary":true,"user":"ada"}})");
  const std::string id = must(must(open_store(store))->create(temporary)).id.str();
  const std::string fork = workspace_.run({"thread", "fork", id, "--store", store}).out_line();
  const Ran shown = workspace_.run({"thread", "show", fork, "--store", store, "--json"});
  EXPECT_THAT(shown.out, HasSubstr(R"("metadata":{"user":"ada"})"));
  const std::string mark = R"({"langgraph_temporary":true})";
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"thread", "create", "--store", store, "--metadata", mark},
           {"thread", "update", fork, "--store", store, "--metadata", mark}}) {
    const Ran refused = workspace_.run(command);
    EXPECT_EQ(refused.code, 1) << refused;
    EXPECT_THAT(refused.err, HasSubstr("langgraph_temporary"));
  }
}

TEST_P(ThreadCommands, DeleteRemovesTheThreadAndAsksBefore) {
  const std::string id = workspace_.create();
  const Ran nobody = workspace_.run({"thread", "delete", id});
  EXPECT_EQ(nobody.code, 2) << nobody;
  EXPECT_EQ(workspace_.run_on_terminal({"thread", "delete", id}, "n\n").code, 1);
  EXPECT_EQ(workspace_.run({"thread", "show", id}).code, 0);
  const Ran yes = workspace_.run_on_terminal({"thread", "delete", id}, "y\n");
  EXPECT_EQ(yes.code, 0) << yes;
  EXPECT_EQ(workspace_.run({"thread", "show", id}).code, 3);
  const std::string other = workspace_.create();
  const Ran json = workspace_.run({"thread", "delete", other, "--yes", "--json"});
  EXPECT_EQ(json.out, "{\"threadId\":\"" + other + "\",\"deleted\":true}\n");
}

class ThreadsOfOlderPrograms : public testing::Test {
 protected:
  void SetUp() override {
    workspace_.write(
        "store/writer/threads/a1b2c3d4e5f6.jsonl",
        R"({"channel":"telegram","mood":"blue","createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-01T00:00:00Z"}
{"role":"user","text":"legacy","timestamp":"2026-01-01T00:00:01Z"}
)");
  }

  Workspace workspace_{"jsonl"};
};

TEST_F(ThreadsOfOlderPrograms, ShowEverythingButTheChannel) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"thread", "show", "a1b2c3d4e5f6"},
                                             {"thread", "show", "a1b2c3d4e5f6", "--json"},
                                             {"thread", "list", "--json"}}) {
    const Ran ran = workspace_.run(arguments);
    ASSERT_EQ(ran.code, 0) << ran;
    EXPECT_THAT(ran.out, testing::Not(HasSubstr("telegram")));
    EXPECT_THAT(ran.out, HasSubstr("blue"));
    EXPECT_THAT(ran.out, HasSubstr("writer"));
  }
  ASSERT_EQ(workspace_.run({"thread", "update", "a1b2c3d4e5f6", "--title", "New"}).code, 0);
  EXPECT_THAT(workspace_.read("store/writer/threads/a1b2c3d4e5f6.jsonl"),
              HasSubstr(R"("channel":"telegram")"))
      << "the file keeps it";
  EXPECT_THAT(workspace_.run({"export", "a1b2c3d4e5f6"}).out, HasSubstr("telegram"));
}

TEST_F(ThreadsOfOlderPrograms, HaveTheTimeOfTheirLastRunInLineOne) {
  ASSERT_EQ(workspace_.run({"run", "echo", "Hello"}).code, 0);
  const auto threads = workspace_.run({"thread", "list", "--agent", "echo", "--json"}).json();
  const auto& thread = threads.as_array().at(0);
  const std::string id(thread.at("threadId").as_string());
  const std::string content = workspace_.read("store/echo/threads/" + id + ".jsonl");
  const auto line = boost::json::parse(content.substr(0, content.find("  ")));
  EXPECT_EQ(line.at("updatedAt"), thread.at("updatedAt"));
  EXPECT_EQ(line.at("updatedAt").as_string(),
            workspace_.events(id).back().at("timestamp").as_string());
}

class ThreadsInNumbers : public OnEveryBackend {
 protected:
  void SetUp() override {
    for (int i = 0; i < 53; ++i) workspace_.create({"--metadata", R"({"user_id":"u-1"})"});
    workspace_.create({"--metadata", R"({"user_id":"u-2"})"});
  }
};
INSTANTIATE_ON_EVERY_BACKEND(ThreadsInNumbers);

TEST_P(ThreadsInNumbers, AreAllListedAndCountedAndPagedOnRequest) {
  const std::vector<std::string> list = {"thread", "list", "--meta", "user_id=u-1"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = list;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return workspace_.run(arguments);
  };
  EXPECT_EQ(with({"--json"}).json().as_array().size(), 53U);
  EXPECT_EQ(with({"--count"}).out, "53\n");
  EXPECT_EQ(with({"--count", "--json"}).json().at("count"), 53);
  const Ran page = with({"--limit", "50", "--json"});
  EXPECT_EQ(page.json().as_array().size(), 50U);
  EXPECT_THAT(page.err, HasSubstr("next"));
  const Ran terminal = workspace_.run_on_terminal(list);
  EXPECT_THAT(terminal.out + terminal.err, HasSubstr("more threads follow"));
  EXPECT_EQ(with({"--count", "--limit", "3"}).code, 2);
}

}  // namespace
}  // namespace skein::test
