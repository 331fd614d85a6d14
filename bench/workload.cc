#include "bench/workload.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <random>
#include <thread>

#include "core/try.h"

namespace skein::bench {
namespace {

std::int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

Error io_error(const std::string& doing) {
  return {ErrorCode::kIo, doing + ": " + std::strerror(errno)};
}

double percentile(std::vector<std::int64_t>& sorted_ns, double part) {
  const auto at = static_cast<std::size_t>(part * static_cast<double>(sorted_ns.size() - 1));
  return static_cast<double>(sorted_ns[at]) / 1e9;
}

// What the writers of one round share.
struct Round {
  Store& store;
  const std::vector<ThreadId>& threads;
  const AppendWork& work;
  std::barrier<>& start;
  std::atomic<bool> failed{false};
  Error error;  // of the writer that set `failed`
};

void write_part(Round& round, std::size_t writer, std::vector<std::int64_t>& times) {
  std::mt19937_64 random(std::random_device{}());
  const std::size_t count = round.work.appends / round.work.writers;
  Append append;
  times.reserve(count);
  round.start.arrive_and_wait();
  for (std::size_t i = 0; i < count && !round.failed; ++i) {
    const std::uint64_t number = writer * count + i;
    append.thread = round.threads[round.work.random ? random() % round.threads.size()
                                                    : writer % round.threads.size()];
    append.event = sample_event(number);
    if (round.work.keyed) append.event.key = fmt::format("{:016x}", random());
    const std::int64_t begun = now_ns();
    const auto answers = round.store.append(std::span(&append, 1));
    times.push_back(now_ns() - begun);
    if (!answers[0] && !round.failed.exchange(true)) round.error = answers[0].error();
  }
}

Result<void> write_lines(int fd, std::size_t lines) {
  for (std::size_t i = 0; i < lines; ++i) {
    const std::string line = sample_line(i) + "\n";
    if (write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size()) ||
        fdatasync(fd) != 0)
      return tl::unexpected(io_error("bare loop"));
  }
  return {};
}

}  // namespace

Stopwatch::Stopwatch() : started_ns_(now_ns()) {}

double Stopwatch::seconds() const { return static_cast<double>(now_ns() - started_ns_) / 1e9; }

Event sample_event(std::uint64_t number) {
  static const std::string kText =
      "The nightly build failed again in the packaging step: the archive was written before the "
      "signature was ready, so the upload took the old one. I moved the signing ahead of it and "
      "added a check that compares both; could you look at the second commit? It also changes the "
      "order of two log lines.";
  Event event;
  event.payload = Message{number % 2 == 0 ? Role::kUser : Role::kAssistant,
                          fmt::format("{:08x} {}", number * 2654435761U, kText)};
  return event;
}

std::string sample_line(std::uint64_t number) {
  Event event = sample_event(number);
  event.timestamp = Timestamp::from_ms(1'780'000'000'000 + static_cast<std::int64_t>(number));
  event.seq = number + 1;
  return to_json(event);
}

Result<std::vector<ThreadId>> create_threads(Store& store, const std::string& agent,
                                             std::size_t count) {
  constexpr std::size_t kWriters = 64;
  std::vector<ThreadId> ids(count);
  std::vector<Result<void>> results(kWriters);
  {
    std::vector<std::jthread> writers;
    for (std::size_t w = 0; w < kWriters; ++w) {
      writers.emplace_back([&, w] {
        NewThread thread;
        thread.agent_id = agent;
        for (std::size_t i = w; i < count && results[w]; i += kWriters) {
          thread.fields = ManifestPatch().title(fmt::format("Thread number {}", i));
          auto created = store.create(thread);
          if (created)
            ids[i] = created->id;
          else
            results[w] = tl::unexpected(created.error());
        }
      });
    }
  }
  for (const auto& result : results) SKEIN_TRY(result);
  return ids;
}

Result<AppendTimes> run_appends(Store& store, const std::vector<ThreadId>& threads,
                                const AppendWork& work) {
  std::barrier<> start(static_cast<std::ptrdiff_t>(work.writers) + 1);
  Round round{store, threads, work, start, {}, {}};
  std::vector<std::vector<std::int64_t>> times(work.writers);
  std::vector<std::jthread> writers;
  for (std::size_t w = 0; w < work.writers; ++w) {
    writers.emplace_back([&round, &times, w] { write_part(round, w, times[w]); });
  }
  start.arrive_and_wait();
  const Stopwatch watch;
  writers.clear();
  const double seconds = watch.seconds();
  if (round.failed) return tl::unexpected(round.error);
  std::vector<std::int64_t> all;
  for (const auto& part : times) all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end());
  return AppendTimes{static_cast<double>(all.size()) / seconds, percentile(all, 0.5),
                     percentile(all, 0.99)};
}

Result<double> bare_loop(const std::string& path, std::size_t lines) {
  const int fd = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return tl::unexpected(io_error(path));
  const Stopwatch watch;
  const Result<void> written = write_lines(fd, lines);
  const double seconds = watch.seconds();
  close(fd);
  unlink(path.c_str());
  SKEIN_TRY(written);
  return static_cast<double>(lines) / seconds;
}

Result<double> bare_parallel_loops(const std::string& folder, std::size_t files,
                                   std::size_t lines) {
  std::vector<Result<double>> rates(files, 0.0);
  const Stopwatch watch;
  {
    std::vector<std::jthread> loops;
    for (std::size_t i = 0; i < files; ++i) {
      loops.emplace_back(
          [&, i] { rates[i] = bare_loop(fmt::format("{}/bare-{}", folder, i), lines / files); });
    }
  }
  const double seconds = watch.seconds();
  for (const auto& rate : rates) SKEIN_TRY(rate);
  return static_cast<double>(lines / files * files) / seconds;
}

}  // namespace skein::bench
