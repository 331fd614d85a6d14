// Tells whoever listens what changed: from the store's change feed, and from the files of items and
// checkpoints, which other programs write too.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/file.h"
#include "mcp/workspace.h"

namespace skein::mcp {

struct WatchFilter {
  bool tools = false;            // the list of tools
  bool prompts = false;          // the list of prompts
  bool resources = false;        // the list of resources
  bool all_uris = false;         // every resource, or else
  std::set<std::string> uris{};  // these
};

// Looks only while somebody listens. Thread-safe. Borrows the workspace.
class Watch {
 public:
  // Told the method of a notification, and the resource that it is about, if it is about one. On
  // any thread; never after its Listening is gone.
  using Tell = std::function<void(const std::string& method, const std::string& uri)>;

  class Listening;

  explicit Watch(Workspace& workspace) : workspace_(workspace) {}
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Until the answer goes, which must be before this does.
  std::unique_ptr<Listening> listen(WatchFilter filter, Tell tell);
  // After that, whoever listens misses nothing. Waits a moment at most.
  void wait_until_looking();

  // Something changed that nobody but the caller knows of.
  void tools_changed();
  void prompts_changed();

 private:
  struct Listener {
    WatchFilter filter;
    Tell tell;
    std::mutex busy;    // held while it is told
    bool gone = false;  // under busy
  };
  // What happened since the last look.
  struct News {
    bool lists = false;
    std::set<std::string> uris;
  };

  void look_on(const std::stop_token& stop);
  void pause(const std::stop_token& stop);
  void look_at_store(News& news, const std::stop_token& stop);
  void look_at_items(News& news);
  void look_at_checkpoints(News& news);
  void tell(const News& news);
  void tell_all(const std::string& method, bool WatchFilter::* wanted);
  std::vector<std::shared_ptr<Listener>> listeners();

  Workspace& workspace_;

  std::mutex mutex_;
  std::condition_variable_any changed_;               // listeners_, looking_
  std::vector<std::shared_ptr<Listener>> listeners_;  // under mutex_
  bool looking_ = false;                              // under mutex_
  std::jthread looker_;                               // under mutex_, until the end

  // Of the looker's thread alone:
  Store* store_ = nullptr;
  bool began_ = false;
  std::string cursor_;
  std::optional<FileStamp> items_stamp_;
  std::map<std::string, std::string> items_;  // as they were, by id
  std::int64_t checkpoints_stamp_ = 0;
  std::map<std::string, std::string> checkpoints_;  // as they were, by id
};

class Watch::Listening {
 public:
  Listening(Watch& watch, std::shared_ptr<Listener> listener)
      : watch_(watch), listener_(std::move(listener)) {}
  ~Listening();
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  Watch& watch_;
  const std::shared_ptr<Listener> listener_;
};

}  // namespace skein::mcp
