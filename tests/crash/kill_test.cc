// kill -9 of whoever writes, at any moment.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "crash/harness/disk.h"
#include "crash/harness/figures.h"
#include "crash/harness/journal.h"
#include "crash/harness/rounds.h"
#include "skein/store.h"

namespace skein::crash {
namespace {

constexpr std::chrono::milliseconds kLongestRun{300};
// Kills that one store lives through: later ones meet what earlier ones left.
constexpr int kKillsOfAStore = 10;

class Kill : public testing::TestWithParam<std::string> {
 protected:
  // Starts a writer and kills it. Some do not even get to their first acknowledgement: they
  // are killed while they open what the one before left.
  static void kill_one(const std::string& url, const std::string& journal, std::mt19937_64& random,
                       const std::vector<std::string>& extra_options = {}) {
    RoundPlan plan = plan_round(random, kLongestRun);
    plan.writer_options.insert(plan.writer_options.end(), extra_options.begin(),
                               extra_options.end());
    Child writer(writer_command(url, journal, plan.writer_options));
    const bool early = random() % 8 == 0;
    if (!early) EXPECT_TRUE(wait_for_begin(writer, journal)) << read_file(journal + ".stderr");
    pause_for(early ? plan.run_for / 4 : plan.run_for);
    writer.kill();
  }
};

TEST_P(Kill, LosesNothingThatWasAcknowledged) {
  const int kills = rounds(16, 1000);
  std::mt19937_64 random(42);
  std::uint64_t acknowledged = 0;
  int lost = 0;
  std::chrono::microseconds slowest{0};
  for (int done = 0; done < kills;) {
    const TempFolder folder;
    const std::string url = store_url(GetParam(), folder.path());
    std::vector<std::string> journals;
    for (int i = 0; i < kKillsOfAStore && done < kills; ++i, ++done) {
      journals.push_back(folder / fmt::format("journal{}", i));
      kill_one(url, journals.back(), random);
      const Verdict verdict = verify_apart(url, journals);
      if (!verdict.sound) ++lost;
      EXPECT_TRUE(verdict.sound) << "kill " << done << ":\n" << verdict.said;
      slowest = std::max(slowest, verdict.reopened_in);
      if (const auto journal = Journal::load(journals.back()); journal)
        acknowledged += journal->acknowledged();
      if (!verdict.sound) break;
    }
  }
  EXPECT_GT(acknowledged, 0U);
  figure(fmt::format(
      "{}: {} kills, {} with loss or damage; {} acknowledgements; slowest reopening {:.0f} ms",
      GetParam(), kills, lost, acknowledged, static_cast<double>(slowest.count()) / 1000.0));
  if (full_figures()) EXPECT_LT(slowest, std::chrono::seconds(1));
}

// skein thread append --jsonl, as another program feeds it: what it answered is there.
TEST_P(Kill, OfTheCommandLineLosesNothingItAnswered) {
  constexpr int kLines = 300'000;
  const int kills = rounds(2, 100);
  std::mt19937_64 random(44);
  const TempFolder folder;
  const std::string url = store_url(GetParam(), folder.path());
  {
    std::ofstream lines(folder / "lines", std::ios::binary);
    for (int i = 1; i <= kLines; ++i)
      lines << fmt::format("{{\"role\":\"user\",\"text\":\"line {}\"}}\n", i);
  }
  std::uint64_t answered = 0;
  for (int i = 0; i < kills; ++i) {
    NewThread thread;
    thread.agent_id = "kill";
    const ThreadId id = open_store(url).value()->create(thread).value().id;
    const std::string answers = folder / fmt::format("answers{}", i);
    Spawn spawn{
        .command = {SKEIN_PROGRAM, "--store", url, "thread", "append", id.str(), "--jsonl"}};
    spawn.stdin_path = folder / "lines";
    spawn.stdout_path = answers;
    spawn.stderr_path = answers + ".stderr";
    Child program(spawn);
    ASSERT_TRUE(wait_until([&] { return !read_file(answers).empty(); }))
        << read_file(answers + ".stderr");
    pause_for(std::chrono::microseconds(random() % 10'000));
    program.kill();

    const std::string said = read_file(answers);
    const auto count = static_cast<std::uint64_t>(std::count(said.begin(), said.end(), '\n'));
    ASSERT_EQ(said.substr(0, 10), "{\"seq\":1}\n");
    answered += count;
    Seq found = 0;
    auto store = open_store(url).value();
    ASSERT_TRUE(store->read(id, {}, [&](Event& event) {
      EXPECT_EQ(event.seq, ++found);
      const auto* message = std::get_if<Message>(&event.payload);
      EXPECT_TRUE(message && message->text == fmt::format("line {}", found));
      return true;
    }));
    EXPECT_GE(found, count);
  }
  figure(fmt::format("{}: skein thread append --jsonl killed {} times, {} answers, none lost",
                     GetParam(), kills, answered));
}

// A planted bug: this test must be able to fail.
TEST_P(Kill, OfAWriterThatAcknowledgesTooEarlyIsSeenToLoseData) {
  std::mt19937_64 random(43);
  int noticed = 0;
  for (int i = 0; i < 10 && noticed == 0; ++i) {
    const TempFolder folder;
    const std::string url = store_url(GetParam(), folder.path());
    Child writer(writer_command(url, folder / "journal",
                                {"--writers", "1", "--one-thread", "--acknowledge-early"}));
    ASSERT_TRUE(wait_for_begin(writer, folder / "journal"));
    pause_for(std::chrono::microseconds(random() % 50'000));
    writer.kill();
    if (!verify_apart(url, {folder / "journal"}).sound) ++noticed;
  }
  EXPECT_GT(noticed, 0);
}

INSTANTIATE_TEST_SUITE_P(Backends, Kill, testing::Values("jsonl", "sqlite", "postgres"),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace skein::crash
