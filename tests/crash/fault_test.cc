// Every system call of a writer that touches its store fails once: the first, the second, and so on
// until a run goes through without meeting the fault.

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "crash/harness/disk.h"
#include "crash/harness/figures.h"
#include "crash/harness/journal.h"
#include "crash/harness/rounds.h"
#include "crash/harness/trace.h"

namespace skein::crash {
namespace {

constexpr std::string_view kWriting =
    "write,pwrite64,writev,pwritev,pwritev2,fsync,fdatasync,sync_file_range,ftruncate,fallocate,"
    "rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,copy_file_range,msync";
constexpr std::string_view kReading =
    "read,pread64,preadv,openat,getdents64,lseek,mmap,statx,newfstatat";

// All kinds of operations, one after the other, then as many again with the store opened anew. The
// seed is one whose first operations are of all kinds.
const std::vector<std::string> kScript = {"--seed", "7518",  "--writers", "1",       "--shared",
                                          "2",      "--ops", "12",        "--go-on", "--reopen"};
constexpr std::uint64_t kScriptAnswers = 24;

struct WriterRun {
  Exit exit;
  std::string journal;
  std::string trace;
  std::string said;
};

class Faults : public testing::TestWithParam<std::string> {
 protected:
  // Runs the writer with `wrapper` before its command and returns what it did.
  WriterRun run_writer(const std::string& store_folder, std::vector<std::string> wrapper,
                       const std::vector<std::string>& options,
                       std::vector<std::pair<std::string, std::string>> environment) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    const TempFolder folder;
    const std::string trace = folder / "trace";
    Spawn spawn;
    for (std::string& word : wrapper) {
      if (word == "TRACE") word = trace;
      spawn.command.push_back(word);
    }
    spawn.command.insert(
        spawn.command.end(),
        {program("crash_writer"), store_url(GetParam(), store_folder), std::to_string(ends[1])});
    spawn.command.insert(spawn.command.end(), options.begin(), options.end());
    spawn.environment = std::move(environment);
    spawn.environment.emplace_back("ASAN_OPTIONS", "detect_leaks=0");
    spawn.stdout_path = spawn.stderr_path = folder / "said";
    spawn.pass_fd = ends[1];
    WriterRun result;
    result.exit = run(spawn, std::chrono::seconds(60));
    ::close(ends[1]);
    char buffer[65536];
    for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
      result.journal.append(buffer, static_cast<std::size_t>(got));
    ::close(ends[0]);
    result.trace = read_file(trace);
    result.said = read_file(folder / "said");
    return result;
  }

  WriterRun run_traced(const std::string& store_folder, std::string_view calls,
                       const std::string& inject,
                       const std::vector<std::string>& options = kScript) {
    std::vector<std::string> wrapper = {"strace",
                                        "-f",
                                        "-qq",
                                        "-y",
                                        "-s",
                                        "300",
                                        "--seccomp-bpf",
                                        "-o",
                                        "TRACE",
                                        "-e",
                                        fmt::format("trace=sendto,fsync,fdatasync,{}", calls)};
    if (!inject.empty()) wrapper.insert(wrapper.end(), {"-e", "inject=" + inject});
    wrapper.emplace_back("--");
    return run_writer(store_folder, wrapper, options, {});
  }

  // The store afterwards holds what this run acknowledged.
  static Verdict verify_run(const std::string& backend, const std::string& store_folder,
                            const WriterRun& run) {
    const TempFolder folder;
    const std::string path = folder / "journal";
    std::ofstream(path, std::ios::binary) << run.journal;
    return verify_apart(store_url(backend, store_folder), {path});
  }

  // All that must hold whatever failed.
  void judge(const std::string& store_folder, const WriterRun& run, const std::string& fault) {
    // 127: a fault that hit the loader before the program began.
    const int code = run.exit.code;
    const bool ended = !run.exit.timed_out && (code == 0 || code == 1 || code == 3 ||
                                               (code == 127 && run.journal.empty()));
    EXPECT_TRUE(ended) << fault << ": " << run.exit.str() << "\n" << run.said;
    const Verdict verdict = verify_run(GetParam(), store_folder, run);
    EXPECT_TRUE(verdict.sound) << fault << ": " << run.said << verdict.said;
    for (const std::string& broken : broken_flush_promises(
             parse_trace(run.trace), GetParam() == "sqlite" ? store_folder : std::string()))
      ADD_FAILURE() << fault << ": " << broken;
  }

  // Which calls of a run without faults touch the store.
  std::map<std::string, std::vector<int>> calls_of_a_clean_run(std::string_view calls) {
    const TempFolder folder;
    const WriterRun clean = run_traced(folder.path(), calls, "");
    EXPECT_TRUE(clean.exit.clean()) << clean.exit.str() << clean.said;
    const auto journal = Journal::parse(clean.journal);
    EXPECT_TRUE(journal && journal->acknowledged() >= kScriptAnswers) << clean.journal;
    return calls_under(parse_trace(clean.trace), folder.path());
  }

  // Each call in turn fails with each of the errors. In a short round only every so many of them.
  void fail_every(std::string_view calls, const std::vector<std::string>& errors, int brief_runs) {
    auto found = calls_of_a_clean_run(calls);
    found.erase("sendto");
    // The trace always shows the flushes; they write, and do not read.
    if (calls != kWriting) {
      found.erase("fsync");
      found.erase("fdatasync");
    }
    std::size_t all = 0;
    for (const auto& [name, numbers] : found) all += numbers.size() * errors.size();
    ASSERT_GT(all, 0U);
    const std::size_t step = full_figures() ? 1 : std::max<std::size_t>(1, all / brief_runs);
    std::size_t turn = 0;
    std::size_t met = 0;
    std::size_t runs = 0;
    for (const auto& [name, numbers] : found) {
      for (const int number : numbers) {
        for (const std::string& error : errors) {
          if (turn++ % step != 0) continue;
          const std::string fault = fmt::format("{}:error={}:when={}", name, error, number);
          const TempFolder folder;
          const WriterRun run = run_traced(folder.path(), calls, fault);
          judge(folder.path(), run, fault);
          ++runs;
          if (run.trace.find("(INJECTED)") != std::string::npos) ++met;
        }
      }
    }
    EXPECT_GT(met, 0U);
    figure(fmt::format("{}: {} runs, {} met their fault ({})", GetParam(), runs, met,
                       fmt::join(errors, " ")));
  }

  WriterRun run_short(const std::string& store_folder, int number, int then,
                      const std::string& mark) {
    std::vector<std::pair<std::string, std::string>> environment = {
        {"LD_PRELOAD", program("libshort_write.so")},
        {"SKEIN_SHORT_WRITE", std::to_string(number)},
        {"SKEIN_SHORT_WRITE_UNDER", store_folder},
        {"SKEIN_SHORT_WRITE_MARK", mark}};
    if (then != 0) environment.emplace_back("SKEIN_SHORT_WRITE_THEN", std::to_string(then));
    return run_writer(store_folder, {}, kScript, std::move(environment));
  }
};

TEST_P(Faults, AFailedWriteIsNeverAcknowledged) {
  fail_every(kWriting, {"EIO", "ENOSPC", "EDQUOT"}, 36);
}

TEST_P(Faults, AFailedReadIsNeverTakenForAnAnswer) { fail_every(kReading, {"EIO"}, 10); }

TEST_P(Faults, AShortWriteIsFinishedOrTakenBack) {
  const TempFolder marks;
  const std::string mark = marks / "met";
  int met = 0;
  for (const int then : {0, ENOSPC}) {
    for (int number = rounds(5, 1); full_figures() || number < 250; number += rounds(31, 1)) {
      std::filesystem::remove(mark);
      const TempFolder folder;
      const WriterRun run = run_short(folder.path(), number, then, mark);
      judge(folder.path(), run, fmt::format("short write {}, then {}", number, then));
      if (then == 0) EXPECT_TRUE(run.exit.clean()) << "short write " << number << ": " << run.said;
      if (!std::filesystem::exists(mark)) break;
      ++met;
    }
  }
  EXPECT_GT(met, 0);
  figure(fmt::format("{}: {} short writes", GetParam(), met));
}

// Planted bugs: these tests must be able to fail.
TEST_P(Faults, AreSeenToLoseDataUnderAWriterThatAcknowledgesTooEarly) {
  int noticed = 0;
  for (int number = 8; number < 40 && noticed == 0; number += 2) {
    for (const char* call : {"write", "pwrite64", "fdatasync", "fsync"}) {
      const TempFolder folder;
      const WriterRun run =
          run_traced(folder.path(), kWriting, fmt::format("{}:error=EIO:when={}", call, number),
                     {"--writers", "1", "--one-thread", "--ops", "60", "--acknowledge-early"});
      if (!verify_run(GetParam(), folder.path(), run).sound) ++noticed;
    }
  }
  EXPECT_GT(noticed, 0);
}

INSTANTIATE_TEST_SUITE_P(Backends, Faults, testing::Values("jsonl", "sqlite"),
                         [](const auto& backend) { return backend.param; });

TEST(TracedFlushes, AnAcknowledgementAfterAFailedFlushIsSeen) {
  const auto trace = parse_trace(
      "10 sendto(3<socket:[1]>, \"opened\\n\", 7, MSG_NOSIGNAL, NULL, 0) = 7\n"
      "10 fdatasync(5</store/a>) = -1 EIO (Input/output error) (INJECTED)\n"
      "10 sendto(3<socket:[1]>, \"done 0 4 !io\\n\", 13, MSG_NOSIGNAL, NULL, 0) = 13\n"
      "10 sendto(3<socket:[1]>, \"done 0 5 17\\n\", 12, MSG_NOSIGNAL, NULL, 0) = 12\n");
  ASSERT_EQ(broken_flush_promises(trace).size(), 1U);
}

TEST(TracedFlushes, AFlushTriedAgainIsSeen) {
  const auto trace = parse_trace(
      "10 sendto(3<socket:[1]>, \"opened\\n\", 7, MSG_NOSIGNAL, NULL, 0) = 7\n"
      "10 fdatasync(5</store/a> <unfinished ...>\n"
      "11 fsync(6</store/b>) = 0\n"
      "10 <... fdatasync resumed>) = -1 EIO (Input/output error) (INJECTED)\n"
      "11 fdatasync(5</store/a>) = 0\n");
  ASSERT_EQ(broken_flush_promises(trace).size(), 1U);
}

TEST(TracedFlushes, AFolderIsSettledOnlyIfItWasFlushedBefore) {
  const std::string failure =
      "10 sendto(3<socket:[1]>, \"opened\\n\", 7, MSG_NOSIGNAL, NULL, 0) = 7\n"
      "10 fdatasync(5</store>) = -1 EIO (Input/output error) (INJECTED)\n"
      "10 sendto(3<socket:[1]>, \"done 0 5 17\\n\", 12, MSG_NOSIGNAL, NULL, 0) = 12\n";
  EXPECT_EQ(broken_flush_promises(parse_trace(failure), "/store").size(), 1U);
  const std::string flushed = "10 fsync(4</store>) = 0\n";
  EXPECT_TRUE(broken_flush_promises(parse_trace(flushed + failure), "/store").empty());
}

TEST(TracedFlushes, AReopenedStoreMayFlushAndAcknowledge) {
  const auto trace = parse_trace(
      "10 sendto(3<socket:[1]>, \"opened\\n\", 7, MSG_NOSIGNAL, NULL, 0) = 7\n"
      "10 fdatasync(5</store/a>) = -1 EIO (Input/output error) (INJECTED)\n"
      "10 sendto(3<socket:[1]>, \"opened\\n\", 7, MSG_NOSIGNAL, NULL, 0) = 7\n"
      "10 fdatasync(5</store/a>) = 0\n"
      "10 sendto(3<socket:[1]>, \"done 0 5 17\\n\", 12, MSG_NOSIGNAL, NULL, 0) = 12\n");
  EXPECT_TRUE(broken_flush_promises(trace).empty());
}

}  // namespace
}  // namespace skein::crash
