// Everything that a long-living face needs of a workspace, opened once.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/append_pump.h"
#include "api/recall.h"
#include "api/runs.h"
#include "api/settings.h"
#include "api/summary_jobs.h"
#include "api/wakes.h"
#include "skein/tasks.h"
#include "skein/thread_manager.h"
#include "skein/threads.h"
#include "skein/triggers.h"
#include "skein/work_items.h"
#include "skein/work_sessions.h"

namespace skein {

struct ServiceOptions {
  Clock* clock = nullptr;   // borrowed; none: system_clock()
  IdSource* ids = nullptr;  // borrowed; none: random_ids()
  RunnerOptions runner{};   // on_change is the service's own
  // From any thread. `request` is the id of the one that it is about; empty: none.
  std::function<void(std::string_view message, std::string_view request)> log{};
  // By a Background: runs need not see to it themselves.
  bool indexed_on_arrival = false;
  // Told of what happened in the store, while interested; see Wakes.
  Wakes::Listener woken{};
};

// Thread-safe, as its parts are. Borrows the store.
class Service {
 public:
  Service(Settings settings, Store& store, ServiceOptions options = {});
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  const Settings& settings() const;
  Clock& clock();
  IdSource& ids();
  Store& store();
  ThreadManager& threads();
  Threads& plain_threads();  // fork
  // Runs, and the agents of the workspace. Runs that are started here wake their threads.
  Runner& runner();
  WorkspaceAgents& agents();
  Tasks& tasks();
  Triggers& triggers();
  WorkItems& items();
  WorkSessions& sessions();
  // The index, opened on first use.
  Result<Recall*> recall();
  // Removes threads that the store no longer has from the index, if there is one.
  Result<void> forget_in_index(const std::vector<ThreadId>& threads);
  SummaryJobs& summaries();
  AppendPump& pump();
  Wakes& wakes();

  void log(std::string_view message, std::string_view request = {}) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace skein
