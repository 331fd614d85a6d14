// A database that came with a folder: what in it would act does nothing until its user signs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "api/signing_secret.h"
#include "api/unsigned_records.h"
#include "runner/trigger_records.h"
#include "serving.h"
#include "support/builders.h"
#include "support/expect.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kTrust = "skein trust";

// Signs everything in the store of that workspace, as the user of this test.
void sign_all(const fs::path& workspace, const std::string& url) {
  Settings settings;
  settings.workspace = workspace;
  settings.store_url = url;
  const auto signer = workspace_signer(settings);
  const auto store = must(open_store(url));
  must(sign_records(*store, *signer, must(list_unsigned_records(*store, *signer))));
}

// `workspace_` has a database that somebody else made: with another secret, at the same path.
class HostileDatabase : public testing::Test {
 protected:
  // As whoever made the database.
  Ran as_maker(std::vector<std::string> arguments) const {
    return Running({.folder = workspace_.path(),
                    .arguments = std::move(arguments),
                    .environment = {"XDG_CONFIG_HOME=" + maker_.path().string()}})
        .finish();
  }
  std::string url() const { return "sqlite:" + (workspace_.path() / ".skein/skein.db").string(); }
  std::size_t count(std::string_view collection) const {
    return scan_all(*must(open_store(url())), collection).size();
  }

  const Workspace workspace_;
  const TempDir maker_;
};

TEST_F(HostileDatabase, KeyAuthenticatesNobodyAndKeepsTheServerClosed) {
  const std::string key = as_maker({"key", "create", "--access", "admin"}).out_line();
  ASSERT_THAT(key, testing::StartsWith("skein_"));
  const Serving server(workspace_);
  EXPECT_EQ(server.ask("GET", "/metrics", {}, key).status, 401);
  EXPECT_EQ(server.ask("GET", "/metrics").status, 401);
  EXPECT_EQ(server.ask("POST", "/threads", "{}").status, 401);
  const Ran listed = workspace_.run({"key", "list"});
  EXPECT_THAT(listed.out, HasSubstr("not signed"));
  EXPECT_THAT(listed.err, HasSubstr(kTrust));
  EXPECT_FALSE(workspace_.run({"key", "list", "--json"}).json().at(0).at("signed").as_bool());
  // A key of the user's own is the way in.
  const std::string own = workspace_.run({"key", "create", "--access", "admin"}).out_line();
  while (server.ask("GET", "/metrics", {}, own).status != 200) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(server.ask("GET", "/metrics", {}, key).status, 401);
  sign_all(workspace_.path(), url());
  while (server.ask("GET", "/metrics", {}, key).status != 200) std::this_thread::sleep_for(10ms);
}

TEST_F(HostileDatabase, TriggerThatIsDueDoesNotFire) {
  workspace_.create();
  // Both have been due every minute for three minutes; the scheduler comes to theirs first.
  const auto due = [](const char* id, const char* text) {
    Trigger trigger;
    trigger.id = id;
    trigger.agent_id = "echo";
    trigger.cron = "* * * * *";
    trigger.zone = "UTC";
    trigger.text = text;
    trigger.created_at = {system_clock().now().us - 180'000'000};
    return record("triggers", id, trigger_json(trigger));
  };
  {
    const auto store = must(open_store(url()));
    must(store->write(std::vector{due("trigger-0000000000000002", "ours")}));
  }
  sign_all(workspace_.path(), url());
  {
    const auto store = must(open_store(url()));
    must(store->write(std::vector{due("trigger-0000000000000001", "theirs")}));
  }
  Serving server(workspace_);
  while (count("trigger_firings") == 0) std::this_thread::sleep_for(10ms);
  const Ran ran = server.stop();
  EXPECT_THAT(ran.err, AllOf(HasSubstr("trigger-0000000000000001 never fires"), HasSubstr(kTrust),
                             HasSubstr("1 records are not signed")));
  for (const Record& firing : scan_all(*must(open_store(url())), "trigger_firings")) {
    EXPECT_THAT(firing.key, testing::StartsWith("trigger-0000000000000002/"));
  }
  EXPECT_THAT(workspace_.run({"trigger", "list"}).out, HasSubstr(kTrust));
}

TEST_F(HostileDatabase, TaskIsRefused) {
  const std::string task = as_maker({"task", "create", "echo", "Send it", "--later"}).out_line();
  const Ran refused = workspace_.run({"task", "run", task});
  EXPECT_EQ(refused.code, 4) << refused;
  EXPECT_THAT(refused.err, AllOf(HasSubstr(task), HasSubstr(kTrust)));
  EXPECT_THAT(workspace_.run({"task", "list"}).err, HasSubstr(kTrust));
  EXPECT_EQ(count("runs"), 0U);
}

TEST_F(HostileDatabase, QuestionIsNotAnsweredAndItsThreadTakesNoRuns) {
  const Ran demo = as_maker({"demo", "project", "--json"});
  ASSERT_EQ(demo.code, 0) << demo;
  const auto in_demo = [this](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--workspace", "project"});
    return workspace_.run(std::move(arguments));
  };
  const std::string run(demo.json().at("waitingRun").as_string());
  const Ran refused = in_demo({"runs", "resume", run, "--yes"});
  EXPECT_EQ(refused.code, 4) << refused;
  EXPECT_THAT(refused.err, AllOf(HasSubstr(run), HasSubstr(kTrust)));
  const auto shown = in_demo({"runs", "show", run, "--json"}).json();
  const std::string thread(shown.at("threadId").as_string());
  const std::string agent(shown.at("agentId").as_string());
  EXPECT_TRUE(shown.at("question").is_object());
  const Ran more = in_demo({"run", agent, "--thread", thread, "hello"});
  EXPECT_EQ(more.code, 4) << more;
  EXPECT_THAT(more.err, AllOf(HasSubstr(thread), HasSubstr(run), HasSubstr(kTrust)));
  EXPECT_EQ(in_demo({"runs", "cancel", run}).code, 0);
  EXPECT_EQ(in_demo({"run", agent, "--thread", thread, "hello"}).code, 0);
}

TEST_F(HostileDatabase, DoctorListsWhatIsNotSigned) {
  as_maker({"key", "create", "--access", "admin", "--name", "backdoor"});
  as_maker({"trigger", "add", "echo", "* * * * *", "Good morning"});
  const Ran doctor = workspace_.run({"doctor"});
  EXPECT_THAT(doctor.out, AllOf(HasSubstr("backdoor"), HasSubstr("Good morning"),
                                HasSubstr("repair: skein trust"),
                                HasSubstr("2 records that are not signed"), HasSubstr("healthy")));
  EXPECT_EQ(workspace_.run({"doctor", "--json"}).json().at("unsigned"), 2);
  sign_all(workspace_.path(), url());
  EXPECT_THAT(workspace_.run({"doctor"}).out, Not(HasSubstr("not signed")));
}

TEST_F(HostileDatabase, ReviewShowsTheEndOfEverythingThatItSigns) {
  workspace_.create();
  Trigger trigger;
  trigger.id = "trigger-0000000000000001";
  trigger.agent_id = "echo";
  trigger.cron = "@yearly";
  trigger.zone = "UTC";
  trigger.text = "Good morning" + std::string(200'000, ' ') + "and send it";
  trigger.name = std::string(100'000, 'n') + "end-of-name";
  must(must(open_store(url()))
           ->write(std::vector{record("triggers", trigger.id, trigger_json(trigger))}));
  EXPECT_THAT(workspace_.run({"trust", "--print"}).out,
              AllOf(HasSubstr("and send it"), HasSubstr("end-of-name"), Not(HasSubstr("…"))));
}

TEST_F(HostileDatabase, ReviewShowsEveryMemberOfATaskThatItSigns) {
  const std::string task =
      as_maker({"task", "create", "echo", "Update the README", "--later"}).out_line();
  std::string bytes;
  {
    const auto store = must(open_store(url()));
    bytes = without_signature(scan_all(*store, "tasks").front().bytes);
    bytes.pop_back();
    bytes += R"(,"steps":[{"title":"Step","details":")" + std::string(4000, ' ') +
             R"(send it all"}],"parentTaskId":"task-00000000000000aa","note":"as agreed",)"
             R"("later":{"field":"of a newer version"},"token":"a token","process":"a process",)"
             R"("hash":"a hash"})";
    must(store->write(std::vector{record("tasks", task, bytes)}));
  }
  EXPECT_THAT(workspace_.run({"trust", "--print"}).out,
              AllOf(HasSubstr("Update the README"), HasSubstr("send it all"),
                    HasSubstr("task-00000000000000aa"), HasSubstr("as agreed"),
                    HasSubstr("of a newer version"), HasSubstr("owner"), HasSubstr("a token"),
                    HasSubstr("a process"), HasSubstr("a hash")));
}

// --- What the user made ---

class OwnDatabase : public OnEveryBackend {};
INSTANTIATE_ON_EVERY_BACKEND(OwnDatabase);

TEST_P(OwnDatabase, KeepsWorkingFromProcessToProcess) {
  const std::string key = workspace_.run({"key", "create", "--access", "admin"}).out_line();
  const std::string task =
      workspace_.run({"task", "create", "echo", "Write it", "--later"}).out_line();
  ASSERT_EQ(workspace_.run({"trigger", "add", "echo", "@yearly", "Happy new year"}).code, 0);
  EXPECT_THAT(workspace_.run({"task", "run", task}).out, HasSubstr("Write it"));
  EXPECT_THAT(workspace_.run({"trigger", "list"}).out, Not(HasSubstr(kTrust)));
  const Serving server(workspace_);
  EXPECT_EQ(server.ask("GET", "/metrics", {}, key).status, 200);
  EXPECT_EQ(server.ask("GET", "/metrics").status, 401);
}

TEST(CopiedWorkspace, IsInertUntilItIsSigned) {
  const Workspace workspace;
  const std::string key = workspace.run({"key", "create", "--access", "admin"}).out_line();
  const std::string task =
      workspace.run({"task", "create", "echo", "Write it", "--later"}).out_line();
  const Workspace copy;
  fs::copy(workspace.path() / ".skein", copy.path() / ".skein",
           fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  EXPECT_EQ(copy.run({"task", "run", task}).code, 4);
  {
    const Serving server(copy);
    EXPECT_EQ(server.ask("GET", "/metrics", {}, key).status, 401);
  }
  sign_all(copy.path(), "sqlite:" + (copy.path() / ".skein/skein.db").string());
  EXPECT_EQ(copy.run({"task", "run", task}).code, 0);
  const Serving server(copy);
  EXPECT_EQ(server.ask("GET", "/metrics", {}, key).status, 200);
}

TEST(SigningSecret, IsMadeOnlyByWhatSigns) {
  const Workspace workspace;
  const TempDir user;
  const auto run = [&](std::vector<std::string> arguments) {
    return Running({.folder = workspace.path(),
                    .arguments = std::move(arguments),
                    .environment = {"XDG_CONFIG_HOME=" + user.path().string()}})
        .finish();
  };
  const std::string thread = run({"thread", "create"}).out_line();
  for (const std::vector<std::string>& plain :
       {std::vector<std::string>{"thread", "append", thread, "--text", "hi"},
        {"thread", "list"},
        {"key", "list"},
        {"trigger", "list"},
        {"task", "list"},
        {"runs", "list"},
        {"doctor"}}) {
    const Ran ran = run(plain);
    EXPECT_EQ(ran.code, 0) << ran;
  }
  EXPECT_TRUE(fs::is_empty(user.path()));
  EXPECT_EQ(run({"run", "echo", "hi"}).code, 0);
  EXPECT_TRUE(fs::is_regular_file(user.path() / "skein/secret"));
}

TEST(SigningSecret, ThatOthersCanReadStopsWhatSignsAndNothingElse) {
  const Workspace workspace;
  const TempDir user;
  const auto run = [&](std::vector<std::string> arguments) {
    return Running({.folder = workspace.path(),
                    .arguments = std::move(arguments),
                    .environment = {"XDG_CONFIG_HOME=" + user.path().string()}})
        .finish();
  };
  ASSERT_EQ(run({"run", "echo", "hi"}).code, 0);
  fs::permissions(user.path() / "skein/secret", fs::perms(0644));
  const Ran refused = run({"run", "echo", "hi"});
  EXPECT_EQ(refused.code, 1) << refused;
  EXPECT_THAT(refused.err, HasSubstr("chmod 600"));
  EXPECT_EQ(run({"thread", "list"}).code, 0);
}

TEST(SigningSecret, OfAServiceWhoseStateFolderIsTheWorkspaceIsRefusedWithWhereToMoveIt) {
  const TempDir parent;
  const fs::path state = parent.path() / "skein";
  fs::create_directory(state);
  const auto run = [&](const fs::path& workspace) {
    return Running({.folder = parent.path(),
                    .arguments = {"--workspace", workspace.string(), "run", "echo", "hi"},
                    .environment = {"STATE_DIRECTORY=" + state.string(),
                                    "XDG_CONFIG_HOME=" + parent.path().string()}})
        .finish();
  };
  const Ran refused = run(state);
  EXPECT_EQ(refused.code, 1) << refused;
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("move the workspace to " + (state / "workspace").string()),
                    HasSubstr("docs/server.md"), Not(HasSubstr("XDG_CONFIG_HOME"))));
  fs::create_directory(state / "workspace");
  const Ran moved = run(state / "workspace");
  EXPECT_EQ(moved.code, 0) << moved;
  EXPECT_TRUE(fs::is_regular_file(state / "secret"));
}

TEST(SigningSecret, WithoutAHomeFolderIsMadeInTheStateDirectory) {
  const Workspace workspace;
  const TempDir parent;
  const auto run = [&](const std::string& variables) {
    return workspace.shell("unset HOME XDG_CONFIG_HOME; " + variables + " skein run echo hi");
  };
  const Ran refused = run("");
  EXPECT_EQ(refused.code, 1) << refused;
  EXPECT_THAT(refused.err, AllOf(HasSubstr("HOME"), HasSubstr("STATE_DIRECTORY")));
  const fs::path state = parent.path() / "skein";
  const Ran ran = run("STATE_DIRECTORY=" + state.string());
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_TRUE(fs::is_regular_file(state / "secret"));
}

TEST(MigratedRecords, ArriveUnsignedAndTheReportEndsWithTheCommandThatSigns) {
  const Workspace workspace;
  workspace.run({"key", "create", "--access", "admin"});
  ASSERT_EQ(workspace.run({"trigger", "add", "echo", "* * * * *", "Good morning"}).code, 0);
  const std::string from = "sqlite:" + (workspace.path() / ".skein/skein.db").string();
  const std::string to = "jsonl:" + (workspace.path() / "copy").string();
  const Ran ran = workspace.run({"migrate", "--from", from, "--to", to});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_THAT(ran.out, HasSubstr("they are the same"));
  EXPECT_THAT(ran.out, HasSubstr("1 triggers are disabled"));
  EXPECT_THAT(ran.out, testing::EndsWith("trust\n"));
  const Ran more = workspace.run({"migrate", "--from", from, "--to", to, "--json"});
  EXPECT_EQ(more.json().at("trust").as_string(), "skein --store '" + to + "' trust") << more;
  EXPECT_EQ(more.json().at("unsigned"), 2);
  EXPECT_THAT(scan_all(*must(open_store(to)), "keys").front().bytes, Not(HasSubstr("hmac")));
  EXPECT_THAT(workspace.run({"key", "list", "--store", to}).out, HasSubstr("not signed"));
  // Signed and enabled there, the two are still the same.
  sign_all(workspace.path(), to);
  const auto trigger = workspace.run({"trigger", "list", "--json", "--store", to}).json().at(0);
  EXPECT_FALSE(trigger.at("enabled").as_bool());
  const std::string id(trigger.at("id").as_string());
  EXPECT_EQ(workspace.run({"trigger", "enable", id, "--store", to}).code, 0);
  const Ran again = workspace.run({"migrate", "--from", from, "--to", to, "--json"});
  EXPECT_EQ(again.code, 0) << again;
  EXPECT_EQ(again.json().at("unsigned"), 0);
  EXPECT_EQ(again.json().at("verified"), true);
  EXPECT_FALSE(again.json().as_object().contains("trust"));
  EXPECT_TRUE(workspace.run({"trigger", "list", "--json", "--store", to})
                  .json()
                  .at(0)
                  .at("enabled")
                  .as_bool());
  // Outside every workspace nothing needs a signature.
  const TempDir elsewhere;
  const Ran out = workspace.run(
      {"migrate", "--from", from, "--to", "sqlite:" + (elsewhere.path() / "x.db").string()});
  EXPECT_EQ(out.code, 0) << out;
  EXPECT_THAT(out.out, Not(HasSubstr("not signed")));
  const std::string outside = "sqlite:" + (elsewhere.path() / "x.db").string();
  EXPECT_FALSE(workspace.run({"trigger", "list", "--json", "--store", outside})
                   .json()
                   .at(0)
                   .at("enabled")
                   .as_bool());
}

// A database that somebody sent, in no workspace.
class MailedDatabase : public testing::Test {
 protected:
  Ran migrate(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"migrate", "--from", url_, "--to", "sqlite:" + copy_.string()});
    return workspace_.run(std::move(more));
  }
  // Of the refusal.
  static std::string digest_in(const Ran& refused) {
    const std::string option = "--with-records=";
    const std::size_t at = refused.err.find(option);
    EXPECT_NE(at, std::string::npos) << refused;
    return refused.err.substr(at + option.size(), 64);
  }

  const Workspace workspace_;
  const TempDir mail_;
  const TempDir elsewhere_;
  const std::string url_ = "sqlite:" + (mail_.path() / "mailed.db").string();
  const fs::path copy_ = elsewhere_.path() / "copy.db";
};

TEST_F(MailedDatabase, IsNotCopiedToWhereItsRecordsWouldAct) {
  workspace_.run({"key", "create", "--access", "admin", "--name", "backdoor", "--store", url_});
  workspace_.run({"trigger", "add", "echo", "* * * * *", "Good morning", "--store", url_});
  workspace_.run({"task", "create", "echo", "Send it", "--later", "--store", url_});
  const Ran refused = migrate();
  EXPECT_EQ(refused.code, 1) << refused;
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("backdoor"), HasSubstr("Good morning"), HasSubstr("Send it"),
                    HasSubstr("3 API keys, triggers, tasks or open runs")));
  EXPECT_FALSE(fs::exists(copy_));
  EXPECT_EQ(migrate({"--with-records", std::string(64, 'a')}).code, 1);
  EXPECT_FALSE(fs::exists(copy_));
  const std::string digest = digest_in(refused);
  // What the user agreed to is what was shown.
  workspace_.run({"key", "create", "--access", "admin", "--store", url_});
  EXPECT_EQ(migrate({"--with-records", digest}).code, 1);
  EXPECT_FALSE(fs::exists(copy_));
  const Ran copied = migrate({"--with-records", digest_in(migrate())});
  EXPECT_EQ(copied.code, 0) << copied;
  EXPECT_THAT(copied.out, HasSubstr("they are the same"));
}

TEST_F(MailedDatabase, IsCopiedWithoutAQuestionWhereNothingInItActs) {
  workspace_.create({"--store", url_});
  EXPECT_EQ(migrate().code, 0);
}

TEST_F(MailedDatabase, IsCopiedIntoAWorkspaceAsItIs) {
  workspace_.run({"key", "create", "--access", "admin", "--store", url_});
  const std::string inside = "jsonl:" + (workspace_.path() / "copy").string();
  const Ran ran = workspace_.run({"migrate", "--from", url_, "--to", inside});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_THAT(ran.out, HasSubstr("1 records are not signed"));
}

TEST_F(HostileDatabase, IsNotCopiedToWhereItsRecordsWouldAct) {
  as_maker({"key", "create", "--access", "admin"});
  as_maker({"trigger", "add", "echo", "* * * * *", "Good morning"});
  const TempDir elsewhere;
  const fs::path copy = elsewhere.path() / "copy.db";
  const std::string to = "sqlite:" + copy.string();
  const Ran refused = workspace_.run({"migrate", "--from", url(), "--to", to});
  EXPECT_EQ(refused.code, 1) << refused;
  EXPECT_THAT(refused.err, AllOf(HasSubstr("2 API keys"), HasSubstr(" trust\"")));
  EXPECT_FALSE(fs::exists(copy));
  // Nor from anywhere else.
  const Workspace other;
  const Ran from_outside = other.run({"migrate", "--from", url(), "--to", to});
  EXPECT_EQ(from_outside.code, 1) << from_outside;
  EXPECT_THAT(from_outside.err, AllOf(HasSubstr("skein --workspace " + workspace_.path().string()),
                                      HasSubstr(" trust\"")));
  EXPECT_FALSE(fs::exists(copy));
  // A store that needs signatures takes them as they are: inert.
  const std::string inside = "jsonl:" + (workspace_.path() / "copy").string();
  EXPECT_EQ(workspace_.run({"migrate", "--from", url(), "--to", inside}).code, 0);
  sign_all(workspace_.path(), url());
  const Ran copied = other.run({"migrate", "--from", url(), "--to", to});
  EXPECT_EQ(copied.code, 0) << copied;
  EXPECT_THAT(copied.out, HasSubstr("they are the same"));
}

TEST_F(HostileDatabase, WithAnOpenRunIsNotCopiedEither) {
  ASSERT_EQ(as_maker({"demo", "project"}).code, 0);
  const TempDir elsewhere;
  const std::string from = "sqlite:" + (workspace_.path() / "project/.skein/skein.db").string();
  const Ran refused = workspace_.run(
      {"migrate", "--from", from, "--to", "jsonl:" + (elsewhere.path() / "x").string()});
  EXPECT_EQ(refused.code, 1) << refused;
  EXPECT_THAT(refused.err, AllOf(HasSubstr("open runs"), HasSubstr("trust\" to review")));
}

TEST(ImportedRecords, DoNotActInAStoreThatNeedsNoSignatures) {
  const Workspace workspace;
  const TempDir elsewhere;
  workspace.write("nova/triggers.json",
                  R"([{"id":"t","agentId":"echo","cron":"* * * * *","tz":"UTC","prompt":"hi"}])");
  const std::string store = "sqlite:" + (elsewhere.path() / "x.db").string();
  const Ran imported = workspace.run({"import", "nova", "--store", store});
  EXPECT_EQ(imported.code, 0) << imported;
  const auto triggers = workspace.run({"trigger", "list", "--json", "--store", store}).json();
  ASSERT_EQ(triggers.as_array().size(), 1U);
  EXPECT_FALSE(triggers.at(0).at("enabled").as_bool());
}

}  // namespace
}  // namespace skein::test
