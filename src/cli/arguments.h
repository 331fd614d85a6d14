// Where the values of arguments go, with the check that each of them needs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "skein/clock.h"
#include "skein/ids.h"
#include "skein/json.h"
#include "skein/store.h"

namespace skein {

Argument::Set into(bool& flag);
Argument::Set into(std::string& text);
Argument::Set into(std::optional<std::string>& text);
Argument::Set into(std::vector<std::string>& texts);
Argument::Set into(std::optional<std::uint64_t>& number);  // decimal digits only
Argument::Set into(std::optional<ThreadRef>& thread);
Argument::Set into(std::vector<ThreadRef>& threads);
Argument::Set into_object(Json& object);
// ISO 8601, a date alone (its first moment in UTC), or how long ago: "7d", "12h", "30m".
Argument::Set into_time(std::optional<Timestamp>& time);

// A value that must be one of a few words.
template <class T>
struct Choice {
  std::string_view word;
  T value;
};

template <class T>
Argument with_choices(Argument argument, std::vector<Choice<T>> choices, std::optional<T>& target) {
  for (const Choice<T>& choice : choices) argument.choices.emplace_back(choice.word);
  argument.set = [choices = std::move(choices), &target](std::string_view typed) -> Result<void> {
    std::string known;
    for (const Choice<T>& choice : choices) {
      if (choice.word == typed) {
        target = choice.value;
        return {};
      }
      known.append(known.empty() ? "" : ", ").append(choice.word);
    }
    return fail(ErrorCode::kInvalid, "must be one of " + known);
  };
  return argument;
}

// The session that was typed, or the one that a hook made known to the commands of its agent
// (SKEIN_SESSION).
std::optional<std::string> session_of(const std::optional<std::string>& typed);

// The ID that most thread commands begin with.
Argument thread_argument(std::optional<ThreadRef>& thread);

// --status
Argument status_argument(std::optional<ThreadStatus>& status);
// --meta KEY=VALUE, where a VALUE that is JSON is compared as such.
Argument metadata_argument(std::vector<MetadataEquals>& filter);

}  // namespace skein
