#include "api/transfer/folders/usage_import.h"

#include <unordered_map>

#include "api/transfer/folders/record_batch.h"
#include "api/transfer/line_file.h"
#include "core/json_fields.h"
#include "core/quote.h"
#include "core/sha256.h"
#include "core/try.h"
#include "store/line.h"

namespace skein {
namespace {

constexpr std::string_view kKind = "usage records";
constexpr std::string_view kFile = "usage.jsonl";

struct UsageLine {
  std::string key;  // of a line of ours; others get theirs from their bytes
  std::string bytes;
};

Result<UsageLine> read_line(const LineBuffer::Line& line) {
  if (line.too_long) return fail(ErrorCode::kInvalid, "the line is too long");
  const Frame frame = check_frame(line.text);
  if (frame == Frame::kDamaged) return fail(ErrorCode::kInvalid, "does not match its checksum");
  SKEIN_ASSIGN(const Json object, Json::parse_object(line.text));
  JsonFields fields(object.text());
  UsageLine usage{.key = {}, .bytes = object.text()};
  if (frame == Frame::kVerified) {
    usage.key = fields.take_string("key").value_or("");
    fields.take_int("rev");
    fields.take_string("crc");
    usage.bytes = fields.rest().empty() ? "{}" : fields.rest().text();
  }
  if (!fields.take_time("timestamp")) {
    return fail(ErrorCode::kInvalid, "is no usage record: it has no valid \"timestamp\"");
  }
  const auto agent = fields.take_string("agentId");
  if (!agent || !check_agent_id(*agent)) {
    return fail(ErrorCode::kInvalid, "is no usage record: it has no valid \"agentId\"");
  }
  return usage;
}

}  // namespace

Result<void> import_usage(const FolderImport& import) {
  const auto path = import.source.resolve_file(kFile);
  if (path && !*path) return {};
  auto file = path ? LineFile::open(**path) : tl::unexpected(path.error());
  if (!file) {
    import.fail(kKind, kUnreadable, import.source.at(kFile), 0, file.error().message);
    return {};
  }
  SKEIN_ASSIGN(RecordBatch records,
               RecordBatch::open(import.store, "usage", import.options.dry_run));
  std::unordered_map<std::string, std::uint64_t> seen;  // equal lines, by their digest
  LineBuffer::Line line;
  std::uint64_t found = 0;
  while (true) {
    auto more = file->next(line);
    if (!more) {
      import.fail(kKind, kUnreadable, import.source.at(kFile), 0, more.error().message);
      ++found;
      break;
    }
    if (!*more) break;
    if (++found % 1000 == 0 && import.options.progress) import.options.progress(found, 0);
    auto usage = read_line(line);
    if (!usage) {
      import.fail(kKind, kUnreadable, import.source.at(kFile), line.number,
                  usage.error().message + (line.complete ? "" : " (the line was cut off)"));
      continue;
    }
    if (usage->key.empty()) {
      const std::string digest = sha256_hex(usage->bytes).substr(0, 32);
      usage->key = "imported-" + digest + "-" + std::to_string(++seen[digest]);
    }
    if (records.has(usage->key)) {
      import.report.there(kKind);
      continue;
    }
    import.report.redacted(import.redact(usage->bytes));
    SKEIN_TRY(records.add(usage->key, std::move(usage->bytes)));
    import.report.taken(kKind);
  }
  import.report.found(kKind, found);
  return records.flush();
}

}  // namespace skein
