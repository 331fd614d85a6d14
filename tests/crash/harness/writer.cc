#include "crash/harness/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace skein::crash {
namespace {

constexpr std::chrono::minutes kLeaseTtl{10};

Result<std::uint64_t> version_of(const Result<Manifest>& manifest) {
  if (!manifest) return tl::unexpected(manifest.error());
  return manifest->version;
}

NewThread new_thread(ThreadId id) {
  NewThread thread;
  thread.agent_id = "crash";
  thread.id = id;
  return thread;
}

}  // namespace

Result<void> make_shared_threads(Store& store, const Workload& workload) {
  for (int i = 0; i < workload.shared_threads; ++i) {
    const auto made = store.create(new_thread(workload.shared_id(i)));
    if (!made && made.error().code != ErrorCode::kConflict) return tl::unexpected(made.error());
  }
  return {};
}

Writer::Answers Writer::append(Store& store, const Op& op) {
  std::vector<Append> appends;
  for (std::size_t i = 0; i < op.events.size(); ++i) {
    Append append{.thread = op.targets[i], .event = op.events[i], .fence = {}, .expect_seq = {}};
    if (op.targets[i] == op.thread) append.fence = token_;
    appends.push_back(std::move(append));
  }
  Answers answers;
  for (auto& result : store.append(appends)) {
    if (result)
      answers.emplace_back(result->seq);
    else
      answers.emplace_back(tl::unexpected(std::move(result).error()));
  }
  return answers;
}

// Gives the old lease back and takes a new one, so that the old token must never write again.
Writer::Answers Writer::take_lease(Store& store, const Op& op) {
  const std::optional<LeaseToken> old = std::exchange(token_, std::nullopt);
  if (old) {
    const auto released = store.lease(op.thread, "writer", std::chrono::milliseconds(0), old);
    if (!released) return {tl::unexpected(released.error())};
  }
  const auto lease = store.lease(op.thread, "writer", kLeaseTtl, std::nullopt);
  if (!lease) return {tl::unexpected(lease.error())};
  token_ = lease->token;
  return {lease->token};
}

Writer::Answers Writer::carry_out(Store& store, const Op& op) {
  switch (op.kind) {
    case OpKind::kAppend:
      return append(store, op);
    case OpKind::kLease:
      return take_lease(store, op);
    case OpKind::kUpdate:
      return {version_of(store.update(op.thread, op.patch, {}))};
    case OpKind::kCreateOwn:
      return {version_of(store.create(new_thread(op.thread)))};
    case OpKind::kCreate: {
      NewThread thread = new_thread(op.thread);
      thread.fields = op.patch;
      thread.events = op.events;
      return {version_of(store.create(thread))};
    }
    case OpKind::kRemove: {
      const auto removed = store.remove(op.thread);
      if (!removed) return {tl::unexpected(removed.error())};
      return {std::uint64_t{*removed ? 1U : 0U}};
    }
    case OpKind::kRecords: {
      const auto versions = store.write(op.writes);
      if (!versions) return {tl::unexpected(versions.error())};
      return {versions->front()};
    }
  }
  return {};
}

void Writer::report(const Op& op, const Answers& answers) {
  std::string line = fmt::format("done {} {}", op.writer, op.number);
  for (const auto& answer : answers) {
    line += ' ';
    line += outcome_text(answer);
    if (!answer && !first_error_) first_error_ = answer.error();
  }
  journal_.line(std::move(line));
}

bool Writer::run(Store& store, const std::atomic<bool>& stop) {
  for (; finished_ < end_ && !stop; ++finished_) {
    const Op op = script_.next();
    if (options_.acknowledge_early) {
      report(op, {op.number + 1});
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      carry_out(store, op);
      continue;
    }
    const auto begin = std::chrono::steady_clock::now();
    const Answers answers = carry_out(store, op);
    report(op, answers);
    longest_wait_ = std::max(longest_wait_, std::chrono::duration_cast<std::chrono::microseconds>(
                                                std::chrono::steady_clock::now() - begin));
    for (const auto& answer : answers) {
      if (!answer && !options_.go_on_after_errors) return false;
    }
  }
  return true;
}

}  // namespace skein::crash
