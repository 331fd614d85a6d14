#include "api/threads.h"

#include <algorithm>

#include "core/try.h"
#include "skein/limits.h"

namespace skein {

Result<Manifest> find_thread(Store& store, const ThreadRef& ref) {
  SKEIN_ASSIGN(auto manifest, store.get(ref));
  if (!manifest) return fail(ErrorCode::kNotFound, "there is no thread " + ref.str());
  return std::move(*manifest);
}

Result<std::string> list_threads(Store& store, ListQuery query, std::uint64_t limit,
                                 const std::function<bool(const Manifest&)>& sink) {
  do {
    query.limit = static_cast<std::size_t>(std::min<std::uint64_t>(limit, limits::kMaxPageSize));
    SKEIN_ASSIGN(ThreadPage page, store.list(query));
    for (const Manifest& manifest : page.threads) {
      if (!sink(manifest)) return std::string();
    }
    limit -= std::min<std::uint64_t>(limit, page.threads.size());
    query.after = std::move(page.next);
  } while (limit > 0 && !query.after.empty());
  return std::move(query.after);
}

Result<FollowEnd> follow_events(Store& store, ThreadId thread, Seq after,
                                const std::function<bool()>& go_on, const EventSink& sink,
                                const std::function<void()>& settled) {
  constexpr std::chrono::milliseconds kLookUp{200};
  // The cursor comes before the first read, so that nothing falls between the two.
  SKEIN_ASSIGN(ChangeBatch batch, store.changes(Store::kNow, 1, std::chrono::milliseconds(0)));
  bool wanted = true;
  bool news = true;
  bool removed = false;
  while (true) {
    if (news) {
      SKEIN_TRY(store.read(thread, ReadRange{.from = after + 1}, [&](Event& event) {
        after = event.seq;
        wanted = sink(event);
        return wanted;
      }));
      settled();
    }
    if (removed) return FollowEnd::kRemoved;
    if (!wanted || !go_on()) return FollowEnd::kStopped;
    SKEIN_ASSIGN(batch, store.changes(batch.cursor, limits::kMaxChanges, kLookUp));
    news = false;
    for (const Change& change : batch.changes) {
      if (change.thread != thread) continue;
      news = news || change.kind == ChangeKind::kAppended;
      removed = removed || change.kind == ChangeKind::kRemoved;
    }
  }
}

}  // namespace skein
