#include "recall/pending.h"

#include <algorithm>
#include <unordered_map>

#include "core/try.h"
#include "recall/index/message_writer.h"
#include "recall/index/names.h"
#include "recall/index/thread_rows.h"

namespace skein {
namespace {

constexpr std::size_t kMostChanges = 2000;
constexpr std::uint64_t kMostEvents = 2000;

class Counter {
 public:
  Counter(Store& store, IndexFile& file, const AgentNames& agents)
      : store_(store), file_(file), agents_(agents) {}

  Result<Pending> count() {
    std::string cursor;
    {
      SKEIN_ASSIGN(IndexReading reading, file_.read());
      SKEIN_ASSIGN(cursor, index_text(reading.db(), kCursor));
      SKEIN_TRY(add_known(reading.db()));
    }
    if (cursor.empty()) {
      SKEIN_TRY(add_listed());
    } else {
      SKEIN_TRY(add_changed(cursor));
    }
    std::uint64_t events = unlisted_;
    for (const auto& [thread, range] : ranges_) events += range.last - range.covered;
    if (!complete_ || events > kMostEvents) return Pending{events, false};
    return count_messages();
  }

 private:
  struct Range {
    Seq covered = 0;
    Seq last = 0;
  };

  Result<void> add_known(Database& db) {
    if (!agents_) return add_known_of(db, std::nullopt);
    SKEIN_ASSIGN(numbers_, find_agents(db, agents_));
    for (const std::int64_t agent : numbers_) SKEIN_TRY(add_known_of(db, agent));
    return {};
  }

  Result<void> add_known_of(Database& db, std::optional<std::int64_t> agent) {
    SKEIN_ASSIGN(const auto threads, threads_behind(db, agent, kMostChanges));
    if (threads.size() == kMostChanges) {
      complete_ = false;
      SKEIN_ASSIGN(const std::uint64_t events, events_behind(db, agent));
      unlisted_ += events;
      return {};
    }
    for (const ThreadId thread : threads) {
      SKEIN_ASSIGN(const auto row, find_thread_row(db, thread));
      if (row && row->covered < row->target) {
        ranges_[thread.bits()] = {row->covered, row->target};
      }
    }
    return {};
  }

  // The feed was never followed: all that there is.
  Result<void> add_listed() {
    if (!agents_) return add_listed_of(std::nullopt);
    for (const std::string& agent : *agents_) SKEIN_TRY(add_listed_of(agent));
    return {};
  }

  Result<void> add_listed_of(std::optional<std::string> agent) {
    ListQuery query;
    query.agent_id = std::move(agent);
    query.limit = kMostChanges / 2;
    SKEIN_ASSIGN(const ThreadPage page, store_.list(query));
    for (const Manifest& manifest : page.threads) {
      SKEIN_ASSIGN(const auto covered, covered_of(manifest.id));
      if (covered) add(manifest.id, *covered, manifest.last_seq);
    }
    complete_ = complete_ && page.next.empty();
    return {};
  }

  void add(ThreadId thread, Seq covered, Seq last) {
    if (last <= covered) return;
    Range& range = ranges_.try_emplace(thread.bits(), Range{covered, last}).first->second;
    range.last = std::max(range.last, last);
  }

  Result<void> add_changed(const std::string& cursor) {
    auto batch = store_.changes(cursor, kMostChanges, {});
    if (!batch && batch.error().code == ErrorCode::kInvalid) return add_listed();
    SKEIN_TRY(batch);
    complete_ = complete_ && batch->changes.size() < kMostChanges;
    std::unordered_map<std::uint64_t, Seq> last;
    for (const Change& change : batch->changes) {
      if (change.kind == ChangeKind::kRemoved) last.erase(change.thread.bits());
      if (change.kind != ChangeKind::kAppended) continue;
      Seq& seq = last[change.thread.bits()];
      seq = std::max(seq, change.seq);
    }
    for (const auto& [bits, seq] : last) {
      const ThreadId thread = ThreadId::from_bits(bits);
      SKEIN_ASSIGN(const auto covered, covered_of(thread));
      if (covered) add(thread, *covered, seq);
    }
    return {};
  }

  // Nothing: the thread is not one of these agents'.
  Result<std::optional<Seq>> covered_of(ThreadId thread) {
    {
      SKEIN_ASSIGN(IndexReading reading, file_.read());
      SKEIN_ASSIGN(const auto row, find_thread_row(reading.db(), thread));
      if (row && row->state != ThreadState::kGone) {
        const bool wanted =
            !agents_ || std::find(numbers_.begin(), numbers_.end(), row->agent) != numbers_.end();
        return wanted ? std::optional(row->covered) : std::nullopt;
      }
    }
    const auto manifest = store_.get(thread);
    if (!manifest || !*manifest) return std::nullopt;
    const bool wanted =
        !agents_ || std::binary_search(agents_->begin(), agents_->end(), (**manifest).agent_id);
    return wanted ? std::optional<Seq>(0) : std::nullopt;
  }

  Result<Pending> count_messages() {
    Pending pending;
    for (const auto& [bits, range] : ranges_) {
      const auto read =
          store_.read(ThreadId::from_bits(bits), {.from = range.covered + 1}, [&](Event& event) {
            if (event.seq > range.last) return false;
            if (recalled_message(event) != nullptr) ++pending.count;
            return true;
          });
      if (!read && read.error().code != ErrorCode::kDamaged) return tl::unexpected(read.error());
    }
    return pending;
  }

  Store& store_;
  IndexFile& file_;
  const AgentNames& agents_;
  std::vector<std::int64_t> numbers_;  // of agents_, if there are any
  std::unordered_map<std::uint64_t, Range> ranges_;
  std::uint64_t unlisted_ = 0;
  bool complete_ = true;
};

}  // namespace

Result<Pending> count_pending(Store& store, IndexFile& file, const AgentNames& agents) {
  return Counter(store, file, agents).count();
}

}  // namespace skein
