#include "store/checks.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_map>

#include "core/json.h"
#include "core/quote.h"
#include "core/try.h"
#include "skein/limits.h"
#include "store/codec.h"

namespace skein {
namespace {

constexpr LeaseToken kMaxToken = (LeaseToken{1} << 53) - 1;

tl::unexpected<Error> invalid(std::string message) {
  return fail(ErrorCode::kInvalid, std::move(message));
}

Result<void> check_fence(const std::optional<LeaseToken>& token) {
  if (!token || (*token >= 1 && *token <= kMaxToken)) return {};
  return invalid("lease token must be between 1 and 2^53-1, got " + std::to_string(*token));
}

Result<void> check_collection(std::string_view name) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  const bool valid = !name.empty() && name.size() <= limits::kMaxCollectionBytes &&
                     name[0] >= 'a' && name[0] <= 'z' &&
                     std::all_of(name.begin(), name.end(), is_word);
  if (valid) return {};
  return invalid("collection must match [a-z][a-z0-9_]{0,63}, got " + quote(name));
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

Result<void> check_name(std::string_view what, std::string_view text, std::size_t limit) {
  if (text.empty()) return invalid(std::string(what) + " must not be empty");
  if (text.size() > limit) return tl::unexpected(too_many(what, text.size(), limit));
  if (valid_utf8(text) && !has_control(text)) return {};
  return invalid(std::string(what) + " must be UTF-8 without control characters, got " +
                 quote(text));
}

bool sets_field(const ManifestPatch& patch, std::string_view name) {
  return std::any_of(patch.entries().begin(), patch.entries().end(),
                     [name](const ManifestPatch::Entry& entry) { return entry.field == name; });
}

}  // namespace

Result<void> check_append(const Append& append) {
  SKEIN_TRY(check_fence(append.fence));
  return validate(append.event);
}

Result<void> check_new_thread(const NewThread& thread) {
  SKEIN_TRY(check_agent_id(thread.agent_id));
  if (thread.alias) SKEIN_TRY(check_alias(*thread.alias));
  if (thread.from && sets_field(thread.fields, "parent")) {
    return invalid("parent of a fork cannot be set: it is where the fork comes from");
  }
  if (thread.events.size() > limits::kMaxCreateEvents) {
    return tl::unexpected(too_many("events", thread.events.size(), limits::kMaxCreateEvents));
  }
  for (const Event& event : thread.events) SKEIN_TRY(validate(event));
  return {};
}

Result<void> check_writes(std::span<const RecordWrite> writes) {
  if (writes.size() > limits::kMaxBatch) {
    return tl::unexpected(too_many("writes", writes.size(), limits::kMaxBatch));
  }
  std::set<std::pair<std::string_view, std::string_view>> named;
  for (const RecordWrite& write : writes) {
    if (!named.emplace(write.collection, write.key).second) {
      return invalid("a batch must name each record once, got " + quote(write.key) + " twice");
    }
    SKEIN_TRY(check_collection(write.collection));
    SKEIN_TRY(check_name("key of a record", write.key, limits::kMaxRecordKeyBytes));
    if (write.bytes && write.bytes->size() > limits::kMaxRecordBytes) {
      return tl::unexpected(too_many("record", write.bytes->size(), limits::kMaxRecordBytes));
    }
    if (write.fence) SKEIN_TRY(check_fence(write.fence->token));
  }
  return {};
}

Result<void> check_scan(const ScanRange& range) {
  SKEIN_TRY(check_collection(range.collection));
  if (range.limit >= 1 && range.limit <= limits::kMaxPageSize) return {};
  return invalid("limit must be between 1 and " + std::to_string(limits::kMaxPageSize) + ", got " +
                 std::to_string(range.limit));
}

Result<void> check_lease(std::string_view holder, std::chrono::milliseconds ttl,
                         std::optional<LeaseToken> token) {
  SKEIN_TRY(check_name("holder", holder, limits::kMaxKeyBytes));
  SKEIN_TRY(check_fence(token));
  const long long ms = ttl.count();
  if (ms >= (token ? 0 : 1) && ms <= limits::kMaxLeaseMs) return {};
  return invalid("ttl must be between " + std::string(token ? "0" : "1") + " and " +
                 std::to_string(limits::kMaxLeaseMs) + " ms, got " + std::to_string(ms));
}

Result<void> check_changes(std::size_t limit, std::chrono::milliseconds wait) {
  if (limit < 1 || limit > limits::kMaxChanges) {
    return invalid("limit must be between 1 and " + std::to_string(limits::kMaxChanges) + ", got " +
                   std::to_string(limit));
  }
  if (wait.count() < 0 || wait.count() > limits::kMaxWaitMs) {
    return invalid("wait must be between 0 and " + std::to_string(limits::kMaxWaitMs) +
                   " ms, got " + std::to_string(wait.count()));
  }
  return {};
}

Error unknown_thread(ThreadId id) {
  return {ErrorCode::kNotFound, "there is no thread " + id.str()};
}

Error stale_fence(ThreadId id, LeaseToken token) {
  return {ErrorCode::kFenced,
          "lease token " + std::to_string(token) + " is not the current one of thread " + id.str()};
}

Error lease_taken(ThreadId id, std::string_view holder, std::chrono::milliseconds remaining) {
  return {ErrorCode::kBusy, "the lease of thread " + id.str() + " is held by " + quote(holder) +
                                " for another " + std::to_string(remaining.count()) + " ms"};
}

Error wrong_seq(ThreadId id, Seq expected, Seq next) {
  return {ErrorCode::kConflict, "the next event of thread " + id.str() + " has seq " +
                                    std::to_string(next) + ", expected " +
                                    std::to_string(expected)};
}

Error wrong_version(std::string_view what, Version expected, Version found) {
  return {ErrorCode::kConflict, std::string(what) + " has version " + std::to_string(found) +
                                    ", expected " + std::to_string(expected)};
}

Error key_reused(ThreadId id, std::string_view key, Seq seq) {
  return {ErrorCode::kConflict, "key " + quote(key) + " of thread " + id.str() +
                                    " came with another event before (seq " + std::to_string(seq) +
                                    ")"};
}

Error bad_base(ThreadId id, Seq base, Seq next) {
  return {ErrorCode::kInvalid, "base must be less than the event's own seq " +
                                   std::to_string(next) + " in thread " + id.str() + ", got " +
                                   std::to_string(base)};
}

Error too_many(std::string_view what, std::size_t found, std::size_t limit) {
  return {ErrorCode::kInvalid, std::string(what) + " must be at most " + std::to_string(limit) +
                                   " long, got " + std::to_string(found)};
}

Error alias_taken(std::string_view alias) {
  return {ErrorCode::kConflict, "alias " + quote(alias) + " belongs to another thread"};
}

Error bad_cursor(std::string_view cursor) {
  return {ErrorCode::kInvalid,
          "cursor must be one that the change feed gave out, got " + quote(cursor)};
}

Result<void> check_version(std::string_view what, std::optional<Version> expected, Version found) {
  if (!expected || *expected == found) return {};
  return tl::unexpected(wrong_version(what, *expected, found));
}

Result<void> check_manifest_version(const Append& append, Version found) {
  if (!append.expect_version) return {};
  return check_version("manifest of thread " + append.thread.str(), append.expect_version, found);
}

Result<bool> apply_update(Manifest& manifest, const ManifestPatch& patch,
                          const UpdateOptions& options) {
  SKEIN_TRY(check_version("manifest of thread " + manifest.id.str(), options.expect_version,
                          manifest.version));
  SKEIN_ASSIGN(Manifest merged, patched(manifest, patch, PatchFor::kUpdate));
  if (options.agent_id && *options.agent_id != manifest.agent_id) {
    SKEIN_TRY(check_agent_id(*options.agent_id));
    if (manifest.last_seq > 0) {
      return fail(ErrorCode::kConflict, "thread " + manifest.id.str() +
                                            " has events, and stays with agent " +
                                            quote(manifest.agent_id));
    }
    merged.agent_id = *options.agent_id;
    merged.parent.reset();  // forks have the agent of their parent
  }
  const bool changed =
      !same_json(Json::trusted(whole_json(manifest)), Json::trusted(whole_json(merged)));
  if (changed) manifest = std::move(merged);
  return changed;
}

Result<void> check_position(const Append& append, Seq next) {
  if (append.expect_seq && *append.expect_seq != next) {
    return tl::unexpected(wrong_seq(append.thread, *append.expect_seq, next));
  }
  const std::optional<Seq>& base = append.event.base;
  if (base && *base >= next) return tl::unexpected(bad_base(append.thread, *base, next));
  return {};
}

Result<void> check_fork(const NewThread& thread, const Manifest& parent) {
  if (thread.agent_id != parent.agent_id) {
    return invalid("a fork must have the agent of its parent " + quote(parent.agent_id) + ", got " +
                   quote(thread.agent_id));
  }
  if (thread.from->seq <= parent.last_seq) return {};
  return invalid("a fork's seq must be at most its parent's last seq " +
                 std::to_string(parent.last_seq) + ", got " + std::to_string(thread.from->seq));
}

Result<void> check_initial_events(const NewThread& thread, ThreadId id, Seq copied,
                                  const std::function<bool(const std::string&)>& copied_has_key) {
  std::unordered_map<std::string, Seq> keys;
  Seq next = copied;
  for (const Event& event : thread.events) {
    ++next;
    if (event.base && *event.base >= next) return tl::unexpected(bad_base(id, *event.base, next));
    if (event.key.empty()) continue;
    const auto [known, added] = keys.emplace(event.key, next);
    if (!added || copied_has_key(event.key)) {
      return tl::unexpected(key_reused(id, event.key, added ? 0 : known->second));
    }
  }
  return {};
}

Result<Manifest> make_manifest(const NewThread& thread, ThreadId id, Timestamp now) {
  SKEIN_TRY(check_new_thread(thread));
  Manifest manifest;
  manifest.id = id;
  manifest.agent_id = thread.agent_id;
  manifest.created_at = now;
  manifest.updated_at = now;
  if (thread.alias) {
    SKEIN_ASSIGN(manifest.alias, check_alias(*thread.alias));
  }
  SKEIN_ASSIGN(manifest, patched(std::move(manifest), thread.fields, PatchFor::kCreate));
  if (thread.from) manifest.parent = thread.from;
  if (!sets_field(thread.fields, "updatedAt")) manifest.updated_at = manifest.created_at;
  return manifest;
}

LeaseToken make_lease_token(IdSource& ids) {
  for (;;) {
    if (const LeaseToken token = ids.next() & kMaxToken; token != 0) return token;
  }
}

// --- Listing ---

namespace {

// A cursor is good for one order only: the times of another are not comparable with it.
char order_letter(ListOrder order) {
  switch (order) {
    case ListOrder::kUpdatedNewestFirst:
      return 'u';
    case ListOrder::kCreatedNewestFirst:
      return 'n';
    case ListOrder::kCreatedOldestFirst:
      return 'o';
  }
  return '?';
}

Result<ListPlan::After> parse_list_cursor(ListOrder order, std::string_view text) {
  ListPlan::After after;
  const std::size_t dot = std::min(text.find('.'), text.size());
  const char* const end = text.data() + dot;
  const auto number = std::from_chars(text.data() + 1, std::max(end, text.data() + 1), after.us);
  const auto id = ThreadId::parse(dot == text.size() ? "" : text.substr(dot + 1));
  if (text[0] != order_letter(order) || number.ec != std::errc() || number.ptr != end || !id) {
    return invalid("after must be the cursor of a page in this order, got " + quote(text));
  }
  after.id = *id;
  return after;
}

}  // namespace

Result<ListPlan> plan_list(const ListQuery& query) {
  if (query.agent_id) SKEIN_TRY(check_agent_id(*query.agent_id));
  if (query.limit < 1 || query.limit > limits::kMaxPageSize) {
    return invalid("limit must be between 1 and " + std::to_string(limits::kMaxPageSize) +
                   ", got " + std::to_string(query.limit));
  }
  if (query.metadata.size() > limits::kMaxFilterTerms) {
    return tl::unexpected(
        too_many("metadata filter", query.metadata.size(), limits::kMaxFilterTerms));
  }
  ListPlan plan;
  for (const MetadataEquals& term : query.metadata) {
    if (!valid_utf8(term.key))
      return invalid("metadata key must be valid UTF-8, got " + quote(term.key));
    SKEIN_TRY(validate_json(term.value.text(), "metadata value"));
    std::optional<std::string> value = canonical_scalar(term.value.text());
    if (!value) {
      return invalid("metadata filter compares with a string, number, true, false or null, got " +
                     excerpt(term.value.text()));
    }
    plan.metadata.emplace_back(term.key, std::move(*value));
  }
  if (!query.after.empty()) {
    SKEIN_ASSIGN(plan.after, parse_list_cursor(query.order, query.after));
  }
  return plan;
}

namespace {
std::int64_t sort_time(ListOrder order, const Manifest& manifest) {
  return order == ListOrder::kUpdatedNewestFirst ? manifest.updated_at.us : manifest.created_at.us;
}
bool comes_first(ListOrder order, std::int64_t a_us, ThreadId a, std::int64_t b_us, ThreadId b) {
  if (a_us != b_us) return (order == ListOrder::kCreatedOldestFirst) == (a_us < b_us);
  return a < b;
}
}  // namespace

std::string list_cursor(const ListQuery& query, const Manifest& last) {
  return list_cursor(query.order, {sort_time(query.order, last), last.id});
}

std::string list_cursor(ListOrder order, const ListPlan::After& last) {
  return order_letter(order) + std::to_string(last.us) + "." + last.id.str();
}

bool list_before(ListOrder order, const Manifest& a, const Manifest& b) {
  return comes_first(order, sort_time(order, a), a.id, sort_time(order, b), b.id);
}

bool list_after(ListOrder order, const ListPlan::After& after, const Manifest& manifest) {
  return comes_first(order, after.us, after.id, sort_time(order, manifest), manifest.id);
}

bool list_matches(const ListQuery& query, const ListPlan& plan, const Manifest& manifest) {
  if (query.agent_id && *query.agent_id != manifest.agent_id) return false;
  if (query.status && *query.status != manifest.status) return false;
  if (plan.metadata.empty()) return true;
  const auto members = scalar_members(manifest.metadata);
  return std::all_of(plan.metadata.begin(), plan.metadata.end(), [&members](const auto& term) {
    return std::find(members.begin(), members.end(), term) != members.end();
  });
}

std::vector<std::pair<std::string, std::string>> scalar_members(const Json& metadata) {
  std::vector<std::pair<std::string, std::string>> out;
  if (metadata.empty()) return out;
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  reader.read(metadata.text(), members);
  for (const JsonMember& member : members) {
    std::optional<std::string> value = canonical_scalar(member.value);
    const auto same = std::find_if(out.begin(), out.end(), [&member](const auto& known) {
      return known.first == member.name;
    });
    if (same != out.end()) out.erase(same);
    if (value) out.emplace_back(member.name, std::move(*value));
  }
  return out;
}

// --- Damage ---

bool may_have_lost(Seq last, std::uint64_t present) {
  constexpr std::uint64_t kFew = 1000;
  constexpr std::uint64_t kPerPresent = 10;
  return last <= kFew + (kPerPresent + 1) * present;
}

Error too_many_missing(ThreadId id, Seq missing, Seq last, std::uint64_t present) {
  return {ErrorCode::kDamaged,
          "thread " + id.str() + ": event " + std::to_string(missing) + " is missing, and of the " +
              std::to_string(last) + " events up to the end only " + std::to_string(present) +
              " are there; a row has a wrong seq. Export what can be read, and import it into a "
              "new store"};
}

// --- Paths ---

void add_branch(std::vector<Branch>& branches, std::int64_t seq, std::int64_t base) {
  if (base < 0 || seq <= base) return;
  branches.push_back({static_cast<Seq>(seq), static_cast<Seq>(base)});
}

std::vector<SeqSpan> path_to(Seq head, std::span<const Branch> branches) {
  std::vector<SeqSpan> path;
  while (head > 0) {
    const auto next =
        std::upper_bound(branches.begin(), branches.end(), head,
                         [](Seq seq, const Branch& branch) { return seq < branch.seq; });
    const Branch start = next == branches.begin() ? Branch{1, 0} : *(next - 1);
    path.push_back({start.seq, head});
    head = std::min(start.base, start.seq - 1);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<SeqSpan> plan_read(const ReadRange& range, Seq last_seq,
                               std::span<const Branch> branches) {
  const Seq head = std::min(range.head, last_seq);
  std::vector<SeqSpan> spans;
  if (range.view == View::kPath) {
    spans = path_to(head, branches);
  } else if (head > 0) {
    spans.push_back({1, head});
  }
  const bool forward = range.direction == Direction::kForward;
  for (SeqSpan& span : spans) {
    if (range.from == 0) break;
    if (forward)
      span.first = std::max(span.first, range.from);
    else
      span.last = std::min(span.last, range.from);
  }
  std::erase_if(spans, [](const SeqSpan& span) { return span.first > span.last; });
  if (!forward) std::reverse(spans.begin(), spans.end());
  return spans;
}

}  // namespace skein
