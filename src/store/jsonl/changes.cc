#include <algorithm>
#include <thread>

#include "core/try.h"
#include "store/checks.h"
#include "store/jsonl/store_impl.h"

namespace skein::jsonl {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How often a reader that waits looks for what other processes wrote.
constexpr milliseconds kPoll{4};
// How often the files are compared with the feed, at most: for what a process that died, or another
// program, left untold. Longer where that takes long.
constexpr milliseconds kReconcileEvery{1000};
constexpr int kReconcileShare = 20;

bool is_told(const ThreadNews& news, const CatalogEntry& entry) {
  if (!news.exists) return false;
  return news.last_seq >= entry.manifest.last_seq &&
         (!entry.problem.empty() || news.version == entry.manifest.version);
}

}  // namespace

// Under the thread's lock nobody else writes about it: what is missing then, nobody will write.
Result<void> JsonlStore::reconcile_thread(ThreadId id) {
  const std::shared_ptr<ThreadState> state = threads_.get(id);
  SKEIN_ASSIGN(const ThreadLock lock, ThreadLock::acquire(*folder_, *state));
  SKEIN_TRY(feed_.follow());
  ThreadNews news = feed_.news_of(id);
  SKEIN_ASSIGN(const auto agent, catalog_.locate(id));
  if (!agent) {
    if (news.exists || news.last_seq > 0) feed_.removed(id);
    return {};
  }
  SKEIN_ASSIGN(const auto file, open_thread(folder_->thread_path(*agent, id), O_RDONLY));
  if (!file) return {};
  SKEIN_ASSIGN(const auto stamp, stat_open(file->fd, file->path));
  SKEIN_ASSIGN(const Head head, read_head(*file, id));
  auto read = read_tail(*file, head.width, stamp.size);
  if (!read && read.error().code != ErrorCode::kDamaged) return tl::unexpected(read.error());
  const Tail tail = read.value_or(Tail{});  // whoever reads the thread is told of the damage
  if (!news.exists) {
    feed_.created(id, head.manifest.version);
  } else if (head.state != Head::State::kDamaged && head.manifest.version != news.version) {
    feed_.updated(id, head.manifest.version);
  }
  if (tail.last_seq > news.last_seq) feed_.appended(id, news.last_seq + 1, tail.last_seq);
  return {};
}

Result<void> JsonlStore::reconcile() {
  SKEIN_TRY(feed_.follow());
  auto news = feed_.all_news();
  std::vector<std::pair<Timestamp, ThreadId>> untold;
  SKEIN_TRY(catalog_.each(std::nullopt, [&](const CatalogEntry& entry) {
    const ThreadId id = entry.manifest.id;
    const auto known = news.find(id);
    if (known == news.end() || !is_told(known->second, entry)) {
      untold.emplace_back(entry.manifest.updated_at, id);
    }
    if (known != news.end()) known->second.exists = false;
  }));
  std::sort(untold.begin(), untold.end());
  for (const auto& [id, told] : news) {
    if (told.exists) untold.emplace_back(Timestamp{}, id);
  }
  for (const auto& [time, id] : untold) SKEIN_TRY(reconcile_thread(id));

  SKEIN_ASSIGN(const auto buried, records_.buried());
  for (const auto& [id, version] : buried) {
    if (news.contains(id)) continue;
    SKEIN_ASSIGN(const auto agent, catalog_.locate(id));
    if (!agent) feed_.removed(id);
  }
  SKEIN_ASSIGN(const Version last, records_.last_version());
  if (last > feed_.record_version()) {
    SKEIN_TRY(records_.changes_after(0, [&](std::vector<RecordChange> changes) {
      if (!feed_.follow()) return;
      std::erase_if(changes, [known = feed_.record_version()](const RecordChange& change) {
        return change.version <= known;
      });
      feed_.records(changes);
    }));
  }
  return {};
}

Result<void> JsonlStore::reconcile_if_due(bool urgent) {
  const std::unique_lock guard(reconcile_mutex_, std::try_to_lock);
  if (!guard) return {};
  const auto begin = steady_clock::now();
  if (!urgent && begin < next_reconcile_) return {};
  SKEIN_TRY(reconcile());
  const auto end = steady_clock::now();
  next_reconcile_ =
      end + std::max<steady_clock::duration>(kReconcileEvery, (end - begin) * kReconcileShare);
  return {};
}

Result<ChangeBatch> JsonlStore::changes(std::string_view cursor, std::size_t limit,
                                        std::chrono::milliseconds wait) {
  SKEIN_TRY(check_changes(limit, wait));
  const auto deadline = steady_clock::now() + wait;
  SKEIN_TRY(reconcile_if_due(feed_.take_behind()));
  SKEIN_ASSIGN(ChangeBatch batch, feed_.read(cursor, limit));
  while (batch.changes.empty()) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) break;
    feed_.wait_for_entry(std::min(left, kPoll));
    SKEIN_TRY(reconcile_if_due(feed_.take_behind()));
    const std::string from = std::move(batch.cursor);
    SKEIN_ASSIGN(batch, feed_.read(from, limit));
  }
  return batch;
}

}  // namespace skein::jsonl
