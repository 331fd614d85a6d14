#include <fmt/format.h>

#include <algorithm>

#include "api/checkpoints.h"
#include "api/work/answers.h"
#include "core/json_object.h"
#include "core/quotation.h"
#include "core/try.h"
#include "mcp/catalogue.h"
#include "mcp/tools/tools.h"

namespace skein::mcp {
namespace {

constexpr std::size_t kMostItems = 50;

PromptAnswer one_message(std::string description, std::string_view text) {
  const std::string message =
      JsonObject().add("role", "user").add_json("content", text_block(text)).str();
  return {std::move(description), "[" + message + "]"};
}

std::string value_of(const PromptValues& values, std::string_view name) {
  const auto found = values.find(name);
  return found == values.end() ? std::string() : found->second;
}

// What is open now, as quoted data.
std::string open_items(Workspace& workspace, const Caller& caller) {
  if (!caller.all_agents) return {};
  const auto desk = workspace.look();
  if (!desk) return {};
  ListItems wanted;
  wanted.of_session = true;
  const auto listing = workspace.items(**desk).list(wanted);
  if (!listing) return {};
  const std::string of_project =
      listing->project ? " in project " + quoted_name(*listing->project) : std::string();
  if (listing->items.empty()) return fmt::format("Nothing is noted as open{}.\n", of_project);
  std::string lines;
  for (std::size_t i = 0; i < std::min(listing->items.size(), kMostItems); ++i) {
    const WorkItem& item = listing->items[i].item;
    lines += fmt::format("{} {}\n", item.id, item.text);
  }
  return quoted_record(fmt::format("Open now{} ({}).", of_project, listing->total_open), lines);
}

PromptOutcome start(const PromptValues& values) {
  const std::string project = value_of(values, "project");
  const std::string task = value_of(values, "task");
  std::string text = fmt::format(
      "Begin a working session: call the tool session_start{}, read what it tells, and say in a "
      "few "
      "lines where the work stands and what you would do next.\n",
      project.empty() ? "" : fmt::format(" with project \"{}\"", project));
  if (!task.empty()) text += fmt::format("The task of this session: {}\n", task);
  text +=
      "While you work, note what stays unresolved with create_thread, resolve what is done with "
      "resolve_thread, and write a checkpoint at milestones.\n";
  return one_message("Start a working session with what is open", text);
}

PromptOutcome close(Workspace& workspace, const PromptValues& values, const Caller& caller) {
  const std::string summary = value_of(values, "summary");
  std::string text =
      "End this working session. Resolve with resolve_thread what was done, then call "
      "session_close with a summary, the decisions and learnings of this session, and as "
      "open_threads what is unresolved and not noted yet.\n";
  if (!summary.empty()) text += fmt::format("The summary: {}\n", summary);
  return one_message("Close the working session, and store what is open",
                     text + open_items(workspace, caller));
}

PromptOutcome hand_off(Workspace& workspace, const PromptValues& values, const Caller& caller) {
  const std::string title = value_of(values, "title");
  const std::string text = fmt::format(
      "Hand this work over to somebody who knows nothing of this conversation: call the tool "
      "handoff "
      "{}with a summary of what was done and concrete next steps, and show me the prompt that it "
      "answers with.\n",
      title.empty() ? "" : fmt::format("with the title \"{}\", ", title));
  return one_message("Hand the work over", text + open_items(workspace, caller));
}

PromptOutcome write_checkpoint(const PromptValues& values) {
  const std::string title = value_of(values, "title");
  return one_message(
      "Write a checkpoint",
      fmt::format("Write down where this work stands: call the tool checkpoint {}with a summary of "
                  "what was "
                  "done since the last checkpoint, concrete next steps, and tags to find it by. "
                  "Then tell me "
                  "its id.\n",
                  title.empty() ? "" : fmt::format("with the title \"{}\", ", title)));
}

PromptOutcome search(const PromptValues& values) {
  return one_message(
      "Search what earlier work left",
      fmt::format(
          "Look for {} in what earlier work left: call the tools list_checkpoints with query, "
          "and search_conversations. Tell me what you found, with ids and dates, the most "
          "relevant first. If there is nothing, say so.\n",
          quoted_name(value_of(values, "query"))));
}

}  // namespace

std::string text_block(std::string_view text) {
  return JsonObject().add("type", "text").add("text", text).str();
}

std::vector<Prompt> workspace_prompts(Workspace& workspace) {
  std::vector<Prompt> prompts;
  prompts.push_back(
      {.name = "start_session",
       .title = "Start a session",
       .description = "Begin with what earlier sessions left open",
       .arguments = {{"task", "what this session is about"}, {"project", "which project"}},
       .run = [](const PromptValues& values, const Exchange&) { return start(values); }});
  prompts.push_back({.name = "close_session",
                     .title = "Close the session",
                     .description = "End with everything that is open stored for the next session",
                     .arguments = {{"summary", "what was done, if you want to say it yourself"}},
                     .run = [&workspace](const PromptValues& values, const Exchange& exchange) {
                       return close(workspace, values, exchange.caller);
                     }});
  prompts.push_back({.name = "hand_off",
                     .title = "Hand off",
                     .description = "Write a checkpoint for whoever continues, with a prompt",
                     .arguments = {{"title", "what the work is about"}},
                     .run = [&workspace](const PromptValues& values, const Exchange& exchange) {
                       return hand_off(workspace, values, exchange.caller);
                     }});
  prompts.push_back({.name = "checkpoint",
                     .title = "Write a checkpoint",
                     .description = "Write down where the work stands",
                     .arguments = {{"title", "what the work is about"}},
                     .run = [](const PromptValues& values, const Exchange&) {
                       return write_checkpoint(values);
                     }});
  prompts.push_back(
      {.name = "search",
       .title = "Search earlier work",
       .description = "Find checkpoints and conversations by their words",
       .arguments = {{"query", "what to look for", true}},
       .run = [](const PromptValues& values, const Exchange&) { return search(values); }});
  const auto projects = [&workspace](std::string_view argument, std::string_view begin,
                                     const Caller&) -> Result<std::vector<std::string>> {
    std::vector<std::string> values;
    const std::string project = workspace.place().project;
    if (argument == "project" && project.starts_with(begin)) values.push_back(project);
    return values;
  };
  for (Prompt& prompt : prompts) prompt.complete = projects;
  return prompts;
}

Catalogue workspace_catalogue(Workspace& workspace) {
  Catalogue catalogue;
  catalogue.tools = workspace_tools(workspace);
  catalogue.resources.push_back(workspace_resources(workspace));
  catalogue.prompts = workspace_prompts(workspace);
  return catalogue;
}

}  // namespace skein::mcp
