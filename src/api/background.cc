#include "api/background.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>

#include "api/unsigned_records.h"
#include "core/pause.h"

namespace skein {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kAfterError = 10s;
constexpr std::chrono::milliseconds kRecoverEvery = 30s;

// Whoever asks something comes first: this thread, and those that it starts, get a small share, in
// long turns that anybody may interrupt. Not the last of all: on a busy machine it would never come
// to it.
void step_back() {
  // As linux/sched/types.h has it, which cannot be included beside sched.h everywhere.
  struct {
    std::uint32_t size;
    std::uint32_t policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t turn_ns;
    std::uint64_t deadline_ns;
    std::uint64_t period_ns;
  } wanted{};
  wanted.size = sizeof wanted;
  wanted.policy = SCHED_BATCH;
  wanted.nice = 10;
  wanted.turn_ns = 100'000'000;  // kernels before 6.12 choose their own
  ::syscall(SYS_sched_setattr, 0, &wanted, 0);
}

void wait_for(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait(lock, stop, [] { return false; });
}

}  // namespace

Background::Background(Service& service)
    : service_(service),
      indexer_([this](const std::stop_token& stop) { index(stop); }),
      triggers_([this](const std::stop_token& stop) { run_triggers(stop); }),
      recovery_([this](const std::stop_token& stop) { recover(stop); }) {}

void Background::stop() {
  for (std::jthread* thread : {&indexer_, &triggers_, &recovery_}) thread->request_stop();
  for (std::jthread* thread : {&indexer_, &triggers_, &recovery_}) *thread = {};
}

void Background::index(const std::stop_token& stop) {
  step_back();
  auto recall = service_.recall();
  while (!recall) {
    service_.log("the index cannot be opened: " + recall.error().message);
    if (!pause_for(kAfterError, stop)) return;
    recall = service_.recall();
  }
  recall_ = *recall;
  const RecallFollower follower(**recall, [this](const Error& error) {
    service_.log("messages are not indexed: " + error.message);
  });
  wait_for(stop);
}

void Background::run_triggers(const std::stop_token& stop) {
  SchedulerOptions options;
  options.clock = &service_.clock();
  options.holder = "serve " + std::to_string(::getpid());
  options.signer = service_.settings().signer;
  options.log = [this](std::string_view line) { service_.log(line); };
  Scheduler scheduler(
      service_.store(),
      [this](const RunRequest& request) { return service_.runner().start(request); }, options);
  scheduler.run(stop);
}

// Once: whoever starts a server reads its first lines.
void Background::log_unsigned() {
  const auto& signer = service_.settings().signer;
  if (!signer) return;
  const auto records = list_unsigned_records(service_.store(), *signer);
  if (!records) {
    service_.log("records that are not signed cannot be listed: " + records.error().message);
  } else if (!records->empty()) {
    service_.log(std::to_string(records->size()) +
                 " records are not signed and have no effect; \"skein doctor\" lists them, "
                 "\"skein trust\" signs them");
  }
}

void Background::recover(const std::stop_token& stop) {
  log_unsigned();
  do {
    const auto recovered = service_.runner().recover();
    if (!recovered) {
      service_.log("runs of dead processes are not closed: " + recovered.error().message);
    } else if (recovered->closed > 0) {
      service_.log("closed " + std::to_string(recovered->closed) + " runs of dead processes");
    }
  } while (pause_for(kRecoverEvery, stop));
}

std::optional<std::uint64_t> Background::index_lag() {
  Recall* const recall = recall_;
  if (recall == nullptr) return std::nullopt;
  const auto lag = recall->lag();
  if (!lag) return std::nullopt;
  return *lag;
}

}  // namespace skein
