// What a server offers: tools, resources and prompts.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mcp/exchange.h"
#include "mcp/tool.h"
#include "mcp/workspace.h"

namespace skein::mcp {

// Resources that belong together.
struct ResourceSet {
  // Each as resources/list has it.
  std::function<Result<std::vector<std::string>>(const Caller& caller)> list;
  // Each as resources/templates/list has it.
  std::vector<std::string> templates = {};
  // The array "contents". kNotFound: there is none, or it belongs to another set.
  std::function<Result<std::string>(std::string_view uri, const Exchange& exchange)> read;
  // Values for the argument of a template that begin so; empty: nothing, or not ours.
  std::function<Result<std::vector<std::string>>(std::string_view uri_template,
                                                 std::string_view begin, const Caller& caller)>
      complete = {};
};

struct PromptArgument {
  std::string name;
  std::string description;
  bool required = false;
};

using PromptValues = std::map<std::string, std::string, std::less<>>;

struct PromptAnswer {
  std::string description;
  std::string messages;  // a JSON array
};

using PromptOutcome = std::variant<PromptAnswer, InputRequired, RpcError>;

struct Prompt {
  std::string name;
  std::string title;
  std::string description;
  std::vector<PromptArgument> arguments = {};
  std::function<PromptOutcome(const PromptValues& values, const Exchange& exchange)> run;
  std::function<Result<std::vector<std::string>>(std::string_view argument, std::string_view begin,
                                                 const Caller& caller)>
      complete = {};
};

struct Catalogue {
  std::vector<Tool> tools;
  std::vector<ResourceSet> resources;
  std::vector<Prompt> prompts;
};

// Borrows the workspace.
ResourceSet workspace_resources(Workspace& workspace);
std::vector<Prompt> workspace_prompts(Workspace& workspace);
Catalogue workspace_catalogue(Workspace& workspace);

// "skein://thread/" and so on: what stands before an id.
inline constexpr std::string_view kThreadUri = "skein://thread/";
inline constexpr std::string_view kItemUri = "skein://item/";
inline constexpr std::string_view kCheckpointUri = "skein://checkpoint/";
inline constexpr std::string_view kThreadsUri = "skein://threads";
inline constexpr std::string_view kItemsUri = "skein://items";
inline constexpr std::string_view kCheckpointsUri = "skein://checkpoints";

// {"type":"text","text":…}
std::string text_block(std::string_view text);

}  // namespace skein::mcp
