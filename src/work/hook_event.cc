#include "work/hook_event.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/json_fields.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFolders = 4;

std::optional<std::string> any_value(RawJson value) { return std::string(value); }

bool failed(JsonFields& response) {
  if (response.take_bool("is_error").value_or(false)) return true;
  if (response.take_bool("isError").value_or(false)) return true;
  if (response.take_bool("interrupted").value_or(false)) return true;
  if (!response.take_bool("success").value_or(true)) return true;
  if (!response.take_string("error").value_or("").empty()) return true;
  for (const char* name : {"exit_code", "exitCode", "code"}) {
    if (response.take_int(name).value_or(0) != 0) return true;
  }
  return false;
}

// The words of a command, as a shell would see most of them; what ends a command is a word.
std::vector<std::string> shell_words(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  char quote_mark = '\0';
  bool inside = false;
  const auto end_word = [&] {
    if (inside) words.push_back(std::move(word));
    word.clear();
    inside = false;
  };
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (quote_mark != '\0') {
      if (c == quote_mark) {
        quote_mark = '\0';
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote_mark = c;
      inside = true;
    } else if (c == '\\' && i + 1 < command.size()) {
      word += command[++i];
      inside = true;
    } else if (c == ';' || c == '&' || c == '|' || c == '\n' || c == '(' || c == ')') {
      end_word();
      words.emplace_back(";");
    } else if (c == ' ' || c == '\t') {
      end_word();
    } else {
      word += c;
      inside = true;
    }
  }
  end_word();
  return words;
}

std::string absolute(const std::string& cwd, const std::string& path) {
  return (fs::path(cwd) / path).lexically_normal().string();
}

ToolOutcome judge_commands(const HookEvent& event, JsonFields& input, JsonFields& response) {
  if (response.take_string("backgroundTaskId")) return {};
  ToolOutcome outcome{.deed = ToolDeed::kRanCommands};
  const std::vector<std::string> words = shell_words(input.take_string("command").value_or(""));
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "commit") outcome.says_commit = true;
    const bool goes = words[i] == "cd" || words[i] == "pushd" || words[i] == "-C";
    if (!goes || i + 1 >= words.size() || words[i + 1] == ";") continue;
    if (outcome.folders.size() >= kMostFolders) continue;
    outcome.folders.push_back(absolute(event.cwd, words[i + 1]));
  }
  return outcome;
}

ToolOutcome judge_file(const HookEvent& event, JsonFields& input, JsonFields& response) {
  if (response.take_bool("staged").value_or(false)) return {};  // held for review, not written
  std::string path = input.take_string("file_path").value_or("");
  if (path.empty()) path = input.take_string("notebook_path").value_or("");
  if (path.empty()) return {};
  const bool created =
      event.tool_name == "Write" && response.take_string("type").value_or("create") == "create";
  return {.deed = created ? ToolDeed::kCreatedFile : ToolDeed::kChangedFile,
          .file = absolute(event.cwd, path)};
}

// A skill that was only loaded goes on in the session: its end is not told.
ToolOutcome judge_skill(JsonFields& input, JsonFields& response) {
  if (response.take_string("status").value_or("") != "forked") return {};
  std::string skill = input.take_string("skill").value_or("");
  if (skill.empty()) skill = input.take_string("command").value_or("");
  return {.deed = ToolDeed::kFinishedWorker, .worker = skill, .skill = skill};
}

ToolOutcome judge_agent(JsonFields& input, JsonFields& response) {
  if (response.take_string("status").value_or("completed") != "completed") return {};
  return {.deed = ToolDeed::kFinishedWorker,
          .worker = input.take_string("subagent_type").value_or("worker"),
          .skill = input.take_string("description").value_or("")};
}

}  // namespace

Result<HookEvent> parse_hook_event(std::string_view json) {
  SKEIN_ASSIGN(const Json document, Json::parse_object(json));
  JsonFields fields(document.text());
  HookEvent event;
  event.session_id = fields.take_string("session_id").value_or("");
  if (event.session_id.empty()) {
    return fail(ErrorCode::kInvalid, "a hook must be told a \"session_id\"");
  }
  event.cwd = fields.take_string("cwd").value_or("");
  event.tool_name = fields.take_string("tool_name").value_or("");
  event.tool_input = fields.take<std::string>("tool_input", any_value).value_or("{}");
  event.tool_response = fields.take<std::string>("tool_response", any_value).value_or("{}");
  return event;
}

ToolOutcome judge_tool(const HookEvent& event) {
  JsonFields input(event.tool_input);
  JsonFields response(event.tool_response);
  const auto is = [&event](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), event.tool_name) != names.end();
  };
  if (failed(response)) return {};
  if (is({"Bash", "PowerShell"})) return judge_commands(event, input, response);
  if (is({"Write", "Edit", "MultiEdit", "NotebookEdit"})) {
    return judge_file(event, input, response);
  }
  if (is({"Skill"})) return judge_skill(input, response);
  if (is({"Agent", "Task"})) return judge_agent(input, response);
  return {};
}

}  // namespace skein
