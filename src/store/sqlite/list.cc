#include "store/sqlite/list.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "core/try.h"
#include "store/checks.h"
#include "store/sqlite/heads.h"
#include "store/sqlite/manifests.h"

namespace skein::sqlite {
namespace {

// With fewer threads than this behind a metadata term, they are looked at one by one; with more,
// the list is walked in its order until the page is full.
constexpr std::size_t kFewMatches = 2000;

constexpr char kFindAgent[] = "SELECT agent FROM agents WHERE name = ?";
// Those that may come first, first: most of the others are then done with after one look.
constexpr char kAgentsByUpdated[] =
    "SELECT agent FROM agents ORDER BY"
    " (SELECT max(updated) FROM listed WHERE listed.agent = agents.agent) DESC";
constexpr char kAgentsByNewest[] =
    "SELECT agent FROM agents ORDER BY"
    " (SELECT max(created) FROM threads WHERE threads.agent = agents.agent) DESC";
constexpr char kAgentsByOldest[] =
    "SELECT agent FROM agents ORDER BY"
    " (SELECT min(created) FROM threads WHERE threads.agent = agents.agent)";

constexpr char kByUpdated[] =
    "SELECT id, updated, behind FROM listed"
    " WHERE agent = ? AND updated <= ? ORDER BY updated DESC";
constexpr char kByNewest[] =
    "SELECT id, created FROM threads INDEXED BY threads_by_created"
    " WHERE agent = ? AND created <= ? ORDER BY created DESC";
constexpr char kByOldest[] =
    "SELECT id, created FROM threads INDEXED BY threads_by_created"
    " WHERE agent = ? AND created >= ? ORDER BY created";
constexpr char kCreated[] = "SELECT created FROM threads WHERE id = ?";

constexpr char kMatches[] = "SELECT id FROM thread_meta WHERE key = ? AND value = ? LIMIT ?";
constexpr char kHasMeta[] = "SELECT 1 FROM thread_meta WHERE key = ? AND value = ? AND id = ?";
constexpr char kTotal[] =
    "SELECT CAST(total(max(threads, 0)) AS INTEGER) FROM totals"
    " WHERE agent = ?1 AND (?2 IS NULL OR status = ?2)";

struct Candidate {
  std::int64_t us = 0;
  ThreadId id;
};

struct Statements {
  const char* agents;
  const char* walk;
};

Statements statements_for(ListOrder order) {
  switch (order) {
    case ListOrder::kUpdatedNewestFirst:
      return {kAgentsByUpdated, kByUpdated};
    case ListOrder::kCreatedNewestFirst:
      return {kAgentsByNewest, kByNewest};
    case ListOrder::kCreatedOldestFirst:
      break;
  }
  return {kAgentsByOldest, kByOldest};
}

// One listing, inside one snapshot.
class Listing {
 public:
  // `before` is from before the snapshot.
  Listing(Database& database, KnownThreads& known, const KnownThreads::Moment& before,
          const ListQuery& query, const ListPlan& plan)
      : database_(database),
        known_(known),
        before_(before),
        query_(query),
        plan_(plan),
        after_(plan.after) {}

  Result<ThreadPage> run(std::vector<Finding>& damaged);

 private:
  bool oldest_first() const { return query_.order == ListOrder::kCreatedOldestFirst; }
  // Whether being a thread of the agent is not enough.
  bool filters() const { return query_.status || !plan_.metadata.empty(); }
  bool before(const Candidate& a, const Candidate& b) const {
    if (a.us != b.us) return oldest_first() == (a.us < b.us);
    return a.id < b.id;
  }
  ThreadId id_at(const Query& query) const {
    return ThreadId::from_bits(static_cast<std::uint64_t>(query.integer(0)));
  }

  Result<std::vector<std::int64_t>> agents();
  Result<std::optional<std::vector<ThreadId>>> few_matches();
  Result<bool> has_metadata(ThreadId id);
  // The candidate with its exact time, if the filter lets it through.
  Result<std::optional<Candidate>> examine(ThreadId id);
  Result<void> walk(std::int64_t agent);
  // The best of what comes after the cursor, in order, one more than the page takes.
  Result<void> collect(std::size_t want);
  void offer(const Candidate& candidate);
  Result<std::optional<Manifest>> manifest_of(ThreadId id);
  Result<std::uint64_t> total();

  Database& database_;
  KnownThreads& known_;
  const KnownThreads::Moment& before_;
  const ListQuery& query_;
  const ListPlan& plan_;
  std::optional<ListPlan::After> after_;
  std::vector<std::int64_t> agents_;
  std::optional<std::vector<ThreadId>> matches_;
  std::size_t want_ = 0;
  std::vector<Candidate> best_;  // a heap, the last in order on top
};

Result<std::vector<std::int64_t>> Listing::agents() {
  std::vector<std::int64_t> agents;
  SKEIN_ASSIGN(Query query,
               database_.query(query_.agent_id ? kFindAgent : statements_for(query_.order).agents));
  if (query_.agent_id) query.bind(*query_.agent_id);
  for (;;) {
    SKEIN_ASSIGN(const bool row, query.step());
    if (!row) return agents;
    agents.push_back(query.integer(0));
  }
}

Result<std::optional<std::vector<ThreadId>>> Listing::few_matches() {
  for (const auto& [key, value] : plan_.metadata) {
    std::vector<ThreadId> ids;
    SKEIN_ASSIGN(Query query, database_.query(kMatches));
    query.bind(key, value, kFewMatches);
    for (;;) {
      SKEIN_ASSIGN(const bool row, query.step());
      if (!row) break;
      ids.push_back(id_at(query));
    }
    if (ids.size() < kFewMatches) return ids;
  }
  return std::nullopt;
}

Result<bool> Listing::has_metadata(ThreadId id) {
  for (const auto& [key, value] : plan_.metadata) {
    SKEIN_ASSIGN(Query query, database_.query(kHasMeta));
    SKEIN_ASSIGN(const bool row, query.bind(key, value, id.bits()).step());
    if (!row) return false;
  }
  return true;
}

Result<std::optional<Candidate>> Listing::examine(ThreadId id) {
  SKEIN_ASSIGN(const auto head, load_head(database_, id));
  if (!head) return std::nullopt;
  if (query_.status && static_cast<int>(*query_.status) != head->status) return std::nullopt;
  if (query_.agent_id && (agents_.empty() || agents_[0] != head->agent)) return std::nullopt;
  SKEIN_ASSIGN(const bool matches, has_metadata(id));
  if (!matches) return std::nullopt;
  if (query_.order == ListOrder::kUpdatedNewestFirst) return Candidate{head->updated, id};
  SKEIN_ASSIGN(Query created, database_.query(kCreated));
  SKEIN_ASSIGN(const bool row, created.bind(id.bits()).step());
  return Candidate{row ? created.integer(0) : 0, id};
}

void Listing::offer(const Candidate& candidate) {
  if (after_ && !before(Candidate{after_->us, after_->id}, candidate)) return;
  const auto order = [this](const Candidate& a, const Candidate& b) { return before(a, b); };
  if (best_.size() == want_) {
    if (!before(candidate, best_.front())) return;
    std::pop_heap(best_.begin(), best_.end(), order);
    best_.pop_back();
  }
  best_.push_back(candidate);
  std::push_heap(best_.begin(), best_.end(), order);
}

Result<void> Listing::walk(std::int64_t agent) {
  using Limits = std::numeric_limits<std::int64_t>;
  const std::int64_t start = after_ ? after_->us : (oldest_first() ? Limits::min() : Limits::max());
  const bool by_update = query_.order == ListOrder::kUpdatedNewestFirst;
  SKEIN_ASSIGN(Query query, database_.query(statements_for(query_.order).walk));
  query.bind(agent, start);
  for (;;) {
    SKEIN_ASSIGN(const bool row, query.step());
    if (!row) return {};
    // No later row can be better than this one could be at best.
    const std::int64_t at_best = query.integer(1) + (by_update ? kListLagUs : 0);
    if (best_.size() == want_ && best_.front().us != at_best &&
        oldest_first() == (best_.front().us < at_best))
      return {};
    const bool exact = !by_update || query.integer(2) == 0;
    if (exact && !filters()) {
      offer({query.integer(1), id_at(query)});
      continue;
    }
    SKEIN_ASSIGN(const auto candidate, examine(id_at(query)));
    if (candidate) offer(*candidate);
  }
}

Result<void> Listing::collect(std::size_t want) {
  best_.clear();
  want_ = want;
  if (matches_) {
    for (const ThreadId id : *matches_) {
      SKEIN_ASSIGN(const auto candidate, examine(id));
      if (candidate) offer(*candidate);
    }
  } else {
    for (const std::int64_t agent : agents_) SKEIN_TRY(walk(agent));
  }
  std::sort_heap(best_.begin(), best_.end(),
                 [this](const Candidate& a, const Candidate& b) { return before(a, b); });
  return {};
}

Result<std::uint64_t> Listing::total() {
  std::uint64_t total = 0;
  const auto count = [&](ThreadId id) -> Result<void> {
    SKEIN_ASSIGN(const auto candidate, examine(id));
    if (candidate) ++total;
    return {};
  };
  if (matches_) {
    for (const ThreadId id : *matches_) SKEIN_TRY(count(id));
    return total;
  }
  for (const std::int64_t agent : agents_) {
    if (plan_.metadata.empty()) {
      SKEIN_ASSIGN(Query query, database_.query(kTotal));
      std::optional<int> status;
      if (query_.status) status = static_cast<int>(*query_.status);
      SKEIN_TRY(query.bind(agent, status).step());
      total += static_cast<std::uint64_t>(query.integer(0));
      continue;
    }
    SKEIN_ASSIGN(Query query, database_.query(kByOldest));
    query.bind(agent, std::numeric_limits<std::int64_t>::min());
    for (;;) {
      SKEIN_ASSIGN(const bool row, query.step());
      if (!row) break;
      SKEIN_TRY(count(id_at(query)));
    }
  }
  return total;
}

Result<std::optional<Manifest>> Listing::manifest_of(ThreadId id) {
  if (auto known = known_.find(id, before_)) return known;
  SKEIN_ASSIGN(auto thread, load_thread(database_, id));
  if (!thread) return std::nullopt;
  known_.put(thread->manifest, before_);
  return std::move(thread->manifest);
}

Result<ThreadPage> Listing::run(std::vector<Finding>& damaged) {
  ThreadPage page;
  // Where each thread of the page was found. Its manifest may say another time, and the next page
  // could begin with it again.
  std::vector<ListPlan::After> places;
  SKEIN_ASSIGN(agents_, agents());
  SKEIN_ASSIGN(matches_, few_matches());
  if (query_.with_total) {
    SKEIN_ASSIGN(page.total, total());
  }
  for (;;) {
    const std::size_t want = query_.limit + 1 - page.threads.size();
    SKEIN_TRY(collect(want));
    for (const Candidate& candidate : best_) {
      after_ = ListPlan::After{candidate.us, candidate.id};
      auto thread = manifest_of(candidate.id);
      if (thread && *thread) {
        page.threads.push_back(std::move(**thread));
        places.push_back(*after_);
      } else if (!thread && thread.error().code == ErrorCode::kDamaged) {
        damaged.push_back({.thread = candidate.id, .what = thread.error().message});
      } else if (!thread) {
        return tl::unexpected(std::move(thread.error()));
      }
    }
    if (page.threads.size() > query_.limit || best_.size() < want) break;
  }
  if (page.threads.size() > query_.limit) {
    page.threads.pop_back();
    page.next = list_cursor(query_.order, places[page.threads.size() - 1]);
  }
  return page;
}

}  // namespace

Result<ThreadPage> list_threads(Readers& readers, KnownThreads& known, const ListQuery& query,
                                const std::function<void(const Finding&)>& notice) {
  SKEIN_ASSIGN(const ListPlan plan, plan_list(query));
  std::vector<Finding> damaged;
  const KnownThreads::Moment before = known.now();
  auto page = readers.with<ThreadPage>([&](Database& database) {
    return Listing(database, known, before, query, plan).run(damaged);
  });
  for (const Finding& finding : damaged) {
    if (notice) notice(finding);
  }
  return page;
}

}  // namespace skein::sqlite
