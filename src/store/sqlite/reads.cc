#include "store/sqlite/reads.h"

#include <algorithm>
#include <utility>

#include "core/try.h"
#include "store/sqlite/heads.h"

namespace skein::sqlite {
namespace {

constexpr std::size_t kChunkRows = 1000;
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
constexpr std::size_t kSingleRows = 100;

#define SKEIN_SELECT_EVENTS \
  "SELECT " SKEIN_EVENT_COLUMNS " FROM events INDEXED BY events_by_thread WHERE id = ?"
constexpr char kForward[] = SKEIN_SELECT_EVENTS " AND seq BETWEEN ? AND ? ORDER BY seq";
constexpr char kBackward[] = SKEIN_SELECT_EVENTS " AND seq BETWEEN ? AND ? ORDER BY seq DESC";
constexpr char kOne[] = SKEIN_SELECT_EVENTS " AND seq = ?";
constexpr char kCount[] =
    "SELECT count(*) FROM events INDEXED BY events_by_thread WHERE id = ? AND seq BETWEEN 1 AND ?";
constexpr char kBranches[] = "SELECT seq, base FROM branches WHERE id = ? ORDER BY seq";

// What is read, and what is known of the thread by then.
struct Plan {
  std::vector<SeqSpan> spans{};
  Seq last_seq = 0;
  std::optional<std::vector<Branch>> branches{};
};

Result<Plan> make_plan(Database& database, ThreadId id, const ReadRange& range) {
  Plan plan;
  SKEIN_ASSIGN(const auto head, load_head(database, id));
  if (!head) return plan;
  plan.last_seq = head->last_seq;
  if (range.view == View::kPath) {
    SKEIN_ASSIGN(plan.branches, load_branches(database, id));
  }
  plan.spans = plan_read(range, head->last_seq, plan.branches.value_or(std::vector<Branch>()));
  return plan;
}

// Whether the chunk has the last events of the thread.
bool has_the_end(const EventChunk& chunk, const Plan& plan, Direction direction) {
  if (chunk.rows().empty()) return false;
  const bool forward = direction == Direction::kForward;
  return (forward ? chunk.rows().back() : chunk.rows().front()).seq == plan.last_seq;
}

// False when what the chunk misses was removed together with its thread since the plan was made.
Result<bool> still_there(Database& database, ThreadId id, const EventChunk& chunk) {
  Seq missing = 0;
  for (const EventRow& row : chunk.rows()) {
    if (row.missing != nullptr) missing = std::max(missing, row.seq);
  }
  if (missing == 0) return true;
  SKEIN_ASSIGN(const auto head, load_head(database, id));
  return head && head->last_seq >= missing;
}

}  // namespace

Result<std::vector<Branch>> load_branches(Database& database, ThreadId id) {
  std::vector<Branch> branches;
  SKEIN_ASSIGN(Query query, database.query(kBranches));
  query.bind(id.bits());
  for (;;) {
    SKEIN_ASSIGN(const bool row, query.step());
    if (!row) return branches;
    add_branch(branches, query.integer(0), query.integer(1));
  }
}

Result<std::uint64_t> count_events(Database& database, ThreadId id, Seq last) {
  const auto count = [&]() -> Result<std::int64_t> {
    SKEIN_ASSIGN(Query query, database.query(kCount));
    SKEIN_TRY(query.bind(id.bits(), last).step());
    return query.integer(0);
  }();
  if (count) return static_cast<std::uint64_t>(*count);
  if (count.error().code != ErrorCode::kDamaged) return tl::unexpected(count.error());
  // A page of the index is damaged: no more events than the file has room for.
  constexpr std::int64_t kLeastRow = 32;
  SKEIN_ASSIGN(const auto pages, database.integer("PRAGMA page_count"));
  SKEIN_ASSIGN(const auto page, database.integer("PRAGMA page_size"));
  return static_cast<std::uint64_t>(pages * page / kLeastRow);
}

bool EventChunk::full(std::uint64_t limit) const {
  return rows_.size() >= std::min<std::uint64_t>(limit, kChunkRows) || bytes_.size() >= kChunkBytes;
}

void EventChunk::add(const EventRow& row) {
  rows_.push_back(row);
  offsets_.push_back(bytes_.size());
  bytes_.append(row.key).append(row.body).append(JsonObjectReader::kPadding, '\0');
}

void EventChunk::add_missing(ThreadId id, Seq seq, const char* why) {
  EventRow row;
  row.id = id;
  row.seq = seq;
  row.missing = why;
  add(row);
}

Result<void> EventChunk::load(Database& database, ThreadId id, SeqSpan span, Direction direction,
                              std::uint64_t limit) {
  rows_.clear();
  offsets_.clear();
  bytes_.clear();
  auto loaded = load_range(database, id, span, direction, limit);
  if (!loaded && loaded.error().code == ErrorCode::kDamaged)
    load_singly(database, id, span, direction, limit);
  else if (!loaded)
    return loaded;
  SKEIN_TRY(check_missing(database, id, span.last));
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    EventRow& row = rows_[i];
    row.key = std::string_view(bytes_).substr(offsets_[i], row.key.size());
    row.body = std::string_view(bytes_).substr(offsets_[i] + row.key.size(), row.body.size());
  }
  return {};
}

// Where an event is missing, counts those that are there, once.
Result<void> EventChunk::check_missing(Database& database, ThreadId id, Seq last) {
  if (!losses_.is_due(rows_, last)) return {};
  SKEIN_ASSIGN(const std::uint64_t present, count_events(database, id, last));
  SKEIN_ASSIGN(const auto head, load_head(database, id));
  const bool removed = !head || head->last_seq < last;
  if (!removed) return losses_.decide(id, rows_, last, present);
  losses_.believe(last);
  return {};
}

Result<void> EventChunk::load_range(Database& database, ThreadId id, SeqSpan span,
                                    Direction direction, std::uint64_t limit) {
  const bool forward = direction == Direction::kForward;
  const Seq count = span.last - span.first + 1;
  const auto expected = [&](std::size_t i) { return forward ? span.first + i : span.last - i; };
  SKEIN_ASSIGN(Query query, database.query(forward ? kForward : kBackward));
  query.bind(id.bits(), span.first, span.last);
  limit = std::min(limit, count);
  while (!full(limit)) {
    SKEIN_ASSIGN(const bool any, query.step());
    const Seq end = forward ? span.last + 1 : span.first - 1;
    const Seq found = any ? static_cast<Seq>(query.integer(2)) : end;
    const auto skipped = [&] {
      const Seq next = expected(rows_.size());
      return forward ? next < found : next > found;
    };
    while (!full(limit) && skipped())
      add_missing(id, expected(rows_.size()), "the event is missing");
    if (!any) break;
    if (!full(limit) && expected(rows_.size()) == found) add(event_row(query));
  }
  return {};
}

void EventChunk::load_singly(Database& database, ThreadId id, SeqSpan span, Direction direction,
                             std::uint64_t limit) {
  const bool forward = direction == Direction::kForward;
  const Seq count = std::min<Seq>({span.last - span.first + 1, limit, kSingleRows});
  while (rows_.size() < count && !full(limit)) {
    const Seq seq = forward ? span.first + rows_.size() : span.last - rows_.size();
    auto query = database.query(kOne);
    const auto found = query ? query->bind(id.bits(), seq).step() : tl::unexpected(query.error());
    if (!found)
      add_missing(id, seq, "the page that holds the event is damaged");
    else if (!*found)
      add_missing(id, seq, "the event is missing");
    else
      add(event_row(*query));
  }
}

Result<void> read_events(Readers& readers, KnownThreads& known, ThreadId id, const ReadRange& range,
                         const EventSink& sink) {
  EventReader reader;
  Event event;
  if (RecentEvents::Rows rows; known.read(id, range, rows)) {
    for (const auto& kept : rows) {
      decode_event(kept->row, reader, event);
      if (!sink(event)) break;
    }
    return {};
  }
  const KnownThreads::Moment before = known.now();
  const bool keeps = known.wants_events(id);
  EventChunk chunk;
  std::uint64_t left = range.limit;
  // Most reads end with the first chunk, which is read together with the plan.
  SKEIN_ASSIGN(Plan plan, readers.with<Plan>([&](Database& database) -> Result<Plan> {
    SKEIN_ASSIGN(Plan made, make_plan(database, id, range));
    if (made.spans.empty() || left == 0) return made;
    SKEIN_TRY(chunk.load(database, id, made.spans.front(), range.direction, left));
    if (keeps && !made.branches && has_the_end(chunk, made, range.direction)) {
      SKEIN_ASSIGN(made.branches, load_branches(database, id));
    }
    return made;
  }));
  if (keeps && plan.branches && has_the_end(chunk, plan, range.direction)) {
    auto recent = RecentEvents::of(chunk.rows(), range.direction, std::move(*plan.branches));
    if (recent) known.put_events(id, std::move(*recent), before);
  }
  bool loaded = true;
  for (SeqSpan span : plan.spans) {
    while (span.first <= span.last && left > 0) {
      if (!std::exchange(loaded, false)) {
        SKEIN_ASSIGN(const bool there, readers.with<bool>([&](Database& database) -> Result<bool> {
          SKEIN_TRY(chunk.load(database, id, span, range.direction, left));
          return still_there(database, id, chunk);
        }));
        if (!there) return {};
      }
      for (const EventRow& row : chunk.rows()) {
        decode_event(row, reader, event);
        if (!sink(event)) return {};
      }
      left -= chunk.rows().size();
      if (range.direction == Direction::kForward)
        span.first += chunk.rows().size();
      else
        span.last -= chunk.rows().size();
    }
  }
  return {};
}

}  // namespace skein::sqlite
