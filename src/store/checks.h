// What every backend refuses in the same words, and the arithmetic that they share.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skein/store.h"

namespace skein {

// --- Refusals that need no look at the data (kInvalid) ---
Result<void> check_append(const Append& append);
Result<void> check_new_thread(const NewThread& thread);
Result<void> check_writes(std::span<const RecordWrite> writes);
Result<void> check_scan(const ScanRange& range);
Result<void> check_lease(std::string_view holder, std::chrono::milliseconds ttl,
                         std::optional<LeaseToken> token);
Result<void> check_changes(std::size_t limit, std::chrono::milliseconds wait);

// --- Refusals that do, with the message that names what was found ---
Error unknown_thread(ThreadId id);
Error stale_fence(ThreadId id, LeaseToken token);
Error lease_taken(ThreadId id, std::string_view holder, std::chrono::milliseconds remaining);
Error wrong_seq(ThreadId id, Seq expected, Seq next);
Error wrong_version(std::string_view what, Version expected, Version found);
Error key_reused(ThreadId id, std::string_view key, Seq seq);
Error bad_base(ThreadId id, Seq base, Seq next);
Error too_many(std::string_view what, std::size_t found, std::size_t limit);

Error alias_taken(std::string_view alias);
Error bad_cursor(std::string_view cursor);

// kConflict unless nothing was expected or it was found.
Result<void> check_version(std::string_view what, std::optional<Version> expected, Version found);
// The same for the manifest of the thread that is appended to.
Result<void> check_manifest_version(const Append& append, Version found);
// Updates the manifest, unless that is refused. True: something changed.
Result<bool> apply_update(Manifest& manifest, const ManifestPatch& patch,
                          const UpdateOptions& options);
// expect_seq and base against the seq that the event would get.
Result<void> check_position(const Append& append, Seq next);
// Whether the thread to be forked has that agent and that many events.
Result<void> check_fork(const NewThread& thread, const Manifest& parent);
// The events that a thread is created with, after `copied` ones of its parent: bases and keys.
Result<void> check_initial_events(const NewThread& thread, ThreadId id, Seq copied,
                                  const std::function<bool(const std::string&)>& copied_has_key);

// A new manifest from what the caller gave: id, times, fields; not yet version and last_seq.
Result<Manifest> make_manifest(const NewThread& thread, ThreadId id, Timestamp now);

// A token for a new holding of a lease: 1 … 2^53-1.
LeaseToken make_lease_token(IdSource& ids);

// --- Damage ---
// The highest seq that a stored event may have, so that arithmetic with it cannot overflow.
inline constexpr Seq kMaxStoredSeq = (Seq{1} << 53) - 1;
// Whether a thread whose last event is `last` may have lost all events but `present` of them. One
// row can claim any seq. Reporting each event before that as missing would take forever.
bool may_have_lost(Seq last, std::uint64_t present);
// kDamaged: the thread lost more events than that, from `missing` on.
Error too_many_missing(ThreadId id, Seq missing, Seq last, std::uint64_t present);

// Decides for the reader of one thread, piece by piece, whether missing events may be losses.
class LossCheck {
 public:
  // Whether events up to `last` have to be counted: the piece misses one.
  template <class Row>
  bool is_due(const std::vector<Row>& rows, Seq last) const {
    return last > believed_ && first_missing(rows) < rows.size();
  }
  // Events up to `last` may be missing.
  void believe(Seq last) { believed_ = last; }
  // `present`: how many events up to `last` are there. If more are missing than a thread can have
  // lost, the piece ends before the first of them. kDamaged: nothing is left of it.
  template <class Row>
  Result<void> decide(ThreadId id, std::vector<Row>& rows, Seq last, std::uint64_t present) {
    if (may_have_lost(last, present)) {
      believe(last);
      return {};
    }
    const std::size_t missing = first_missing(rows);
    if (missing == 0) return tl::unexpected(too_many_missing(id, rows[0].seq, last, present));
    rows.resize(missing);
    return {};
  }

 private:
  template <class Row>
  static std::size_t first_missing(const std::vector<Row>& rows) {
    std::size_t at = 0;
    while (at < rows.size() && rows[at].missing == nullptr) ++at;
    return at;
  }

  Seq believed_ = 0;
};

// --- Listing ---
// The list query, checked and with the cursor taken apart.
struct ListPlan {
  std::vector<std::pair<std::string, std::string>> metadata;  // key, canonical_scalar(value)
  struct After {
    std::int64_t us = 0;
    ThreadId id;
  };
  std::optional<After> after;
};
Result<ListPlan> plan_list(const ListQuery& query);
std::string list_cursor(const ListQuery& query, const Manifest& last);
std::string list_cursor(ListOrder order, const ListPlan::After& last);
// Whether `a` comes before `b` in the order of the query.
bool list_before(ListOrder order, const Manifest& a, const Manifest& b);
// Whether the manifest comes after the cursor, in the order of the query.
bool list_after(ListOrder order, const ListPlan::After& after, const Manifest& manifest);
bool list_matches(const ListQuery& query, const ListPlan& plan, const Manifest& manifest);
// The scalar members of a metadata object, as (key, canonical_scalar).
std::vector<std::pair<std::string, std::string>> scalar_members(const Json& metadata);

// --- Paths ---
// An event that does not continue from the one before it.
struct Branch {
  Seq seq = 0;
  Seq base = 0;
};
struct SeqSpan {
  Seq first = 1;
  Seq last = 0;
};
// Adds a stored branch, unless no event can have it: a path over such a branch would never end.
// They come in rising order.
void add_branch(std::vector<Branch>& branches, std::int64_t seq, std::int64_t base);
// The ranges of the path that runs back from `head`, in rising order. `branches` are in rising
// order, and each base is less than its seq.
std::vector<SeqSpan> path_to(Seq head, std::span<const Branch> branches);
// The ranges that a read delivers, cut to its `from` and `head` but not to its limit, in the order
// of delivery (each range itself is in rising order).
std::vector<SeqSpan> plan_read(const ReadRange& range, Seq last_seq,
                               std::span<const Branch> branches);

}  // namespace skein
