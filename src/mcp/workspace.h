// What the tools work on: the workspace's items, sessions and checkpoints, and its conversations.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "api/recall.h"
#include "api/settings.h"
#include "api/work/place.h"
#include "skein/store.h"
#include "skein/thread_manager.h"
#include "skein/work_items.h"
#include "skein/work_sessions.h"

namespace skein::mcp {

// A store, and what stands on it.
class Desk {
 public:
  // Opens the index when it is first needed.
  using OpenRecall = std::function<Result<Recall*>()>;

  // Borrows the store. Without `open_recall` it opens the index of the settings itself.
  Desk(const Settings& settings, Store& store, OpenRecall open_recall = {});

  Store& store() { return store_; }
  ThreadManager& conversations() { return conversations_; }
  Result<Recall*> recall() { return open_recall_ ? open_recall_() : recall_.get(); }

  // What was said through this server is searched without a backfill.
  void note_written(ThreadId thread);
  void index_written(std::stop_token stop);

 private:
  Store& store_;
  ThreadManager conversations_;
  LazyRecall recall_;
  const OpenRecall open_recall_;
  std::mutex mutex_;
  std::set<ThreadId> written_;  // under mutex_; not indexed yet
};

// Opens what is needed when it is needed, so that a server that is only looked at leaves no trace
// and is there at once. Thread-safe.
class Workspace {
 public:
  struct Parts {
    Settings settings;
    Store* store = nullptr;  // borrowed; none: that of the settings, once it is needed
    StoreOptions store_options{};
    Desk::OpenRecall recall{};  // absent: the index of the settings
    Clock* clock = nullptr;     // borrowed; none: system_clock()
    IdSource* ids = nullptr;    // borrowed; none: random_ids()
  };

  explicit Workspace(Parts parts);

  const Settings& settings() const { return parts_.settings; }
  Clock& clock() const { return *parts_.clock; }
  IdSource& ids() const { return *parts_.ids; }

  // To look: where there is no store yet, an empty one stands for it. Lives as long as this.
  Result<Desk*> look();
  // To change: the store is made where there is none.
  Result<Desk*> change();

  WorkItems items(Desk& desk);
  WorkSessions sessions(Desk& desk);
  // The file that items are in.
  const std::string& items_file() const { return items_file_; }
  // Found when it is first asked for, which runs git.
  const WorkPlace& place();

 private:
  Result<Desk*> open_under_lock();

  const Parts parts_;
  const std::string items_file_;
  std::once_flag place_found_;
  WorkPlace place_;  // once it is found

  std::mutex mutex_;
  std::unique_ptr<Store> own_;        // under mutex_
  std::unique_ptr<Store> empty_;      // under mutex_
  std::unique_ptr<Desk> desk_;        // under mutex_; on the store
  std::unique_ptr<Desk> empty_desk_;  // under mutex_; on the empty one
};

}  // namespace skein::mcp
