#include "runner/agent_tools.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "core/json_array.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace {

using Names = std::set<std::string, std::less<>>;
using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string pairs_json(const Pairs& pairs) {
  std::vector<std::string> all;
  for (const auto& [name, value] : pairs) {
    all.push_back(JsonObject().add("name", name).add("value", value).str());
  }
  return json_array_of(all);
}

// Two servers with the same key are one.
std::string key_of(const ToolServer& server, const std::string& folder) {
  return JsonObject()
      .add("name", server.name)
      .add("command", server.command)
      .add("url", server.url)
      .add_json("environment", pairs_json(server.environment))
      .add_json("headers", pairs_json(server.headers))
      .add("folder", folder)
      .str();
}

class AgentToolBox final : public ToolBox {
 public:
  AgentToolBox(const AgentDefinition& agent, std::vector<BuiltInTool> built_in,
               ToolServers& servers, Warn warn)
      : agent_(agent.id),
        capabilities_(agent.capabilities),
        folder_(agent.folder),
        built_in_(std::move(built_in)),
        servers_(servers),
        warn_(std::move(warn)) {}

  Result<std::vector<ToolDefinition>> definitions(std::stop_token stop) override {
    SKEIN_TRY(look_up(stop));
    std::vector<ToolDefinition> all;
    const std::lock_guard lock(mutex_);
    for (const Tool& tool : *tools_) all.push_back(tool.definition);
    return all;
  }

  bool needs_yes(std::string_view tool) const override { return capabilities_.needs_yes(tool); }

  ToolResult call(const ToolCall& call, std::stop_token stop) override {
    if (const auto known = look_up(stop); !known) return {known.error().message, true};
    const Tool* tool = find(call.name);
    if (tool == nullptr) return {"there is no tool " + quote(call.name), true};
    if (tool->built_in != nullptr) return tool->built_in->call(call.input, stop);
    auto result =
        tool->client->call_tool({.tool = tool->own_name, .arguments = call.input, .stop = stop});
    if (!result) return {std::move(result).error().message, true};
    return {std::move(result->text), result->is_error};
  }

 private:
  struct Tool {
    ToolDefinition definition;
    McpClient* client = nullptr;
    std::string own_name{};  // as its server knows it
    const BuiltInTool* built_in = nullptr;
  };

  // What a server has, or why that is not known.
  struct Listed {
    McpClient* client = nullptr;
    Result<std::vector<McpTool>> tools = fail(ErrorCode::kIo, "was not asked");
  };

  const Tool* find(std::string_view name) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(tools_->begin(), tools_->end(),
                                    [&](const Tool& tool) { return tool.definition.name == name; });
    return found == tools_->end() ? nullptr : &*found;
  }

  Result<void> look_up(const std::stop_token& stop) {
    const std::lock_guard one_at_a_time(looking_up_);
    {
      const std::lock_guard lock(mutex_);
      if (tools_) return {};
    }
    std::vector<Tool> tools;
    Names offered;
    for (const BuiltInTool& tool : built_in_)
      add(tools, offered, {tool.definition, nullptr, "", &tool});
    const std::vector<Listed> listed = list_all(stop);
    for (std::size_t i = 0; i < listed.size(); ++i) {
      if (!listed[i].tools) return tl::unexpected(listed[i].tools.error());
      for (const McpTool& tool : *listed[i].tools) {
        add(tools, offered,
            {{tool_name(capabilities_.servers[i].name, tool.name), tool.description,
              tool.input_schema},
             listed[i].client,
             tool.name,
             nullptr});
      }
    }
    if (tools.size() > limits::kMaxToolsOfAgent) {
      return fail(ErrorCode::kInvalid, "an agent may have at most " +
                                           std::to_string(limits::kMaxToolsOfAgent) +
                                           " tools, got " + std::to_string(tools.size()) +
                                           "; \"allow\" in its definition chooses among them");
    }
    warn_of_missing("allow", capabilities_.allow, offered);
    warn_of_missing("confirm", capabilities_.confirm, offered);
    const std::lock_guard lock(mutex_);
    tools_ = std::move(tools);
    return {};
  }

  // `offered` are the names of all tools, whether the definition allows them or not.
  void add(std::vector<Tool>& tools, Names& offered, Tool tool) const {
    const std::string name = tool.definition.name;
    for (int i = 2; !offered.insert(tool.definition.name).second; ++i) {
      const std::string suffix = "_" + std::to_string(i);
      tool.definition.name = name.substr(0, kMaxToolNameBytes - suffix.size()) + suffix;
    }
    if (capabilities_.allows(tool.definition.name)) tools.push_back(std::move(tool));
  }

  // A name in "allow" that no tool has is a tool that the model lacks, and one in "confirm" a tool
  // that may be called without a person's yes.
  void warn_of_missing(std::string_view field, const std::vector<std::string>& patterns,
                       const Names& offered) const {
    if (!warn_) return;
    for (const std::string& pattern : patterns) {
      const bool found = std::any_of(offered.begin(), offered.end(), [&](const std::string& name) {
        return tool_matches(pattern, name);
      });
      if (found || is_of_builtin(pattern)) continue;
      warn_("agent " + quote(agent_) + ": " + quote(field) + " has " + quote(pattern) +
            ", and there is no such tool among those of its servers and \"builtin\"");
    }
  }

  // A built-in tool may be left out of a run: those of "tasks" are for threads of a task.
  bool is_of_builtin(std::string_view pattern) const {
    return std::any_of(capabilities_.builtin.begin(), capabilities_.builtin.end(),
                       [&](const std::string& builtin) {
                         const auto tools = tools_of_builtin(builtin);
                         return std::any_of(tools.begin(), tools.end(), [&](std::string_view tool) {
                           return tool_matches(pattern, tool);
                         });
                       });
  }

  // In the order of the definition; starting one takes as long as starting all.
  std::vector<Listed> list_all(const std::stop_token& stop) {
    std::vector<Listed> listed(capabilities_.servers.size());
    std::vector<std::jthread> asking;
    for (std::size_t i = 0; i < listed.size(); ++i) {
      const auto ask = [this, &stop, &server = capabilities_.servers[i], &mine = listed[i]] {
        mine.tools = list_one(server, mine.client, stop);
      };
      try {
        asking.emplace_back(ask);
      } catch (const std::system_error&) {  // one after the other
        ask();
      }
    }
    asking.clear();
    return listed;
  }

  Result<std::vector<McpTool>> list_one(const ToolServer& defined, McpClient*& client,
                                        const std::stop_token& stop) {
    SKEIN_ASSIGN(const ToolServer server, resolve_server(defined));
    SKEIN_ASSIGN(client, servers_.client(server, folder_));
    return client->list_tools(stop);
  }

  const std::string agent_;
  const AgentCapabilities capabilities_;
  const std::string folder_;
  const std::vector<BuiltInTool> built_in_;
  ToolServers& servers_;
  const Warn warn_;

  std::mutex looking_up_;
  std::mutex mutex_;
  std::optional<std::vector<Tool>> tools_;  // under mutex_; never changed once it is there
};

}  // namespace

Result<McpClient*> ToolServers::client(const ToolServer& server, const std::string& folder) {
  const std::string key = key_of(server, folder);
  const std::lock_guard lock(mutex_);
  if (const auto found = clients_.find(key); found != clients_.end()) return found->second.get();
  if (clients_.size() >= limits::kMaxOpenToolServers) {
    return fail(ErrorCode::kBusy, "tool server " + quote(server.name) + ": at most " +
                                      std::to_string(limits::kMaxOpenToolServers) +
                                      " servers at once");
  }
  McpOptions options = options_;
  options.folder = folder;
  auto& made = clients_[key];
  made = std::make_unique<McpClient>(server, std::move(options), http_);
  return made.get();
}

std::unique_ptr<ToolBox> make_tool_box(const AgentDefinition& agent,
                                       std::vector<BuiltInTool> built_in, ToolServers& servers,
                                       Warn warn) {
  return std::make_unique<AgentToolBox>(agent, std::move(built_in), servers, std::move(warn));
}

}  // namespace skein
