#include "store/postgres/reads.h"

#include <algorithm>

#include "core/try.h"

namespace skein::postgres {
namespace {

constexpr std::uint64_t kChunkRows = 1000;
constexpr std::size_t kChunkBytes = 1048576;

// Rows up to a size in bytes: the server knows it without reading large bodies.
#define SKEIN_SELECT_EVENTS(order)                                            \
  "SELECT " SKEIN_EVENT_COLUMNS                                               \
  " FROM (SELECT s.*, sum(octet_length(body)) OVER ("                         \
  "ORDER BY seq " order                                                       \
  " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before"              \
  " FROM (SELECT * FROM skein.events WHERE id = $1 AND seq BETWEEN $2 AND $3" \
  " ORDER BY seq " order                                                      \
  " LIMIT $4) s) e"                                                           \
  " WHERE coalesce(before, 0) < 1048576 ORDER BY e.seq " order
constexpr char kForward[] = SKEIN_SELECT_EVENTS("ASC");
constexpr char kBackward[] = SKEIN_SELECT_EVENTS("DESC");
constexpr char kLastSeq[] = "SELECT last_seq FROM skein.threads WHERE id = $1";
constexpr char kCount[] =
    "SELECT count(*) FROM skein.events WHERE id = $1 AND seq BETWEEN 1 AND $2";
constexpr char kBranches[] = "SELECT seq, base FROM skein.branches WHERE id = $1 ORDER BY seq";

#define SKEIN_SELECT_THREAD              \
  "SELECT " SKEIN_HEAD_COLUMNS           \
  ", m.crc, m.body FROM skein.threads t" \
  " LEFT JOIN skein.manifests m ON m.id = t.id WHERE t.id = "
constexpr char kById[] = SKEIN_SELECT_THREAD "$1::bigint";
constexpr char kByAlias[] =
    SKEIN_SELECT_THREAD "(SELECT a.id FROM skein.aliases a WHERE a.alias = $1::text)";

using Plan = std::vector<SeqSpan>;

std::vector<Branch> branches_of(const Answer& answer) {
  std::vector<Branch> branches;
  for (int row = 0; row < answer.rows(); ++row)
    add_branch(branches, answer.integer(row, 0), answer.integer(row, 1));
  return branches;
}

Result<Plan> make_plan(Connection& connection, ThreadId id, const ReadRange& range,
                       Deadline deadline) {
  const bool path = range.view == View::kPath;
  if (path) connection.queue(kBranches, Arguments::of(id.bits()));
  // After the branches: those of events up to it are all among them.
  connection.queue(kLastSeq, Arguments::of(id.bits()));
  SKEIN_ASSIGN(const auto answers, connection.exchange(deadline));
  const Answer& last = answers.back();
  if (last.rows() == 0) return Plan{};
  std::vector<Branch> branches;
  if (path) branches = branches_of(answers.front());
  return plan_read(range, static_cast<Seq>(last.integer(0, 0)), branches);
}

}  // namespace

Result<std::vector<Branch>> load_branches(Connection& connection, ThreadId id, Deadline deadline) {
  SKEIN_ASSIGN(const Answer answer, connection.ask(kBranches, Arguments::of(id.bits()), deadline));
  return branches_of(answer);
}

void EventChunk::add(const EventRow& row) {
  rows_.push_back(row);
  offsets_.push_back(bytes_.size());
  bytes_.append(row.key).append(row.body).append(JsonObjectReader::kPadding, '\0');
}

Result<bool> EventChunk::load(Connection& connection, ThreadId id, SeqSpan span,
                              Direction direction, std::uint64_t limit, Deadline deadline) {
  rows_.clear();
  offsets_.clear();
  bytes_.clear();
  const bool forward = direction == Direction::kForward;
  const Seq count = std::min<Seq>({span.last - span.first + 1, limit, kChunkRows});
  const Arguments arguments = Arguments::of(id.bits(), span.first, span.last, count);
  connection.queue(forward ? kForward : kBackward, arguments);
  // A thread that is removed meanwhile is gone; its events are not missing.
  connection.queue(kLastSeq, Arguments::of(id.bits()));
  SKEIN_ASSIGN(const auto answers, connection.exchange(deadline));
  const Answer& found = answers.front();
  const auto expected = [&] {
    return forward ? span.first + rows_.size() : span.last - rows_.size();
  };
  const auto add_missing = [&] {
    EventRow row;
    row.id = id;
    row.seq = expected();
    row.missing = "the event is missing";
    add(row);
  };
  for (int i = 0; i < found.rows() && rows_.size() < count; ++i) {
    const EventRow row = event_at(found, i);
    while (rows_.size() < count && expected() != row.seq) add_missing();
    if (rows_.size() < count) add(row);
  }
  // With room left, what did not come is not there.
  bool any_missing = false;
  if (bytes_.size() < kChunkBytes && static_cast<Seq>(found.rows()) < count) {
    any_missing = rows_.size() < count;
    while (rows_.size() < count) add_missing();
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    EventRow& row = rows_[i];
    row.key = std::string_view(bytes_).substr(offsets_[i], row.key.size());
    row.body = std::string_view(bytes_).substr(offsets_[i] + row.key.size(), row.body.size());
    any_missing = any_missing || row.missing != nullptr;
  }
  const Answer& last = answers.back();
  const Seq furthest = forward ? span.first + rows_.size() - 1 : span.last;
  if (!any_missing) return true;
  if (last.rows() == 0 || static_cast<Seq>(last.integer(0, 0)) < furthest) return false;
  SKEIN_TRY(check_missing(connection, id, span.last, deadline));
  return true;
}

// Counts the events that are there, once.
Result<void> EventChunk::check_missing(Connection& connection, ThreadId id, Seq last,
                                       Deadline deadline) {
  if (!losses_.is_due(rows_, last)) return {};
  SKEIN_ASSIGN(const Answer count,
               connection.ask(kCount, Arguments::of(id.bits(), last), deadline));
  return losses_.decide(id, rows_, last, static_cast<std::uint64_t>(count.integer(0, 0)));
}

Result<void> read_events(Pool& pool, ThreadId id, const ReadRange& range, const EventSink& sink) {
  SKEIN_ASSIGN(const Plan plan, pool.with<Plan>([&](Connection& connection, Deadline deadline) {
    return make_plan(connection, id, range, deadline);
  }));
  EventChunk chunk;
  EventReader reader;
  Event event;
  std::uint64_t left = range.limit;
  for (SeqSpan span : plan) {
    while (span.first <= span.last && left > 0) {
      SKEIN_ASSIGN(const bool there,
                   pool.with<bool>([&](Connection& connection, Deadline deadline) {
                     return chunk.load(connection, id, span, range.direction, left, deadline);
                   }));
      if (!there) return {};
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

Result<std::optional<Manifest>> get_thread(Pool& pool, const ThreadRef& ref) {
  using Found = std::optional<Manifest>;
  return pool.with<Found>([&](Connection& connection, Deadline deadline) -> Result<Found> {
    const std::string_view alias = ref.alias();
    SKEIN_ASSIGN(const Answer answer,
                 ref.id() ? connection.ask(kById, Arguments::of(ref.id()->bits()), deadline)
                          : connection.ask(kByAlias, Arguments::of(alias), deadline));
    if (answer.rows() == 0) return std::nullopt;
    const Head head = head_at(answer, 0);
    SKEIN_ASSIGN(Manifest manifest, manifest_at(answer, 0, kHeadColumns, head));
    return manifest;
  });
}

}  // namespace skein::postgres
