#include "thread/active_limits.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"
#include "skein/limits.h"
#include "store/checks.h"
#include "store/find_record.h"

namespace skein {
namespace {

constexpr std::string_view kCollection = "thread_limits";
constexpr std::int64_t kReservedUs = 60'000'000;
constexpr int kMostAttempts = 1000;

using Reserved = std::map<ThreadId, Timestamp>;  // until when

Reserved parse(const std::string& bytes) {
  Reserved reserved;
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  if (!Json::parse_object(bytes) || !reader.read(bytes, members)) return reserved;
  for (const JsonMember& member : members) {
    const auto id = ThreadId::parse(member.name);
    const auto until = Timestamp::parse(json_to_string(member.value).value_or(""));
    if (id && until) reserved[*id] = *until;
  }
  return reserved;
}

// The record stays when nothing is reserved: were it deleted, one who counted before could not tell
// that others came and went.
std::string format(const Reserved& reserved) {
  JsonObject object;
  for (const auto& [id, until] : reserved) object.add(id.str(), until.str());
  return object.str();
}

// Applies `change` to what is reserved, again if another changed it in between.
template <class Change>
Result<void> change_reserved(Store& store, const std::string& key, const Change& change) {
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    SKEIN_ASSIGN(const auto record, find_record(store, kCollection, key));
    Reserved reserved = record ? parse(record->bytes) : Reserved();
    SKEIN_TRY(change(reserved));
    const RecordWrite write{std::string(kCollection), key, format(reserved),
                            record ? record->version : 0, std::nullopt};
    const auto written = store.write({&write, 1});
    if (written) return {};
    if (written.error().code != ErrorCode::kConflict) return tl::unexpected(written.error());
  }
  return fail(ErrorCode::kBusy, "too many others count active threads of " + quote(key));
}

}  // namespace

Reservation::~Reservation() {
  for (const std::string& key : keys_) {
    // What cannot be given back runs out by itself.
    (void)change_reserved(*store_, key, [this](Reserved& reserved) -> Result<void> {
      reserved.erase(thread_);
      return {};
    });
  }
}

std::vector<ActiveLimits::Claim> ActiveLimits::claims(const Json& metadata) const {
  std::vector<Claim> found;
  if (limits_.empty() || metadata.empty()) return found;
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  reader.read(metadata.text(), members);
  for (const ActiveLimit& limit : limits_) {
    for (const JsonMember& member : members) {
      if (member.name != limit.metadata_key) continue;
      std::erase_if(found, [&](const Claim& claim) { return claim.limit == &limit; });
      auto value = canonical_scalar(member.value);
      if (value) found.push_back({&limit, *value, Json::trusted(std::string(member.value))});
    }
  }
  return found;
}

bool ActiveLimits::apply_to(const Json& metadata) const { return !claims(metadata).empty(); }

Result<Reservation> ActiveLimits::reserve(ThreadId thread, const Json& metadata) const {
  Reservation reservation(store_);
  reservation.thread_ = thread;
  for (const Claim& claim : claims(metadata)) {
    const std::string key = claim.limit->metadata_key + "=" + claim.value;
    if (key.size() > limits::kMaxRecordKeyBytes) {
      return fail(ErrorCode::kInvalid,
                  "metadata that active threads are counted by must be at most " +
                      std::to_string(limits::kMaxRecordKeyBytes) + " bytes, got " +
                      std::to_string(key.size()));
    }
    SKEIN_TRY(reserve_one(thread, claim, key));
    reservation.keys_.push_back(key);
  }
  return reservation;
}

Result<void> ActiveLimits::reserve_one(ThreadId thread, const Claim& claim,
                                       const std::string& key) const {
  const std::size_t max_active = claim.limit->max_active;
  return change_reserved(store_, key, [&](Reserved& reserved) -> Result<void> {
    const Timestamp now = clock_.now();
    std::erase_if(reserved, [now](const auto& entry) { return entry.second < now; });
    std::set<ThreadId> active;
    for (const auto& [id, until] : reserved) active.insert(id);
    ListQuery query;
    query.status = ThreadStatus::kActive;
    query.metadata = {{claim.limit->metadata_key, claim.filter}};
    query.limit = std::clamp<std::size_t>(max_active, 1, limits::kMaxPageSize);
    do {
      SKEIN_ASSIGN(ThreadPage page, store_.list(query));
      for (const Manifest& manifest : page.threads) active.insert(manifest.id);
      query.after = std::move(page.next);
    } while (!query.after.empty() && active.size() <= max_active);
    active.erase(thread);
    if (active.size() >= max_active) {
      return fail(ErrorCode::kConflict,
                  "max active threads for metadata " + quote(claim.limit->metadata_key) + " of " +
                      excerpt(claim.filter.text()) + " is " + std::to_string(max_active) +
                      ": close or pause one first");
    }
    reserved[thread] = Timestamp{now.us + kReservedUs};
    return {};
  });
}

}  // namespace skein
