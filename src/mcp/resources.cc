#include <fmt/format.h>

#include <algorithm>

#include "api/checkpoint_answers.h"
#include "api/checkpoints.h"
#include "api/threads.h"
#include "api/work/answers.h"
#include "core/json_array.h"
#include "core/json_object.h"
#include "core/percent.h"
#include "core/quotation.h"
#include "core/quote.h"
#include "core/try.h"
#include "core/visible.h"
#include "mcp/catalogue.h"
#include "mcp/conversation_text.h"
#include "mcp/limits.h"

namespace skein::mcp {
namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kMarkdown = "text/markdown";
constexpr std::size_t kTitleBytes = 80;

// Of stored text; clients show it to models, too.
std::string quoted_title(std::string_view text) {
  return text.empty() ? std::string() : quoted_name(text, kTitleBytes);
}

std::string entry(std::string_view uri, std::string_view name, std::string_view title,
                  std::string_view description, std::string_view type) {
  JsonObject object;
  // The name of a checkpoint is that of its file, which may have any characters.
  object.add("uri", uri).add("name", visible_line(name));
  if (!title.empty()) object.add("title", title);
  if (!description.empty()) object.add("description", description);
  return object.add("mimeType", type).str();
}

std::string contents(std::string_view uri, std::string_view type, std::string_view text) {
  return "[" + JsonObject().add("uri", uri).add("mimeType", type).add("text", text).str() + "]";
}

std::string with(std::string_view prefix, std::string_view id) {
  return std::string(prefix) + std::string(id);
}

// The newest threads that the caller sees.
Result<std::vector<Manifest>> newest_threads(Desk& desk, const Caller& caller, std::size_t limit) {
  std::vector<Manifest> found;
  ListQuery query;
  if (!caller.all_agents && caller.agents.size() == 1) query.agent_id = caller.agents.front();
  constexpr std::uint64_t kMostLookedAt = 1000;
  SKEIN_TRY(list_threads(desk.store(), query, kMostLookedAt, [&](const Manifest& manifest) {
    if (caller.sees(manifest.agent_id)) found.push_back(manifest);
    return found.size() < limit;
  }));
  return found;
}

Result<std::vector<CheckpointEntry>> newest_checkpoints(const Workspace& workspace,
                                                        std::size_t limit) {
  CheckpointQuery query;
  query.limit = limit;
  return workspace_checkpoints(workspace.settings()).list(query);
}

// What is open in the project of the session.
Result<ItemListing> open_items(Workspace& workspace, Desk& desk) {
  ListItems wanted;
  wanted.of_session = true;
  return workspace.items(desk).list(wanted);
}

// Items and checkpoints.
Result<void> list_work(Workspace& workspace, Desk& desk, std::vector<std::string>& all) {
  all.push_back(
      entry(kItemsUri, "items", "Open work items", "What is unresolved in this workspace", kJson));
  all.push_back(
      entry(kCheckpointsUri, "checkpoints", "Checkpoints", "Where the work stood", kJson));
  SKEIN_ASSIGN(const ItemListing items, open_items(workspace, desk));
  for (std::size_t i = 0; i < std::min(items.items.size(), limits::kListedItems); ++i) {
    const WorkItem& item = items.items[i].item;
    all.push_back(entry(with(kItemUri, item.id), item.id, quoted_title(item.text), "", kJson));
  }
  SKEIN_ASSIGN(const auto checkpoints, newest_checkpoints(workspace, limits::kListedCheckpoints));
  for (const CheckpointEntry& each : checkpoints) {
    all.push_back(entry(with(kCheckpointUri, percent_encoded(each.id)), each.id,
                        quoted_title(each.title), "", kJson));
  }
  return {};
}

Result<std::vector<std::string>> list_all(Workspace& workspace, const Caller& caller) {
  std::vector<std::string> all;
  SKEIN_ASSIGN(Desk* const desk, workspace.look());
  if (caller.all_agents) SKEIN_TRY(list_work(workspace, *desk, all));
  all.push_back(
      entry(kThreadsUri, "threads", "Conversations", "The newest stored conversations", kJson));
  SKEIN_ASSIGN(const auto threads, newest_threads(*desk, caller, limits::kListedThreads));
  for (const Manifest& each : threads) {
    all.push_back(entry(with(kThreadUri, each.id.str()), each.id.str(),
                        quoted_title(each.title.value_or("")), "", kMarkdown));
  }
  return all;
}

Result<std::string> read_items(Workspace& workspace, Desk& desk) {
  const Stopwatch watch;
  SKEIN_ASSIGN(const ItemListing listing, open_items(workspace, desk));
  std::string json = list_threads_answer(listing, watch);
  if (listing.project) {
    json.back() = ',';
    json += JsonObject().add("project", *listing.project).str().substr(1);
  }
  return contents(kItemsUri, kJson, with_notice(json));
}

Result<std::string> read_threads(Desk& desk, const Caller& caller) {
  SKEIN_ASSIGN(const auto threads, newest_threads(desk, caller, limits::kPageSize));
  std::vector<std::string> manifests;
  for (const Manifest& manifest : threads) manifests.push_back(to_json(manifest));
  const std::string json = JsonObject().add_json("threads", json_array_of(manifests)).str();
  return contents(kThreadsUri, kJson, with_notice(json));
}

Result<std::string> read_thread(Desk& desk, const Caller& caller, std::string_view uri,
                                std::string_view id) {
  SKEIN_ASSIGN(const Manifest manifest, find_conversation(desk, caller, id));
  SKEIN_ASSIGN(const ShownConversation shown,
               show_conversation(desk, manifest, {.limit = limits::kMaxShownMessages}));
  return contents(uri, kMarkdown, conversation_text(shown));
}

Result<std::string> read_item(Workspace& workspace, Desk& desk, std::string_view uri,
                              std::string_view id) {
  SKEIN_ASSIGN(const ListedItem listed, workspace.items(desk).show(id));
  SKEIN_ASSIGN(const std::string answer, show_item_answer(desk.store(), listed));
  return contents(uri, kJson, with_notice(answer));
}

Result<std::string> read_checkpoint(const Workspace& workspace, std::string_view uri,
                                    std::string_view id) {
  const std::string plain = percent_decoded(id);
  SKEIN_ASSIGN(const Checkpoint checkpoint, workspace_checkpoints(workspace.settings()).get(plain));
  if (checkpoint.id != plain) {
    return fail(ErrorCode::kNotFound, "there is no checkpoint " + quote(plain));
  }
  return contents(uri, kJson, with_notice(to_json(checkpoint)));
}

Result<std::string> read_one(Workspace& workspace, std::string_view uri, const Caller& caller) {
  SKEIN_ASSIGN(Desk* const desk, workspace.look());
  const bool work = uri == kItemsUri || uri == kCheckpointsUri || uri.starts_with(kItemUri) ||
                    uri.starts_with(kCheckpointUri);
  if (work && !caller.all_agents) {
    return fail(ErrorCode::kNotFound, std::string(kForAllAgents));
  }
  if (uri == kItemsUri) return read_items(workspace, *desk);
  if (uri == kThreadsUri) return read_threads(*desk, caller);
  if (uri == kCheckpointsUri) {
    SKEIN_ASSIGN(const auto entries, newest_checkpoints(workspace, limits::kPageSize));
    const std::string json = JsonObject().add_json("checkpoints", entries_json(entries)).str();
    return contents(uri, kJson, with_notice(json));
  }
  for (const std::string_view prefix : {kThreadUri, kItemUri, kCheckpointUri}) {
    if (!uri.starts_with(prefix)) continue;
    const std::string_view id = uri.substr(prefix.size());
    if (prefix == kThreadUri) return read_thread(*desk, caller, uri, id);
    if (prefix == kItemUri) return read_item(workspace, *desk, uri, id);
    return read_checkpoint(workspace, uri, id);
  }
  return fail(ErrorCode::kNotFound, "there is no resource " + quote(uri));
}

Result<std::vector<std::string>> complete(Workspace& workspace, std::string_view uri_template,
                                          std::string_view begin, const Caller& caller) {
  std::vector<std::string> values;
  const auto add = [&](const std::string& id) {
    if (id.starts_with(begin) && values.size() <= limits::kMaxCompletions) values.push_back(id);
  };
  SKEIN_ASSIGN(Desk* const desk, workspace.look());
  if (!caller.all_agents && !uri_template.starts_with(kThreadUri)) return values;
  if (uri_template.starts_with(kItemUri)) {
    SKEIN_ASSIGN(const ItemListing items, workspace.items(*desk).list({}));
    for (const ListedItem& listed : items.items) add(listed.item.id);
  } else if (uri_template.starts_with(kCheckpointUri)) {
    SKEIN_ASSIGN(const auto entries, newest_checkpoints(workspace, 1000));
    for (const CheckpointEntry& each : entries) add(each.id);
  } else if (uri_template.starts_with(kThreadUri)) {
    SKEIN_ASSIGN(const auto threads, newest_threads(*desk, caller, 1000));
    for (const Manifest& each : threads) add(each.id.str());
  }
  return values;
}

std::string template_of(std::string_view prefix, std::string_view name, std::string_view title,
                        std::string_view description, std::string_view type) {
  return JsonObject()
      .add("uriTemplate", with(prefix, "{id}"))
      .add("name", name)
      .add("title", title)
      .add("description", description)
      .add("mimeType", type)
      .str();
}

}  // namespace

ResourceSet workspace_resources(Workspace& workspace) {
  ResourceSet set;
  set.list = [&workspace](const Caller& caller) { return list_all(workspace, caller); };
  set.templates = {
      template_of(kThreadUri, "thread", "Conversation", "A stored conversation, quoted", kMarkdown),
      template_of(kItemUri, "item", "Work item", "What is open, and what opened and closed it",
                  kJson),
      template_of(kCheckpointUri, "checkpoint", "Checkpoint", "Where the work stood", kJson)};
  set.read = [&workspace](std::string_view uri, const Exchange& exchange) {
    return read_one(workspace, uri, exchange.caller);
  };
  set.complete = [&workspace](std::string_view uri_template, std::string_view begin,
                              const Caller& caller) {
    return complete(workspace, uri_template, begin, caller);
  };
  return set;
}

}  // namespace skein::mcp
