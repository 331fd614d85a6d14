// Requests to stop runs, as records, so that whoever has a run or closes it hears of them.
#include <array>

#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/try.h"
#include "runner/run_book.h"
#include "runner/run_records.h"
#include "store/find_record.h"
#include "store/record_access.h"

namespace skein {
namespace {

constexpr int kAttempts = 100;

}  // namespace

bool asks_to_roll_back(const Record& request) {
  return JsonFields(request.bytes).take_bool("rollBack").value_or(false);
}

RecordWrite RunBook::stop_write(std::string_view run_id, bool roll_back) const {
  JsonObject request;
  request.add("runId", run_id).add("at", clock_.now().str());
  if (roll_back) request.add("rollBack", true);
  return put_record(kStopCollection, run_key(run_id), request.str());
}

Result<void> RunBook::ask_to_stop(std::string_view run_id, bool roll_back) {
  RecordWrite write = stop_write(run_id, roll_back);
  if (!roll_back) write.expect_version = 0;
  const auto written = store_.write(std::span(&write, 1));
  if (!written && written.error().code == ErrorCode::kConflict) return {};  // somebody asked before
  SKEIN_TRY(written);
  return {};
}

// The entry of a run at work is written again with the request: that is refused if the run ended
// meanwhile. Its end in turn is refused while there is a request that it does not know of.
Result<bool> RunBook::ask_to_roll_back(std::string_view run_id) {
  for (int attempt = 1; attempt <= kAttempts; ++attempt) {
    SKEIN_ASSIGN(const auto open, find_open(run_id));
    if (!open || open->state == OpenRun::State::kEffects) break;
    if (open->state != OpenRun::State::kRunning) {
      SKEIN_TRY(ask_to_stop(run_id, true));
      SKEIN_ASSIGN(const auto since, find_open(run_id));
      if (since && since->state == open->state) return true;
      continue;
    }
    SKEIN_ASSIGN(auto entry, find_record(store_, kOpenCollection, open->key));
    if (!entry || entry->version != open->version) continue;
    const std::array writes{
        stop_write(run_id, true),
        put_record(kOpenCollection, open->key, std::move(entry->bytes), open->version)};
    const auto written = store_.write(writes);
    if (written) return true;
    if (written.error().code != ErrorCode::kConflict) return tl::unexpected(written.error());
  }
  SKEIN_ASSIGN(const auto request, stop_request(run_id));
  if (request) SKEIN_TRY(forget_stop_request(*request));
  return false;
}

Result<std::optional<Record>> RunBook::stop_request(std::string_view run_id) const {
  return find_record(store_, kStopCollection, run_key(run_id));
}

Result<std::vector<Record>> RunBook::stop_requests() const {
  ScanRange range;
  range.collection = kStopCollection;
  range.limit = limits::kMaxPageSize;
  return store_.scan(range);
}

Result<void> RunBook::forget_stop_request(const Record& request) {
  RecordWrite write = delete_record(kStopCollection, request.key);
  write.expect_version = request.version;
  const auto gone = store_.write(std::span(&write, 1));
  if (!gone && gone.error().code == ErrorCode::kConflict) return {};
  SKEIN_TRY(gone);
  return {};
}

}  // namespace skein
