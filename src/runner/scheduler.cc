#include <algorithm>
#include <set>
#include <utility>

#include "core/json_object.h"
#include "core/pause.h"
#include "core/quote.h"
#include "core/try.h"
#include "runner/trigger_records.h"
#include "skein/triggers.h"
#include "store/record_access.h"

namespace skein {
namespace {

constexpr std::size_t kPrunedAtOnce = 16;

std::string shown(const Trigger& trigger) {
  return "trigger " + (trigger.name.empty() ? trigger.id : quote(trigger.name));
}

RunRequest request_for(const Trigger& trigger, Timestamp at) {
  RunRequest request = run_request(trigger.agent_id, "", trigger.text);
  if (trigger.text.empty()) request.input.messages.clear();
  const std::string origin = JsonObject().add("triggerId", trigger.id).add("dueAt", at.str()).str();
  request.kwargs = trigger.kwargs;
  request.multitask = trigger.multitask;
  request.metadata = Json::trusted(origin);
  request.thread_metadata = Json::trusted(origin);
  return request;
}

}  // namespace

class Scheduler::Impl {
 public:
  Impl(Store& store, Start start, SchedulerOptions options)
      : store_(store),
        start_(std::move(start)),
        options_(std::move(options)),
        clock_(options_.clock != nullptr ? *options_.clock : system_clock()) {}

  Result<std::optional<Timestamp>> tick() {
    std::vector<Trigger> triggers;
    SKEIN_TRY(scan_prefix(store_, kTriggers, "", [&](const Record& record) {
      auto trigger = parse_trigger(record);
      if (!trigger) {
        log(trigger.error().message);
      } else if (!trigger->enabled) {
        return true;
      } else if (record_counts(options_.signer.get(), kTriggers, record)) {
        triggers.push_back(std::move(*trigger));
      } else if (inert_.insert(record.key).second) {
        log(shown(*trigger) + " never fires: " + options_.signer->why_inert());
      }
      return true;
    }));
    std::optional<Timestamp> soonest;
    for (const Trigger& trigger : triggers) {
      const auto next = serve(trigger);
      if (!next) {
        log(shown(trigger) + ": " + next.error().message);
      } else if (*next && (!soonest || **next < *soonest)) {
        soonest = *next;
      }
    }
    return soonest;
  }

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      auto wait = options_.look_up;
      const auto next = tick();
      if (!next) {
        log("the scheduler: " + next.error().message);
      } else if (*next) {
        const std::int64_t until_ms = ((*next)->us - clock_.now().us) / 1000 + 1;
        wait = std::clamp(std::chrono::milliseconds(until_ms), std::chrono::milliseconds(1),
                          options_.look_up);
      }
      pause_for(wait, stop);
    }
  }

 private:
  void log(std::string_view what) const {
    if (options_.log) options_.log(what);
  }

  // Answers when it is due next.
  Result<std::optional<Timestamp>> serve(const Trigger& trigger) {
    SKEIN_ASSIGN(const Schedule schedule, Schedule::of(trigger));
    SKEIN_ASSIGN(const auto last, last_firing(store_, trigger));
    const Timestamp now = clock_.now();
    const Due due = due_between(schedule, due_from(trigger, last), now);
    if (!due.latest) return due.next;
    const bool in_time = now.us - due.latest->us <= options_.grace.count() * 1000;
    Firing firing = last.value_or(Firing{});
    firing.at = *due.latest;
    firing.status = in_time ? FiringStatus::kClaimed : FiringStatus::kMissed;
    firing.run_id = firing.thread_id = firing.error = "";
    firing.missed += due.count - (in_time ? 1 : 0);
    if (in_time) ++firing.started;
    const RecordWrite claim = put_record(kFirings, firing_key(trigger, firing.at),
                                         firing_json(firing, options_.holder), Version{0});
    const auto claimed = store_.write({&claim, 1});
    if (!claimed && claimed.error().code == ErrorCode::kConflict) return due.next;
    if (!claimed) return tl::unexpected(claimed.error());
    if (firing.missed > (last ? last->missed : 0)) tell_missed(trigger, firing, due, in_time);
    if (in_time) SKEIN_TRY(fire(trigger, firing, claimed->front()));
    SKEIN_TRY(prune(trigger, firing));
    return due.next;
  }

  void tell_missed(const Trigger& trigger, const Firing& firing, const Due& due, bool in_time) {
    const std::uint64_t count = due.count - (in_time ? 1 : 0);
    const char* at_least = due.count >= limits::kMaxCountedMissed ? "at least " : "";
    log(shown(trigger) + " missed " + at_least + std::to_string(count) + " firings before " +
        firing.at.str() + (in_time ? "" : ", that one included") + ", " +
        std::to_string(firing.missed) + " in all: nobody served the store");
  }

  Result<void> fire(const Trigger& trigger, Firing firing, Version version) {
    const auto run = start_(request_for(trigger, firing.at));
    if (run) {
      firing.status = FiringStatus::kStarted;
      firing.run_id = run->id;
      firing.thread_id = run->thread.str();
    } else {
      firing.status = FiringStatus::kFailed;
      firing.error = run.error().message;
      log(shown(trigger) + " could not be run: " + firing.error);
    }
    const RecordWrite write = put_record(kFirings, firing_key(trigger, firing.at),
                                         firing_json(firing, options_.holder), version);
    const auto written = store_.write({&write, 1});
    // Removed with its trigger meanwhile.
    if (!written && written.error().code != ErrorCode::kConflict) {
      return tl::unexpected(written.error());
    }
    return {};
  }

  // Old ones go, a few at a time.
  Result<void> prune(const Trigger& trigger, const Firing& newest) {
    const std::uint64_t all = newest.started + newest.missed;
    if (all <= limits::kMaxKeptFirings) return {};
    std::vector<RecordWrite> old;
    SKEIN_TRY(scan_prefix(store_, kFirings, trigger.id + "/", [&](const Record& record) {
      const auto firing = parse_firing(record);
      if (firing && firing->started + firing->missed > all - limits::kMaxKeptFirings) return false;
      old.push_back(delete_record(kFirings, record.key));
      return old.size() < kPrunedAtOnce;
    }));
    if (old.empty()) return {};
    SKEIN_TRY(store_.write(old));
    return {};
  }

  Store& store_;
  const Start start_;
  const SchedulerOptions options_;
  Clock& clock_;
  std::set<std::string> inert_;  // triggers that were logged as such
};

Scheduler::Scheduler(Store& store, Start start, SchedulerOptions options)
    : impl_(std::make_unique<Impl>(store, std::move(start), std::move(options))) {}
Scheduler::~Scheduler() = default;

Result<std::optional<Timestamp>> Scheduler::tick() { return impl_->tick(); }
void Scheduler::run(const std::stop_token& stop) { impl_->run(stop); }

}  // namespace skein
