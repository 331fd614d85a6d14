#include "runner/effects.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/try.h"
#include "runner/usage_record.h"

namespace skein {
namespace {

constexpr std::string_view kTitle = "title";

}  // namespace

Effects::Effects(Store& store, AgentSource& agents, RunBook& book, const RunnerOptions& options)
    : store_(store), agents_(agents), book_(book), options_(options) {}

Effects::~Effects() {
  std::vector<std::jthread> workers;
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, options_.drain, [&] { return jobs_.empty() && busy_ == 0; });
    stop_effects_.request_stop();
    workers.swap(workers_);
  }
  for (std::jthread& worker : workers) worker.request_stop();
}

void Effects::log(std::string_view text) const {
  if (options_.log) options_.log(text);
}

std::vector<std::string> Effects::wanted(const Run& run, bool has_title, bool has_model,
                                         std::optional<std::string> said_now) {
  std::vector<std::string> names;
  for (const RunEffect* effect : options_.effects) {
    if (effect->is_wanted()) names.emplace_back(effect->name());
  }
  // The first message of a conversation is no reason for a title yet.
  const bool first = run.base_seq == 0 && run.user_seq == run.first_seq;
  if (!options_.titles || has_title || first) return names;
  const auto needed = needs_title(store_, run.thread, has_model, std::move(said_now));
  if (!needed) log("run " + run.id + ": title: " + needed.error().message);
  if (needed && *needed) names.emplace_back(kTitle);
  return names;
}

void Effects::dispatch(const Run& run, std::optional<TitleMaker> maker) {
  const std::lock_guard lock(mutex_);
  if (jobs_.size() >= limits::kMaxPendingEffects) {
    log("run " + run.id + ": too many effects wait; they are left for the next start");
    return;
  }
  jobs_.push_back({run, std::move(maker)});
  try {
    while (workers_.size() < std::max<std::size_t>(1, options_.effect_threads)) {
      workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }
  } catch (const std::system_error&) {  // fewer will do
    if (workers_.empty()) {
      jobs_.pop_back();
      log("run " + run.id +
          ": the system has no thread for effects; they are left for the next start");
      return;
    }
  }
  changed_.notify_all();
}

void Effects::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return jobs_.empty() && busy_ == 0; });
}

void Effects::work(const std::stop_token& stop) {
  while (true) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [&] { return !jobs_.empty(); })) return;
    if (stop.stop_requested()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    ++busy_;
    lock.unlock();
    apply_all(job, stop_effects_.get_token());
    lock.lock();
    --busy_;
    changed_.notify_all();
  }
}

void Effects::apply_all(Job& job, const std::stop_token& stop) {
  for (const std::string& name : job.run.effects) {
    if (stop.stop_requested()) return;
    if (auto applied = apply(name, job, stop); !applied) {
      // Cut off by the end of the program: left in the record, for the next start.
      if (stop.stop_requested()) return;
      log("run " + job.run.id + ": effect " + name + " failed: " + applied.error().message);
    }
  }
  if (auto done = book_.effects_done(job.run.id); !done) {
    log("run " + job.run.id + ": effects: " + done.error().message);
  }
}

Result<void> Effects::apply(std::string_view name, Job& job, const std::stop_token& stop) {
  if (name == kTitle) return make_title(job, stop);
  for (RunEffect* effect : options_.effects) {
    if (effect->name() != name) continue;
    return effect->apply(
        {.run = job.run, .user_seq = job.run.user_seq, .response_seq = job.run.response_seq}, stop);
  }
  return fail(ErrorCode::kNotFound, "there is no such effect here");
}

Result<void> Effects::make_title(Job& job, const std::stop_token& stop) {
  const auto say = [&](std::string_view text) {
    log("run " + job.run.id + ": " + std::string(text));
  };
  if (!job.maker) {
    auto agent = agents_.prepare({.run_id = job.run.id,
                                  .agent_id = job.run.agent_id,
                                  .thread = job.run.thread,
                                  .task_id = std::nullopt,
                                  .chain = job.run.chain});
    if (!agent) say("title is made from the text: " + agent.error().message);
    job.maker = agent ? TitleMaker::of(*agent) : TitleMaker{};
  }
  const auto record = [&](const EngineCost& cost) {
    const auto recorded = record_usage(store_,
                                       {.at = options_.clock->now(),
                                        .agent_id = job.run.agent_id,
                                        .thread = job.run.thread,
                                        .cost = cost,
                                        .purpose = "title"},
                                       *options_.ids);
    if (!recorded) say("the cost of the title is not recorded: " + recorded.error().message);
  };
  return give_title(store_, job.run.thread, *job.maker, say, record, stop);
}

}  // namespace skein
