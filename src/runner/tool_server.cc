#include "runner/tool_server.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/quote.h"
#include "core/secret_names.h"
#include "core/try.h"
#include "core/url_host.h"
#include "skein/agents.h"

namespace skein {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr std::size_t kMaxArguments = 256;

// Replaces every ${NAME}; only checks that they are well formed when `look_up` is false.
Result<std::string> expand(std::string_view text, bool look_up) {
  std::string out;
  while (true) {
    const auto begin = text.find("${");
    out += text.substr(0, begin);
    if (begin == std::string_view::npos) return out;
    text.remove_prefix(begin + 2);
    const auto end = text.find('}');
    const std::string_view inside = text.substr(0, end);
    const auto colon = inside.find(":-");
    const std::string name(inside.substr(0, colon));
    if (end == std::string_view::npos || !is_variable_name(name)) {
      return fail(ErrorCode::kInvalid, "has a ${ that does not go on as ${NAME} or ${NAME:-text}");
    }
    text.remove_prefix(end + 1);
    if (!look_up) continue;
    const char* value = std::getenv(name.c_str());
    if (value != nullptr && *value != '\0') {
      out += value;
    } else if (colon != std::string_view::npos) {
      out += inside.substr(colon + 2);
    } else {
      return fail(ErrorCode::kInvalid,
                  "needs the environment variable " + name + ", which is not set");
    }
  }
}

// Values that a name gives away as secret must come from the environment.
void check_pairs(CheckedFields& fields, std::string_view field, const Pairs& pairs) {
  for (const auto& [name, value] : pairs) {
    if (names_secret(name) && !value.empty() && value.find("${") == std::string::npos) {
      fields.wrong(std::string(field) + "." + name,
                   "must take its value from the environment, as ${NAME}");
    }
  }
}

void check_references(const ToolServer& server, const std::string& path,
                      const CheckedFields::Problems& problems) {
  const auto check = [&](const std::string& field, std::string_view text) {
    if (auto expanded = expand(text, false); !expanded) {
      problems(path + "." + field, expanded.error().message);
    }
  };
  for (const std::string& word : server.command) check("command", word);
  for (const auto& [name, value] : server.environment) check("env." + name, value);
  for (const auto& [name, value] : server.headers) check("headers." + name, value);
  check("url", server.url);
}

void check_name(std::string_view name, const std::string& path,
                const CheckedFields::Problems& problems) {
  const bool fits = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
  if (fits && !name.empty() && name.size() <= 32) return;
  problems(path, "must be named with 1 to 32 of A-Z a-z 0-9 _ -");
}

}  // namespace

ToolServer parse_tool_server(std::string_view name, const Json& json, std::string path,
                             const CheckedFields::Problems& problems) {
  ToolServer server;
  server.name = name;
  check_name(name, path, problems);
  {
    CheckedFields fields(json.text(), path, problems);
    const auto type = fields.choice("type", {"stdio", "http"});
    const auto command = fields.text("command");
    const auto arguments = fields.texts("args", kMaxArguments);
    server.environment = fields.pairs("env");
    server.url = fields.text("url").value_or("");
    server.headers = fields.pairs("headers");
    if (command) {
      server.command.push_back(*command);
      server.command.insert(server.command.end(), arguments.begin(), arguments.end());
    }
    const bool by_command = !server.command.empty();
    const bool by_url = !server.url.empty();
    if (by_command == by_url) {
      problems(path, "must have either a \"command\" or a \"url\"");
    } else if (type && (*type == "stdio") != by_command) {
      fields.wrong("type", "is " + quote(*type) + ", which does not go with the rest");
    }
    if (by_url && !server.url.starts_with("http://") && !server.url.starts_with("https://") &&
        !server.url.starts_with("${")) {
      fields.wrong("url", "must begin with http:// or https://");
    } else if (by_url && !has_plain_host(server.url)) {
      fields.wrong("url", std::string(kPlainHostRule));
    }
    if (by_url && (!arguments.empty() || !server.environment.empty())) {
      problems(path, "has a \"url\", with which \"args\" and \"env\" make no sense");
    }
    if (by_command && !server.headers.empty()) {
      fields.wrong("headers", "make no sense with a \"command\"");
    }
    check_pairs(fields, "env", server.environment);
    check_pairs(fields, "headers", server.headers);
  }
  check_references(server, path, problems);
  return server;
}

Result<ToolServer> resolve_server(const ToolServer& server) {
  ToolServer resolved = server;
  const auto replace = [&](std::string& text) -> Result<void> {
    auto expanded = expand(text, true);
    if (!expanded) {
      return fail(ErrorCode::kInvalid,
                  "the tool server " + quote(server.name) + " " + expanded.error().message);
    }
    text = std::move(*expanded);
    return {};
  };
  for (std::string& word : resolved.command) SKEIN_TRY(replace(word));
  for (auto& [name, value] : resolved.environment) SKEIN_TRY(replace(value));
  for (auto& [name, value] : resolved.headers) SKEIN_TRY(replace(value));
  SKEIN_TRY(replace(resolved.url));
  return resolved;
}

}  // namespace skein
