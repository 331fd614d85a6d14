// What happens after a response, on threads of its own.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "runner/run_book.h"
#include "runner/title.h"
#include "skein/runner.h"

namespace skein {

// Thread-safe.
class Effects {
 public:
  Effects(Store& store, AgentSource& agents, RunBook& book, const RunnerOptions& options);
  // Finishes what waits, for as long as options.drain says.
  ~Effects();

  // The effects that a run that ended well needs; for its record. `said_now` is what its user said,
  // where that is not stored yet.
  std::vector<std::string> wanted(const Run& run, bool has_title, bool has_model,
                                  std::optional<std::string> said_now = std::nullopt);

  // To be done; the run's record names them. What does not fit the queue is left to the record.
  // `maker` is for the title; none: the agent is looked up.
  void dispatch(const Run& run, std::optional<TitleMaker> maker);

  // Until nothing is left.
  void finish();

 private:
  struct Job {
    Run run;
    std::optional<TitleMaker> maker;
  };

  void work(const std::stop_token& stop);
  void apply_all(Job& job, const std::stop_token& stop);
  Result<void> apply(std::string_view name, Job& job, const std::stop_token& stop);
  Result<void> make_title(Job& job, const std::stop_token& stop);
  void log(std::string_view text) const;

  Store& store_;
  AgentSource& agents_;
  RunBook& book_;
  const RunnerOptions& options_;
  std::stop_source stop_effects_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Job> jobs_;  // under mutex_
  std::size_t busy_ = 0;  // under mutex_

  std::vector<std::jthread> workers_;  // started with the first job; under mutex_
};

}  // namespace skein
