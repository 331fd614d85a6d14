#include "bench/memory_use.h"

#include <sys/resource.h>

#include "bench/in_child.h"
#include "bench/workload.h"
#include "core/try.h"

namespace skein::bench {
namespace {

constexpr std::size_t kBatch = 500;

Result<void> append_some(Store& store, ThreadId thread, std::size_t first, std::size_t count) {
  std::vector<Append> batch;
  for (std::size_t i = 0; i < count; ++i) {
    batch.push_back({thread, sample_event(first + i), {}, {}});
    if (batch.size() < kBatch && i + 1 < count) continue;
    for (const auto& answer : store.append(batch)) SKEIN_TRY(answer);
    batch.clear();
  }
  return {};
}

Result<void> read_by_range(Store& store, ThreadId thread, std::size_t events) {
  std::size_t seen = 0;
  for (Seq from = 1; from <= events; from += kBatch) {
    ReadRange range;
    range.from = from;
    range.limit = kBatch;
    SKEIN_TRY(store.read(thread, range, [&seen](Event&) {
      ++seen;
      return true;
    }));
  }
  if (seen == events) return {};
  return fail(ErrorCode::kDamaged, "events are missing");
}

Result<MemoryUse> work(const std::string& url, std::size_t events) {
  SKEIN_ASSIGN(const auto store, open_store(url));
  SKEIN_ASSIGN(const auto threads, create_threads(*store, "bench", 1));
  MemoryUse use;
  SKEIN_TRY(append_some(*store, threads[0], 0, events / 10));
  SKEIN_TRY(read_by_range(*store, threads[0], events / 10));
  use.early_mb = peak_mb();
  SKEIN_TRY(append_some(*store, threads[0], events / 10, events - events / 10));
  SKEIN_TRY(read_by_range(*store, threads[0], events));
  use.peak_mb = peak_mb();
  return use;
}

}  // namespace

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

Result<MemoryUse> measure_memory(const std::string& url, std::size_t events) {
  return in_child([&] { return work(url, events); });
}

}  // namespace skein::bench
