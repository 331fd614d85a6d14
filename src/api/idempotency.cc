#include "api/idempotency.h"

#include <fmt/format.h>

#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/sha256.h"
#include "core/text.h"
#include "core/try.h"
#include "skein/limits.h"
#include "store/find_record.h"
#include "store/record_access.h"

namespace skein {
namespace {

constexpr std::string_view kCollection = "idempotency";
// Keys of records are checksums: one in sixteen ends so, and those that follow it are any others.
// Eight are looked at for each that is made, so that none stays for ever.
constexpr char kPurgeEnding = '0';
constexpr std::size_t kPurgeLooks = 128;

std::string record_key(const Idempotency::Request& request) {
  return sha256_hex(request.scope + '\n' + request.key);
}

JsonObject begun_record(const Idempotency::Request& request, Timestamp now) {
  JsonObject object;
  object.add("at", now.str()).add("request", sha256_hex(request.said));
  return object;
}

Result<void> check_key(std::string_view key) {
  if (key.empty() || key.size() > limits::kMaxKeyBytes || !valid_utf8(key) ||
      key.find_first_of("\n\t") != std::string_view::npos || has_control_characters(key)) {
    return fail(ErrorCode::kInvalid,
                fmt::format("an idempotency key must be 1 to {} bytes of UTF-8 without control "
                            "characters, got {}",
                            limits::kMaxKeyBytes, quote(key)));
  }
  return {};
}

}  // namespace

Result<std::optional<std::string>> Idempotency::begin(const Request& request) {
  SKEIN_TRY(check_key(request.key));
  const std::string key = record_key(request);
  if (key.back() == kPurgeEnding) purge(key);
  for (int attempt = 0;; ++attempt) {
    SKEIN_ASSIGN(const std::optional<Record> found, find_record(store_, kCollection, key));
    if (found) {
      SKEIN_ASSIGN(std::string answer, judge(request, *found));
      return std::optional(std::move(answer));
    }
    const RecordWrite write =
        put_record(kCollection, key, begun_record(request, clock_.now()).str(), Version{0});
    const auto written = store_.write({&write, 1});
    if (written) return std::nullopt;
    // Another one was faster.
    if (written.error().code != ErrorCode::kConflict || attempt > 0) {
      return tl::unexpected(written.error());
    }
  }
}

Result<std::string> Idempotency::judge(const Request& request, const Record& record) {
  JsonFields fields(record.bytes);
  if (fields.take_string("request") != sha256_hex(request.said)) {
    return fail(ErrorCode::kConflict,
                "the idempotency key " + quote(request.key) + " came with another request");
  }
  if (auto answer = fields.take_string("answer")) return std::move(*answer);
  if (fields.take_bool("tooLong")) {
    return fail(ErrorCode::kConflict,
                fmt::format("the request with the idempotency key {} was done; its answer was "
                            "longer than the {} bytes that are kept",
                            quote(request.key), limits::kMaxKeptAnswerBytes));
  }
  const auto at = fields.take_time("at");
  if (at && clock_.now().ms() - at->ms() < limits::kBegunRequestMs) {
    return fail(ErrorCode::kBusy,
                "the request with the idempotency key " + quote(request.key) + " is under way");
  }
  return fail(ErrorCode::kConflict,
              "the request with the idempotency key " + quote(request.key) +
                  " was begun, and it is not known whether it happened: look, and use another key");
}

Result<void> Idempotency::finish(const Request& request, std::string_view answer) {
  JsonObject object = begun_record(request, clock_.now());
  if (answer.size() <= limits::kMaxKeptAnswerBytes) {
    object.add("answer", answer);
  } else {
    object.add("tooLong", true);
  }
  const RecordWrite write = put_record(kCollection, record_key(request), object.str());
  SKEIN_TRY(store_.write({&write, 1}));
  return {};
}

Result<void> Idempotency::abandon(const Request& request) {
  const RecordWrite write = delete_record(kCollection, record_key(request));
  SKEIN_TRY(store_.write({&write, 1}));
  return {};
}

void Idempotency::purge(const std::string& from) {
  ScanRange range;
  range.collection = kCollection;
  range.from = from;
  range.limit = kPurgeLooks;
  const auto records = store_.scan(range);
  if (!records) return;
  std::vector<RecordWrite> writes;
  for (const Record& record : *records) {
    const auto at = JsonFields(record.bytes).take_time("at");
    if (at && clock_.now().ms() - at->ms() < limits::kKeptAnswerMs) continue;
    writes.push_back(delete_record(kCollection, record.key));
    writes.back().expect_version = record.version;
  }
  // What another process purged or replaced meanwhile is left for the next time.
  if (!writes.empty()) (void)store_.write(writes);
}

}  // namespace skein
