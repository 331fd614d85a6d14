// Threads: made, read, changed, copied, removed.
#include <utility>

#include "api/langgraph/update.h"
#include "api/run_states.h"
#include "api/threads.h"
#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/try.h"
#include "http/langgraph/shared.h"

namespace skein::http {
namespace {

constexpr const char* kCreateBody =
    R"({"type":"object","properties":{"thread_id":{"type":["string","null"]},)"
    R"("metadata":{"type":["object","null"]},"if_exists":{"enum":["raise","do_nothing",null]},)"
    R"("supersteps":{"type":["array","null"],"maxItems":1000,"items":{"type":"object",)"
    R"("properties":{"updates":{"type":"array","items":{"type":"object"}}},)"
    R"("required":["updates"]}},"ttl":{"type":["object","null"]}}})";

constexpr const char* kPatchBody = R"({"type":"object","properties":{"metadata":{"type":"object"},)"
                                   R"("ttl":{"type":["object","null"]}}})";

// The agent that a new thread is for, by what its metadata says; else the default one.
tl::expected<std::string, Problem> agent_for(LangGraph& graph, const Caller& caller,
                                             std::string_view metadata) {
  JsonFields fields(metadata);
  auto named = fields.take_string("assistant_id");
  if (!named) named = fields.take_string("graph_id");
  if (named) {
    auto found = find_agent(graph, caller, *named);
    if (!found) return tl::unexpected(no_assistant(*named));
    return std::move(*found);
  }
  const std::string& usual = graph.service.settings().default_agent;
  if (caller.sees(usual)) return usual;
  if (!caller.agents.empty()) return caller.agents.front();
  return tl::unexpected(Problem(403, "forbidden", "this key is for no agent"));
}

Json own_metadata(std::string_view metadata) {
  JsonFields fields(metadata);
  fields.take_string("graph_id");
  fields.take_string("assistant_id");
  return fields.rest();
}

// A thread that is there already; nothing: it can be made.
Result<std::optional<Manifest>> find_named(LangGraph& graph, const std::string& id) {
  SKEIN_ASSIGN(const ThreadRef ref, ThreadRef::parse(id));
  SKEIN_ASSIGN(auto found, graph.service.store().get(ref));
  if (!found && ref.id()) {
    return fail(ErrorCode::kInvalid,
                "thread_id must not look like an id that this server gave, got " + id);
  }
  return found;
}

tl::expected<Manifest, Problem> make_thread(LangGraph& graph, const Caller& caller,
                                            const std::optional<std::string>& id,
                                            std::string_view metadata, bool has_steps) {
  auto agent = agent_for(graph, caller, metadata);
  if (!agent) return tl::unexpected(agent.error());
  if (has_steps) {
    auto fine = check_can_run(graph, caller, *agent);
    if (!fine) return tl::unexpected(fine.error());
  }
  NewConversation conversation{.agent_id = std::move(*agent)};
  conversation.metadata = own_metadata(metadata);
  SKEIN_TRY(check_has_no_mark(conversation.metadata));
  conversation.alias = id;
  SKEIN_ASSIGN(auto made, graph.service.threads().create(conversation));
  return made;
}

// The states that a thread is to begin with, one after the other.
Result<Manifest> write_supersteps(LangGraph& graph, Manifest manifest, RawJson steps) {
  for (const RawJson step : json_elements(steps)) {
    const std::string updates = member(step, "updates");
    for (const RawJson update : json_elements(updates)) {
      std::string values = member(update, "values");
      if (const std::string command = member(update, "command"); command != "null") {
        values = member(command, "update");
      }
      SKEIN_ASSIGN(const auto plan,
                   langgraph::plan_update(graph.service.store(), manifest, std::nullopt, values));
      SKEIN_TRY(
          langgraph::write_plan(graph.service.store(), graph.service.threads(), manifest, plan));
      SKEIN_ASSIGN(const auto now, graph.service.store().get(manifest.id));
      if (!now) return fail(ErrorCode::kNotFound, "the thread was removed meanwhile");
      manifest = *now;
    }
  }
  return manifest;
}

struct FoundOrMade {
  Manifest manifest;
  bool found = false;
};

Reply create(LangGraph& graph, const Request& request) {
  const JsonFields body(request.body);
  const auto id = json_to_string(member(body, "thread_id"));
  if (member(body, "ttl") != "null") {
    return refuse(422, "not_offered", "ttl is not offered: archive a thread with retention days");
  }
  std::string metadata = member(body, "metadata");
  if (metadata == "null") metadata = "{}";
  const std::string steps = member(body, "supersteps");
  const bool has_steps = steps != "null" && steps != "[]";
  const auto find_or_make = [&]() -> tl::expected<FoundOrMade, Problem> {
    if (id) {
      SKEIN_ASSIGN(auto found, find_named(graph, *id));
      if (found) return FoundOrMade{std::move(*found), true};
    }
    auto made = make_thread(graph, request.caller, id, metadata, has_steps);
    if (!made) return tl::unexpected(made.error());
    return FoundOrMade{std::move(*made), false};
  };
  auto thread = find_or_make();
  // Others may have made the same one in between.
  if (!thread && id && thread.error().status == 409) thread = find_or_make();
  if (!thread) return tl::unexpected(thread.error());
  if (thread->found) {
    const bool fine = member(body, "if_exists") == "\"do_nothing\"" &&
                      request.caller.sees(thread->manifest.agent_id);
    if (!fine) return refuse(409, "conflict", "Thread already exists: " + *id);
    SKEIN_ASSIGN(auto json, thread_json(graph, thread->manifest));
    return json_response(std::move(json));
  }
  SKEIN_ASSIGN(const Manifest manifest,
               write_supersteps(graph, std::move(thread->manifest), steps));
  SKEIN_ASSIGN(auto json, thread_json(graph, manifest, false));
  return json_response(std::move(json));
}

// Merges into the metadata that there is; again, if it changed in between.
Result<Manifest> merge_metadata(LangGraph& graph, Manifest manifest, std::string_view more) {
  for (int attempt = 0;; ++attempt) {
    const JsonFields before(manifest.metadata.empty() ? "{}" : manifest.metadata.text());
    const Json added = own_metadata(more);
    const JsonFields after(added.empty() ? "{}" : added.text());
    JsonObject merged;
    for (const auto& field : before.others()) {
      const bool replaced =
          std::any_of(after.others().begin(), after.others().end(),
                      [&](const auto& other) { return other.name == field.name; });
      if (!replaced) merged.add_json(field.name, field.value);
    }
    for (const auto& field : after.others()) merged.add_json(field.name, field.value);
    UpdateOptions options;
    options.expect_version = manifest.version;
    auto updated = graph.service.threads().update(
        manifest.id.str(), ManifestPatch().metadata(Json::trusted(merged.str())), options);
    constexpr int kAttempts = 100;
    if (updated || updated.error().code != ErrorCode::kConflict || attempt == kAttempts) {
      return updated;
    }
    SKEIN_ASSIGN(auto now, graph.service.store().get(manifest.id));
    if (!now) return fail(ErrorCode::kNotFound, "there is no thread " + manifest.id.str());
    manifest = std::move(*now);
  }
}

Reply update(LangGraph& graph, Request& request) {
  if (member(request.body, "ttl") != "null") {
    return refuse(422, "not_offered", "ttl is not offered: archive a thread with retention days");
  }
  const std::string metadata = member(request.body, "metadata");
  if (metadata == "null") return refuse(400, "invalid", "body.metadata must be given");
  SKEIN_TRY(check_has_no_mark(Json::trusted(metadata)));
  SKEIN_ASSIGN(const Manifest manifest, merge_metadata(graph, *request.thread, metadata));
  if (request.header("Prefer") == "return=minimal") return no_content();
  SKEIN_ASSIGN(auto json, thread_json(graph, manifest));
  return json_response(std::move(json));
}

// Methods of the SDK that are not offered, each by name.
void add_refused(std::vector<Route>& routes) {
  const auto add = [&](std::string method, std::string path, std::string name, Access access,
                       const char* why) {
    routes.push_back(make_route(
        std::move(method), std::move(path), std::move(name), "threads", "Refused", access,
        [why](Service&, Request&) -> Reply { return refuse(422, "not_offered", why); }));
    if (routes.back().method != "GET") {
      routes.back().body = BodySpec{.schema = "", .required = false};
    }
  };
  add("POST", "/threads/prune", "lgPruneThreads", Access::kWrite,
      "threads.prune is not offered: delete threads one by one; their history stays whole");
  add("PATCH", "/threads/{thread_id}/state", "lgPatchState", Access::kWrite,
      "threads.patchState is not offered: metadata of a thread is changed with threads.update");
  add("GET", "/threads/{thread_id}/stream", "lgJoinThreadStream", Access::kRead,
      "threads.joinStream is not offered: join a run with runs.joinStream, or follow the thread "
      "with threads.stream");
  add("GET", "/threads/{thread_id}/stream/events", "lgStreamEventsOverWebSocket", Access::kRead,
      "the WebSocket transport is not offered: use the default, sse");
  add("POST", "/ui/{assistant_id}", "lgUi", Access::kRead,
      "components of a user interface are not offered: an agent has none");
}

}  // namespace

void add_thread_routes(const Shared& shared, std::vector<Route>& routes) {
  const auto add = [&](std::string method, std::string path, std::string name, std::string summary,
                       Access access, Handler handler) -> Route& {
    routes.push_back(make_route(std::move(method), std::move(path), std::move(name), "threads",
                                std::move(summary), access, std::move(handler)));
    routes.back().agent = AgentOf::kThread;
    return routes.back();
  };
  add_refused(routes);
  const std::string one = "/threads/{thread_id}";
  Route& made = add("POST", "/threads", "lgCreateThread", "Makes a thread", Access::kWrite,
                    [shared](Service&, Request& request) { return create(*shared, request); });
  made.agent = AgentOf::kHandler;
  made.body = BodySpec{kCreateBody};
  add("GET", one, "lgGetThread", "One thread with its values", Access::kRead,
      [shared](Service&, Request& request) -> Reply {
        SKEIN_ASSIGN(auto json, thread_json(*shared, *request.thread));
        return json_response(std::move(json));
      });
  add("PATCH", one, "lgUpdateThread", "Merges into a thread's metadata", Access::kWrite,
      [shared](Service&, Request& request) { return update(*shared, request); })
      .body = BodySpec{kPatchBody};
  add("DELETE", one, "lgDeleteThread", "Removes a thread for good", Access::kWrite,
      [shared](Service& service, Request& request) -> Reply {
        SKEIN_TRY(service.threads().remove(request.thread->id.str()));
        return no_content();
      });
  add("POST", one + "/copy", "lgCopyThread", "A new thread with a copy of all events",
      Access::kWrite, [shared](Service& service, Request& request) -> Reply {
        SKEIN_ASSIGN(const Manifest copy, fork_thread(service.store(), request.thread->id));
        SKEIN_ASSIGN(auto json, thread_json(*shared, copy, false));
        return json_response(std::move(json));
      });
}

}  // namespace skein::http
