#include "core/subprocess.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "support/expect.h"
#include "support/temp_dir.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;

Spawn shell(std::string script) { return {.argv = {"sh", "-c", std::move(script)}}; }

bool runs(pid_t pid) { return ::kill(pid, 0) == 0; }

// Waits for a process that is not our child to be gone.
bool gone(pid_t pid) {
  for (int i = 0; i < 1000 && runs(pid); ++i) std::this_thread::sleep_for(5ms);
  return !runs(pid);
}

TEST(RunProgram, HandsInputOverAndGivesBothOutputsAndTheExitCode) {
  const Finished done = must(run_program(shell("cat; echo problem >&2; exit 3"), "text\n", {}));
  EXPECT_EQ(done.out, "text\n");
  EXPECT_EQ(done.err, "problem\n");
  EXPECT_EQ(done.exit.code, 3);
  EXPECT_EQ(done.exit.str(), "exit code 3");
}

TEST(RunProgram, KeepsAProgramFromTakingMoreMemoryThanItMay) {
  // Its input comes when the limit is set.
  const Spawn spawn = shell("read go; exec dd if=/dev/zero of=/dev/null bs=128M count=1");
  EXPECT_TRUE(must(run_program(spawn, "go\n", {})).exit.ok());
  const Finished bounded =
      must(run_program(spawn, "go\n", {.memory_bytes = std::size_t{64} << 20}));
  EXPECT_EQ(bounded.exit.code, 1);
  EXPECT_THAT(bounded.err, testing::HasSubstr("memory"));
}

TEST(RunProgram, RejectsWhatTheSystemWouldCutOffOrReadAsSomethingElse) {
  const std::string nul("a\0b", 3);
  const auto refused = [](const Spawn& spawn) {
    return fails(run_program(spawn, {}, {}), ErrorCode::kInvalid, {});
  };
  EXPECT_TRUE(refused({.argv = {}}));
  EXPECT_TRUE(refused({.argv = {""}}));
  EXPECT_TRUE(refused({.argv = {"true", nul}}));
  EXPECT_TRUE(refused({.argv = {"true"}, .folder = std::string("/\0tmp", 5)}));
  EXPECT_TRUE(refused({.argv = {"true"}, .environment = {{nul, "x"}}}));
  EXPECT_TRUE(refused({.argv = {"true"}, .environment = {{"NAME", nul}}}));
  EXPECT_TRUE(refused({.argv = {"true"}, .environment = {{"A=B", "x"}}}));
  EXPECT_TRUE(refused({.argv = {"true"}, .environment = {{"", "x"}}}));
}

TEST(RunProgram, UsesNoShellForItsArguments) {
  const Finished done =
      must(run_program({.argv = {"printf", "%s|", "$HOME", "a b", "; exit 1"}}, {}, {}));
  EXPECT_EQ(done.out, "$HOME|a b|; exit 1|");
}

TEST(RunProgram, MovesMoreThanPipesHoldInBothDirections) {
  const std::string big(3 << 20, 'x');
  const Finished done = must(run_program(shell("tee /dev/stderr"), big, {}));
  EXPECT_EQ(done.out, big);
  EXPECT_EQ(done.err, big);
}

TEST(RunProgram, DoesNotMindAProgramThatReadsNothing) {
  const std::string big(3 << 20, 'x');
  EXPECT_EQ(must(run_program(shell("exec 0<&-; echo done"), big, {})).out, "done\n");
}

TEST(RunProgram, StopsAProgramThatTakesTooLong) {
  const auto result = run_program(shell("sleep 1000"), {}, {.time = 50ms});
  EXPECT_TRUE(fails(result, ErrorCode::kBusy, {"sh", "50 ms"}));
}

TEST(RunProgram, StopsAProgramThatWritesTooMuch) {
  const auto result = run_program({.argv = {"yes"}}, {}, {.output_bytes = 100'000});
  EXPECT_TRUE(fails(result, ErrorCode::kInvalid, {"yes", "100000"}));
}

TEST(RunProgram, DoesNotWaitForWhatTheProgramLeftBehindAndEndsIt) {
  const Finished done = must(run_program(shell("sleep 1000 & echo $!"), {}, {.time = 20s}));
  EXPECT_TRUE(done.exit.ok());
  EXPECT_TRUE(gone(std::stoi(done.out)));
}

TEST(RunProgram, TellsASignalFromAnExitCode) {
  const Finished done = must(run_program(shell("kill -TERM $$"), {}, {}));
  EXPECT_EQ(done.exit.signal, SIGTERM);
  EXPECT_FALSE(done.exit.ok());
}

TEST(RunProgram, NamesAProgramThatIsNotThereAndAFolderThatIsNot) {
  EXPECT_TRUE(fails(run_program({.argv = {"no-such-program-here"}}, {}, {}), ErrorCode::kNotFound,
                    {"no-such-program-here"}));
  Spawn nowhere = shell("true");
  nowhere.folder = "/nonexistent/folder";
  EXPECT_FALSE(run_program(nowhere, {}, {}).has_value());
  EXPECT_TRUE(fails(run_program(Spawn{}, {}, {}), ErrorCode::kInvalid));
}

TEST(RunProgram, StartsInItsFolderWithChangedVariables) {
  const TempDir folder;
  Spawn spawn = shell("pwd; echo \"$SKEIN_A,${SKEIN_B-none}\"");
  spawn.folder = folder.path().string();
  spawn.environment = {{"SKEIN_A", "one"}, {"SKEIN_B", std::nullopt}};
  ::setenv("SKEIN_A", "zero", 1);
  ::setenv("SKEIN_B", "two", 1);
  EXPECT_EQ(must(run_program(spawn, {}, {})).out,
            std::filesystem::canonical(folder.path()).string() + "\none,none\n");
}

TEST(RunProgram, FindsNoProgramsInTheFolderItStartsIn) {
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", (".:node_modules/.bin::" + before + ":").c_str(), 1);
  const auto done = run_program(Spawn{.argv = {"/bin/sh", "-c", "echo \"$PATH\""}}, {}, {});
  ::setenv("PATH", ".", 1);
  const auto without = run_program(Spawn{.argv = {"/bin/sh", "-c", "echo \"$PATH\""}}, {}, {});
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_EQ(must(done).out, before + "\n");
  EXPECT_EQ(must(without).out, "/usr/bin:/bin\n");
}

TEST(RunProgram, LeaksNoDescriptors) {
  // One that is not closed on exec, as a library might open it.
  const int leak = ::open("/dev/null", O_RDONLY);
  const Finished done = must(run_program({.argv = {"ls", "/proc/self/fd"}}, {}, {}));
  ::close(leak);
  // 3 is the folder that ls reads.
  EXPECT_EQ(done.out, "0\n1\n2\n3\n");
}

TEST(RunProgram, GivesTheProgramDefaultSignalsWhateverOursAre) {
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  ::signal(SIGPIPE, SIG_IGN);
  const Finished done =
      must(run_program({.argv = {"grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"}}, {}, {}));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  // Signals 32 and 33 are the C library's own.
  EXPECT_THAT(done.out, testing::MatchesRegex(
                            "SigBlk:\t0000000000000000\nSigIgn:\t0000000[01][08]0000000\n"));
}

TEST(Subprocess, IsSpokenWithLineByLine) {
  Subprocess process = must(Subprocess::start(shell("while read l; do echo \"got $l\"; done")));
  for (const std::string word : {"one", "two"}) {
    EXPECT_TRUE(ok(process.write(word + "\n", 10s)));
    EXPECT_EQ(must(process.read(10s)).out, "got " + word + "\n");
  }
  EXPECT_FALSE(process.wait(0ms));
  process.close_input();
  EXPECT_TRUE(process.wait(10s)->ok());
  EXPECT_TRUE(must(process.read(10s)).ended);
}

TEST(Subprocess, ReadReturnsEmptyHandedWhenNothingComes) {
  Subprocess process = must(Subprocess::start(shell("read l")));
  const auto chunk = must(process.read(10ms));
  EXPECT_EQ(chunk.out + chunk.err, "");
  EXPECT_FALSE(chunk.ended);
}

TEST(Subprocess, WritingToAProgramThatDoesNotReadIsRefusedInTime) {
  Subprocess process = must(Subprocess::start(shell("sleep 1000")));
  const std::string big(1 << 20, 'x');
  EXPECT_TRUE(fails(process.write(big, 50ms), ErrorCode::kBusy, {"50 ms"}));
}

TEST(Subprocess, WritingToAProgramThatEndedIsAnErrorAndNoSignal) {
  Subprocess process = must(Subprocess::start(shell("exit 0")));
  ASSERT_TRUE(process.wait(10s));
  EXPECT_TRUE(fails(process.write("x", 1s), ErrorCode::kIo));
}

TEST(Subprocess, KillsTheWholeGroupFromAnotherThread) {
  Subprocess process = must(Subprocess::start(shell("sleep 1000 & echo $!; wait")));
  const pid_t grandchild = std::stoi(must(process.read(10s)).out);
  ASSERT_TRUE(runs(grandchild));
  std::jthread killer([&] { process.kill(); });
  EXPECT_EQ(process.wait(10s)->signal, SIGKILL);
  EXPECT_TRUE(gone(grandchild));
}

TEST(Subprocess, CanBeAskedToEndPolitely) {
  Subprocess process =
      must(Subprocess::start(shell("trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep "
                                   "0.01; done")));
  ASSERT_EQ(must(process.read(10s)).out, "ready\n");
  process.terminate();
  EXPECT_EQ(process.wait(10s)->code, 5);
  EXPECT_EQ(must(process.read(10s)).out, "bye\n");
}

TEST(Subprocess, LeavesNothingRunningWhenItGoes) {
  pid_t child = -1;
  {
    const Subprocess process = must(Subprocess::start(shell("sleep 1000")));
    child = process.pid();
    EXPECT_TRUE(runs(child));
  }
  EXPECT_FALSE(runs(child));
}

}  // namespace
}  // namespace skein::test
