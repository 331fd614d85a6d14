#include "http/langgraph/shared.h"

#include <algorithm>
#include <map>
#include <utility>

#include "api/run_states.h"
#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/name_uuid.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein::http {
namespace {

// The space of names of graphs that the reference server uses.
constexpr std::string_view kGraphSpace = "6ba7b821-9dad-11d1-80b4-00c04fd430c8";

class Selected {
 public:
  explicit Selected(const Select& select) : select_(select) {}

  bool wants(std::string_view name) const {
    return select_.empty() || std::find(select_.begin(), select_.end(), name) != select_.end();
  }
  void add(std::string_view name, std::string_view text) {
    if (wants(name)) object_.add(name, text);
  }
  void add_json(std::string_view name, std::string_view json) {
    if (wants(name)) object_.add_json(name, json);
  }
  std::string str() const { return object_.str(); }

 private:
  const Select& select_;
  JsonObject object_;
};

// The caller's own, and which agent the thread belongs to.
std::string thread_metadata_json(const Manifest& manifest) {
  JsonObject object;
  const JsonFields own(manifest.metadata.empty() ? "{}" : manifest.metadata.text());
  for (const auto& field : own.others()) {
    if (field.name != "graph_id" && field.name != "assistant_id") {
      object.add_json(field.name, field.value);
    }
  }
  object.add("graph_id", manifest.agent_id).add("assistant_id", assistant_uuid(manifest.agent_id));
  return object.str();
}

Result<std::string> open_interrupts(LangGraph& graph, const Manifest& manifest) {
  RunQuery query;
  query.thread = manifest.id;
  query.limit = 1;
  SKEIN_ASSIGN(const auto runs, graph.service.runner().list(query));
  if (runs.empty() || !runs.front().question) return std::string("{}");
  return JsonObject().add_json(runs.front().id, interrupts_json(runs.front())).str();
}

// As clients send it.
std::string sent_messages(const Run& run) {
  std::vector<std::string> messages;
  for (const RawJson one : json_elements(run.input.text())) {
    if (member(one, "role") == "null") continue;
    messages.push_back(JsonObject()
                           .add_json("role", member(one, "role"))
                           .add_json("content", member(one, "text"))
                           .str());
  }
  return json_array_of(messages);
}

}  // namespace

std::string assistant_uuid(std::string_view agent_id) {
  // It is shown with every thread.
  constexpr std::size_t kMostKnown = 1000;
  thread_local std::map<std::string, std::string, std::less<>> known;
  if (const auto found = known.find(agent_id); found != known.end()) return found->second;
  if (known.size() >= kMostKnown) known.clear();
  return known.emplace(agent_id, name_uuid(kGraphSpace, agent_id)).first->second;
}

std::optional<std::string> find_agent(LangGraph& graph, const Caller& caller,
                                      std::string_view assistant) {
  for (const auto& [id, agent] : graph.service.agents().agents().all()) {
    if (id != assistant && assistant_uuid(id) != assistant) continue;
    if (caller.sees(id)) return id;
  }
  return std::nullopt;
}

Problem no_assistant(std::string_view assistant) {
  return {404, "not_found",
          "No assistant found for " + quote(assistant) +
              ": there is no agent of that id or UUID (skein agents list)"};
}

tl::expected<void, Problem> check_can_run(LangGraph& graph, const Caller& caller,
                                          std::string_view agent_id) {
  if (find_agent(graph, caller, agent_id)) return {};
  return refuse(400, "invalid",
                "the thread has no graph: it was made without metadata.graph_id, and there is no "
                "agent " +
                    quote(agent_id) +
                    " for it to belong to. Make it with a graph_id, or run an assistant on it "
                    "first");
}

std::string client_id(const Manifest& manifest) {
  return manifest.alias.value_or(manifest.id.uuid());
}

std::string_view thread_status(const Manifest& manifest, bool busy) {
  if (busy) return "busy";
  const std::string last = last_run_status(manifest);
  if (last == "error") return "error";
  if (last == "interrupted") return "interrupted";
  return "idle";
}

Result<std::string> thread_json(LangGraph& graph, const Manifest& manifest, bool busy,
                                const Select& select) {
  Selected object(select);
  object.add("thread_id", client_id(manifest));
  object.add("created_at", manifest.created_at.str());
  object.add("updated_at", manifest.updated_at.str());
  if (object.wants("metadata")) object.add_json("metadata", thread_metadata_json(manifest));
  const std::string_view status = thread_status(manifest, busy);
  object.add("status", status);
  object.add_json("config", "{}");
  if (manifest.last_seq > 0 && (object.wants("values") || object.wants("interrupts"))) {
    SKEIN_ASSIGN(const langgraph::StateView state, graph.states.current(manifest));
    object.add_json("values", *state.values);
    if (state.had_runs && object.wants("interrupts")) {
      std::string interrupts = "{}";
      if (status == "interrupted") {
        SKEIN_ASSIGN(interrupts, open_interrupts(graph, manifest));
      }
      object.add_json("interrupts", interrupts);
    }
  }
  return object.str();
}

Result<std::string> thread_json(LangGraph& graph, const Manifest& manifest) {
  SKEIN_ASSIGN(const bool busy, is_busy(graph.service.store(), graph.service.clock(), manifest.id));
  return thread_json(graph, manifest, busy);
}

std::string run_json(const Run& run, const std::string& thread_id, const Select& select) {
  const auto latest = std::max({run.created_at, run.started_at, run.ended_at});
  JsonObject kwargs;
  kwargs.add_json("input", JsonObject().add_json("messages", sent_messages(run)).str());
  const JsonFields kept(run.kwargs.empty() ? "{}" : run.kwargs.text());
  for (const auto& field : kept.others()) kwargs.add_json(field.name, field.value);
  Selected object(select);
  object.add("run_id", run.id);
  object.add("thread_id", thread_id);
  object.add("assistant_id", assistant_uuid(run.agent_id));
  object.add_json("metadata", run.metadata.empty() ? "{}" : run.metadata.text());
  object.add("status", to_string(run.status));
  object.add_json("kwargs", kwargs.str());
  object.add("multitask_strategy", to_string(run.multitask));
  object.add("created_at", run.created_at.str());
  object.add("updated_at", latest.str());
  return object.str();
}

std::string interrupt_id(const Run& run) { return name_uuid(run.id, std::to_string(run.resumed)); }

std::string question_json(const RunQuestion& question) {
  std::vector<std::string> calls;
  for (const ToolCall& call : question.calls) {
    calls.push_back(JsonObject()
                        .add("id", call.id)
                        .add("name", call.name)
                        .add_json("args", call.input.empty() ? "{}" : call.input.text())
                        .str());
  }
  return JsonObject().add_json("action_requests", json_array_of(calls)).str();
}

std::string interrupts_json(const Run& run) {
  if (!run.question) return "[]";
  return json_array_of({JsonObject()
                            .add("id", interrupt_id(run))
                            .add_json("value", question_json(*run.question))
                            .str()});
}

Result<langgraph::StateView> current_state(LangGraph& graph, ThreadId thread) {
  SKEIN_ASSIGN(const auto manifest, graph.service.store().get(thread));
  if (!manifest) return fail(ErrorCode::kNotFound, "there is no thread " + thread.str());
  return graph.states.current(*manifest);
}

std::string checkpoint_json(const std::string& thread_id, Seq seq) {
  return JsonObject()
      .add("thread_id", thread_id)
      .add("checkpoint_id", langgraph::checkpoint_id(seq))
      .add("checkpoint_ns", "")
      .add_json("checkpoint_map", "null")
      .str();
}

Result<std::optional<Seq>> read_checkpoint(std::string_view json) {
  std::optional<std::string> id = json_to_string(json);
  if (json.starts_with('{')) {
    JsonFields fields(json);
    id = fields.take_string("checkpoint_id");
    if (const auto config = fields.take_object("configurable")) {
      id = JsonFields(*config).take_string("checkpoint_id");
    }
    const auto space = JsonFields(json).take_string("checkpoint_ns");
    if (space && !space->empty()) {
      return fail(ErrorCode::kInvalid,
                  "checkpoint_ns must be empty: there are no subgraphs, got " + quote(*space));
    }
  }
  if (!id || id->empty()) return std::nullopt;
  const auto seq = langgraph::parse_checkpoint_id(*id);
  if (!seq) {
    return fail(ErrorCode::kInvalid,
                "checkpoint_id must be one that this server gave, got " + quote(*id));
  }
  return seq;
}

std::string member(std::string_view object, std::string_view name) {
  return member(JsonFields(object), name);
}

std::string member(const JsonFields& fields, std::string_view name) {
  const auto& all = fields.others();
  const auto found = std::find_if(all.rbegin(), all.rend(),
                                  [name](const auto& field) { return field.name == name; });
  return found == all.rend() ? "null" : std::string(found->value);
}

Route make_route(std::string method, std::string path, std::string name, std::string tag,
                 std::string summary, Access access, Handler handler) {
  Route route;
  route.method = std::move(method);
  route.path = std::move(path);
  route.name = std::move(name);
  route.tag = "langgraph: " + std::move(tag);
  route.summary = std::move(summary);
  route.access = access;
  route.handler = std::move(handler);
  return route;
}

}  // namespace skein::http
