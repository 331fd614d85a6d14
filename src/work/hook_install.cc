#include "work/hook_install.h"

#include <array>
#include <optional>

#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/quote.h"
#include "core/try.h"
#include "work/json_layout.h"

namespace skein {
namespace {

struct Hook {
  const char* event;    // as the agent calls it
  const char* name;     // of our command
  const char* matcher;  // which tools; empty: the event is not about tools
};

constexpr std::array<Hook, 4> kHooks = {{
    {"PostToolUse", "post-tool-use",
     "Bash|PowerShell|Write|Edit|MultiEdit|NotebookEdit|Skill|Agent|Task"},
    {"SessionStart", "session-start", ""},
    {"SessionEnd", "session-end", ""},
    {"Stop", "stop", ""},
}};

std::string command_of(const std::string& program, const Hook& hook) {
  return program + " --start-dir \"$CLAUDE_PROJECT_DIR\" hook " + hook.name;
}

std::string in_json(std::string_view text) { return Json::string(text).text(); }

// One entry of an event's array, as it stands at a depth of three levels.
std::string entry_of(const std::string& program, const Hook& hook) {
  LaidOutObject command(10);
  command.add_text("type", "command");
  command.add_text("command", command_of(program, hook));
  command.add("timeout", "30");
  LaidOutObject entry(6);
  if (*hook.matcher != '\0') entry.add_text("matcher", hook.matcher);
  entry.add("hooks", "[\n          " + command.str() + "\n        ]");
  return entry.str();
}

bool is_ours(const std::string& command, const Hook& hook) {
  return command.find("skein") != std::string::npos &&
         command.ends_with(std::string(" hook ") + hook.name);
}

// The command in an entry that is ours already.
std::optional<std::string> our_command(RawJson entry, const Hook& hook) {
  JsonFields fields(entry);
  for (const JsonFields::Field& field : fields.others()) {
    if (field.name != "hooks") continue;
    for (const RawJson element : json_elements(field.value)) {
      auto command = JsonFields(element).take_string("command");
      if (command && is_ours(*command, hook)) return command;
    }
  }
  return std::nullopt;
}

std::string array_of(const std::vector<std::string>& elements) {
  std::string out = "[";
  for (const std::string& element : elements) {
    out += out.size() > 1 ? ",\n      " : "\n      ";
    out += element;
  }
  return out + "\n    ]";
}

// The event's array with our entry in it; nothing, if it is there as it should be.
Result<std::optional<std::string>> with_entry(RawJson array, const std::string& program,
                                              const Hook& hook) {
  if (!array.starts_with('[')) {
    return fail(ErrorCode::kInvalid, std::string("\"hooks\".\"") + hook.event +
                                         "\" must be an array, got " + excerpt(array));
  }
  const std::string command = command_of(program, hook);
  std::vector<std::string> elements;
  bool there = false;
  for (const RawJson element : json_elements(array)) {
    std::string text(element);
    if (const auto ours = our_command(element, hook)) {
      if (*ours == command) return std::nullopt;
      const std::string before = in_json(*ours);
      const std::size_t at = text.find(before);
      if (at != std::string::npos) text.replace(at, before.size(), in_json(command));
      there = true;
    }
    elements.push_back(std::move(text));
  }
  if (!there) elements.push_back(entry_of(program, hook));
  return array_of(elements);
}

// The "hooks" object with ours; nothing, if all are there.
Result<std::optional<std::string>> with_entries(RawJson hooks, const std::string& program) {
  JsonFields fields(hooks);
  LaidOutObject object(2);
  bool changed = false;
  for (const JsonFields::Field& field : fields.others()) {
    std::optional<std::string> replaced;
    for (const Hook& hook : kHooks) {
      if (field.name != hook.event) continue;
      SKEIN_ASSIGN(replaced, with_entry(field.value, program, hook));
    }
    changed = changed || replaced;
    object.add(field.name, replaced ? std::string_view(*replaced) : field.value);
  }
  for (const Hook& hook : kHooks) {
    const bool named = std::any_of(fields.others().begin(), fields.others().end(),
                                   [&](const auto& field) { return field.name == hook.event; });
    if (named) continue;
    changed = true;
    object.add(hook.event, array_of({entry_of(program, hook)}));
  }
  if (!changed) return std::nullopt;
  return object.str();
}

}  // namespace

Result<std::string> with_hooks(std::string_view settings, const std::string& program) {
  const bool blank = trim_json(settings).empty();
  SKEIN_ASSIGN(const Json document, Json::parse_object(blank ? "{}" : settings));
  JsonFields fields(document.text());
  LaidOutObject object(0);
  bool found = false;
  for (const JsonFields::Field& field : fields.others()) {
    std::optional<std::string> replaced;
    if (field.name == "hooks") {
      if (!field.value.starts_with('{')) {
        return fail(ErrorCode::kInvalid,
                    "\"hooks\" must be an object, got " + excerpt(field.value));
      }
      found = true;
      SKEIN_ASSIGN(replaced, with_entries(field.value, program));
      if (!replaced) return std::string(settings);
    }
    object.add(field.name, replaced ? std::string_view(*replaced) : field.value);
  }
  if (!found) {
    SKEIN_ASSIGN(const auto hooks, with_entries("{}", program));
    object.add("hooks", hooks.value_or("{}"));
  }
  return object.str() + "\n";
}

}  // namespace skein
