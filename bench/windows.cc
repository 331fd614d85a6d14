#include "bench/windows.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string>

#include "bench/workload.h"
#include "core/try.h"
#include "skein/context.h"

namespace skein::bench {
namespace {

constexpr std::size_t kBatch = 5000;

// What making contexts of one thread costs in a process that does nothing else.
struct WindowCost {
  double first_s = 0;  // with nothing derived yet
  double recent_s = 0;
  double summary_s = 0;
  double hybrid_s = 0;
  double summarize_s = 0;
  double peak_mb = 0;  // of contexts, once there is an index
};

constexpr ThreadId kThread = ThreadId::from_bits(0xbe9c);

Result<WindowCost> make_thread(const std::string& url, std::size_t messages) {
  StoreOptions options;
  options.unsafe_no_flush = true;
  SKEIN_ASSIGN(const auto store, open_store(url, options));
  NewThread thread;
  thread.agent_id = "bench";
  thread.id = kThread;
  SKEIN_TRY(store->create(thread));
  std::vector<Append> batch;
  for (std::size_t i = 0; i < messages; ++i) {
    Append append{kThread, sample_event(i), {}, {}};
    std::get<Message>(append.event.payload).role = i % 2 == 0 ? Role::kUser : Role::kAssistant;
    if (i == 0) std::get<Message>(append.event.payload).role = Role::kSystem;
    batch.push_back(std::move(append));
    if (batch.size() < kBatch && i + 1 < messages) continue;
    for (const auto& answer : store->append(batch)) SKEIN_TRY(answer);
    batch.clear();
  }
  return WindowCost{};
}

Result<double> time_context(Store& store, ContextStrategy strategy, std::size_t rounds) {
  ContextRequest request;
  request.strategy = strategy;
  std::vector<double> times;
  for (std::size_t i = 0; i < rounds; ++i) {
    const Stopwatch watch;
    SKEIN_TRY(make_context(store, kThread, request));
    times.push_back(watch.seconds());
  }
  return median(std::move(times));
}

// Runs `work` in a child, so that its memory is its own.
Result<WindowCost> in_child(const std::function<Result<WindowCost>()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return fail(ErrorCode::kIo, "pipe");
  const pid_t child = fork();
  if (child < 0) return fail(ErrorCode::kIo, "fork");
  if (child == 0) {
    const auto cost = work();
    if (!cost) dprintf(STDERR_FILENO, "%s\n", cost.error().message.c_str());
    const bool told = cost && write(ends[1], &*cost, sizeof *cost) == ssize_t{sizeof *cost};
    _exit(told ? 0 : 1);
  }
  close(ends[1]);
  WindowCost cost;
  const bool heard = read(ends[0], &cost, sizeof cost) == ssize_t{sizeof cost};
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!heard || status != 0) return fail(ErrorCode::kIo, "the child process failed");
  return cost;
}

Result<WindowCost> first_context(const std::string& url) {
  SKEIN_ASSIGN(const auto store, open_store(url));
  WindowCost cost;
  SKEIN_ASSIGN(cost.first_s, time_context(*store, ContextStrategy::kRecent, 1));
  return cost;
}

Result<WindowCost> contexts(const std::string& url) {
  SKEIN_ASSIGN(const auto store, open_store(url));
  WindowCost cost;
  SKEIN_ASSIGN(cost.recent_s, time_context(*store, ContextStrategy::kRecent, 101));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  cost.peak_mb = static_cast<double>(usage.ru_maxrss) / 1024;
  return cost;
}

Result<WindowCost> summaries(const std::string& url) {
  SKEIN_ASSIGN(const auto store, open_store(url));
  WindowCost cost;
  const Stopwatch watch;
  SKEIN_TRY(summarize_thread(*store, kThread, {}));
  cost.summarize_s = watch.seconds();
  SKEIN_ASSIGN(cost.summary_s, time_context(*store, ContextStrategy::kSummary, 101));
  SKEIN_ASSIGN(cost.hybrid_s, time_context(*store, ContextStrategy::kHybrid, 21));
  return cost;
}

Result<WindowCost> measure_thread(const BenchOptions& options, std::size_t messages) {
  const std::string url = fmt::format("sqlite:{}/window-{}.db", options.folder, messages);
  options.say(fmt::format("making a thread of {} messages", messages));
  // In a child as well: this process must stay small for those to come.
  SKEIN_TRY(in_child([&] { return make_thread(url, messages); }));
  options.say("making contexts of it");
  SKEIN_ASSIGN(const WindowCost first, in_child([&] { return first_context(url); }));
  SKEIN_ASSIGN(WindowCost cost, in_child([&] { return contexts(url); }));
  SKEIN_ASSIGN(const WindowCost later, in_child([&] { return summaries(url); }));
  cost.first_s = first.first_s;
  cost.summarize_s = later.summarize_s;
  cost.summary_s = later.summary_s;
  cost.hybrid_s = later.hybrid_s;
  return cost;
}

}  // namespace

Result<void> measure_windows(const BenchOptions& options, std::vector<Row>& rows) {
  const std::size_t few = options.quick ? 5'000 : 50'000;
  SKEIN_ASSIGN(const WindowCost small, measure_thread(options, few));
  SKEIN_ASSIGN(const WindowCost large, measure_thread(options, few * 10));
  rows.push_back({fmt::format("context of 8,000 tokens from {} messages", few),
                  duration(small.recent_s),
                  fmt::format("the first, which indexes: {}", duration(small.first_s)),
                  small.recent_s * 1000, 5, true, "ms"});
  rows.push_back({fmt::format("  from {} messages", few * 10), duration(large.recent_s),
                  fmt::format("from {}: {}", few, duration(small.recent_s)),
                  large.recent_s / small.recent_s, 1.5, true, "×"});
  rows.push_back({fmt::format("  memory, from {} messages", few),
                  fmt::format("{:.0f} MB at the peak", small.peak_mb),
                  fmt::format("from {}: {:.0f} MB", few * 10, large.peak_mb), small.peak_mb, 50,
                  true, "MB"});
  rows.push_back({"  by summary, after summarize", duration(small.summary_s),
                  fmt::format("summarize itself: {}", duration(small.summarize_s)),
                  small.summary_s * 1000, 5, true, "ms"});
  rows.push_back({"  by hybrid, matches by words", duration(small.hybrid_s),
                  fmt::format("from {}: {}", few * 10, duration(large.hybrid_s)),
                  small.hybrid_s * 1000, 50, true, "ms"});
  return {};
}

}  // namespace skein::bench
