// A workspace as a program that embeds Skein uses it: its store, agents, runs and index, opened
// once.
//
//   auto workspace = skein::Workspace::open(".").value();
//   auto outcome = workspace->run("echo", "Hello").value();
//   std::cout << outcome.response << "\n";
//
// Settings are those of the command line in that folder (docs/workspaces.md), and so is trust: an
// agent whose definition the user does not trust is refused.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "skein/engine_summary.h"
#include "skein/recall.h"
#include "skein/runner.h"
#include "skein/store.h"
#include "skein/tasks.h"
#include "skein/thread_manager.h"
#include "skein/triggers.h"

namespace skein {

struct WorkspaceOptions {
  std::string store{};        // URL; empty: the one that the workspace uses
  std::string config_file{};  // instead of the workspace's; empty: that one
  // Called from any thread. `open` reports settings that have no effect, and files that others can
  // read. Absent: nothing is reported.
  std::function<void(std::string_view message)> log{};
};

// Thread-safe.
class Workspace {
 public:
  // `folder` exists. A store that is not there yet is made. Runs of processes that ended are closed
  // as interrupted. kInvalid: the configuration is wrong, or names a store that is not trusted.
  static Result<std::unique_ptr<Workspace>> open(const std::string& folder,
                                                 WorkspaceOptions options = {});
  // Waits for what runs have left to do, such as titles and index entries.
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // Runs an agent to its end: on a thread of its own, or on the one that is named. Fails as
  // Runner::execute does.
  Result<RunOutcome> run(std::string_view agent_id, std::string_view text,
                         std::string_view thread = {}, const RunCallbacks& callbacks = {});

  // The index is opened on first use.
  Result<SearchAnswer> search(std::string_view query, const SearchOptions& options = {});
  Result<BackfillResult> backfill(const BackfillOptions& options = {});

  // Appends a summary of what is old in a thread. The engine of the thread's agent writes it, if
  // that agent is trusted and has one; else it is an extraction, and the outcome's note says why.
  // kNotFound; kIo when it was stopped.
  Result<SummaryOutcome> summarize(std::string_view thread, SummaryOptions options = {});

  // Removes a thread for good, with what the index has of it. False: there is no such thread.
  // (ThreadManager::remove() leaves the index to the next backfill.) Where the index cannot be
  // changed, the thread is gone all the same, and the log says so.
  Result<bool> remove(std::string_view thread);

  ThreadManager& threads();
  Runner& runner();
  Tasks& tasks();
  Triggers& triggers();
  Store& store();

 private:
  struct Parts;
  explicit Workspace(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace skein
