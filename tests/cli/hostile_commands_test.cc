// Commands of agents that execute files of a clone: each of those files is covered by trust,
// however the command names it, and changes to it make the agent inactive.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/json.h"
#include "program.h"
#include "support/temp_dir.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class HostileCommand : public testing::Test {
 protected:
  fs::path inside(const std::string& name) const { return workspace_.path() / name; }
  void agent(const std::string& json) const { workspace_.write("agents/helper/agent.json", json); }
  void server(const std::string& members) const {
    agent(R"({"engine":"echo","capabilities":{"mcpServers":{"x":{)" + members + "}}}}");
  }
  void server_script(const std::string& script) const {
    std::string text;
    append_json_string(text, script);
    server(R"("command":"sh","args":["-c",)" + text + "]");
  }
  void program(const std::string& name, const std::string& script) const {
    workspace_.write(name, "#!/bin/sh\n" + script);
    fs::permissions(inside(name), fs::perms::owner_all);
  }
  Ran review() const { return workspace_.run({"trust", "--print"}); }

  Workspace workspace_;
};

TEST_F(HostileCommand, FilesNamedInAnySpellingAreCovered) {
  for (const char* name : {"s.sh", "lib/t.sh", "lib/sub/u.sh", "a b(c).sh", "x:y.sh"}) {
    program(name, "");
  }
  const std::string file_url = "file://" + inside("s.sh").string();
  const std::pair<std::string, const char*> cases[] = {
      {R"("command":"sh","args":["-c","exec ./s.sh --x"])", "s.sh"},
      {R"("command":"env","args":["-S","sh ./s.sh"])", "s.sh"},
      {R"("command":"node","args":["-r./s.sh"])", "s.sh"},
      {R"("command":"make","args":["-f./s.sh"])", "s.sh"},
      {R"("command":"make","args":["-sfs.sh"])", "s.sh"},
      {R"("command":"bash","args":["-euxc","exec ./s.sh"])", "s.sh"},
      {R"("command":"bash","args":["-cx","sh ./s.sh; :"])", "s.sh"},
      {R"("command":"bash","args":["-xcv","sh ./s.sh; :"])", "s.sh"},
      {R"("command":"bash","args":["-c","-x","sh ./s.sh; :"])", "s.sh"},
      {R"("command":"sh","args":["-c","--","sh ./s.sh; :"])", "s.sh"},
      {R"("command":"bash","args":["-c","-o","pipefail","sh ./s.sh; :"])", "s.sh"},
      {R"("command":"env","args":["--split-string=sh ./s.sh"])", "s.sh"},
      {R"x("command":"node","args":["-p","require('./s.sh')"])x", "s.sh"},
      {R"x("command":"node","args":["--print=require(`./s.sh`)"])x", "s.sh"},
      {R"x("command":"php","args":["-r","include './s.sh';"])x", "s.sh"},
      {R"x("command":"deno","args":["eval","import(\"./s.sh?v=1\")"])x", "s.sh"},
      {R"x("command":"perl","args":["-e","do q{./a b(c).sh}"])x", "a b(c).sh"},
      {R"x("command":"perl","args":["-e","do q X./s.shX"])x", "s.sh"},
      {R"("command":"sh","args":["-c","sh ./x:y.sh"])", "x:y.sh"},
      {R"("command":"sh","args":["-c","sh ./s\\.sh"])", "s.sh"},
      {R"("command":"sh","args":["-c","sh './s'\".sh\""])", "s.sh"},
      {R"("command":"sh","args":["-c","sh \"$PWD/s.sh\""])", "s.sh"},
      {R"("command":"sh","args":["-c","\"$0\"","./s.sh"])", "s.sh"},
      {R"("command":"sh","args":["-c","eval \"$X\""],"env":{"X":"sh ./s.sh"})", "s.sh"},
      {R"("command":"node","args":["--require=./nothing,./s.sh"])", "s.sh"},
      {R"("command":"java","args":["-cp","nothing:./s.sh"])", "s.sh"},
      {R"("command":"java","args":["@s.sh"])", "s.sh"},
      {R"("command":"node","args":["--import=)" + file_url + "\"]", "s.sh"},
      {R"("command":"node","args":["--import=./s%2esh"])", "s.sh"},
      {R"("command":"node","env":{"NODE_OPTIONS":"--require ./s.sh"})", "s.sh"},
      {R"("command":"git","env":{"GIT_SSH_COMMAND":"sh ./s.sh"})", "s.sh"},
      {R"("command":"env","args":["-C","lib","./t.sh"])", "lib/t.sh"},
      {R"("command":"sh","args":["-c","cd lib && ./t.sh"])", "lib/t.sh"},
      {R"("command":"sh","args":["-c","cd lib && cd sub && sh ./u.sh"])", "lib/sub/u.sh"},
      {R"("command":"sh","args":["-c","cd lib/sub && sh ../t.sh"])", "lib/t.sh"},
      {R"("command":"sh","args":["-c","cd .. && cd ${OLDPWD}/lib && sh ./t.sh"])", "lib/t.sh"},
      {R"("command":"sh","env":{"PATH":")" + inside("lib").string() + R"(:/bin"})", "lib/t.sh"},
      {R"("command":"env","args":["PATH=lib:/bin","git","x"])", "lib/t.sh"},
      {R"("command":"sh","env":{"PATH":":/bin"})", "s.sh"},
  };
  for (const auto& [members, name] : cases) {
    server(members);
    EXPECT_THAT(review().out, HasSubstr(std::string("file:") + name + " (new")) << members;
  }
}

TEST_F(HostileCommand, ModulesAreCoveredByTheirNames) {
  for (const char* name : {"m.py", "n/__main__.py", "o/p.mjs", "q/index.js", "q/r/x", "index.js",
                           "compiled/__main__.pyc", "typed/index.ts"}) {
    program(name, "");
  }
  const std::pair<const char*, const char*> cases[] = {
      {R"("command":"python3","args":["-m","m"])", "m.py"},
      {R"("command":"python3","args":["-m","n"])", "n/__main__.py"},
      {R"x("command":"node","args":["-e","require('./o/p')"])x", "o/p.mjs"},
      {R"("command":"node","args":["q/"])", "q/index.js"},
      {R"("command":"python3","args":["compiled/"])", "compiled/__main__.pyc"},
      {R"("command":"bun","args":["typed"])", "typed/index.ts"},
      {R"("command":"node","args":["q/r/.."])", "q/index.js"},
      {R"("command":"sh","args":["-c","cd q/r && node ../"])", "q/index.js"},
      {R"("command":"node","args":["."])", "index.js"},
      {R"x("command":"node","args":["-e","require(process.cwd())"])x", "index.js"},
      {R"("command":"sh","args":["-c","PATH=$PWD:/bin; x"])", "m.py"},
  };
  for (const auto& [members, name] : cases) {
    server(members);
    EXPECT_THAT(review().out, HasSubstr(std::string("file:") + name + " (new")) << members;
  }
}

// A file that no command names can change without making an agent inactive.
TEST_F(HostileCommand, OtherFilesAreNotCovered) {
  for (const char* name :
       {"notes.md", "lib/module.py", "lib/package.json", "package.json", ".git/config"}) {
    workspace_.write(name, "");
  }
  agent(R"x({"engine":"claude-code","system":"Keep notes.md up to date","options":{
      "allowedTools":["Edit(notes.md)","Read(lib/module.py)"],
      "arguments":["--add-dir=/opt/data","a-b","latest","git+https://example.org/t.git","config"]}})x");
  EXPECT_THAT(review().out, Not(HasSubstr("file:notes")));
  EXPECT_THAT(review().out, Not(HasSubstr("file:lib")));
  EXPECT_THAT(review().out, Not(HasSubstr("file:.git")));
  server(R"("command":"python3","args":["lib/nothing.py","nota"],"env":{"PYTHONPATH":"/opt"})");
  EXPECT_THAT(review().out, AllOf(HasSubstr("agent:helper"), Not(HasSubstr("file:"))));
}

TEST_F(HostileCommand, ScriptsThatChangeAreNotExecuted) {
  program("s.sh", "touch first\n");
  program("lib/sub/u.sh", "touch first\n");
  const std::pair<const char*, const char*> cases[] = {
      {R"("bash","arguments":["-cx","sh ./s.sh; :"])", "s.sh"},
      {R"("bash","arguments":["-c","-o","pipefail","sh ./s.sh; :"])", "s.sh"},
      {R"("env","arguments":["--split-string=sh ./s.sh"])", "s.sh"},
      {R"("sh","arguments":["-c","cd lib && cd sub && sh ./u.sh; :"])", "lib/sub/u.sh"},
      {R"("sh","arguments":["-c","eval \"$X\""],"environment":{"X":"sh ./s.sh"})", "s.sh"},
  };
  for (const auto& [members, script] : cases) {
    program(script, "touch first\n");
    agent(R"({"engine":"claude-code","options":{"program":)" + std::string(members) + "}}");
    workspace_.trust();
    program(script, "touch second\n");
    const Ran ran = workspace_.run({"run", "helper", "hi"});
    EXPECT_THAT(ran.err, AllOf(HasSubstr("changed since it was trusted"), HasSubstr(script)))
        << members;
    EXPECT_FALSE(fs::exists(inside("second"))) << members;
  }
}

// The server of an echo agent is executed as it is named.
TEST_F(HostileCommand, ScriptOfAServerThatChangesIsNotExecuted) {
  program("s.sh", "touch first\n");
  server(R"("command":"bash","args":["-cx","sh ./s.sh; :"])");
  workspace_.trust();
  workspace_.run({"run", "helper", "hi"});
  EXPECT_TRUE(fs::exists(inside("first"))) << "this test cannot fail";
  program("s.sh", "touch second\n");
  workspace_.run({"run", "helper", "hi"});
  EXPECT_FALSE(fs::exists(inside("second")));
}

TEST_F(HostileCommand, LinkToAFolderOutsideIsCoveredByWhereItLeads) {
  const TempDir one;
  const TempDir other;
  fs::create_directory_symlink(one.path(), inside("ext"));
  server(R"("command":"sh","args":["ext/run.sh"])");
  EXPECT_THAT(review().out, AllOf(HasSubstr("file:ext (new"), HasSubstr(one.path().string())));
  workspace_.trust();
  fs::remove(inside("ext"));
  fs::create_directory_symlink(other.path(), inside("ext"));
  EXPECT_THAT(review().out,
              AllOf(HasSubstr("file:ext (changed"), HasSubstr(other.path().string())));
}

TEST_F(HostileCommand, SettingsBehindALinkedFolderAreCovered) {
  const TempDir elsewhere;
  std::ofstream(elsewhere.path() / "settings.json") << R"({"hooks":{}})";
  fs::create_directory_symlink(elsewhere.path(), inside(".claude"));
  agent(R"({"engine":"claude-code"})");
  EXPECT_THAT(review().out, HasSubstr("file:.claude/settings.json (new"));
}

TEST_F(HostileCommand, SettingsAboveTheFolderOfAnAgentAreCovered) {
  workspace_.write(".mcp.json", "{}");
  workspace_.write("a/.claude/settings.json", "{}");
  workspace_.write("a/b/x", "");
  agent(R"({"engine":"claude-code","folder":"a/b"})");
  EXPECT_THAT(review().out, AllOf(HasSubstr("file:.mcp.json (new"),
                                  HasSubstr("file:a/.claude/settings.json (new")));
}

// A link into /proc leads a program, which works in another folder, elsewhere than it leads Skein.
TEST_F(HostileCommand, LinksThatDifferBetweenProcessesMakeTheAgentInactive) {
  workspace_.write("hidden.json", R"({"hooks":{}})");
  workspace_.write("sub/x", "");
  fs::create_directory(inside(".claude"));
  const std::pair<const char*, const char*> cases[] = {
      {".claude/settings.json", "/proc/self/cwd/hidden.json"},
      {"s.sh", "/proc/self/cwd/hidden.json"},
      {"lib", "/proc/self/cwd"},
      {"s.sh", "/dev/stdin"},
  };
  for (const auto& [name, target] : cases) {
    fs::create_symlink(target, inside(name));
    agent(R"({"engine":"claude-code","options":{"program":"sh","arguments":["s.sh","lib/x"]}})");
    for (const char* folder : {".", "sub"}) {
      const std::string command = "; skein --workspace " + inside("").string() + " trust --print";
      EXPECT_THAT(workspace_.shell(std::string("cd ") + folder + command).out,
                  AllOf(HasSubstr("cannot be trusted"), HasSubstr("a link into /proc")))
          << name << " in " << folder;
    }
    fs::remove(inside(name));
  }
}

// What is too much to be checked is inactive, and says why.

TEST_F(HostileCommand, FoldersBeyondTheLimitMakeTheAgentInactive) {
  program("z/s.sh", "");
  std::string script;
  for (int i = 0; i < 70; ++i) {
    fs::create_directory(inside(fmt::format("d{}", i)));
    script += fmt::format("cd d{}; ", i);
  }
  server_script(script + "cd z; sh ./s.sh");
  const Ran ran = review();
  EXPECT_THAT(ran.out, AllOf(HasSubstr("cannot be used: agent \"helper\" cannot be trusted"),
                             HasSubstr("more than 64 folders"), HasSubstr("put its script into"),
                             Not(HasSubstr("agent:helper"))));
}

TEST_F(HostileCommand, SixteenFoldersHideNothing) {
  program("z/s.sh", "");
  std::string script;
  for (int i = 0; i < 20; ++i) {
    fs::create_directory(inside(fmt::format("d{}", i)));
    script += fmt::format("cd d{}; ", i);
  }
  server_script(script + "cd z; sh ./s.sh");
  EXPECT_THAT(review().out, HasSubstr("file:z/s.sh (new"));
}

TEST_F(HostileCommand, ExecutablesBeyondTheLimitMakeTheAgentInactive) {
  for (int i = 0; i < 1100; ++i) program(fmt::format("bin/p{}", i), "");
  server(R"("command":"z","env":{"PATH":")" + inside("bin").string() + "\"}");
  EXPECT_THAT(review().out, HasSubstr("more than 1024 files of the workspace"));
  for (int i = 0; i < 200; ++i) fs::remove(inside(fmt::format("bin/p{}", i)));
  EXPECT_THAT(review().out, AllOf(HasSubstr("file:bin/p200 "), HasSubstr("file:bin/p999 ")));
}

TEST_F(HostileCommand, WordsBeyondTheLimitMakeTheAgentInactive) {
  std::string script;
  for (int i = 0; i < 30'000; ++i) script += fmt::format("w{} ", i);
  server_script(script);
  EXPECT_THAT(review().out, AllOf(HasSubstr("cannot be used: agent \"helper\" cannot be trusted"),
                                  HasSubstr("more than 4096 different words")));
}

TEST_F(HostileCommand, RepeatedWordsAreCountedOnce) {
  program("s.sh", "");
  std::string script;
  for (int i = 0; i < 30'000; ++i) script += "echo a; ";
  server_script(script + "sh ./s.sh");
  EXPECT_THAT(review().out, HasSubstr("file:s.sh (new"));
}

TEST_F(HostileCommand, ComparisonsAreLimited) {
  std::string script;
  for (int i = 0; i < 100'000; ++i) script += "a ";
  server_script(script);
  for (int i = 0; i < 20; ++i) workspace_.write(fmt::format("a-{}", i), "");
  EXPECT_THAT(review().out, HasSubstr("limit: 1000000 comparisons"));
}

// An agent that nobody trusted does not choose what is read for each of its runs.
TEST_F(HostileCommand, FilesOfAnUntrustedAgentAreNotRead) {
  std::string words;
  for (int i = 0; i < 5000; ++i) words += fmt::format("w{} ", i);
  agent(R"({"engine":"claude-code","options":{"program":"sh","arguments":[")" + words + "\"]}}");
  const Ran ran = workspace_.run({"run", "helper", "hi"});
  EXPECT_THAT(ran.err, AllOf(HasSubstr("agents/helper/agent.json was never trusted"),
                             Not(HasSubstr("different words"))));
}

}  // namespace
}  // namespace skein::test
