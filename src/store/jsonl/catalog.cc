#include "store/jsonl/catalog.h"

#include <algorithm>
#include <chrono>

#include "core/try.h"

namespace skein::jsonl {
namespace {

constexpr std::size_t kMostKnown = 200'000;
// File times advance in ticks; within this time of a change, another may not show.
constexpr std::int64_t kTickNs = 50'000'000;
constexpr int kReadAttempts = 2;

std::int64_t wall_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Result<std::optional<ThreadFile>> open_thread(const std::string& path, int flags) {
  SKEIN_ASSIGN(const auto stamp, stat_file(path));
  if (!stamp) return std::nullopt;
  auto fd = open_file(path, flags);
  if (!fd) {
    if (fd.error().code == ErrorCode::kNotFound) return std::nullopt;
    return tl::unexpected(fd.error());
  }
  ThreadFile file;
  file.fd = std::move(*fd);
  file.path = path;
  SKEIN_ASSIGN(const auto now, stat_open(file.fd, path));
  file.inode = now.inode;
  return file;
}

Result<std::optional<std::string>> Catalog::locate(ThreadId id) {
  std::optional<std::string> agent;
  {
    const std::lock_guard guard(mutex_);
    if (const auto known = known_.find(id); known != known_.end())
      agent = known->second.entry.agent;
  }
  if (agent) {
    SKEIN_ASSIGN(const auto stamp, stat_file(folder_.thread_path(*agent, id)));
    if (stamp) return agent;
    forget(id);
  }
  SKEIN_ASSIGN(const auto agents, folder_.agents());
  for (const std::string& name : agents) {
    SKEIN_ASSIGN(const auto stamp, stat_file(folder_.thread_path(name, id)));
    if (stamp) return name;
  }
  return std::nullopt;
}

Result<std::optional<CatalogEntry>> Catalog::find(ThreadId id) {
  SKEIN_ASSIGN(const auto agent, locate(id));
  if (!agent) return std::nullopt;
  return entry(*agent, id);
}

Result<std::optional<CatalogEntry>> Catalog::entry(const std::string& agent, ThreadId id) {
  SKEIN_ASSIGN(const auto stamp, stat_file(folder_.thread_path(agent, id)));
  if (!stamp) return std::nullopt;
  {
    const std::lock_guard guard(mutex_);
    const auto known = known_.find(id);
    if (known != known_.end() && known->second.settled && known->second.entry.agent == agent &&
        known->second.entry.stamp == *stamp) {
      return known->second.entry;
    }
  }
  return load(agent, id);
}

Result<std::optional<CatalogEntry>> Catalog::load(const std::string& agent, ThreadId id) {
  const std::string path = folder_.thread_path(agent, id);
  CatalogEntry entry;
  entry.agent = agent;
  Tail tail;
  std::int64_t read_at = 0;
  for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
    SKEIN_ASSIGN(const auto file, open_thread(path, O_RDONLY));
    if (!file) return std::nullopt;
    read_at = wall_ns();
    SKEIN_ASSIGN(entry.stamp, stat_open(file->fd, path));
    SKEIN_ASSIGN(Head head, read_head(*file, id));
    entry.manifest = std::move(head.manifest);
    entry.problem = head.state == Head::State::kDamaged ? head.problem : "";
    auto read = read_tail(*file, head.width, entry.stamp.size);
    if (read) {
      tail = *read;
    } else if (read.error().code == ErrorCode::kDamaged) {
      tail = {};
      entry.problem = read.error().message;
    } else {
      return tl::unexpected(read.error());
    }
    if (entry.problem.empty() && tail.end.torn_bytes == 0) break;
    // Somebody may be writing right now; whoever has the lock sees the lines whole.
    if (attempt == 0) SKEIN_TRY(recover_(id));
  }
  entry.manifest.id = id;
  entry.manifest.agent_id = agent;
  entry.manifest.last_seq = tail.last_seq;
  entry.manifest.updated_at = std::max(entry.manifest.updated_at, tail.last_time);
  report(entry, tail);

  const std::lock_guard guard(mutex_);
  if (known_.size() >= kMostKnown) {
    known_.clear();
    aliases_.clear();
  }
  if (entry.manifest.alias) aliases_[*entry.manifest.alias] = id;
  known_[id] = {entry, read_at - entry.stamp.mtime_ns > kTickNs};
  return entry;
}

void Catalog::report(const CatalogEntry& entry, const Tail& tail) const {
  Finding finding;
  finding.thread = entry.manifest.id;
  if (!entry.problem.empty()) {
    finding.what = entry.problem;
    finding.repair = "restore the file " + folder_.thread_path(entry.agent, entry.manifest.id) +
                     " or its first line from a copy";
    folder_.notice(finding);
  }
  if (tail.end.torn_bytes > 0) {
    finding.what = "torn last line of " + std::to_string(tail.end.torn_bytes) + " bytes";
    finding.repair = "the next write to the thread removes it, and keeps it under .skein/torn";
    folder_.notice(finding);
  }
}

Result<std::optional<ThreadId>> Catalog::find_alias(const std::string& alias) {
  std::optional<ThreadId> id;
  {
    const std::lock_guard guard(mutex_);
    if (const auto known = aliases_.find(alias); known != aliases_.end()) id = known->second;
  }
  if (id) {
    SKEIN_ASSIGN(const auto entry, find(*id));
    if (entry && entry->manifest.alias == alias) return id;
    id.reset();
  }
  SKEIN_TRY(each(std::nullopt, [&](const CatalogEntry& entry) {
    if (entry.manifest.alias == alias && !id) id = entry.manifest.id;
  }));
  return id;
}

Result<void> Catalog::each(const std::optional<std::string>& agent,
                           const std::function<void(const CatalogEntry&)>& visit,
                           const std::function<void(ThreadId, const std::string&)>& duplicate) {
  SKEIN_ASSIGN(const auto agents, folder_.agents());
  std::unordered_set<ThreadId> seen;
  for (const std::string& name : agents) {
    // Those before the agent that is asked for decide whose a repeated id is.
    if (agent && name > *agent) break;
    SKEIN_ASSIGN(const auto ids, folder_.threads(name));
    for (const ThreadId id : ids) {
      if (seen.contains(id)) {
        if (duplicate) duplicate(id, name);
        continue;
      }
      if (agent && name != *agent) {
        seen.insert(id);
        continue;
      }
      SKEIN_ASSIGN(const auto found, entry(name, id));
      if (!found) continue;  // moved or removed meanwhile
      seen.insert(id);
      visit(*found);
    }
  }
  return {};
}

void Catalog::forget(ThreadId id) {
  const std::lock_guard guard(mutex_);
  const auto known = known_.find(id);
  if (known == known_.end()) return;
  if (known->second.entry.manifest.alias) aliases_.erase(*known->second.entry.manifest.alias);
  known_.erase(known);
}

}  // namespace skein::jsonl
