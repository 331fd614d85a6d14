// Checkpoints of graphs that run elsewhere. They belong to no agent, so keys that are bound to
// agents do not reach them.
#include <utility>

#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/try.h"
#include "http/langgraph/shared.h"

namespace skein::http {
namespace {

std::string text(std::string_view body, std::string_view name) {
  return json_to_string(member(body, name)).value_or("");
}

langgraph::CheckpointName name_of(std::string_view body) {
  return {text(body, "thread_id"), text(body, "checkpoint_ns"), text(body, "checkpoint_id")};
}

std::string tuple_json(const langgraph::SavedTuple& tuple) {
  JsonObject object;
  object.add("thread_id", tuple.saved.name.thread)
      .add("checkpoint_ns", tuple.saved.name.space)
      .add("checkpoint_id", tuple.saved.name.id);
  if (!tuple.saved.parent.empty()) object.add("parent_checkpoint_id", tuple.saved.parent);
  return object.add_json("checkpoint", tuple.saved.checkpoint)
      .add_json("metadata", tuple.saved.metadata)
      .add_json("writes", json_array_of(tuple.writes))
      .str();
}

Reply put(LangGraph& graph, const Request& request) {
  langgraph::SavedCheckpoint saved;
  saved.name = name_of(request.body);
  saved.parent = text(request.body, "parent_checkpoint_id");
  saved.checkpoint = member(request.body, "checkpoint");
  saved.metadata = member(request.body, "metadata");
  SKEIN_TRY(graph.saver.put(saved));
  return no_content();
}

Reply put_writes(LangGraph& graph, const Request& request) {
  std::vector<langgraph::SavedWrite> writes;
  const std::string array = member(request.body, "writes");
  for (const RawJson write : json_elements(array)) {
    langgraph::SavedWrite one;
    one.task = text(request.body, "task_id");
    one.index = json_to_int(member(write, "index")).value_or(0);
    one.json = JsonObject()
                   .add("task_id", one.task)
                   .add_json("channel", member(write, "channel"))
                   .add_json("value", member(write, "value"))
                   .str();
    writes.push_back(std::move(one));
  }
  SKEIN_TRY(graph.saver.put_writes(name_of(request.body), writes));
  return no_content();
}

Reply get(LangGraph& graph, const Request& request) {
  const langgraph::CheckpointName name = name_of(request.body);
  std::optional<std::string> id;
  if (!name.id.empty()) id = name.id;
  SKEIN_ASSIGN(const auto found, graph.saver.get(name.thread, name.space, id));
  return json_response(found ? tuple_json(*found) : "null");
}

Reply list(LangGraph& graph, const Request& request) {
  langgraph::SaverQuery query;
  query.thread = json_to_string(member(request.body, "thread_id"));
  query.space = json_to_string(member(request.body, "checkpoint_ns"));
  query.before = json_to_string(member(request.body, "before"));
  if (std::string filter = member(request.body, "filter"); filter.starts_with('{')) {
    query.filter = std::move(filter);
  }
  if (const auto limit = json_to_int(member(request.body, "limit"))) {
    query.limit = static_cast<std::size_t>(*limit);
  }
  SKEIN_ASSIGN(const auto found, graph.saver.list(query));
  std::vector<std::string> tuples;
  for (const auto& tuple : found) tuples.push_back(tuple_json(tuple));
  return json_response(json_array_of(tuples));
}

Reply remove(LangGraph& graph, const Request& request) {
  SKEIN_TRY(graph.saver.remove(text(request.body, "thread_id")));
  return no_content();
}

#define SKEIN_NAME                                                      \
  R"("thread_id":{"type":"string"},"checkpoint_ns":{"type":"string"},)" \
  R"("checkpoint_id":{"type":["string","null"]})"
constexpr const char* kPutBody =
    R"({"type":"object","required":["thread_id","checkpoint_id","checkpoint","metadata"],)"
    R"("properties":{)" SKEIN_NAME R"(,"parent_checkpoint_id":{"type":["string","null"]},)"
    R"("checkpoint":{"type":"object"},"metadata":{"type":"object"}},"additionalProperties":false})";
constexpr const char* kWritesBody =
    R"({"type":"object","required":["thread_id","checkpoint_id","task_id","writes"],)"
    R"("properties":{)" SKEIN_NAME R"(,"task_id":{"type":"string"},"writes":{"type":"array",)"
    R"("maxItems":1000,"items":{"type":"object","required":["index","channel","value"],)"
    R"("properties":{"index":{"type":"integer","minimum":-1000000,"maximum":1000000},)"
    R"("channel":{"type":"string"},"value":{"type":"object"}},"additionalProperties":false}}},)"
    R"("additionalProperties":false})";
constexpr const char* kGetBody =
    R"({"type":"object","required":["thread_id"],"properties":{)" SKEIN_NAME
    R"(},"additionalProperties":false})";
constexpr const char* kListBody =
    R"({"type":"object","properties":{"thread_id":{"type":["string","null"]},)"
    R"("checkpoint_ns":{"type":["string","null"]},"before":{"type":["string","null"]},)"
    R"("limit":{"type":["integer","null"],"minimum":1,"maximum":1000},)"
    R"("filter":{"type":["object","null"]}},"additionalProperties":false})";
constexpr const char* kDeleteBody =
    R"({"type":"object","required":["thread_id"],"properties":{"thread_id":{"type":"string"}},)"
    R"("additionalProperties":false})";
#undef SKEIN_NAME

}  // namespace

void add_saver_routes(const Shared& shared, std::vector<Route>& routes) {
  const auto add = [&](std::string path, std::string name, std::string summary, Access access,
                       const char* body, Reply (*answer)(LangGraph&, const Request&)) {
    routes.push_back(make_route("POST", "/saver/" + path, std::move(name), "saver",
                                std::move(summary), access,
                                [shared, answer](Service&, Request& request) -> Reply {
                                  if (!request.caller.all_agents) {
                                    return refuse(403, "forbidden",
                                                  "checkpoints belong to no agent: a key for all "
                                                  "agents is needed");
                                  }
                                  return answer(*shared, request);
                                }));
    routes.back().body = BodySpec{body};
  };
  add("put", "saverPut", "Keeps a checkpoint", Access::kWrite, kPutBody, put);
  add("writes", "saverWrites", "Keeps writes of a task", Access::kWrite, kWritesBody, put_writes);
  add("get", "saverGet", "One checkpoint with its writes, or null", Access::kRead, kGetBody, get);
  add("list", "saverList", "Checkpoints, the newest first", Access::kRead, kListBody, list);
  add("delete", "saverDelete", "Removes all of a thread", Access::kWrite, kDeleteBody, remove);
}

}  // namespace skein::http
