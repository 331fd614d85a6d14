// What a tour of the commands leaves on disk: private, and nothing of it for git.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <set>
#include <sstream>

#include "program.h"
#include "support/git_sandbox.h"
#include "support/postgres_server.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

unsigned mode_of(const fs::path& path) {
  struct stat st{};
  EXPECT_EQ(::lstat(path.c_str(), &st), 0) << path;
  return st.st_mode & 0777U;
}

std::set<fs::path> everything_in(const fs::path& folder) {
  std::set<fs::path> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().string().find("/.git/") == std::string::npos) all.insert(entry.path());
  }
  return all;
}

// What git made in a repository, with the folders that it is in.
std::set<fs::path> checked_out(const fs::path& repository) {
  std::set<fs::path> made = {repository / ".git"};
  std::istringstream lines(git(repository, {"ls-files"}));
  for (std::string line; std::getline(lines, line);) {
    for (fs::path path = repository / line; path != repository; path = path.parent_path()) {
      made.insert(path);
    }
  }
  return made;
}

// In this order; each must end well. $other is a store besides, $out a folder for exports, $sources
// what other programs left.
constexpr const char* kTour = R"sh(
set -euo pipefail
skein config set embedder none
skein init
skein config set project tour
skein config unset project
skein agent add helper --engine echo
skein agent edit helper --set description=Helps
skein agent add gone --engine echo
skein agent remove gone --yes
skein agent list
skein agent show helper
skein agent check
skein hook install --yes
skein mcp install claude-code --yes
skein mcp install cursor --yes
skein mcp install codex --yes
thread=$(skein thread create --title Tour)
skein thread append $thread --role user --text "What did we decide about retries?"
echo "Three attempts." | skein thread append $thread --role assistant
fork=$(skein thread fork $thread --at 1)
skein thread update $thread --title "Another title"
skein thread pin $thread 1
skein thread unpin $thread 1
skein thread summarize $thread --extract --threshold 1 --keep-recent 1
skein thread pause $thread
skein thread resume $thread
skein thread close $thread
skein thread archive $thread
skein thread restore $thread
skein thread list
skein thread show $thread
skein thread events $thread
skein thread messages $thread
skein thread context $thread
skein run echo "Hello there"
echo "Hello again" | skein chat echo
skein agent add asker --engine echo --set 'capabilities.builtin=["work_items"]' \
  --set 'capabilities.confirm=["list_work_items"]'
skein run asker "/again list_work_items {}" || test $? = 1
skein runs list
run=$(skein runs list --json | grep -o '"runId":"[^"]*"' | head -1 | cut -d '"' -f 4)
skein runs show $run
skein runs resume $run --yes || test $? = 1
skein runs cancel $run
skein usage
skein search retries --all-agents --embedder none
skein backfill --embedder none
python3 -c "$vectors" > $out/port &
server=$!
until test -s $out/port; do kill -0 $server; done
skein backfill --embedder openai:http://127.0.0.1:$(cat $out/port)/v1#m
kill $server
rm $out/port
skein session start
skein session list
skein item create "Left to do"
skein item list
skein item show $(skein item list --json | grep -o '"id":"t-[^"]*"' | head -1 | cut -d '"' -f 4)
skein item resolve --text-match "Left to do"
skein session close --summary Done
skein checkpoint tour --summary "A tour"
skein handoff rest --summary "The rest"
skein checkpoints list
skein checkpoints show tour
skein checkpoints search tour
skein resume tour
echo "{\"session_id\":\"s1\",\"cwd\":\"$PWD\",\"hook_event_name\":\"SessionStart\"}" | skein hook session-start
git commit --quiet --allow-empty --message Commit
echo "{\"session_id\":\"s1\",\"cwd\":\"$PWD\",\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"git commit -m Commit\"},\"tool_response\":{}}" | skein hook post-tool-use
echo "{\"session_id\":\"s1\",\"hook_event_name\":\"Stop\"}" | skein hook stop
echo "{\"session_id\":\"s1\",\"hook_event_name\":\"SessionEnd\"}" | skein hook session-end
echo "no JSON" | skein hook stop
task=$(skein task create echo "Later" --step Read --later)
skein task update $task --done 1
skein task run $task
skein task show $task
skein task complete $task
skein task cancel $(skein task create echo "Never" --later)
skein task list
skein task history
skein trigger add echo "0 9 * * *" "Every day" --name daily
trigger=$(skein trigger add echo "0 10 * * *" "Once")
skein trigger edit $trigger --text "Never"
skein trigger disable $trigger
skein trigger enable $trigger
skein trigger remove $trigger
skein trigger list
skein key create --access admin --name tour
skein key revoke $(skein key list --json | grep -o '"id":"[^"]*"' | cut -d '"' -f 4)
skein key create --access admin --name tour
skein key list
skein export --all --output $out/all.jsonl
skein export $thread --format markdown --output $out/one.md
skein import $out/all.jsonl
skein import $sources/nova
skein import $sources/gitmem
skein import $sources/hq
mkdir agents/written
echo '{"engine":"openai","model":"m"}' > agents/written/agent.json
skein trust --trust=$(skein trust --print | sed -n 's/^digest //p')
skein trust list
skein trust revoke --definition agent:written
rm -r agents/written
skein migrate --from "$SKEIN_STORE_URL" --to $other
skein cleanup
skein redact < /dev/null
skein thread delete $fork --yes
for agent in agent-builder nova researcher; do skein agent remove $agent --yes; done
skein doctor --setup
skein doctor
skein doctor --repair
env -u SKEIN_STORE skein demo $out/demo
echo '{"jsonrpc":"2.0","id":1,"method":"ping"}' | skein mcp
skein serve --port 0 > $out/serve.log 2>&1 &
until grep --quiet Stop $out/serve.log; do kill -0 $!; done
kill $!; wait $! || true
)sh";

// Says its port, and answers with a vector for each text.
constexpr const char* kVectors = R"py(
import http.server, json
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        data = [{"index": i, "embedding": [1.0, 0.5, 0.25]} for i in range(len(texts))]
        body = json.dumps({"data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
)py";

// What the tour need not have.
const std::set<std::string> kOnlyRead = {
    "checkpoint list", "checkpoint search", "checkpoint show",  // as "checkpoints …"
    "completion", "config get", "watch",
    // They measure, in a temporary folder that they remove.
    "bench checkpoints", "bench context", "bench embedding", "bench http", "bench mcp",
    "bench recall", "bench runs", "bench scale", "bench search", "bench store"};

// As completion knows them; a group counts if it is a command by itself.
std::set<std::string> all_commands() {
  const Workspace workspace;
  const std::string script = workspace.run({"completion", "bash"}).out;
  const std::size_t begin = script.find(" in /") + 4;
  std::istringstream paths(script.substr(begin, script.find(')', begin) - begin));
  std::set<std::string> commands;
  for (std::string path; std::getline(paths, path, '|');) {
    std::replace(path.begin(), path.end(), '/', ' ');
    commands.insert(path.substr(1));
  }
  for (const char* group : {"agent", "bench", "checkpoints", "config", "hook", "item", "key",
                            "runs", "session", "task", "thread", "trigger"}) {
    EXPECT_EQ(commands.erase(group), 1U) << group;
  }
  return commands;
}

bool tour_has(const std::string& command) {
  const std::string_view tour = kTour;
  const std::string words = "skein " + command;
  for (std::size_t at = tour.find(words); at != std::string_view::npos;
       at = tour.find(words, at + 1)) {
    if (std::string_view(" \n)").find(tour[at + words.size()]) != std::string_view::npos)
      return true;
  }
  return false;
}

TEST(TourOfCommands, HasEveryCommandThatWrites) {
  const std::set<std::string> commands = all_commands();
  EXPECT_GT(commands.size(), 80U);
  for (const std::string& command : commands) {
    EXPECT_NE(tour_has(command), kOnlyRead.contains(command)) << command;
  }
  for (const std::string& command : kOnlyRead) EXPECT_TRUE(commands.contains(command)) << command;
}

class Tour : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  Tour() {
    fs::create_directories(out());
    fs::create_directories(repository());
    init_repository(repository());
    commit_file(repository(), "README", "A project", "Begin");
    for (const std::string program : {"nova", "gitmem", "hq"}) {
      const Ran made =
          Running({.folder = sources_.path(),
                   .arguments = {SKEIN_SOURCE_DIR "/tests/moving/make_" + program + ".py",
                                 (sources_.path() / program).string()},
                   .program = "/usr/bin/python3"})
              .finish();
      EXPECT_EQ(made.code, 0) << made;
    }
  }

  fs::path home() const { return folder_.path() / "home"; }
  fs::path repository() const { return home() / "project"; }
  fs::path out() const { return home() / "out"; }

  std::string backend() const { return std::get<0>(GetParam()); }
  std::string store() const {
    if (backend() == "postgres") return tables_.url();
    return backend() == "jsonl" ? "jsonl:" + (repository() / "workspace/agents").string()
                                : "sqlite:" + (repository() / ".skein/skein.db").string();
  }
  std::string other_store() const {
    return backend() == "jsonl" ? "jsonl:" + (repository() / "copy").string()
                                : "sqlite:" + (repository() / "copy/x.db").string();
  }

  Ran take() const {
    Start start{.folder = repository(), .arguments = {}};
    start.program = "/bin/bash";
    start.own_network = true;
    start.arguments = {"-c", "umask " + std::get<1>(GetParam()) + "\n" + kTour};
    start.environment = {"HOME=" + home().string(),
                         "PATH=" + path_with_skein(),
                         "out=" + out().string(),
                         "other=" + other_store(),
                         "sources=" + sources_.path().string(),
                         std::string("vectors=") + kVectors,
                         "SKEIN_STORE_URL=" + store(),
                         "CODEX_HOME=" + (home() / "codex").string(),
                         "GIT_AUTHOR_NAME=A",
                         "GIT_AUTHOR_EMAIL=a@example.org",
                         "GIT_COMMITTER_NAME=A",
                         "GIT_COMMITTER_EMAIL=a@example.org"};
    if (backend() != "sqlite") start.environment.push_back("SKEIN_STORE=" + store());
    return Running(start).finish();
  }

  TempDir folder_;
  TempDir sources_;
  const PostgresTables tables_;
};

TEST_P(Tour, LeavesPrivateFilesAndNothingForGit) {
  const std::set<fs::path> before = everything_in(home());
  const Ran ran = take();
  ASSERT_EQ(ran.code, 0) << ran;
  const std::set<fs::path> by_git = checked_out(out() / "demo");
  std::size_t looked_at = 0;
  for (const fs::path& path : everything_in(home())) {
    if (before.contains(path) || by_git.contains(path) || path == out() / "serve.log") continue;
    ++looked_at;
    EXPECT_EQ(mode_of(path), fs::is_directory(path) ? 0700U : 0600U) << path;
  }
  EXPECT_GT(looked_at, 60U);

  std::vector<std::string> added;
  std::istringstream lines(git(repository(), {"add", "--all", "--dry-run"}));
  for (std::string line; std::getline(lines, line);) {
    const bool checkpoint = line.starts_with("add 'workspace/threads/") &&
                            (line.ends_with(".json'") || line.ends_with(".md'"));
    if (!checkpoint) added.push_back(line);
  }
  EXPECT_THAT(added, testing::UnorderedElementsAre(
                         "add '.claude/settings.json'", "add '.cursor/mcp.json'", "add '.mcp.json'",
                         "add '.gitmem/.gitignore'", "add '.gitmem/threads.json'",
                         "add '.skein/.gitignore'", "add '.skein/config.json'",
                         "add 'agents/asker/agent.json'", "add 'agents/helper/agent.json'"));
}

INSTANTIATE_TEST_SUITE_P(Everywhere, Tour,
                         testing::Combine(testing::Values("sqlite", "jsonl", "postgres"),
                                          testing::Values("000", "022", "077")),
                         [](const auto& tour) {
                           return std::get<0>(tour.param) + std::get<1>(tour.param);
                         });

// Programs that Skein starts work on the user's files, with the user's umask.
TEST(PrivateFiles, ProgramsThatSkeinStartsHaveTheUsersUmask) {
  const Workspace workspace;
  const Ran ran = workspace.shell("umask 027; skein demo demo");
  ASSERT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(mode_of(workspace.path() / "demo/.git/HEAD"), 0640U);
  EXPECT_EQ(mode_of(workspace.path() / "demo/.skein"), 0700U);
}

TEST(PrivateFiles, AStoreThatGitWouldTakeIsWarnedAboutOnce) {
  const Workspace workspace;
  init_repository(workspace.path());
  fs::create_directory(workspace.path() / "notes");
  const auto create = [&](const std::string& store) {
    return workspace.run({"thread", "create", "--store", store});
  };
  const Ran first = create("sqlite:notes/my.db");
  EXPECT_EQ(first.code, 0) << first;
  EXPECT_THAT(first.err, AllOf(HasSubstr((workspace.path() / "notes/my.db").string()),
                               HasSubstr("\"/notes/my.db*\" to " +
                                         (workspace.path() / ".gitignore").string())));
  EXPECT_EQ(std::count(first.err.begin(), first.err.end(), '\n'), 1) << first;
  EXPECT_THAT(create("sqlite:notes/my.db").err, IsEmpty());
  const std::string copied = "sqlite:" + (workspace.path() / "copy.db").string();
  EXPECT_THAT(workspace.run({"migrate", "--from", "sqlite:notes/my.db", "--to", copied}).err,
              HasSubstr("\"/copy.db*\""));
  fs::create_directory(workspace.path() / "files");
  EXPECT_THAT(create("jsonl:files").err, HasSubstr("\"/files/\""));
  EXPECT_THAT(create("jsonl:files").err, IsEmpty());
  // As it says.
  workspace.write(".gitignore", "/notes/my.db*\n/copy.db*\n/files/\n");
  EXPECT_THAT(create("sqlite:notes/my.db").err, IsEmpty());
  EXPECT_THAT(git(workspace.path(), {"add", "--all", "--dry-run"}),
              AllOf(Not(HasSubstr("my.db")), Not(HasSubstr("copy.db")), Not(HasSubstr("files"))));
  // Where Skein makes the folder, it keeps it from git.
  EXPECT_THAT(create("sqlite:made/x.db").err, Not(HasSubstr("git add")));
  EXPECT_THAT(create("sqlite:made/y.db").err, Not(HasSubstr("git add")));
}

TEST(PrivateFiles, AnExportThatReplacesAFileKeepsItsMode) {
  const Workspace workspace;
  const std::string thread = workspace.create();
  workspace.write("shared.md", "");
  fs::permissions(workspace.path() / "shared.md", fs::perms(0644));
  const Ran ran =
      workspace.run({"export", thread, "--format", "markdown", "--output", "shared.md"});
  ASSERT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(mode_of(workspace.path() / "shared.md"), 0644U);
}

// As an earlier version left it.
class OpenToOthers : public testing::Test {
 protected:
  OpenToOthers() {
    workspace_.create();
    fs::permissions(own(), fs::perms(0755));
    for (const auto& entry : fs::directory_iterator(own())) {
      fs::permissions(entry.path(), fs::perms(entry.is_directory() ? 0755 : 0644));
    }
  }
  fs::path own() const { return workspace_.path() / ".skein"; }

  Workspace workspace_;
};

TEST_F(OpenToOthers, IsWarnedAboutInOneLineThatNamesTheRepair) {
  const Ran ran = workspace_.run({"thread", "list", "--json"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_THAT(ran.err, AllOf(HasSubstr(own().string()), HasSubstr("0755"),
                             HasSubstr("skein doctor --repair")));
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran;
  EXPECT_THAT(ran.out, Not(HasSubstr("doctor")));
}

TEST_F(OpenToOthers, IsReportedByTheDoctorAndRepaired) {
  EXPECT_THAT(
      workspace_.run({"doctor", "--setup"}).out,
      HasSubstr("private    off      other users of this machine can read " + own().string()));
  const Ran repaired = workspace_.run({"doctor", "--repair"});
  EXPECT_THAT(repaired.out, AllOf(HasSubstr("private    fine"), HasSubstr("repaired   made ")));
  for (const fs::path& path : everything_in(workspace_.path())) {
    EXPECT_EQ(mode_of(path) & 077U, 0U) << path;
  }
  EXPECT_THAT(workspace_.run({"thread", "list"}).err, IsEmpty());
}

TEST_F(OpenToOthers, IsAProblemWhereOthersCanWrite) {
  fs::permissions(own(), fs::perms(0777));
  const Ran ran = workspace_.run({"doctor", "--setup"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("private    problem  other users of this machine can change " +
                                 own().string()));
  EXPECT_THAT(workspace_.run({"thread", "list"}).err, HasSubstr("can change"));
}

}  // namespace
}  // namespace skein::test
