#include "recall/index/orphan_lines.h"

#include <cstdio>
#include <filesystem>
#include <unordered_map>
#include <vector>

#include "core/file.h"
#include "core/try.h"
#include "recall/index/line_appender.h"
#include "recall/index/vector_lines.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

struct Removed {
  std::uint64_t ours = 0;
  std::uint64_t others = 0;
};

// False: the line is of none of these threads, as far as its bytes tell without parsing it.
bool may_be_of(std::string_view line, const std::unordered_set<ThreadId>& threads) {
  constexpr std::string_view kMember = "\"threadId\"";
  for (std::size_t at = line.find(kMember); at != line.npos; at = line.find(kMember, at)) {
    at = line.find_first_not_of(" \t:\"", at + kMember.size());
    if (at == line.npos) return false;
    const auto id = ThreadId::parse(line.substr(at, line.find('"', at) - at));
    if (id && threads.contains(*id)) return true;
  }
  return false;
}

// Which threads are gone, asked once for each.
class GoneThreads {
 public:
  GoneThreads(Store& store, const OrphanScope& scope) : store_(store), scope_(scope) {}

  bool is_gone(ThreadId thread) {
    const auto [known, first] = gone_.emplace(thread, false);
    if (first) {
      const auto manifest = store_.get(thread);
      // One that cannot be read is damaged, and not gone.
      known->second = manifest && !*manifest;
    }
    return known->second;
  }
  bool holds_for(const std::string& line) {
    if (scope_.threads && !may_be_of(line, *scope_.threads)) return false;
    const auto thread = thread_of_vector_line(line);
    return thread && (!scope_.threads || scope_.threads->contains(*thread)) && is_gone(*thread);
  }

 private:
  Store& store_;
  const OrphanScope& scope_;
  std::unordered_map<ThreadId, bool> gone_;
};

// The agents with a file of their own; a link leads elsewhere, and is left alone.
std::vector<std::string> agents_in(const std::string& folder,
                                   const std::optional<std::string>& agent) {
  std::vector<std::string> agents;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if ((agent && name != *agent) || !check_agent_id(name)) continue;
    std::error_code none;
    if (!fs::is_directory(entry->symlink_status(none))) continue;
    if (fs::is_regular_file(fs::symlink_status(entry->path() / "embeddings.jsonl", none))) {
      agents.push_back(name);
    }
  }
  return agents;
}

Result<bool> has_orphans(const std::string& path, GoneThreads& gone) {
  bool found = false;
  SKEIN_TRY(each_vector_line(path, [&](const std::string& line) -> Result<bool> {
    found = gone.holds_for(line);
    return !found;
  }));
  return found;
}

Result<Removed> rewrite_without(const std::string& path, GoneThreads& gone) {
  Removed removed;
  const std::string beside = path + ".new";
  {
    SKEIN_ASSIGN(const Fd fd, open_file(beside, O_WRONLY | O_APPEND | O_CREAT | O_TRUNC));
    LineAppender out(fd, beside);
    SKEIN_TRY(each_vector_line(path, [&](const std::string& line) -> Result<bool> {
      if (!gone.holds_for(line)) {
        SKEIN_TRY(out.add(line + "\n"));
      } else {
        ++(is_own_vector_line(line) ? removed.ours : removed.others);
      }
      return true;
    }));
    SKEIN_TRY(out.flush());
    // The vectors of other programs cannot be made again.
    SKEIN_TRY(Flusher().data(fd, beside));
  }
  if (std::rename(beside.c_str(), path.c_str()) != 0) {
    return tl::unexpected(io_error("rename", beside, errno));
  }
  return removed;
}

Result<std::int64_t> length_of(const std::string& path) {
  SKEIN_ASSIGN(const auto stamp, stat_file(path));
  return stamp ? static_cast<std::int64_t>(stamp->size) : 0;
}

}  // namespace

Result<std::uint64_t> remove_orphan_lines(Store& store, IndexFile& file, const std::string& folder,
                                          const OrphanScope& scope) {
  if (folder.empty() || (scope.threads && scope.threads->empty())) return 0;
  SKEIN_ASSIGN(const auto turn, file.embedding_turn());
  GoneThreads gone(store, scope);
  std::uint64_t others = 0;
  for (const std::string& name : agents_in(folder, scope.agent)) {
    const std::string path = folder + "/" + name + "/embeddings.jsonl";
    SKEIN_ASSIGN(const bool found, has_orphans(path, gone));
    if (!found) continue;
    SKEIN_ASSIGN(const std::int64_t before, length_of(path));
    SKEIN_ASSIGN(const Removed removed, rewrite_without(path, gone));
    SKEIN_ASSIGN(const std::int64_t after, length_of(path));
    others += removed.others;
    // Where index and file agreed, they still do.
    SKEIN_ASSIGN(IndexWriting writing, file.write());
    {
      SKEIN_ASSIGN(Query query, writing.db().query("UPDATE agents SET file_bytes = ?1 WHERE name = "
                                                   "?2 AND file_bytes = ?3"));
      SKEIN_TRY(query.bind(after, std::string_view(name), before).run());
    }
    SKEIN_TRY(writing.commit());
  }
  return others;
}

}  // namespace skein
