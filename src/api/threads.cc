#include "api/threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/text.h"
#include "core/try.h"
#include "skein/limits.h"
#include "skein/threads.h"
#include "skein/tokens.h"
#include "store/checks.h"

namespace skein {

Result<Manifest> find_thread(Store& store, const ThreadRef& ref) {
  SKEIN_ASSIGN(auto manifest, store.get(ref));
  if (!manifest) return fail(ErrorCode::kNotFound, "there is no thread " + ref.str());
  return std::move(*manifest);
}

Result<void> check_has_no_mark(const Json& metadata) {
  for (const JsonFields fields(metadata.text()); const auto& field : fields.others()) {
    if (field.name != kTemporaryMark) continue;
    return fail(ErrorCode::kInvalid,
                fmt::format("metadata.{} is set by the server alone: threads that have it are "
                            "removed, got {}",
                            kTemporaryMark, excerpt(field.value)));
  }
  return {};
}

Result<Manifest> fork_thread(Store& store, ThreadId thread, Seq seq) {
  SKEIN_ASSIGN(Manifest fork, Threads(store).fork(thread.str(), seq));
  if (check_has_no_mark(fork.metadata)) return fork;
  JsonFields kept(fork.metadata.text());
  kept.take<bool>(kTemporaryMark, [](RawJson) -> std::optional<bool> { return true; });
  return store.update(fork.id, ManifestPatch().metadata(kept.rest()), {});
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

Result<ThreadPage> list_threads_of(Store& store, ListQuery query,
                                   const std::vector<std::string>& agents) {
  ThreadPage all;
  if (query.with_total) all.total = 0;
  bool more = false;
  for (const std::string& agent : agents) {
    query.agent_id = agent;
    SKEIN_ASSIGN(ThreadPage page, store.list(query));
    more = more || !page.next.empty();
    if (query.with_total) *all.total += page.total.value_or(0);
    std::move(page.threads.begin(), page.threads.end(), std::back_inserter(all.threads));
  }
  std::sort(all.threads.begin(), all.threads.end(),
            [&](const Manifest& a, const Manifest& b) { return list_before(query.order, a, b); });
  if (all.threads.size() > query.limit) {
    all.threads.resize(query.limit);
    more = true;
  }
  // A cursor is a place in the order, whoever's threads are listed.
  if (more && !all.threads.empty()) all.next = list_cursor(query, all.threads.back());
  return all;
}

namespace {

bool says(const Manifest& manifest, const std::string& folded) {
  const auto has = [&](std::string_view text) {
    return fold_text(text).find(folded) != std::string::npos;
  };
  return has(manifest.title.value_or("")) || has(manifest.id.str()) ||
         has(manifest.alias.value_or("")) || has(manifest.metadata.text());
}

}  // namespace

Result<ThreadPage> find_threads(Store& store, ListQuery query,
                                const std::optional<std::vector<std::string>>& agents,
                                std::string_view text) {
  const std::string folded = fold_text(text);
  const std::size_t limit = query.limit;
  query.limit = limits::kMaxPageSize;
  query.with_total = false;
  ThreadPage found;
  std::size_t looked_at = 0;
  do {
    SKEIN_ASSIGN(ThreadPage page,
                 agents ? list_threads_of(store, query, *agents) : store.list(query));
    for (Manifest& manifest : page.threads) {
      ++looked_at;
      found.next = list_cursor(query, manifest);
      if (says(manifest, folded)) found.threads.push_back(std::move(manifest));
      if (found.threads.size() == limit || looked_at == kMaxThreadsLookedAt) return found;
    }
    query.after = std::move(page.next);
  } while (!query.after.empty());
  found.next.clear();
  return found;
}

std::string summary_json(const Summary& summary) {
  std::string covers = "[";
  for (const SeqRange& range : summary.covers) {
    covers += fmt::format("{}[{},{}]", covers.size() > 1 ? "," : "", range.first, range.last);
  }
  JsonObject object;
  object.add("seq", summary.seq).add_json("covers", covers + "]").add("text", summary.text);
  object.add("tokens", std::uint64_t{count_tokens(summary.text)});
  object.add("by", summary.model.empty() ? "extraction" : "engine");
  if (!summary.model.empty()) object.add("model", summary.model);
  return object.str();
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
