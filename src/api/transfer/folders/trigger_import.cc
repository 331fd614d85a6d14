#include "api/transfer/folders/trigger_import.h"

#include "api/transfer/folders/record_batch.h"
#include "core/json_array.h"
#include "core/json_edit.h"
#include "core/json_fields.h"
#include "core/sha256.h"
#include "core/text.h"
#include "core/try.h"
#include "runner/trigger_records.h"
#include "skein/triggers.h"

namespace skein {
namespace {

constexpr std::string_view kKind = "triggers";
constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20;

Result<Trigger> read_trigger(RawJson json, const std::string& folder_agent) {
  JsonFields fields(json);
  const std::string id = fields.take_string("id").value_or("");
  if (id.empty()) return fail(ErrorCode::kInvalid, "a trigger has no \"id\"");
  const auto invalid = [&](const std::string& reason) {
    return fail(ErrorCode::kInvalid, "trigger " + id + ": " + reason);
  };
  Trigger trigger;
  trigger.agent_id = fields.take_string("agentId").value_or(folder_agent);
  if (auto valid = check_agent_id(trigger.agent_id); !valid) return invalid(valid.error().message);
  trigger.id = "trigger-" + sha256_hex(trigger.agent_id + "\n" + id).substr(0, 16);
  trigger.name = id;
  trigger.cron = fields.take_string("cron").value_or("");
  const auto zone = fields.take_string("tz");
  // Nova runs triggers that name no zone in that of the system.
  trigger.zone = zone && !zone->empty() ? *zone : system_zone().value_or("UTC");
  trigger.text = fields.take_string("prompt").value_or("");
  if (fold_text(trigger.text).empty()) return invalid("\"prompt\" must not be empty");
  if (trigger.text.size() > limits::kMaxTriggerTextBytes || has_control_characters(trigger.text) ||
      trigger.name.size() > limits::kMaxTriggerNameBytes || has_control_characters(trigger.name)) {
    return invalid("its text or name is too long, or has control characters");
  }
  const auto schedule = Schedule::of(trigger);
  if (!schedule) return invalid(schedule.error().message);
  trigger.cron = schedule->cron.text();
  trigger.created_at = system_clock().now();  // what was due before is not made up for
  return trigger;
}

class TriggerImport {
 public:
  TriggerImport(const FolderImport& import, RecordBatch records)
      : import_(import), records_(std::move(records)) {}

  Result<void> take_file(const std::string& file, const std::string& folder_agent) {
    const auto text = import_.source.read_json(file, kMaxFileBytes);
    if (text && !*text) return {};
    if (!text || !trim_json(**text).starts_with('[')) {
      import_.fail(kKind, kUnreadable, import_.source.at(file), 0,
                   text ? "must be a JSON array" : text.error().message);
      return {};
    }
    for (const RawJson element : json_elements(**text)) {
      SKEIN_TRY(take(element, file, folder_agent));
    }
    return {};
  }

  Result<void> finish() { return records_.flush(); }

 private:
  Result<void> take(RawJson element, const std::string& file, const std::string& folder_agent) {
    auto trigger = read_trigger(element, folder_agent);
    if (!trigger) {
      import_.fail(kKind, "not valid", import_.source.at(file), 0, trigger.error().message);
      return {};
    }
    if (records_.has(trigger->id)) {
      import_.report.there(kKind);
      return {};
    }
    if (records_.size() >= limits::kMaxTriggers) {
      import_.fail(kKind, "beyond the limit", import_.source.at(file), 0,
                   "there may be at most " + std::to_string(limits::kMaxTriggers) + " triggers");
      return {};
    }
    SKEIN_ASSIGN(std::string bytes, json_with(trigger_json(*trigger), {"enabled"}, "false"));
    import_.report.redacted(import_.redact(bytes));
    SKEIN_TRY(records_.add(trigger->id, std::move(bytes)));
    import_.report.taken(kKind);
    return {};
  }

  const FolderImport& import_;
  RecordBatch records_;
};

}  // namespace

Result<void> import_triggers(const FolderImport& import) {
  SKEIN_ASSIGN(RecordBatch records,
               RecordBatch::open(import.store, kTriggers, import.options.dry_run));
  TriggerImport triggers(import, std::move(records));
  SKEIN_TRY(triggers.take_file("triggers.json", ""));
  for (const std::string& agent : import.source.names("agents")) {
    SKEIN_TRY(triggers.take_file("agents/" + agent + "/triggers.json", agent));
  }
  return triggers.finish();
}

}  // namespace skein
