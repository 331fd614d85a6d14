#include "bench/subscribers.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "bench/workload.h"
#include "core/try.h"
#include "skein/thread_manager.h"

namespace skein::bench {
namespace {

constexpr std::size_t kSubscribers = 1000;
constexpr std::size_t kRounds = 5;

// What one subscriber was told, apart from the others so that they do not wait for each other.
struct alignas(64) Told {
  std::atomic<std::uint64_t> events{0};
};

bool all_told(const std::vector<Told>& told, std::uint64_t events) {
  return std::all_of(told.begin(), told.end(),
                     [events](const Told& one) { return one.events >= events; });
}

Result<double> seconds_per_append(Store& store, const std::vector<ThreadId>& thread,
                                  std::size_t appends) {
  SKEIN_ASSIGN(const AppendTimes times, run_appends(store, thread, {1, appends, false, false}));
  return 1 / times.rate;
}

}  // namespace

Result<void> measure_subscribers(const BenchOptions& options, std::vector<Row>& rows) {
  const std::size_t appends = options.quick ? 500 : 5'000;
  SKEIN_ASSIGN(const auto store, open_store("sqlite:" + options.folder + "/subscribers.db"));
  SKEIN_ASSIGN(const auto thread, create_threads(*store, "bench", 1));
  ThreadManager manager(*store);
  std::vector<double> alone, listened, ratio;
  for (std::size_t round = 0; round < kRounds; ++round) {
    options.say(fmt::format("appends with {} subscribers, round {} of {}", kSubscribers, round + 1,
                            kRounds));
    SKEIN_ASSIGN(const double without, seconds_per_append(*store, thread, appends));
    std::vector<Told> told(kSubscribers);
    std::vector<Subscription> subscriptions;
    for (std::size_t i = 0; i < kSubscribers; ++i) {
      SKEIN_ASSIGN(Subscription subscription,
                   manager.on(ThreadEventKind::kMessage,
                              [&one = told[i]](const ThreadEvent&) { ++one.events; }));
      subscriptions.push_back(std::move(subscription));
    }
    SKEIN_ASSIGN(const double with, seconds_per_append(*store, thread, appends));
    // Who was not told of everything cannot have cost anything.
    const Stopwatch waiting;
    while (!all_told(told, appends) && waiting.seconds() < 60) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (!all_told(told, appends)) {
      return fail(ErrorCode::kIo, "subscribers were not told of everything within a minute");
    }
    alone.push_back(without);
    listened.push_back(with);
    ratio.push_back(with / without);
  }
  rows.push_back(
      {fmt::format("append, 1 writer, {} subscribers told of each, SQLite", kSubscribers),
       duration(median(listened)), "without subscribers " + duration(median(alone)), median(ratio),
       1.2, true, "×"});
  return {};
}

}  // namespace skein::bench
