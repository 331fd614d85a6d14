#include "cli/arguments.h"

#include <charconv>
#include <cstdlib>

#include "core/json.h"
#include "core/moment.h"
#include "core/try.h"

namespace skein {

Argument::Set into(bool& flag) {
  return [&flag](std::string_view) -> Result<void> {
    flag = true;
    return {};
  };
}

Argument::Set into(std::string& text) {
  return [&text](std::string_view typed) -> Result<void> {
    text = typed;
    return {};
  };
}

Argument::Set into(std::optional<std::string>& text) {
  return [&text](std::string_view typed) -> Result<void> {
    text = std::string(typed);
    return {};
  };
}

Argument::Set into(std::vector<std::string>& texts) {
  return [&texts](std::string_view typed) -> Result<void> {
    texts.emplace_back(typed);
    return {};
  };
}

Argument::Set into(std::optional<std::uint64_t>& number) {
  return [&number](std::string_view typed) -> Result<void> {
    std::uint64_t value = 0;
    const char* end = typed.data() + typed.size();
    const auto [stop, error] = std::from_chars(typed.data(), end, value);
    if (error != std::errc{} || stop != end || typed.empty()) {
      return fail(ErrorCode::kInvalid,
                  "must be a whole number, not \"" + std::string(typed) + "\"");
    }
    number = value;
    return {};
  };
}

Argument::Set into(std::optional<ThreadRef>& thread) {
  return [&thread](std::string_view typed) -> Result<void> {
    SKEIN_ASSIGN(thread, ThreadRef::parse(typed));
    return {};
  };
}

Argument::Set into(std::vector<ThreadRef>& threads) {
  return [&threads](std::string_view typed) -> Result<void> {
    SKEIN_ASSIGN(ThreadRef thread, ThreadRef::parse(typed));
    threads.push_back(std::move(thread));
    return {};
  };
}

Argument::Set into_object(Json& object) {
  return [&object](std::string_view typed) -> Result<void> {
    SKEIN_ASSIGN(object, Json::parse_object(typed));
    return {};
  };
}

Argument::Set into_time(std::optional<Timestamp>& time) {
  return [&time](std::string_view typed) -> Result<void> {
    SKEIN_ASSIGN(time, parse_moment(typed, system_clock().now()));
    return {};
  };
}

std::optional<std::string> session_of(const std::optional<std::string>& typed) {
  if (typed) return typed;
  const char* known = std::getenv("SKEIN_SESSION");
  if (known == nullptr || *known == '\0') return std::nullopt;
  return std::string(known);
}

Argument thread_argument(std::optional<ThreadRef>& thread) {
  return {.names = "ID",
          .value_name = "ID",
          .help = "the thread: its 12 hex digits, their UUID form, or its alias",
          .set = into(thread),
          .required = true};
}

Argument status_argument(std::optional<ThreadStatus>& status) {
  return with_choices<ThreadStatus>(
      {.names = "--status", .value_name = "STATUS", .help = "threads of this status only"},
      {{"active", ThreadStatus::kActive},
       {"paused", ThreadStatus::kPaused},
       {"closed", ThreadStatus::kClosed},
       {"archived", ThreadStatus::kArchived}},
      status);
}

Argument metadata_argument(std::vector<MetadataEquals>& filter) {
  const auto add = [&filter](std::string_view typed) -> Result<void> {
    const std::size_t equals = typed.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return fail(ErrorCode::kInvalid, "must be KEY=VALUE, not \"" + std::string(typed) + "\"");
    }
    const std::string_view value = typed.substr(equals + 1);
    auto json = Json::parse(value);
    const bool is_text = !json.has_value();
    if (is_text && !valid_utf8(value)) return fail(ErrorCode::kInvalid, "must be UTF-8");
    filter.push_back({std::string(typed.substr(0, equals)), is_text ? Json::string(value) : *json});
    return {};
  };
  return {.names = "--meta",
          .value_name = "KEY=VALUE",
          .help = "threads with this in their metadata only; all that are given must hold",
          .set = add,
          .repeated = true};
}

}  // namespace skein
