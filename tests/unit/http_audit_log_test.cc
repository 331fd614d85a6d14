// Lines that are noted whatever happens to their file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "http/audit_log.h"
#include "support/expect.h"
#include "support/temp_dir.h"

namespace skein::http {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::must;
using testing::HasSubstr;

class AuditLogTest : public testing::Test {
 protected:
  std::unique_ptr<AuditLog> open() { return must(AuditLog::open(path_.string(), system_clock())); }
  // What was said is written when it is gone.
  void say_and_close(std::unique_ptr<AuditLog> log, const std::string& line) { log->say(line); }
  // As if so much had been written, without taking that much.
  void fill() { fs::resize_file(path_, AuditLog::kMaxFileBytes - 1); }
  fs::path older(int number) const { return path_.string() + "." + std::to_string(number); }
  static std::string contents(const fs::path& path) {
    std::stringstream all;
    all << std::ifstream(path).rdbuf();
    return all.str();
  }

  test::TempDir folder_;
  const fs::path path_ = folder_.path() / "audit.log";
};

TEST_F(AuditLogTest, AFileThatIsFullBecomesAnOlderOne) {
  for (int i = 0; i < 6; ++i) {
    say_and_close(open(), "line " + std::to_string(i));
    fill();
  }
  say_and_close(open(), "last");
  EXPECT_EQ(contents(path_), "last\n");
  for (int i = 1; i < AuditLog::kFiles; ++i) {
    EXPECT_THAT(contents(older(i)).substr(0, 7), "line " + std::to_string(6 - i) + "\n");
  }
  EXPECT_FALSE(fs::exists(older(AuditLog::kFiles)));
}

TEST_F(AuditLogTest, WhoeverWasSilentWhileOthersTurnedItOverWritesWhereTheyDo) {
  auto silent = open();
  for (int i = 0; i <= AuditLog::kFiles; ++i) {
    fill();
    say_and_close(open(), "somebody else");
  }
  say_and_close(std::move(silent), "at last");
  EXPECT_EQ(contents(path_), "somebody else\nat last\n");
}

TEST_F(AuditLogTest, AFileThatWasTakenAwayIsMadeAgain) {
  auto log = open();
  fs::rename(path_, older(9));
  say_and_close(std::move(log), "here");
  EXPECT_EQ(contents(path_), "here\n");
  EXPECT_EQ(contents(older(9)), "");
}

TEST_F(AuditLogTest, ANameThatCannotBeWrittenAnyMoreIsNoticedBeforeTheNextLine) {
  const auto log = open();
  fs::remove(path_);
  EXPECT_TRUE(log->status());  // it is made again
  EXPECT_TRUE(fs::exists(path_));
  fs::remove(path_);
  fs::create_directory(path_);
  while (log->status()) std::this_thread::sleep_for(1ms);
  EXPECT_THAT(log->status().error().message, HasSubstr(path_.string()));
  fs::remove(path_);
  EXPECT_TRUE(log->status());
}

TEST_F(AuditLogTest, ANameThatWasGoodIsNotLookedAtAgainAtOnce) {
  const auto log = open();
  int looks = 0;
  // Each look makes the file again.
  for (const auto until = std::chrono::steady_clock::now() + 5 * AuditLog::kLook;
       std::chrono::steady_clock::now() < until;) {
    fs::remove(path_);
    EXPECT_TRUE(log->status());
    if (fs::exists(path_)) ++looks;
  }
  EXPECT_GE(looks, 1);
  EXPECT_LE(looks, 6);
}

TEST_F(AuditLogTest, AFirstLineThatCannotBeWrittenIsToldFromTheBeginning) {
  fs::create_symlink("/dev/full", path_);
  auto log = must(AuditLog::open(path_.string(), system_clock(), "first"));
  EXPECT_FALSE(log->status());
  fs::remove(path_);
  while (!log->status()) std::this_thread::sleep_for(1ms);
  log = nullptr;
  EXPECT_EQ(contents(path_), "first\n");
}

TEST_F(AuditLogTest, ALineThatWasWrittenInPartIsWrittenAgainAndNoOther) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit little{.rlim_cur = 7, .rlim_max = limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  auto log = must(AuditLog::open(path_.string(), system_clock(), "1111\n2222\n3333"));
  EXPECT_FALSE(log->status());
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  while (!log->status()) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(contents(path_), "1111\n22\n2222\n3333\n");
}

TEST_F(AuditLogTest, AFileThatOthersFilledIsTurnedOverOnce) {
  auto one = open();
  auto two = open();
  fill();
  say_and_close(std::move(one), "one");
  say_and_close(std::move(two), "two");
  EXPECT_EQ(contents(path_), "one\ntwo\n");
  EXPECT_TRUE(fs::exists(older(1)));
  EXPECT_FALSE(fs::exists(older(2)));
}

TEST_F(AuditLogTest, WhatIsTooMuchToKeepIsCounted) {
  // Until the name is that of a file that can be written.
  fs::create_symlink("/dev/full", path_);
  auto log = open();
  log->say("first");
  while (log->status()) std::this_thread::sleep_for(1ms);
  constexpr std::size_t kLine = std::size_t{1} << 20;
  constexpr std::size_t kSaid = 3 * AuditLog::kMaxWaitingBytes / kLine;
  for (std::size_t i = 0; i < kSaid; ++i) log->say(std::string(kLine, 'x'));
  const fs::path real = folder_.path() / "real.log";
  const fs::path link = folder_.path() / "link";
  std::ofstream(real).close();
  fs::create_symlink(real, link);
  fs::rename(link, path_);
  while (!log->status()) std::this_thread::sleep_for(1ms);
  say_and_close(std::move(log), "last");
  const std::string written = contents(real);
  const std::size_t kept =
      static_cast<std::size_t>(std::count(written.begin(), written.end(), 'x')) / kLine;
  EXPECT_GT(kept, 0U);
  EXPECT_LT(kept, AuditLog::kMaxWaitingBytes / kLine + 1);
  EXPECT_THAT(written, testing::StartsWith("first\n"));
  EXPECT_THAT(written, HasSubstr("\"lost\":" + std::to_string(kSaid - kept)));
  EXPECT_THAT(written, testing::EndsWith("last\n"));
}

}  // namespace
}  // namespace skein::http
