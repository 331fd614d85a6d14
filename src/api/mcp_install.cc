#include "api/mcp_install.h"

#include <cstdlib>
#include <filesystem>

#include "core/json.h"
#include "core/json_fields.h"
#include "core/quote.h"
#include "core/try.h"
#include "work/json_layout.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kName = "skein";

Result<fs::path> codex_file() {
  const char* own = std::getenv("CODEX_HOME");
  if (own != nullptr && *own != '\0') return fs::path(own) / "config.toml";
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') {
    return fail(ErrorCode::kInvalid, "set HOME or CODEX_HOME: Codex is configured there");
  }
  return fs::path(home) / ".codex" / "config.toml";
}

// Our entry, with what somebody added to it, such as an environment.
std::string json_entry(RawJson before, const std::string& program,
                       const std::vector<std::string>& arguments) {
  LaidOutObject entry(4);
  entry.add_text("command", program);
  entry.add("args", laid_out_inline(arguments));
  const JsonFields fields(before);
  for (const JsonFields::Field& field : fields.others()) {
    if (field.name != "command" && field.name != "args") entry.add(field.name, field.value);
  }
  return entry.str();
}

Result<std::string> json_servers(RawJson before, const std::string& program,
                                 const std::vector<std::string>& arguments) {
  if (!before.starts_with('{')) {
    return fail(ErrorCode::kInvalid, "\"mcpServers\" must be an object, got " + excerpt(before));
  }
  LaidOutObject servers(2);
  bool found = false;
  const JsonFields fields(before);
  for (const JsonFields::Field& field : fields.others()) {
    const bool ours = field.name == kName;
    found = found || ours;
    servers.add(field.name,
                ours ? json_entry(field.value, program, arguments) : std::string(field.value));
  }
  if (!found) servers.add(kName, json_entry("{}", program, arguments));
  return servers.str();
}

std::string toml_array(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    out += (out.size() > 1 ? ", " : "") + Json::string(text).text();
  }
  return out + "]";
}

std::string_view trimmed(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r\n") - begin + 1);
}

// "[ mcp_servers . skein ]" and "[mcp_servers.\"skein\"]" are the same table.
bool is_our_table(std::string_view line) {
  std::string name;
  for (const char c : line) {
    if (c == '#') break;
    if (c != ' ' && c != '\t' && c != '"' && c != '\'') name += c;
  }
  return name == "[mcp_servers.skein]";
}

bool sets(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) return false;
  line.remove_prefix(key.size());
  return trimmed(line).starts_with('=');
}

}  // namespace

Result<std::string> with_json_server(std::string_view text, const std::string& program,
                                     const std::vector<std::string>& arguments) {
  const bool blank = trim_json(text).empty();
  SKEIN_ASSIGN(const Json document, Json::parse_object(blank ? "{}" : text));
  LaidOutObject object(0);
  bool found = false;
  const JsonFields fields(document.text());
  for (const JsonFields::Field& field : fields.others()) {
    if (field.name != "mcpServers") {
      object.add(field.name, field.value);
      continue;
    }
    found = true;
    SKEIN_ASSIGN(const std::string servers, json_servers(field.value, program, arguments));
    object.add(field.name, servers);
  }
  if (!found) {
    SKEIN_ASSIGN(const std::string servers, json_servers("{}", program, arguments));
    object.add("mcpServers", servers);
  }
  std::string after = object.str() + "\n";
  // Where nothing is new, the layout stays too.
  SKEIN_ASSIGN(const Json now, Json::parse_object(after));
  return !blank && same_json(document, now) ? std::string(text) : after;
}

Result<std::string> with_toml_server(std::string_view text, const std::string& program,
                                     const std::vector<std::string>& arguments) {
  if (!valid_utf8(text)) return fail(ErrorCode::kInvalid, "it must be UTF-8");
  const std::string command = "command = " + Json::string(program).text() + "\n";
  const std::string args = "args = " + toml_array(arguments) + "\n";
  std::string after;
  bool found = false;
  bool inside = false;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1);
    const std::string_view line = rest.substr(0, end + 1);
    const std::string_view words = trimmed(line);
    rest.remove_prefix(end + 1);
    if (words.starts_with('[')) {
      inside = is_our_table(words);
      if (inside && found) return fail(ErrorCode::kInvalid, "there are two tables for skein");
      found = found || inside;
      after += line;
      if (inside) after += (after.ends_with('\n') ? "" : "\n") + command + args;
      continue;
    }
    if (inside && (sets(words, "command") || sets(words, "args"))) {
      if (words.ends_with('[') || (words.find('[') != words.npos && !words.ends_with(']'))) {
        return fail(ErrorCode::kInvalid,
                    "the server skein is there with an array of several lines; put it on one");
      }
      continue;
    }
    after += line;
  }
  if (found) return after;
  if (!after.empty() && !after.ends_with('\n')) after += '\n';
  if (!after.empty()) after += '\n';
  return after + "[mcp_servers.skein]\n" + command + args;
}

Result<FileChange> plan_mcp_server(const Settings& settings, McpClientKind client,
                                   const std::string& program) {
  switch (client) {
    case McpClientKind::kClaudeCode:
      return plan_change(settings.workspace / ".mcp.json", [&program](std::string_view before) {
        return with_json_server(before, program, {"mcp"});
      });
    case McpClientKind::kCursor:
      return plan_change(
          settings.workspace / ".cursor" / "mcp.json", [&program](std::string_view before) {
            return with_json_server(before, program, {"--start-dir", "${workspaceFolder}", "mcp"});
          });
    case McpClientKind::kCodex:
      break;
  }
  SKEIN_ASSIGN(fs::path file, codex_file());
  return plan_change(std::move(file), [&program](std::string_view before) {
    return with_toml_server(before, program, {"mcp"});
  });
}

}  // namespace skein
