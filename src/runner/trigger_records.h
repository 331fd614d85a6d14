// Triggers and their firings as the store keeps them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "runner/cron.h"
#include "skein/store.h"
#include "skein/triggers.h"

namespace skein {

inline constexpr std::string_view kTriggers = "triggers";
inline constexpr std::string_view kFirings = "trigger_firings";

std::string trigger_json(const Trigger& trigger);
Result<Trigger> parse_trigger(const Record& record);

// "trigger-…/2026-03-29T01:00:00.000Z": in the order of time within a trigger.
std::string firing_key(const Trigger& trigger, Timestamp at);
std::string firing_json(const Firing& firing, std::string_view holder);
Result<Firing> parse_firing(const Record& record);
// The latest one.
Result<std::optional<Firing>> last_firing(Store& store, const Trigger& trigger);

// When a trigger is due.
struct Schedule {
  Cron cron;
  TimeZone zone;

  static Result<Schedule> of(const Trigger& trigger);
};

// The moment after which firings are due that were not dealt with.
Timestamp due_from(const Trigger& trigger, const std::optional<Firing>& last);

// What is due after `since` and up to `now`.
struct Due {
  std::uint64_t count = 0;            // at most limits::kMaxCountedMissed
  std::optional<Timestamp> latest{};  // of them all
  std::optional<Timestamp> next{};    // the first after `now`
};
Due due_between(const Schedule& schedule, Timestamp since, Timestamp now);

}  // namespace skein
