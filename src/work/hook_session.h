// What the hooks of a session remember from one call to the next.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/file.h"
#include "core/file_lock.h"
#include "skein/clock.h"
#include "skein/error.h"

namespace skein {

struct HookSession {
  struct Head {
    std::string root;     // of a repository
    std::string initial;  // the commit that was checked out when the session first saw it, or empty
    std::string last;     // and when it last did
  };

  std::string id;
  Timestamp started_at;
  Timestamp seen_at;  // the last call that looked for commits
  std::optional<Timestamp> ended_at;
  std::vector<Head> heads;
  std::string last_auto;  // id of the last automatic checkpoint; empty: none, or replaced
  std::optional<Timestamp> last_auto_at;
  std::vector<std::string> files;  // touched since, absolute
  bool created_files = false;      // some of them are new

  Head* head(const std::string& root);
  void touch(const std::string& file);
};

// One file for each session in WORKSPACE/.skein/hooks/. Any text is a session's id; none leads out
// of that folder.
class HookSessions {
 public:
  explicit HookSessions(std::string workspace);

  // A session under its lock: calls for the same one wait, calls for others do not.
  class Open {
   public:
    HookSession session;
    bool fresh = false;  // it was not known before
    Result<void> save();

   private:
    friend class HookSessions;
    std::string path_;
    Fd lock_file_;
    FileLock lock_;
  };
  Result<Open> open(const std::string& id, Timestamp now);

  // Nothing, if there is no such session.
  Result<std::optional<HookSession>> find(const std::string& id) const;
  // The one that was seen last among those that have not ended and were seen within a day.
  Result<std::optional<HookSession>> newest_open(Timestamp now) const;

  // Forgets sessions that were last seen before `time`; how many.
  Result<std::size_t> forget_before(Timestamp time);

 private:
  std::string file_of(const std::string& id) const;

  const std::string workspace_;
  const std::string folder_;
};

}  // namespace skein
