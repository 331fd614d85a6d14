#include "store/sqlite/appends.h"

#include <utility>

#include "core/try.h"
#include "store/append_parts.h"
#include "store/checks.h"
#include "store/sqlite/leases.h"
#include "store/sqlite/reads.h"
#include "store/sqlite/rows.h"

namespace skein::sqlite {
namespace {

constexpr char kByKey[] =
    "SELECT seq, key FROM events INDEXED BY events_by_key"
    " WHERE id = ? AND key_hash = ?";
// In the index alone.
constexpr char kHasEvent[] =
    "SELECT 1 FROM events INDEXED BY events_by_thread WHERE id = ? AND seq = ?";
constexpr char kEvent[] = "SELECT " SKEIN_EVENT_COLUMNS
                          " FROM events INDEXED BY events_by_thread WHERE id = ? AND seq = ?";

class AppendJob : public Job {
 public:
  explicit AppendJob(AppendPart& part) : part_(part) {
    items = part.items.size();
    bytes = part.bytes;
  }

  Result<void> apply(WriteContext& context) override;

 private:
  using Item = AppendPart::Item;

  Result<Result<Appended>> append_one(WriteContext& context, const Item& item);
  // Refused, if the event would follow one that has a wrong seq: nobody could read up to it.
  Result<std::optional<Error>> check_end(Database& database, ThreadId id, Head& head);
  // An answer, if the key is known.
  Result<std::optional<Result<Appended>>> look_up(Database& database, const Item& item);

  AppendPart& part_;
};

Result<void> AppendJob::apply(WriteContext& context) {
  for (const Item& item : part_.items) {
    SKEIN_ASSIGN(part_.answers[item.answer], append_one(context, item));
  }
  return {};
}

Result<Result<Appended>> AppendJob::append_one(WriteContext& context, const Item& item) {
  const Append& append = *item.append;
  const auto refuse = [](Error error) -> Result<Appended> {
    return tl::unexpected(std::move(error));
  };
  SKEIN_ASSIGN(Head * head, context.heads.find(context.database, append.thread));
  if (head == nullptr) return refuse(unknown_thread(append.thread));
  SKEIN_ASSIGN(auto fenced, refuse_fence(context, append.thread, *head, append.fence));
  if (fenced) return refuse(std::move(*fenced));
  if (item.event.key_hash) {
    SKEIN_ASSIGN(auto known, look_up(context.database, item));
    if (known) return std::move(*known);
  }
  if (auto expected = check_manifest_version(append, head->version); !expected)
    return refuse(std::move(expected.error()));
  if (auto placed = check_position(append, head->last_seq + 1); !placed)
    return refuse(std::move(placed.error()));
  SKEIN_ASSIGN(auto damaged, check_end(context.database, append.thread, *head));
  if (damaged) return refuse(std::move(*damaged));
  SKEIN_ASSIGN(const EventRow row, insert_event(context, append.thread, *head, item.event));
  context.note(row, item.event.base);
  return Appended{head->last_seq, false};
}

Result<std::optional<Error>> AppendJob::check_end(Database& database, ThreadId id, Head& head) {
  if (head.end_checked || may_have_lost(head.last_seq, 1)) return std::nullopt;
  SKEIN_ASSIGN(Query query, database.query(kHasEvent));
  const auto before = query.bind(id.bits(), head.last_seq - 1).step();
  // A damaged page is no reason to refuse appends: reads report it.
  const bool is_damaged = !before && before.error().code == ErrorCode::kDamaged;
  if (!before && !is_damaged) return tl::unexpected(before.error());
  if ((before && !*before) || head.last_seq >= kMaxStoredSeq) {
    SKEIN_ASSIGN(const std::uint64_t present, count_events(database, id, head.last_seq));
    if (!may_have_lost(head.last_seq, present)) {
      return too_many_missing(id, head.last_seq - 1, head.last_seq, present);
    }
  }
  head.end_checked = true;
  return std::nullopt;
}

Result<std::optional<Result<Appended>>> AppendJob::look_up(Database& database, const Item& item) {
  const ThreadId id = item.append->thread;
  SKEIN_ASSIGN(const auto seq, find_key(database, id, item.event.key, kLastSeq));
  if (!seq) return std::nullopt;
  SKEIN_ASSIGN(Query query, database.query(kEvent));
  SKEIN_ASSIGN(const bool found, query.bind(id.bits(), *seq).step());
  if (!found) return fail(ErrorCode::kDamaged, "thread " + id.str() + " misses an event");
  EventReader reader;
  Event stored;
  EventRow row = event_row(query);
  std::string padded(row.body);
  padded.append(JsonObjectReader::kPadding, '\0');
  row.body = std::string_view(padded).substr(0, row.body.size());
  decode_event(row, reader, stored);
  if (same_event(stored, item.append->event)) return Result<Appended>(Appended{*seq, true});
  return Result<Appended>(tl::unexpected(key_reused(id, item.event.key, *seq)));
}

}  // namespace

Result<std::optional<Seq>> find_key(Database& database, ThreadId id, std::string_view key,
                                    Seq last) {
  SKEIN_ASSIGN(Query query, database.query(kByKey));
  query.bind(id.bits(), key_hash(key));
  for (;;) {
    SKEIN_ASSIGN(const bool row, query.step());
    if (!row) return std::nullopt;
    const auto seq = static_cast<Seq>(query.integer(0));
    if (query.bytes(1) == key && seq <= last) return seq;
  }
}

std::vector<Result<Appended>> append_events(JobRunner& writer, const StoreOptions& options,
                                            std::span<const Append> appends) {
  return append_in_parts(*options.clock, appends, [&](AppendPart& part) {
    AppendJob job(part);
    return writer.run(job);
  });
}

}  // namespace skein::sqlite
