#include "mcp/workspace.h"

#include "core/try.h"

namespace skein::mcp {
namespace {

Workspace::Parts complete(Workspace::Parts parts) {
  if (parts.clock == nullptr) parts.clock = &system_clock();
  if (parts.ids == nullptr) parts.ids = &random_ids();
  return parts;
}

}  // namespace

Desk::Desk(const Settings& settings, Store& store, OpenRecall open_recall)
    : store_(store),
      conversations_(store, {.active_limits = settings.active_limits}),
      recall_(settings, store),
      open_recall_(std::move(open_recall)) {}

void Desk::note_written(ThreadId thread) {
  constexpr std::size_t kMostThreads = 1000;
  const std::lock_guard lock(mutex_);
  if (written_.size() < kMostThreads) written_.insert(thread);
}

void Desk::index_written(std::stop_token stop) {
  std::set<ThreadId> threads;
  {
    const std::lock_guard lock(mutex_);
    threads.swap(written_);
  }
  if (threads.empty()) return;
  const auto index = recall();
  for (const ThreadId thread : threads) {
    if (index && (*index)->index_thread(thread, stop)) continue;
    note_written(thread);
  }
}

Workspace::Workspace(Parts parts)
    : parts_(complete(std::move(parts))),
      items_file_((parts_.settings.workspace / ".gitmem" / "threads.json").string()) {
  if (parts_.store != nullptr)
    desk_ = std::make_unique<Desk>(parts_.settings, *parts_.store, parts_.recall);
}

Result<Desk*> Workspace::open_under_lock() {
  if (desk_ == nullptr) {
    SKEIN_ASSIGN(own_,
                 open_settled_store(parts_.settings, IfMissing::kCreate, parts_.store_options));
    desk_ = std::make_unique<Desk>(parts_.settings, *own_, parts_.recall);
  }
  return desk_.get();
}

Result<Desk*> Workspace::look() {
  const std::lock_guard lock(mutex_);
  if (desk_ != nullptr || store_exists(parts_.settings.store_url)) return open_under_lock();
  if (empty_desk_ == nullptr) {
    SKEIN_ASSIGN(empty_, open_store("memory:"));
    empty_desk_ = std::make_unique<Desk>(parts_.settings, *empty_);
  }
  return empty_desk_.get();
}

Result<Desk*> Workspace::change() {
  const std::lock_guard lock(mutex_);
  return open_under_lock();
}

const WorkPlace& Workspace::place() {
  std::call_once(place_found_, [this] { place_ = work_place(parts_.settings); });
  return place_;
}

WorkItems Workspace::items(Desk& desk) { return {desk.store(), place(), clock(), ids()}; }

WorkSessions Workspace::sessions(Desk& desk) { return {desk.store(), place(), clock(), ids()}; }

}  // namespace skein::mcp
