#include "mcp/watch.h"

#include <sys/stat.h>

#include <algorithm>

#include "api/checkpoint_answers.h"
#include "api/checkpoints.h"
#include "core/percent.h"
#include "mcp/catalogue.h"
#include "skein/work_sessions.h"

namespace skein::mcp {
namespace {

using namespace std::chrono_literals;

constexpr auto kLookEvery = 500ms;
constexpr auto kLongestWait = 10s;
constexpr std::size_t kMostChanges = 1000;

std::int64_t modified_ns(const std::string& path) {
  struct stat st{};
  if (::stat(path.c_str(), &st) != 0) return 0;
  return st.st_mtim.tv_sec * 1'000'000'000 + st.st_mtim.tv_nsec;
}

std::string uri(std::string_view prefix, const std::string& id) { return std::string(prefix) + id; }

}  // namespace

Watch::~Watch() {
  looker_.request_stop();
  if (looker_.joinable()) looker_.join();
}

std::unique_ptr<Watch::Listening> Watch::listen(WatchFilter filter, Tell tell) {
  auto listener = std::make_shared<Listener>();
  listener->filter = std::move(filter);
  listener->tell = std::move(tell);
  const std::lock_guard lock(mutex_);
  listeners_.push_back(listener);
  if (!looker_.joinable()) {
    looker_ = std::jthread([this](const std::stop_token& stop) { look_on(stop); });
  }
  changed_.notify_all();
  return std::make_unique<Listening>(*this, std::move(listener));
}

void Watch::wait_until_looking() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kLongestWait, [this] { return looking_; });
}

Watch::Listening::~Listening() {
  {
    const std::lock_guard lock(watch_.mutex_);
    std::erase(watch_.listeners_, listener_);
  }
  const std::lock_guard busy(listener_->busy);
  listener_->gone = true;
}

std::vector<std::shared_ptr<Watch::Listener>> Watch::listeners() {
  const std::lock_guard lock(mutex_);
  return listeners_;
}

void Watch::tell_all(const std::string& method, bool WatchFilter::* wanted) {
  for (const auto& listener : listeners()) {
    const std::lock_guard busy(listener->busy);
    if (!listener->gone && listener->filter.*wanted) listener->tell(method, "");
  }
}

void Watch::tools_changed() { tell_all("notifications/tools/list_changed", &WatchFilter::tools); }

void Watch::prompts_changed() {
  tell_all("notifications/prompts/list_changed", &WatchFilter::prompts);
}

void Watch::tell(const News& news) {
  if (news.lists) tell_all("notifications/resources/list_changed", &WatchFilter::resources);
  if (news.uris.empty()) return;
  for (const auto& listener : listeners()) {
    const std::lock_guard busy(listener->busy);
    if (listener->gone) continue;
    for (const std::string& changed : news.uris) {
      if (listener->filter.all_uris || listener->filter.uris.contains(changed)) {
        listener->tell("notifications/resources/updated", changed);
      }
    }
  }
}

void Watch::look_on(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [this] { return !listeners_.empty(); });
    }
    if (stop.stop_requested()) return;
    News news;
    look_at_items(news);
    look_at_checkpoints(news);
    look_at_store(news, stop);  // waits for something to happen
    if (began_) tell(news);
    began_ = true;
    const std::lock_guard lock(mutex_);
    if (!looking_) {
      looking_ = true;
      changed_.notify_all();
    }
  }
}

void Watch::pause(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, kLookEvery, [] { return false; });
}

void Watch::look_at_store(News& news, const std::stop_token& stop) {
  const auto desk = workspace_.look();
  if (!desk) return pause(stop);
  Store& store = (*desk)->store();
  if (store_ != &store) {
    // One that was made after the first look is news from its beginning.
    cursor_ = store_ == nullptr ? std::string(Store::kNow) : std::string();
    store_ = &store;
  }
  const auto batch = store.changes(cursor_, kMostChanges, began_ ? kLookEvery : 0ms);
  if (!batch) return pause(stop);
  cursor_ = batch->cursor;
  for (const Change& change : batch->changes) {
    if (change.kind == ChangeKind::kRecordWritten || change.kind == ChangeKind::kRecordDeleted) {
      if (change.collection != kSessionsCollection) continue;
      news.uris.emplace(kItemsUri);
      news.lists = true;
      continue;
    }
    news.uris.insert(uri(kThreadUri, change.thread.str()));
    news.uris.emplace(kThreadsUri);
    news.lists =
        news.lists || change.kind == ChangeKind::kCreated || change.kind == ChangeKind::kRemoved;
  }
}

void Watch::look_at_items(News& news) {
  const auto stamp = stat_file(workspace_.items_file());
  if (!stamp || (began_ && *stamp == items_stamp_)) return;
  items_stamp_ = *stamp;
  const auto desk = workspace_.look();
  if (!desk) return;
  ListItems wanted;
  wanted.include_resolved = true;
  const auto listing = workspace_.items(**desk).list(wanted);
  if (!listing) return;
  std::map<std::string, std::string> now;
  for (const ListedItem& listed : listing->items) now[listed.item.id] = to_json(listed.item);
  for (const auto& [id, json] : now) {
    const auto before = items_.find(id);
    if (before == items_.end() || before->second != json) news.uris.insert(uri(kItemUri, id));
  }
  if (now != items_) {
    news.uris.emplace(kItemsUri);
    news.lists = true;
  }
  items_ = std::move(now);
}

void Watch::look_at_checkpoints(News& news) {
  const std::string folder = (workspace_.settings().workspace / "workspace" / "threads").string();
  const std::int64_t stamp = modified_ns(folder);
  if (began_ && stamp == checkpoints_stamp_) return;
  checkpoints_stamp_ = stamp;
  const auto entries = workspace_checkpoints(workspace_.settings()).list({.limit = 1000});
  if (!entries) return;
  std::map<std::string, std::string> now;
  for (const CheckpointEntry& entry : *entries) now[entry.id] = entry_json(entry);
  for (const auto& [id, json] : now) {
    const auto before = checkpoints_.find(id);
    if (before == checkpoints_.end() || before->second != json) {
      news.uris.insert(uri(kCheckpointUri, percent_encoded(id)));
    }
  }
  if (now != checkpoints_) {
    news.uris.emplace(kCheckpointsUri);
    news.lists = true;
  }
  checkpoints_ = std::move(now);
}

}  // namespace skein::mcp
