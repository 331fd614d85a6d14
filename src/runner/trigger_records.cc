#include "runner/trigger_records.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"
#include "store/record_access.h"

namespace skein {
namespace {

constexpr std::array<std::pair<FiringStatus, const char*>, 4> kStatuses = {
    {{FiringStatus::kClaimed, "claimed"},
     {FiringStatus::kStarted, "started"},
     {FiringStatus::kFailed, "failed"},
     {FiringStatus::kMissed, "missed"}}};

tl::unexpected<Error> damaged(const Record& record, std::string_view what) {
  return fail(ErrorCode::kDamaged,
              "record " + quote(record.key) + " has no valid " + std::string(what));
}

Timestamp before(Timestamp time, std::chrono::hours span) {
  return {time.us - std::chrono::duration_cast<std::chrono::microseconds>(span).count()};
}

}  // namespace

const char* to_string(FiringStatus status) {
  for (const auto& [known, word] : kStatuses) {
    if (known == status) return word;
  }
  return "";
}

std::string trigger_json(const Trigger& trigger) {
  JsonObject object;
  object.add("id", trigger.id);
  if (!trigger.name.empty()) object.add("name", trigger.name);
  object.add("agentId", trigger.agent_id)
      .add("cron", trigger.cron)
      .add("zone", trigger.zone)
      .add("text", trigger.text);
  if (!trigger.kwargs.empty()) {
    std::string kwargs;
    append_json_on_one_line(kwargs, trigger.kwargs.text());
    object.add_json("kwargs", kwargs);
  }
  if (trigger.multitask != Multitask::kEnqueue) {
    object.add("multitask", to_string(trigger.multitask));
  }
  if (!trigger.enabled) object.add("enabled", false);
  object.add("createdAt", trigger.created_at.str());
  if (trigger.since.is_set()) object.add("since", trigger.since.str());
  return object.str();
}

Result<Trigger> parse_trigger(const Record& record) {
  if (!validate_json(record.bytes, "trigger")) return damaged(record, "JSON");
  JsonFields fields(record.bytes);
  Trigger trigger;
  trigger.id = record.key;
  trigger.name = fields.take_string("name").value_or("");
  trigger.agent_id = fields.take_string("agentId").value_or("");
  trigger.cron = fields.take_string("cron").value_or("");
  trigger.zone = fields.take_string("zone").value_or("");
  trigger.text = fields.take_string("text").value_or("");
  if (const auto kwargs = fields.take_object("kwargs")) {
    trigger.kwargs = Json::trusted(std::string(*kwargs));
  }
  trigger.multitask =
      parse_multitask(fields.take_string("multitask").value_or("")).value_or(Multitask::kEnqueue);
  trigger.enabled = fields.take_bool("enabled").value_or(true);
  trigger.created_at = fields.take_time("createdAt").value_or(Timestamp{});
  trigger.since = fields.take_time("since").value_or(Timestamp{});
  if (!check_agent_id(trigger.agent_id)) return damaged(record, "\"agentId\"");
  if (!trigger.created_at.is_set()) return damaged(record, "\"createdAt\"");
  return trigger;
}

std::string firing_key(const Trigger& trigger, Timestamp at) { return trigger.id + "/" + at.str(); }

std::string firing_json(const Firing& firing, std::string_view holder) {
  JsonObject object;
  object.add("status", to_string(firing.status));
  if (!firing.run_id.empty()) object.add("runId", firing.run_id);
  if (!firing.thread_id.empty()) object.add("threadId", firing.thread_id);
  if (!firing.error.empty()) object.add("error", mended_utf8(firing.error));
  object.add("started", firing.started).add("missed", firing.missed);
  if (!holder.empty()) object.add("by", mended_utf8(holder));
  return object.str();
}

Result<Firing> parse_firing(const Record& record) {
  const auto at = Timestamp::parse(record.key.substr(record.key.find('/') + 1));
  if (!at) return damaged(record, "time in its key");
  if (!validate_json(record.bytes, "firing")) return damaged(record, "JSON");
  JsonFields fields(record.bytes);
  Firing firing;
  firing.at = *at;
  const std::string status = fields.take_string("status").value_or("");
  const auto* known = std::find_if(kStatuses.begin(), kStatuses.end(),
                                   [&](const auto& each) { return status == each.second; });
  if (known == kStatuses.end()) return damaged(record, "\"status\"");
  firing.status = known->first;
  firing.run_id = fields.take_string("runId").value_or("");
  firing.thread_id = fields.take_string("threadId").value_or("");
  firing.error = fields.take_string("error").value_or("");
  const auto count = [&](std::string_view name) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(fields.take_int(name).value_or(0), 0));
  };
  firing.started = count("started");
  firing.missed = count("missed");
  return firing;
}

Result<std::optional<Firing>> last_firing(Store& store, const Trigger& trigger) {
  std::optional<Result<Firing>> last;
  SKEIN_TRY(scan_prefix(
      store, kFirings, trigger.id + "/",
      [&](const Record& record) {
        last = parse_firing(record);
        return false;
      },
      Direction::kBackward));
  if (!last) return std::optional<Firing>();
  if (!*last) return tl::unexpected(last->error());
  return std::optional(std::move(**last));
}

Result<Schedule> Schedule::of(const Trigger& trigger) {
  SKEIN_ASSIGN(Cron cron, Cron::parse(trigger.cron));
  SKEIN_ASSIGN(TimeZone zone, TimeZone::load(trigger.zone));
  return Schedule{std::move(cron), std::move(zone)};
}

Timestamp due_from(const Trigger& trigger, const std::optional<Firing>& last) {
  return std::max(last ? last->at : trigger.created_at, trigger.since);
}

Due due_between(const Schedule& schedule, Timestamp since, Timestamp now) {
  Due due;
  const auto walk = [&](Timestamp from, std::uint64_t most) {
    std::uint64_t steps = 0;
    due.next = schedule.cron.next(from, schedule.zone);
    while (due.next && *due.next <= now && steps < most) {
      ++steps;
      due.latest = due.next;
      due.next = schedule.cron.next(*due.next, schedule.zone);
    }
    return steps;
  };
  due.count = walk(since, limits::kMaxCountedMissed);
  if (!due.next || *due.next > now) return due;
  // There are more than anybody wants to count; only the latest matters.
  using std::chrono::hours;
  for (const hours span : {hours(1), hours(24), hours(24 * 32), hours(24 * 400)}) {
    const Timestamp from = std::max(*due.latest, before(now, span));
    if (walk(from, limits::kMaxCountedMissed) > 0) return due;
  }
  return due;
}

}  // namespace skein
