#include "store/record_access.h"

#include "core/quote.h"
#include "core/try.h"
#include "skein/limits.h"

namespace skein {
namespace {

constexpr int kAttempts = 100;

// The first key after all that begin with the prefix, which ends in an ASCII character.
std::string after_prefix(std::string_view prefix) {
  std::string end(prefix);
  if (!end.empty()) ++end.back();
  return end;
}

}  // namespace

Result<void> scan_prefix(Store& store, std::string_view collection, std::string_view prefix,
                         const std::function<bool(const Record&)>& sink, Direction direction) {
  ScanRange range;
  range.collection = collection;
  range.from = prefix;
  range.to = after_prefix(prefix);
  range.direction = direction;
  range.limit = limits::kMaxPageSize;
  while (true) {
    SKEIN_ASSIGN(const auto records, store.scan(range));
    for (const Record& record : records) {
      if (!sink(record)) return {};
    }
    if (records.size() < range.limit) return {};
    const std::string& last = records.back().key;
    if (last < range.from || (!range.to.empty() && last >= range.to)) {
      return fail(ErrorCode::kDamaged,
                  "record " + quote(last) + " of " + range.collection + " is out of order");
    }
    if (direction == Direction::kForward) {
      range.from = last + '\x01';
    } else {
      range.to = last;
    }
  }
}

RecordWrite put_record(std::string_view collection, std::string key, std::string bytes,
                       std::optional<Version> expect_version) {
  return {.collection = std::string(collection),
          .key = std::move(key),
          .bytes = std::move(bytes),
          .expect_version = expect_version,
          .fence = std::nullopt};
}

RecordWrite delete_record(std::string_view collection, std::string key) {
  return {.collection = std::string(collection),
          .key = std::move(key),
          .bytes = std::nullopt,
          .expect_version = std::nullopt,
          .fence = std::nullopt};
}

bool record_counts(const RecordSigner* signer, std::string_view collection, const Record& record) {
  return signer == nullptr || signer->verifies(collection, record.key, record.bytes);
}

Result<RecordWrite> put_signed(const RecordSigner* signer, std::string_view collection,
                               std::string key, std::string json,
                               std::optional<Version> expect_version) {
  if (signer != nullptr) {
    SKEIN_ASSIGN(json, signer->sign(collection, key, json));
  }
  return put_record(collection, std::move(key), std::move(json), expect_version);
}

Result<void> check_signer(const RecordSigner* signer) {
  if (signer != nullptr) SKEIN_TRY(signer->sign("", "", "{}"));
  return {};
}

Error record_is_inert(const RecordSigner& signer, std::string_view what) {
  return {ErrorCode::kConflict, std::string(what) + " has no effect: " + signer.why_inert()};
}

Result<void> write_again_on_conflict(
    Store& store, const std::function<Result<std::vector<RecordWrite>>()>& make) {
  for (int attempt = 1;; ++attempt) {
    SKEIN_ASSIGN(const std::vector<RecordWrite> writes, make());
    if (writes.empty()) return {};
    auto written = store.write(writes);
    if (written) return {};
    if (written.error().code != ErrorCode::kConflict || attempt == kAttempts) {
      return tl::unexpected(std::move(written).error());
    }
  }
}

std::string key_part(std::string_view name) {
  std::string part;
  for (const char c : name) {
    if (c == '/') {
      part += "%2F";
    } else if (c == '%') {
      part += "%25";
    } else {
      part += c;
    }
  }
  return part;
}

}  // namespace skein
