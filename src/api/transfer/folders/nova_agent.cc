#include <array>

#include "api/transfer/folders/agent_import.h"
#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"

namespace skein {
namespace {

class NovaAgent {
 public:
  NovaAgent(const std::string& id, std::string_view json) : id_(id), fields_(json) {}

  MappedAgent map() {
    JsonObject object;
    if (const std::string description = this->description(); !description.empty()) {
      object.add("description", description);
    }
    object.add("engine", "claude-code");
    object.add("model", fields_.take_string("model").value_or("sonnet"));
    if (const std::string system = this->system(); !system.empty()) object.add("system", system);
    object.add_json("options", options());
    note_capabilities();
    note("directories",
         "name one folder with \"folder\", or give the agent an MCP server for files");
    note("skills", "copy them to .claude/skills of the agent's folder");
    note("subagents", "define them as agents of their own, or in .claude/agents");
    fields_.take_string("id");
    for (const JsonFields::Field& field : fields_.others()) {
      mapped_.unmapped.push_back({id_, field.name, "unknown to Skein"});
    }
    mapped_.definition = Json::trusted(object.str());
    return std::move(mapped_);
  }

 private:
  std::string description() {
    const std::string name = fields_.take_string("name").value_or("");
    const auto description = fields_.take_string("description");
    if (!description || description->empty()) return name;
    return name.empty() || name == id_ ? *description : name + ": " + *description;
  }

  // In the order, and with the marks, that Nova's own prompt has them.
  std::string system() {
    std::string text;
    const auto add = [&](std::string_view name, const std::string& part) {
      if (part.empty()) return;
      text.append(text.empty() ? "" : "\n\n").append("<").append(name).append(">\n").append(part);
      text.append("\n</").append(name).append(">");
    };
    add("Identity", fields_.take_string("identity").value_or(""));
    add("Instructions", fields_.take_string("instructions").value_or(""));
    std::string duties;
    const auto list = fields_.take("responsibilities", json_to_array);
    for (const RawJson element : json_elements(list.value_or("[]"))) {
      JsonFields duty(element);
      const std::string title = duty.take_string("title").value_or("");
      const std::string content = duty.take_string("content").value_or("");
      duties.append(duties.empty() ? "" : "\n").append(title).append(": ").append(content);
    }
    add("Responsibilities", duties);
    return text;
  }

  // What Nova lets an agent of that level do, less what its own servers of tools offered.
  std::string options() {
    const auto older = fields_.take_string("security");
    const std::string level = fields_.take_string("trust").value_or(older.value_or("sandbox"));
    std::vector<std::string> allowed = {"WebSearch", "WebFetch"};
    if (level == "controlled") {
      allowed = {"Read", "Write", "Edit", "Glob", "Grep", "WebSearch", "WebFetch", "NotebookEdit"};
    }
    if (level != "controlled" && level != "sandbox") {
      mapped_.unmapped.push_back(
          {id_, "trust: " + level,
           "arrives as sandbox; set options.permissionMode and allowedTools yourself"});
    }
    return JsonObject()
        .add("permissionMode", "dontAsk")
        .add("allowedTools", allowed)
        .add("disallowedTools", std::vector<std::string>{"Bash", "Task"})
        .str();
  }

  void note(std::string_view name, std::string_view advice) {
    const auto value = fields_.take(name, any_json);
    if (!value || *value == "[]" || *value == "{}" || *value == "null") return;
    mapped_.unmapped.push_back({id_, std::string(name), std::string(advice)});
  }

  static std::string advice_for(std::string_view capability) {
    constexpr std::array<std::string_view, 3> kOffered = {"history", "tasks", "triggers"};
    for (const std::string_view name : kOffered) {
      if (capability == name) return "add the MCP server \"skein mcp\"";
    }
    if (capability == "agents") return "add the MCP server \"skein mcp\", or use ask_agent";
    return "no counterpart; add an MCP server that offers it";
  }

  // An object by name, in older definitions a list of names.
  void note_capabilities() {
    const auto value = fields_.take("capabilities", any_json);
    if (!value) return;
    std::vector<std::string> names;
    for (const RawJson element : json_elements(*value)) {
      if (const auto name = json_to_string(element)) names.push_back(*name);
    }
    const JsonFields object(*value);
    for (const JsonFields::Field& field : object.others()) names.push_back(field.name);
    for (const std::string& name : names) {
      mapped_.unmapped.push_back({id_, "capabilities." + name, advice_for(name)});
    }
  }

  const std::string id_;
  JsonFields fields_;
  MappedAgent mapped_;
};

}  // namespace

MappedAgent map_nova_agent(const std::string& id, std::string_view json) {
  return NovaAgent(id, json).map();
}

}  // namespace skein
