// Does what the demo's script says, by the operations that everybody else uses.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/demo/demo.h"
#include "api/demo/player.h"
#include "api/demo/repository.h"
#include "api/demo/stories.h"
#include "skein/checkpoints.h"
#include "skein/tasks.h"
#include "skein/thread_manager.h"
#include "skein/threads.h"
#include "skein/work_items.h"
#include "skein/work_sessions.h"

namespace skein {

// Used by one thread. Borrows the parts.
class DemoPlay {
 public:
  struct Parts {
    const Settings& settings;
    Store& store;
    DemoClock& clock;
    DemoIds& ids;
    std::uint64_t seed;
  };

  DemoPlay(const Parts& parts, DemoRepository repository);

  // Models, and agents with their definitions.
  Result<void> introduce(const std::vector<DemoStep>& cast);
  // kInvalid names the line that cannot be done.
  Result<void> section(const DemoSection& section);
  Result<DemoSummary> summary();

 private:
  using Steps = std::span<const DemoStep>;
  struct Conversation {
    ThreadId id;
    std::string agent;
    std::string model;
    std::vector<Seq> ends;  // of its runs
  };

  // Does the first step, with those that belong to it; answers how many that were.
  Result<std::size_t> step(Steps steps);
  Result<void> small_step(const DemoStep& step);

  Result<DemoFile> change_file(const DemoStep& step);
  Result<void> begin_thread(const DemoStep& step);
  Result<void> fork_thread(const DemoStep& step);
  Result<void> begin_task(const DemoStep& step, DemoRun run);
  Result<void> run(const RunRequest& request, DemoRun run);
  Result<void> pin();
  Result<void> archive(const std::string& text);
  Result<void> resolve(const std::string& text);
  Result<void> begin_session(const std::string& agent);
  Result<void> end_session(const std::string& text);
  Result<void> checkpoint(const DemoStep& step);

  Conversation& current() { return conversations_[current_]; }
  std::string thread() { return current().id.str(); }

  const Parts parts_;
  DemoRepository repository_;
  DemoPlayer player_;
  Runner runner_;
  ThreadManager manager_;
  Tasks tasks_;
  WorkItems items_;
  WorkSessions sessions_;
  Checkpoints checkpoints_;

  std::map<std::string, Conversation> conversations_;  // the latest of each key
  std::string current_;
  std::vector<DemoFile> first_files_;         // for the first commit
  std::map<std::string, std::string> files_;  // as they are now, by their paths
  struct Session {
    std::string id;
    Timestamp began;
    std::string commit;
  };
  std::optional<Session> session_;
  DemoSummary summary_;
};

}  // namespace skein
