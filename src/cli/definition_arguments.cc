#include "cli/definition_arguments.h"

#include "cli/arguments.h"
#include "core/file.h"
#include "core/json.h"
#include "core/json_edit.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"
#include "skein/agents.h"

namespace skein {
namespace {

struct Assignment {
  std::string name;
  std::string value;
};

Result<Assignment> parse_assignment(std::string_view option, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string_view::npos && equals > 0) {
    return Assignment{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
  }
  return fail(ErrorCode::kInvalid, std::string(option) + " must be NAME=VALUE, not " + quote(text));
}

Result<std::string> server_json(std::string_view value) {
  if (value.starts_with("http://") || value.starts_with("https://")) {
    return JsonObject().add("url", value).str();
  }
  SKEIN_ASSIGN(std::vector<std::string> words, split_command(value));
  JsonObject server;
  server.add("command", words.front());
  words.erase(words.begin());
  if (!words.empty()) server.add("args", words);
  return server.str();
}

Result<void> set(Json& object, const JsonPath& path, const Json& value) {
  auto edited = json_with(object.text(), path, value.text());
  if (!edited) {
    return fail(ErrorCode::kInvalid, quote(path.back()) + " " + edited.error().message);
  }
  object = Json::trusted(std::move(*edited));
  return {};
}

}  // namespace

std::vector<Argument> DefinitionArguments::arguments() {
  return {{.names = "--engine",
           .value_name = "ENGINE",
           .help = "echo, openai, anthropic or claude-code",
           .set = into(engine_.text),
           .choices = engine_names()},
          {.names = "--model",
           .value_name = "MODEL",
           .help = "the model, as the provider calls it",
           .set = into(model_.text)},
          {.names = "--title-model",
           .value_name = "MODEL",
           .help = "a fast model that titles threads",
           .set = into(title_model_.text)},
          {.names = "--description",
           .value_name = "TEXT",
           .help = "what the agent is for",
           .set = into(description_.text)},
          {.names = "--system",
           .value_name = "TEXT",
           .help = "the system prompt",
           .set = into(system_.text)},
          {.names = "--system-file",
           .value_name = "FILE",
           .help = "copy the system prompt from a file to agents/ID/system.md",
           .set = into(system_file_),
           .is_path = true},
          {.names = "--option",
           .value_name = "NAME=VALUE",
           .help = "an option of the engine, such as baseUrl; may be repeated",
           .set = into(options_),
           .repeated = true},
          {.names = "--mcp",
           .value_name = "NAME=COMMAND",
           .help = "an MCP server: a command line, or a URL; may be repeated",
           .set = into(servers_),
           .repeated = true},
          {.names = "--set",
           .value_name = "PATH=VALUE",
           .help = "any field, such as limits.turns=20; may be repeated",
           .set = into(set_),
           .repeated = true},
          {.names = "--unset",
           .value_name = "PATH",
           .help = "remove a field; may be repeated",
           .set = into(unset_),
           .repeated = true}};
}

bool DefinitionArguments::any() const {
  for (const Field* field : {&description_, &engine_, &model_, &title_model_, &system_}) {
    if (field->text) return true;
  }
  return system_file_ || !options_.empty() || !servers_.empty() || !set_.empty() || !unset_.empty();
}

Result<std::optional<std::string>> DefinitionArguments::system_text() const {
  if (!system_file_) return std::nullopt;
  SKEIN_ASSIGN(auto text, read_file(*system_file_, limits::kMaxSystemPromptBytes));
  if (!text) {
    return fail(ErrorCode::kNotFound,
                "--system-file: there is no regular file " + quote(*system_file_, 200));
  }
  if (!valid_utf8(*text)) {
    return fail(ErrorCode::kInvalid,
                "--system-file: " + quote(*system_file_, 200) + " is not UTF-8");
  }
  return text;
}

Result<Json> DefinitionArguments::apply(const Json& before) const {
  Json edited = before;
  for (const std::string& name : unset_) {
    SKEIN_ASSIGN(const JsonPath path, parse_json_path(name));
    edited = Json::trusted(json_without(edited.text(), path));
  }
  for (const Field* field : {&description_, &engine_, &model_, &title_model_, &system_}) {
    if (!field->text) continue;
    if (!valid_utf8(*field->text)) {
      return fail(ErrorCode::kInvalid, "\"" + field->path + "\" must be UTF-8");
    }
    SKEIN_TRY(set(edited, {field->path}, Json::string(*field->text)));
  }
  // One prompt takes the place of the other.
  if (system_.text) edited = Json::trusted(json_without(edited.text(), {"systemFile"}));
  if (system_file_) {
    edited = Json::trusted(json_without(edited.text(), {"system"}));
    SKEIN_TRY(set(edited, {"systemFile"}, Json::string("system.md")));
  }
  for (const std::string& text : options_) {
    SKEIN_ASSIGN(const Assignment option, parse_assignment("--option", text));
    SKEIN_TRY(set(edited, {"options", option.name}, json_of_typed(option.value)));
  }
  for (const std::string& text : servers_) {
    SKEIN_ASSIGN(const Assignment server, parse_assignment("--mcp", text));
    SKEIN_ASSIGN(std::string json, server_json(server.value));
    SKEIN_TRY(
        set(edited, {"capabilities", "mcpServers", server.name}, Json::trusted(std::move(json))));
  }
  for (const std::string& text : set_) {
    SKEIN_ASSIGN(const Assignment field, parse_assignment("--set", text));
    SKEIN_ASSIGN(const JsonPath path, parse_json_path(field.name));
    SKEIN_TRY(set(edited, path, json_of_typed(field.value)));
  }
  return edited;
}

Result<std::vector<std::string>> split_command(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;  // a word
  char quote_mark = 0;
  for (const char c : text) {
    if (quote_mark != 0) {
      if (c == quote_mark) {
        quote_mark = 0;
      } else {
        words.back() += c;
      }
    } else if (c == ' ' || c == '\t') {
      inside = false;
    } else {
      if (!inside) words.emplace_back();
      inside = true;
      if (c == '"' || c == '\'') {
        quote_mark = c;
      } else {
        words.back() += c;
      }
    }
  }
  if (quote_mark == 0 && !words.empty() && !words.front().empty()) return words;
  return fail(ErrorCode::kInvalid,
              "must be a command line with its quotes closed, or a URL, not " + quote(text));
}

}  // namespace skein
