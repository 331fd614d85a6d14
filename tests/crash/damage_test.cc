// Bits that flip and files that lose their end: what we wrote is read as it was, or reported.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "crash/harness/disk.h"
#include "crash/harness/figures.h"
#include "crash/harness/process.h"
#include "crash/harness/snapshot.h"
#include "crash/harness/workload.h"

namespace skein::crash {
namespace {

namespace fs = std::filesystem;

constexpr int kThreads = 8;

struct Damage {
  fs::path file;  // relative to the folder
  std::string what;
};

class DamageTest : public testing::TestWithParam<std::string> {
 protected:
  // A store with threads, manifests, records and a removed thread; copied once while it is open
  // (with all its logs, as a crash leaves it) and once closed.
  void SetUp() override {
    const std::string live = folder_ / "live";
    fs::create_directories(live);
    auto store = open_store(store_url(GetParam(), live)).value();
    fill(*store);
    fs::copy(live, folder_ / "open", fs::copy_options::recursive);
    store.reset();
    fs::copy(live, folder_ / "closed", fs::copy_options::recursive);
    truth_ = take_snapshot(store_url(GetParam(), live), threads_, {std::string(kCollection)});
    ASSERT_FALSE(truth_.open_error) << truth_.open_error->message;
    ASSERT_TRUE(truth_.findings.empty()) << truth_.findings.front().what;
    ASSERT_EQ(truth_.threads.size(), static_cast<std::size_t>(kThreads));
    ASSERT_FALSE(truth_.records.empty());
  }

  void fill(Store& store) {
    Workload workload;
    workload.writers = 1;
    Script script(workload, 0);
    for (int i = 0; i < kThreads; ++i) {
      NewThread thread;
      thread.agent_id = "damage";
      thread.fields.title(fmt::format("thread {}", i));
      threads_.push_back(store.create(thread).value().id);
    }
    for (int done = 0; done < 200; ++done) {
      const Op op = script.next();
      const ThreadId thread = threads_[static_cast<std::size_t>(done) % kThreads];
      if (op.kind == OpKind::kAppend) {
        for (const Event& event : op.events) {
          const Append append{.thread = thread, .event = event, .fence = {}, .expect_seq = {}};
          ASSERT_TRUE(store.append({&append, 1}).front());
        }
      } else if (op.kind == OpKind::kUpdate) {
        ASSERT_TRUE(store.update(thread, op.patch, {}));
      } else if (op.kind == OpKind::kRecords) {
        ASSERT_TRUE(store.write(op.writes));
      }
    }
  }

  // Damages one file under the folder: one bit, or its end.
  static Damage damage(const fs::path& where, std::mt19937_64& random) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(where)) {
      if (entry.is_regular_file() && entry.file_size() > 0) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    const fs::path file = files[random() % files.size()];
    const std::uint64_t size = fs::file_size(file);
    Damage done{.file = fs::relative(file, where), .what = {}};
    const std::uint64_t at = random() % size;
    if (random() % 3 == 0) {
      fs::resize_file(file, at);
      done.what = fmt::format("{} cut to {} of {} bytes", done.file.string(), at, size);
      return done;
    }
    const int bit = static_cast<int>(random() % 8);
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(at));
    const char byte = static_cast<char>(stream.get() ^ (1 << bit));
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put(byte);
    done.what =
        fmt::format("{}: bit {} of byte {} of {} flipped", done.file.string(), bit, at, size);
    return done;
  }

  // The thread whose file this is, if it is one.
  static std::optional<ThreadId> owner(const fs::path& file) {
    const auto id = ThreadId::parse(file.stem().string());
    return id && file.extension() == ".jsonl" ? std::optional(*id) : std::nullopt;
  }

  Snapshot look(const std::string& where) {
    return take_snapshot(store_url(GetParam(), where), threads_, {std::string(kCollection)});
  }

  const TempFolder folder_;
  std::vector<ThreadId> threads_;
  Snapshot truth_;
};

TEST_P(DamageTest, IsReportedOrRepairedAndNeverTakenForData) {
  const int files = rounds(60, 1000);
  const bool files_by_thread = GetParam() == "jsonl";
  int changed = 0;
  int opened = 0;
  for (int i = 0; i < files; ++i) {
    std::mt19937_64 random(10'000 + static_cast<std::uint64_t>(i));
    const TempFolder copy;
    const std::string where = copy / "store";
    fs::copy(folder_ / (random() % 2 == 0 ? "open" : "closed"), where, fs::copy_options::recursive);
    const Damage done = damage(where, random);
    // In case the store takes the whole test with it.
    std::ofstream(folder_ / "case") << i << " " << done.what << std::endl;
    const Snapshot seen = look(where);
    if (!seen.open_error) ++opened;
    for (const std::string& wrong : silent_differences(truth_, seen))
      ADD_FAILURE() << "case " << i << ", " << done.what << ": " << wrong;
    const std::vector<std::string> others =
        spread(truth_, seen, files_by_thread ? owner(done.file) : std::optional<ThreadId>());
    if (files_by_thread) {
      for (const std::string& wrong : others)
        ADD_FAILURE() << "case " << i << ", " << done.what << ": " << wrong;
    }
    const bool untouched = others.empty() && seen.findings.empty() && !seen.check_error;
    if (!untouched) ++changed;
  }
  EXPECT_GT(changed, 0);
  figure(fmt::format("{}: {} files damaged, {} opened; {} showed it", GetParam(), files, opened,
                     changed));
}

// A planted bug: this test must be able to see data that changed without a word.
TEST_P(DamageTest, IsSeenWhenAStoreKeepsQuietAboutIt) {
  const Snapshot seen = look(folder_ / "closed");
  ASSERT_TRUE(silent_differences(truth_, seen).empty());

  Snapshot other = truth_;
  other.threads.at(threads_[2]).events.at(3) += " ";
  EXPECT_EQ(silent_differences(other, seen).size(), 1U);

  other = truth_;
  ThreadView& longer = other.threads.at(threads_[2]);
  longer.events[longer.events.rbegin()->first + 1] = "one more";
  EXPECT_EQ(silent_differences(other, seen).size(), 1U);

  other = truth_;
  other.records["crash/one more"] = {"x", 1};
  EXPECT_EQ(silent_differences(other, seen).size(), 1U);

  other = truth_;
  other.threads.at(threads_[0]).manifest = "another";
  EXPECT_EQ(silent_differences(other, seen).size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Backends, DamageTest, testing::Values("jsonl", "sqlite"),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace skein::crash
