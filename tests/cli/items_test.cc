#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <map>
#include <set>

#include "api/work/place.h"
#include "program.h"
#include "skein/work_sessions.h"
#include "support/expect.h"
#include "support/manual_clock.h"

namespace skein::test {
namespace {

namespace json = boost::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

std::vector<std::string> names_of(const json::value& value) {
  std::vector<std::string> names;
  for (const auto& member : value.as_object()) names.emplace_back(member.key());
  return names;
}

std::string text_at(const json::value& value, std::string_view name) {
  return std::string(value.at(name).as_string());
}

class ItemCommands : public OnEveryBackend {
 protected:
  ItemCommands() { std::filesystem::create_directory(workspace_.path() / ".gitmem"); }

  std::string create(const std::string& text) const {
    const Ran ran = workspace_.run({"item", "create", text});
    EXPECT_EQ(ran.code, 0) << ran;
    return ran.out_line();
  }
  static std::chrono::milliseconds days(int count) { return std::chrono::hours(24) * count; }

  // A session of this workspace that began so long ago, a minute more; with an item it was closed
  // then.
  void start_long_ago(const std::string& id, std::chrono::milliseconds ago,
                      const std::string& item = {}) const {
    SettingsRequest request;
    request.workspace = workspace_.path().string();
    const Settings settings = must(resolve_settings(request));
    ManualClock clock;
    clock.set_wall_by(std::chrono::milliseconds(system_clock().now().ms() - clock.now().ms()) -
                      ago - std::chrono::minutes(1));
    const auto store = must(open_store(workspace_.url(GetParam(), "store")));
    WorkSessions sessions(*store, work_place(settings), clock, random_ids());
    StartSession wanted;
    wanted.agent = settings.default_agent;
    wanted.session_id = id;
    must(sessions.start(wanted));
    if (item.empty()) return;
    CloseSession closing;
    closing.session_id = id;
    closing.open_threads = Json::trusted("[" + Json::string(item).text() + "]");
    must(sessions.close(closing));
  }
  json::value file() const { return json::parse(workspace_.read(".gitmem/threads.json")); }
};

INSTANTIATE_ON_EVERY_BACKEND(ItemCommands);

TEST_P(ItemCommands, AnswerWithTheReturnsOfTheTools) {
  const json::value created = workspace_.run({"item", "create", "Fix it", "--json"}).json();
  EXPECT_THAT(names_of(created), ElementsAre("thread", "performance"));
  EXPECT_THAT(names_of(created.at("thread")), ElementsAre("id", "text", "status", "created_at"));
  EXPECT_GT(created.at("performance").at("latency_ms").to_number<double>(), 0);
  const std::string id = text_at(created.at("thread"), "id");
  EXPECT_THAT(id, MatchesRegex("t-[0-9a-f]{8}"));

  const json::value listed = workspace_.run({"item", "list", "--json"}).json();
  EXPECT_THAT(names_of(listed),
              ElementsAre("threads", "total_open", "total_resolved", "performance"));
  EXPECT_EQ(listed.at("threads").as_array().at(0), created.at("thread"));
  EXPECT_EQ(listed.at("total_open").as_int64(), 1);

  const json::value resolved =
      workspace_.run({"item", "resolve", id, "--note", "done", "--json"}).json();
  EXPECT_THAT(names_of(resolved), ElementsAre("success", "resolved_thread", "performance"));
  EXPECT_TRUE(resolved.at("success").as_bool());
  EXPECT_THAT(names_of(resolved.at("resolved_thread")),
              ElementsAre("id", "text", "status", "created_at", "resolved_at", "resolution_note"));
  EXPECT_EQ(file().as_array().at(0), resolved.at("resolved_thread"));
}

TEST_P(ItemCommands, ListTakesStatusIncludeResolvedAndProject) {
  const std::string id = create("Resolved one");
  create("Open one");
  workspace_.run({"item", "resolve", id});
  const auto texts = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"item", "list", "--json"});
    std::vector<std::string> found;
    const json::value answer = workspace_.run(more).json();
    for (const json::value& item : answer.at("threads").as_array()) {
      found.push_back(text_at(item, "text"));
    }
    return found;
  };
  EXPECT_THAT(texts({}), ElementsAre("Open one"));
  EXPECT_THAT(texts({"--status", "resolved"}), ElementsAre("Resolved one"));
  EXPECT_THAT(texts({"--include-resolved"}), ElementsAre("Resolved one", "Open one"));
  EXPECT_THAT(texts({"--project", "default"}), ElementsAre("Open one"));
  EXPECT_THAT(texts({"--project", "other"}), SizeIs(0));
  EXPECT_THAT(workspace_.run({"item", "list", "--project", "other"}).out,
              "0 open, 0 resolved in project other\n");
  EXPECT_EQ(workspace_.run({"item", "list", "--status", "shut"}).code, 2);
}

TEST_P(ItemCommands, RefusalsHaveTheirExitCodes) {
  create("Write the parser");
  const Ran duplicate = workspace_.run({"item", "create", "write the PARSER"});
  EXPECT_EQ(duplicate.code, 4) << duplicate;
  EXPECT_THAT(duplicate.err, AllOf(HasSubstr("Write the parser"), HasSubstr("--allow-duplicate")));
  EXPECT_EQ(workspace_.run({"item", "create", "write the PARSER", "--allow-duplicate"}).code, 0);
  create("Ship the parser to customers");
  EXPECT_EQ(workspace_.run({"item", "resolve", "t-00000000"}).code, 3);
  EXPECT_EQ(workspace_.run({"item", "resolve", "--text-match", "lexer"}).code, 3);
  EXPECT_EQ(workspace_.run({"item", "resolve", "--text-match", "parser"}).code, 1);
  EXPECT_EQ(workspace_.run({"item", "resolve", "--text-match", " "}).code, 1);
  EXPECT_EQ(workspace_.run({"item", "resolve"}).code, 2);
  EXPECT_EQ(workspace_.run({"item", "create", ""}).code, 1);
  EXPECT_EQ(workspace_.run({"item", "show", "x"}).code, 1);
  EXPECT_EQ(workspace_.run({"session", "close"}).code, 3);
}

TEST_P(ItemCommands, ResolveTakesPositionsAndNamesWhatElseIsResolved) {
  const std::string original = create("Flaky login test");
  create("Login test fails at times");
  const json::value resolved =
      workspace_.run({"item", "resolve", "#2", "--note", "Duplicate of " + original, "--json"})
          .json();
  EXPECT_EQ(text_at(resolved.at("also_resolved").as_array().at(0), "id"), original);
  EXPECT_EQ(workspace_.run({"item", "resolve", "#1"}).code, 3);
}

TEST_P(ItemCommands, APositionIsThatOfTheNamedProject) {
  workspace_.run({"session", "start", "--session", "a", "--project", "alpha"});
  workspace_.run({"item", "create", "Paint the fence", "--session", "a"});
  workspace_.run({"session", "start", "--session", "b", "--project", "beta"});
  create("Mow the lawn");
  const auto resolve = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"item", "resolve", "#1"});
    return workspace_.run(more);
  };
  EXPECT_THAT(workspace_.run({"item", "list", "--session", "a"}).out, HasSubstr("fence"));
  EXPECT_THAT(workspace_.run({"item", "list", "--all-projects"}).out,
              MatchesRegex(".*fence.*lawn.*\n2 open, 0 resolved\n"));
  EXPECT_THAT(resolve({"--all-projects"}).out, HasSubstr("Paint the fence"));
  workspace_.run({"item", "create", "Grease the hinges", "--session", "a"});
  EXPECT_THAT(resolve({"--project", "alpha"}).out, HasSubstr("Grease the hinges"));
  EXPECT_THAT(resolve({}).out, HasSubstr("Mow the lawn"));
  const Ran none = resolve({"--project", "alpha"});
  EXPECT_EQ(none.code, 3) << none;
  EXPECT_THAT(none.err, HasSubstr("alpha"));
  EXPECT_EQ(resolve({"--project", "alpha", "--all-projects"}).code, 2);
}

TEST_P(ItemCommands, RefuseASessionThatNobodyKnows) {
  const std::string id = create("Paint the fence");
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"item", "create", "x"}, {"item", "resolve", id}, {"item", "list"}}) {
    std::vector<std::string> named = words;
    named.insert(named.end(), {"--session", "nosuch"});
    const Ran refused = workspace_.run(named);
    EXPECT_EQ(refused.code, 3) << refused;
    EXPECT_THAT(refused.err, HasSubstr("unknown working session \"nosuch\""));
  }
  EXPECT_THAT(workspace_.run({"item", "list"}).out, HasSubstr("1 open"));
  workspace_.write(".skein/hooks/hooked.json",
                   R"({"session_id":"hooked","started_at":"2026-01-01T00:00:00Z",)"
                   R"("seen_at":"2026-01-01T00:00:00Z"})");
  EXPECT_EQ(workspace_.run({"item", "resolve", id, "--session", "hooked"}).code, 0);
}

// The hook exports the id before it records the session, which can fail.
TEST_P(ItemCommands, AnUnknownSessionOfTheEnvironmentIsANotice) {
  workspace_.run({"session", "start", "--session", "other", "--project", "other"});
  const auto with = [&](const std::string& arguments) {
    return workspace_.shell("SKEIN_SESSION=unrecorded skein " + arguments);
  };
  const Ran made = with("item create 'Paint the fence' --json");
  EXPECT_EQ(made.code, 0) << made;
  EXPECT_THAT(made.err, AllOf(HasSubstr("SKEIN_SESSION"), HasSubstr("unrecorded")));
  const json::value item = json::parse(made.out).at("thread");
  EXPECT_EQ(text_at(item, "source_session"), "unrecorded");
  const json::value shown = workspace_.run({"item", "show", text_at(item, "id"), "--json"}).json();
  EXPECT_NE(text_at(shown, "project"), "other") << "not that of another session";
  EXPECT_THAT(with("item list").out, HasSubstr("Paint the fence"));
  EXPECT_EQ(with("item resolve '#1'").code, 0);
  for (const std::string command : {"checkpoint", "handoff"}) {
    const Ran written = with(command + " x");
    EXPECT_EQ(written.code, 0) << written;
    EXPECT_THAT(written.err, HasSubstr("SKEIN_SESSION"));
  }
  EXPECT_EQ(with("item create y --session nosuch").code, 3);
}

TEST_P(ItemCommands, APayloadHasAProjectStateAndReportsWhatIsUnknown) {
  workspace_.run({"session", "start"});
  const Ran closed =
      workspace_.run({"session", "close", "--payload", "-"},
                     R"({"close_type":"quick","project_state":"Skein: OD-1done","mood":"good"})");
  EXPECT_EQ(closed.code, 0) << closed;
  EXPECT_THAT(closed.err, AllOf(HasSubstr("mood"), Not(HasSubstr("close_type"))));
  const json::value started = workspace_.run({"session", "start", "--json"}).json();
  EXPECT_EQ(text_at(started.at("project_state"), "project"), "Skein");
}

TEST_P(ItemCommands, SessionsThatAreOpenAreListedAndOldOnesClosedTogether) {
  workspace_.run({"session", "start"});
  EXPECT_THAT(workspace_.run({"session", "list"}).out, HasSubstr("1 open\n"));
  EXPECT_EQ(workspace_.run({"session", "close", "--stale"}).out, "0 closed\n");
  EXPECT_EQ(workspace_.run({"session", "close", "--stale", "--summary", "x"}).code, 2);
  start_long_ago("old-1", days(2));
  start_long_ago("old-2", days(1));
  EXPECT_THAT(workspace_.run({"session", "start"}).out,
              HasSubstr("2 more sessions were never closed"));
  const Ran closed = workspace_.run({"session", "close", "--stale"});
  EXPECT_THAT(closed.out, AllOf(HasSubstr("closed old-1: "), HasSubstr("closed old-2: "),
                                HasSubstr("\n2 closed\n")));
  EXPECT_THAT(workspace_.run({"session", "list"}).out,
              AllOf(HasSubstr("2 open\n"), Not(HasSubstr("old-"))));
}

TEST_P(ItemCommands, AStartAfterTwoWeeksSaysHowToTakeWhatIsLeft) {
  start_long_ago("old", days(15), "Paint the fence");
  std::filesystem::remove(workspace_.path() / ".gitmem/threads.json");
  const Ran started = workspace_.run({"session", "start", "--session", "new"});
  EXPECT_THAT(started.out,
              AllOf(HasSubstr("Session old, closed "), HasSubstr("left 1 open item that was not"),
                    HasSubstr("\nskein session start --session new --carry-from old\n"),
                    Not(HasSubstr("Paint the fence"))));
  // As it says.
  const Ran taken = workspace_.run({"session", "start", "--session", "new", "--carry-from", "old"});
  EXPECT_THAT(taken.out, AllOf(HasSubstr("Paint the fence"), Not(HasSubstr("--carry-from"))));
}

TEST_P(ItemCommands, ShowTellsWhatOpenedAnItemAndWhatClosedIt) {
  const std::string thread = workspace_.create();
  const std::string id =
      workspace_.run({"item", "create", "Linked", "--thread", thread, "--run", "run-1"}).out_line();
  workspace_.run({"item", "resolve", id, "--commit", "def5678", "--checkpoint", "T-1-x"});
  json::value shown = workspace_.run({"item", "show", id, "--json"}).json();
  EXPECT_EQ(text_at(shown.at("opened_by"), "thread"), thread);
  EXPECT_EQ(text_at(shown.at("opened_by"), "run"), "run-1");
  EXPECT_EQ(text_at(shown.at("closed_by"), "commit"), "def5678");
  EXPECT_EQ(text_at(shown.at("closed_by"), "checkpoint"), "T-1-x");
  EXPECT_EQ(text_at(shown.at("vitality"), "state"), "emerging");
  const Ran linked = workspace_.run({"item", "list", "--thread", thread, "--status", "resolved"});
  EXPECT_THAT(linked.out, StartsWith(id));

  workspace_.run({"thread", "delete", thread, "--yes"});
  shown = workspace_.run({"item", "show", id, "--json"}).json();
  EXPECT_TRUE(shown.at("opened_by").at("thread_is_gone").as_bool());
  EXPECT_THAT(workspace_.run({"item", "show", id}).out, HasSubstr(thread + " (deleted)"));
}

TEST_P(ItemCommands, ASessionCarriesItemsToAnotherWorkspace) {
  const std::string session(
      workspace_.run({"session", "start", "--json"}).json().at("session_id").as_string());
  create("Carry me over");
  const Ran closed = workspace_.run(
      {"session", "close", "--summary", "Half done", "--open", "One more", "--payload", "-",
       "--json"},
      R"({"open_threads":["{\"id\":\"t-abc\",\"note\":\"From a note\",\"status\":\"open\"}"]})");
  EXPECT_EQ(closed.code, 0) << closed;
  EXPECT_EQ(closed.json().at("created").as_int64(), 2);

  TempDir other;
  std::filesystem::create_directory(other.path() / ".gitmem");
  const Ran started =
      workspace_.run({"--workspace", other.path().string(), "session", "start", "--json"});
  const json::value answer = started.json();
  std::set<std::string> texts;
  for (const json::value& item : answer.at("open_threads").as_array()) {
    texts.insert(text_at(item, "text"));
  }
  EXPECT_THAT(texts, ElementsAre("Carry me over", "From a note", "One more"));
  EXPECT_EQ(text_at(answer.at("last_session"), "summary"), "Half done");
  EXPECT_EQ(text_at(answer.at("last_session"), "session_id"), session);

  const Ran text = workspace_.run({"--workspace", other.path().string(), "session", "start"});
  EXPECT_THAT(text.out, AllOf(StartsWith("# Working session "), HasSubstr("## Open (3)\n"),
                              HasSubstr("Carry me over (emerging, since "),
                              HasSubstr("## Never closed\n"), HasSubstr("Half done")));
}

TEST_P(ItemCommands, AStartTellsTheLastCheckpoints) {
  workspace_.run({"checkpoint", "half-way", "--summary", "The parser works"});
  const json::value started = workspace_.run({"session", "start", "--json"}).json();
  ASSERT_THAT(started.at("checkpoints").as_array(), SizeIs(1));
  EXPECT_EQ(text_at(started.at("checkpoints").as_array()[0], "summary"), "The parser works");
  EXPECT_THAT(workspace_.run({"session", "start"}).out, HasSubstr("## Last checkpoints\n- T-"));
}

TEST_P(ItemCommands, TheSessionThatAHookMadeKnownCountsBeforeTheNewest) {
  const auto start = [&] {
    return text_at(workspace_.run({"session", "start", "--json"}).json(), "session_id");
  };
  const std::string mine = start();
  start();
  const std::string skein = skein_program();
  const json::value created = json::parse(
      workspace_.shell("SKEIN_SESSION=" + mine + " " + skein + " item create x --json").out);
  EXPECT_EQ(text_at(created.at("thread"), "source_session"), mine);
  const json::value closed = json::parse(
      workspace_.shell("SKEIN_SESSION=" + mine + " " + skein + " session close --json").out);
  EXPECT_EQ(text_at(closed.at("session"), "session_id"), mine);
}

TEST_P(ItemCommands, StoredTextStaysOnItsLine) {
  create("two\nlines");
  EXPECT_THAT(workspace_.run({"item", "list"}).out, HasSubstr("two\\nlines\n"));
  EXPECT_THAT(workspace_.run({"session", "start"}).out, HasSubstr("two lines ("));
}

TEST_P(ItemCommands, ReadingMakesNoStore) {
  workspace_.write(".gitmem/threads.json", R"(["Fix it"])");
  EXPECT_THAT(workspace_.run({"item", "list"}).out, HasSubstr("Fix it\n1 open, 0 resolved\n"));
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(workspace_.path())) {
    names.push_back(entry.path().filename());
  }
  EXPECT_THAT(names, ElementsAre(".gitmem"));
}

TEST_P(ItemCommands, ADamagedFileIsReportedAndKept) {
  workspace_.write(".gitmem/threads.json", "[{");
  const Ran ran = workspace_.run({"item", "create", "x"});
  EXPECT_EQ(ran.code, 1) << ran;
  EXPECT_THAT(ran.err, HasSubstr("damaged-"));
  EXPECT_EQ(workspace_.read(".gitmem/threads.json"), "[{");
}

TEST_P(ItemCommands, ImportTakesTheListOfAnotherWorkspaceOnce) {
  workspace_.write("old/.gitmem/threads.json",
                   R"(["plain",{"id":"t-abc","text":"known","status":"resolved"}])");
  for (const char* path : {"old/.gitmem/threads.json", "old/.gitmem", "old"}) {
    const Ran ran = workspace_.run({"import", path, "--json"});
    EXPECT_EQ(ran.code, 0) << ran;
    const bool first = std::string_view(path) == "old/.gitmem/threads.json";
    EXPECT_EQ(ran.json().at("items").as_int64(), first ? 2 : 0) << path;
  }
  EXPECT_THAT(file().as_array(), SizeIs(2));
  workspace_.write("bad/.gitmem/threads.json", "[");
  EXPECT_EQ(workspace_.run({"import", "bad"}).code, 1);
  EXPECT_THAT(file().as_array(), SizeIs(2));
}

// --- Many processes in one folder ---

constexpr std::string_view kReader = R"py(
import json, select, sys
print("reading", flush=True)
contents, last = 0, None
while not select.select([sys.stdin], [], [], 0)[0]:
    with open(".gitmem/threads.json", "rb") as file:
        text = file.read()
    try:
        assert isinstance(json.loads(text), list)
    except Exception as problem:
        sys.exit(f"{problem}: {text[:200]} ({len(text)} bytes)")
    contents += text != last
    last = text
print(json.dumps({"contents": contents}))
)py";

TEST(ItemProcesses, FiftyAtOnceLoseNothingAndTheFileIsValidAtEveryInstant) {
  constexpr int kProcesses = 50;
  const Workspace workspace("sqlite");
  workspace.write(".gitmem/threads.json", "[]");
  // Programs of their own that open and read the file over and over, from before the first change
  // until after the last, and name the first content that is no list.
  std::vector<Running> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back(Start{.folder = workspace.path(),
                               .arguments = {"python3", "-c", std::string(kReader)},
                               .program = "/usr/bin/env"});
    ASSERT_EQ(readers.back().read_line(), "reading");
  }

  std::vector<Running> creators;
  for (int i = 0; i < kProcesses; ++i) {
    creators.push_back(
        workspace.start({"item", "create", "process number " + std::to_string(i), "--json"}));
  }
  std::map<std::string, std::string> acknowledged;  // text by id
  for (Running& creator : creators) {
    const Ran ran = creator.finish();
    ASSERT_EQ(ran.code, 0) << ran;
    const json::value item = ran.json().at("thread");
    acknowledged[text_at(item, "id")] = text_at(item, "text");
  }
  EXPECT_THAT(acknowledged, SizeIs(kProcesses));

  // Half of them are resolved while as many others are created.
  std::vector<Running> workers;
  std::set<std::string> resolved;
  for (const auto& [id, text] : acknowledged) {
    if (resolved.size() < kProcesses / 2) {
      resolved.insert(id);
      workers.push_back(workspace.start({"item", "resolve", id, "--json"}));
    } else {
      workers.push_back(workspace.start({"item", "create", "follow up on " + text, "--json"}));
    }
  }
  std::set<std::string> second;
  for (Running& worker : workers) {
    const Ran ran = worker.finish();
    ASSERT_EQ(ran.code, 0) << ran;
    const json::value answer = ran.json();
    if (answer.as_object().contains("thread")) second.insert(text_at(answer.at("thread"), "id"));
  }
  for (Running& reader : readers) {
    const Ran ran = reader.finish();
    EXPECT_EQ(ran.code, 0) << ran;
    EXPECT_GE(ran.json().at("contents").as_int64(), 2) << "it saw the list grow";
  }
  std::map<std::string, std::string> status;
  const json::value list = json::parse(workspace.read(".gitmem/threads.json"));
  for (const json::value& item : list.as_array()) {
    status[text_at(item, "id")] = text_at(item, "status");
  }
  EXPECT_THAT(status, SizeIs(kProcesses + kProcesses / 2));
  for (const auto& [id, text] : acknowledged) {
    EXPECT_EQ(status[id], resolved.contains(id) ? "resolved" : "open") << text;
  }
  for (const std::string& id : second) EXPECT_EQ(status[id], "open");
}

}  // namespace
}  // namespace skein::test
