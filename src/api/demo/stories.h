// What happens in the demo, as data.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "skein/error.h"

namespace skein {

// One line, and those that continue it. Parts are separated by " | ".
//
//   model NAME INPUT OUTPUT CACHED          dollars for a million tokens
//   agent ID | ABOUT | PROMPT [| CAPABILITIES]
//
//   at AGO …                                what follows happened so long ago; once for each
//   thread KEY AGENT MODEL | TITLE [| METADATA]    a new thread, which the lines below are about
//   on KEY                                  or an earlier one
//   fork KEY NEW BACK | TITLE               without its last BACK runs
//   task KEY AGENT MODEL | TITLE | TEXT     a task, and a run on it
//   user TEXT                               begins a run, which consists of
//     say TEXT                                narration
//     tool NAME INPUT, also NAME INPUT        a call, or one more at the same time
//     = RESULT                                what it gave back
//     ask NAME INPUT                          a call that waits for a person's yes
//     answer TEXT, stop TEXT, fails TEXT      how it ends
//   pin                                     the last message
//   summarize KEEP, close SUMMARY, archive DAYS REASON, pause
//   item TEXT                               a work item, opened by the thread
//   resolve PART OF A TEXT => NOTE
//   session AGENT, end SUMMARY [| OPEN; OPEN]
//   commit SUBJECT                          with, for each file that it changes:
//     file PATH, edit PATH                    its text, or OLD and NEW part of it with "=>" between
//   file PATH                               a change that is not committed
//   auto TRIGGER | TITLE                    an automatic checkpoint
//   checkpoint SLUG | TITLE | SUMMARY | NEXT; NEXT | TAG, TAG
//   handoff …                               the same for whoever goes on
std::string_view demo_stories();

struct DemoStep {
  std::string verb;
  std::string text;  // all that comes after it
  std::size_t line = 0;
};

struct DemoSection {
  std::chrono::milliseconds ago{0};
  std::size_t line = 0;
  std::vector<DemoStep> steps;
};

struct DemoScript {
  std::vector<DemoStep> cast;         // models and agents
  std::vector<DemoSection> sections;  // in the order of time
};

// The stories with every choice made. kInvalid names the line.
Result<DemoScript> read_demo_script(std::string_view text, std::uint64_t seed);

// "a | b" as "a" and "b", always `count` of them; those that are not there are empty.
std::vector<std::string> demo_parts(std::string_view text, std::size_t count,
                                    std::string_view separator = " | ");

// A stream of numbers that looks like chance, the same for the same seed.
class DemoChance {
 public:
  explicit DemoChance(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::int64_t between(std::int64_t low, std::int64_t high);  // both included

 private:
  std::uint64_t state_;
};

}  // namespace skein
