#include "skein/triggers.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "core/json_object.h"
#include "core/quote.h"
#include "core/text.h"
#include "core/try.h"
#include "runner/accept.h"
#include "runner/trigger_records.h"
#include "store/find_record.h"
#include "store/record_access.h"

namespace skein {
namespace {

Result<void> check_text(std::string_view what, std::string_view text, std::size_t limit) {
  if (valid_utf8(text) && !has_control_characters(text) && text.size() <= limit) return {};
  return fail(ErrorCode::kInvalid, "the " + std::string(what) +
                                       " of a trigger must be UTF-8 of at "
                                       "most " +
                                       std::to_string(limit) + " bytes, got " + quote(text));
}

// What an agent is told at a firing: without it, every run would begin with nothing.
Result<void> check_prompt(std::string_view text) {
  SKEIN_TRY(check_text("text", text, limits::kMaxTriggerTextBytes));
  if (text.find_first_not_of(" \t\r\n") != std::string_view::npos) return {};
  return fail(
      ErrorCode::kInvalid,
      "the text of a trigger, which its agent is told, must not be blank, got " + quote(text));
}

Result<void> check_schedule(Trigger& trigger) {
  SKEIN_ASSIGN(const Schedule schedule, Schedule::of(trigger));
  trigger.cron = schedule.cron.text();
  return {};
}

Result<TriggerInfo> info_of(Store& store, const RecordSigner* signer, const Record& record,
                            Trigger trigger, Timestamp now) {
  TriggerInfo info{.trigger = std::move(trigger)};
  SKEIN_ASSIGN(info.last, last_firing(store, info.trigger));
  if (!record_counts(signer, kTriggers, record)) {
    info.problem = "never fires: " + signer->why_inert();
    return info;
  }
  const auto schedule = Schedule::of(info.trigger);
  if (!schedule) {
    info.problem = schedule.error().message;
    return info;
  }
  if (!info.trigger.enabled) return info;
  const Due due = due_between(*schedule, due_from(info.trigger, info.last), now);
  info.next = due.next;
  info.overdue = due.count;
  return info;
}

Result<Record> get_trigger(Store& store, std::string_view id) {
  const bool possible = id.starts_with("trigger-") && id.size() <= 64 && valid_utf8(id) &&
                        !has_control_characters(id);
  if (possible) {
    SKEIN_ASSIGN(auto record, find_record(store, kTriggers, id));
    if (record) return std::move(*record);
  }
  return fail(ErrorCode::kNotFound, "there is no trigger " + quote(id));
}

}  // namespace

Result<std::string> system_zone() { return TimeZone::system_name(std::getenv("TZ"), {}); }

Result<Trigger> Triggers::add(const NewTrigger& wanted) {
  SKEIN_TRY(check_agent_id(wanted.agent_id));
  SKEIN_TRY(check_prompt(wanted.text));
  SKEIN_TRY(check_text("name", wanted.name, limits::kMaxTriggerNameBytes));
  SKEIN_TRY(
      check_optional_object("kwargs of a trigger", wanted.kwargs, limits::kMaxTriggerKwargsBytes));
  Trigger trigger;
  trigger.created_at = clock_.now();
  trigger.id = fmt::format("trigger-{:011x}{:05x}", trigger.created_at.ms() & 0xFFFFFFFFFFF,
                           ids_.next() & 0xFFFFF);
  trigger.name = wanted.name;
  trigger.agent_id = wanted.agent_id;
  trigger.text = wanted.text;
  trigger.cron = wanted.cron;
  trigger.zone = wanted.zone;
  if (trigger.zone.empty()) {
    SKEIN_ASSIGN(trigger.zone, system_zone());
  }
  trigger.enabled = wanted.enabled;
  trigger.kwargs = wanted.kwargs;
  trigger.multitask = wanted.multitask;
  SKEIN_TRY(check_schedule(trigger));
  std::size_t count = 0;
  SKEIN_TRY(scan_prefix(store_, kTriggers, "",
                        [&](const Record&) { return ++count < limits::kMaxTriggers; }));
  if (count >= limits::kMaxTriggers) {
    return fail(ErrorCode::kInvalid,
                "there may be at most " + std::to_string(limits::kMaxTriggers) + " triggers");
  }
  SKEIN_ASSIGN(const RecordWrite write,
               put_signed(signer_.get(), kTriggers, trigger.id, trigger_json(trigger), Version{0}));
  SKEIN_TRY(store_.write({&write, 1}));
  return trigger;
}

Result<std::vector<TriggerInfo>> Triggers::list() {
  std::vector<std::pair<Record, Trigger>> triggers;
  SKEIN_TRY(scan_prefix(store_, kTriggers, "", [&](const Record& record) {
    // One that cannot be read is not in the way of the others; `show` says what is wrong.
    if (auto trigger = parse_trigger(record)) triggers.emplace_back(record, std::move(*trigger));
    return true;
  }));
  std::vector<TriggerInfo> infos;
  const Timestamp now = clock_.now();
  for (auto& [record, trigger] : triggers) {
    SKEIN_ASSIGN(TriggerInfo info, info_of(store_, signer_.get(), record, std::move(trigger), now));
    infos.push_back(std::move(info));
  }
  return infos;
}

Result<TriggerInfo> Triggers::show(std::string_view id) {
  SKEIN_ASSIGN(const Record record, get_trigger(store_, id));
  SKEIN_ASSIGN(Trigger trigger, parse_trigger(record));
  return info_of(store_, signer_.get(), record, std::move(trigger), clock_.now());
}

Result<Trigger> Triggers::update(std::string_view id, const TriggerChange& change) {
  if (change.text) SKEIN_TRY(check_prompt(*change.text));
  if (change.name) SKEIN_TRY(check_text("name", *change.name, limits::kMaxTriggerNameBytes));
  const bool only_disables =
      change.enabled == false && !change.cron && !change.zone && !change.text && !change.name;
  Trigger trigger;
  SKEIN_TRY(write_again_on_conflict(store_, [&]() -> Result<std::vector<RecordWrite>> {
    SKEIN_ASSIGN(const Record record, get_trigger(store_, id));
    SKEIN_ASSIGN(trigger, parse_trigger(record));
    // What nobody signed must not become signed by the way.
    const bool counts = record_counts(signer_.get(), kTriggers, record);
    if (!counts && !only_disables) {
      return tl::unexpected(record_is_inert(*signer_, "trigger " + quote(trigger.id)));
    }
    const Trigger before = trigger;
    if (change.cron) trigger.cron = *change.cron;
    if (change.zone) trigger.zone = *change.zone;
    if (change.text) trigger.text = *change.text;
    if (change.name) trigger.name = *change.name;
    if (change.enabled) trigger.enabled = *change.enabled;
    if (change.cron || change.zone) SKEIN_TRY(check_schedule(trigger));
    const bool begins_anew = trigger.cron != before.cron || trigger.zone != before.zone ||
                             (trigger.enabled && !before.enabled);
    if (begins_anew) trigger.since = clock_.now();
    if (trigger_json(trigger) == trigger_json(before)) return std::vector<RecordWrite>();
    SKEIN_ASSIGN(RecordWrite write, put_signed(counts ? signer_.get() : nullptr, kTriggers,
                                               trigger.id, trigger_json(trigger), record.version));
    return std::vector{std::move(write)};
  }));
  return trigger;
}

Result<Trigger> Triggers::remove(std::string_view id) {
  SKEIN_ASSIGN(const Record record, get_trigger(store_, id));
  SKEIN_ASSIGN(Trigger trigger, parse_trigger(record));
  std::vector<RecordWrite> writes = {delete_record(kTriggers, trigger.id)};
  SKEIN_TRY(scan_prefix(store_, kFirings, trigger.id + "/", [&](const Record& firing) {
    writes.push_back(delete_record(kFirings, firing.key));
    return writes.size() < limits::kMaxBatch;
  }));
  SKEIN_TRY(store_.write(writes));
  return trigger;
}

std::string to_json(const TriggerInfo& info) {
  std::string object = trigger_json(info.trigger);
  object.pop_back();
  JsonObject more;
  if (info.trigger.enabled) more.add("enabled", true);
  if (info.next) more.add("next", info.next->str());
  if (info.last) {
    std::string last = firing_json(*info.last, "");
    last.replace(0, 1, "{\"at\":\"" + info.last->at.str() + "\",");
    more.add_json("last", last);
  }
  more.add("missed", info.last ? info.last->missed : std::uint64_t{0});
  more.add("overdue", info.overdue);
  if (!info.problem.empty()) more.add("problem", info.problem);
  return object + "," + more.str().substr(1);
}

}  // namespace skein
