#include "api/summary_jobs.h"

#include <string>
#include <utility>

namespace skein {

SummaryJobs::~SummaryJobs() {
  const std::lock_guard lock(mutex_);
  for (const auto& [thread, job] : jobs_) job->stop();
}

Result<std::shared_ptr<SummaryJob>> SummaryJobs::start(const Manifest& thread,
                                                       SummaryOptions wish) {
  auto job = std::make_shared<SummaryJob>();
  {
    const std::lock_guard lock(mutex_);
    if (jobs_.contains(thread.id)) {
      return fail(ErrorCode::kBusy, "a summary of thread " + thread.id.str() + " is under way");
    }
    if (jobs_.size() >= limits::kMaxSummaryJobs) {
      return fail(ErrorCode::kBusy, "at most " + std::to_string(limits::kMaxSummaryJobs) +
                                        " summaries at once in one process");
    }
    jobs_.emplace(thread.id, job);
  }
  wish.stop = job->stop_.get_token();
  workers_.start([this, thread, wish = std::move(wish), job]() mutable {
    make(thread, std::move(wish), *job);
  });
  return job;
}

void SummaryJobs::make(const Manifest& thread, SummaryOptions wish, SummaryJob& job) {
  wish.progress = [&job](const SummaryProgress& now) {
    job.total_ = now.total;
    job.done_ = now.done;
  };
  auto made = make_summary(store_, agents_, thread, std::move(wish));
  {
    const std::lock_guard lock(job.mutex_);
    job.result_ = std::move(made);
  }
  {
    const std::lock_guard lock(mutex_);
    jobs_.erase(thread.id);
  }
  if (ended_) ended_(thread.id);
}

std::shared_ptr<SummaryJob> SummaryJobs::find(ThreadId thread) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(thread);
  return found == jobs_.end() ? nullptr : found->second;
}

}  // namespace skein
