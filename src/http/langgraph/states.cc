// The state of a thread, now and at its checkpoints, and what is written into it.
#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "api/langgraph/update.h"
#include "api/run_states.h"
#include "core/json_array.h"
#include "core/json_contains.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"
#include "http/langgraph/shared.h"

namespace skein::http {
namespace {

std::string state_metadata(const Manifest& manifest, std::int64_t step, const std::string& run_id) {
  std::string number;
  append_json_number(number, step);
  JsonObject metadata;
  metadata.add("source", run_id.empty() ? "update" : "loop").add_json("step", number);
  metadata.add_json("parents", "{}")
      .add("thread_id", client_id(manifest))
      .add("graph_id", manifest.agent_id)
      .add("assistant_id", assistant_uuid(manifest.agent_id));
  if (!run_id.empty()) metadata.add("run_id", run_id);
  return metadata.str();
}

// What is to be done next, by a run that works, asks a person, or did not come to its end.
struct Waits {
  std::string next = "[]";
  std::string tasks = "[]";
};

// The run that has something left to do in the current state; nothing: there is none.
Result<std::optional<Run>> unfinished_run(LangGraph& graph, const Manifest& manifest,
                                          const langgraph::StateView& state) {
  Service& service = graph.service;
  SKEIN_ASSIGN(const auto at_work, run_at_work(service.store(), service.clock(), manifest.id));
  if (at_work) {
    auto run = service.runner().get(*at_work);
    if (run && !run->ended()) return std::move(*run);
  }
  if (last_run_status(manifest).empty()) return std::nullopt;
  RunQuery query;
  query.thread = manifest.id;
  query.limit = 1;
  SKEIN_ASSIGN(auto runs, service.runner().list(query));
  if (!runs.empty() && runs.front().question) return std::move(runs.front());
  if (state.run_id.empty()) return std::nullopt;
  // The one that wrote last, unless its record was removed. Clients may name any run.
  auto last = service.runner().get(state.run_id);
  const bool ours = last && last->thread == manifest.id;
  if (!ours || last->status == RunStatus::kSuccess) return std::nullopt;
  return std::move(*last);
}

Result<Waits> waits_of(LangGraph& graph, const Manifest& manifest,
                       const langgraph::StateView& state) {
  SKEIN_ASSIGN(const auto run, unfinished_run(graph, manifest, state));
  if (!run) return Waits{};
  const std::string node = run->question || state.calls_open ? "tools" : "agent";
  const bool failed = run->status == RunStatus::kError || run->status == RunStatus::kTimeout;
  JsonObject task;
  task.add("id", run->id).add("name", node);
  if (failed && run->error) {
    task.add("error", run->error->message);
  } else {
    task.add_json("error", "null");
  }
  task.add_json("interrupts", interrupts_json(*run))
      .add("path", std::vector<std::string>{"__pregel_pull", node})
      .add_json("checkpoint", "null")
      .add_json("state", "null")
      .add_json("result", "null");
  return Waits{.next = "[\"" + node + "\"]", .tasks = json_array_of({task.str()})};
}

// A run that begins a thread goes on from nothing, and so can another.
std::string parent_json(const std::string& thread_id, const langgraph::StateView& state) {
  const bool first = state.parent == 0 && state.run_id.empty();
  return first ? "null" : checkpoint_json(thread_id, state.parent);
}

std::string state_json(const Manifest& manifest, const langgraph::StateView& state,
                       const Waits& waits = {}) {
  const std::string id = client_id(manifest);
  JsonObject object;
  object.add_json("values", *state.values)
      .add_json("next", waits.next)
      .add_json("tasks", waits.tasks);
  if (state.checkpoint == 0) {
    object.add_json("created_at", "null");
  } else {
    object.add_json("metadata", state_metadata(manifest, state.step, state.run_id))
        .add("created_at", state.at.str());
  }
  const std::string here = state.checkpoint == 0 ? "null" : checkpoint_json(id, state.checkpoint);
  return object.add_json("checkpoint", here)
      .add_json("parent_checkpoint", parent_json(id, state))
      .str();
}

// Every event is a place to look from, and to go on from; so is the beginning.
bool is_there(const Manifest& manifest, Seq at) { return at <= manifest.last_seq; }

Problem no_checkpoint(const Manifest& manifest, Seq at) {
  return {404, "not_found",
          "there is no checkpoint " + langgraph::checkpoint_id(at) + " in thread " +
              client_id(manifest)};
}

Reply get_state(LangGraph& graph, const Manifest& manifest, std::optional<Seq> at) {
  if (!at) {
    SKEIN_ASSIGN(const auto state, graph.states.current(manifest));
    SKEIN_ASSIGN(const Waits waits, waits_of(graph, manifest, state));
    return json_response(state_json(manifest, state, waits));
  }
  if (!is_there(manifest, *at)) return tl::unexpected(no_checkpoint(manifest, *at));
  SKEIN_ASSIGN(const auto state, langgraph::read_state(graph.service.store(), manifest.id, *at));
  return json_response(state_json(manifest, langgraph::view_of(state)));
}

Reply update_state(LangGraph& graph, const Request& request) {
  const Manifest& manifest = *request.thread;
  Service& service = graph.service;
  SKEIN_ASSIGN(const bool busy, is_busy(service.store(), service.clock(), manifest.id));
  if (busy) return refuse(409, "conflict", "Thread is busy: a run is under way");
  if (manifest.last_seq == 0) {
    auto fine = check_can_run(graph, request.caller, manifest.agent_id);
    if (!fine) return tl::unexpected(fine.error());
  }
  const JsonFields body(request.body);
  SKEIN_ASSIGN(auto at, read_checkpoint(member(body, "checkpoint_id")));
  if (!at) {
    SKEIN_ASSIGN(at, read_checkpoint(member(body, "checkpoint")));
  }
  if (at && !is_there(manifest, *at)) return tl::unexpected(no_checkpoint(manifest, *at));
  SKEIN_ASSIGN(auto plan,
               langgraph::plan_update(service.store(), manifest, at, member(body, "values")));
  const auto told = [id = client_id(manifest)](Seq seq) {
    return JsonObject()
        .add_json("checkpoint", JsonObject()
                                    .add("thread_id", id)
                                    .add("checkpoint_ns", "")
                                    .add("checkpoint_id", langgraph::checkpoint_id(seq))
                                    .str())
        .str();
  };
  if (plan.events.empty()) {
    SKEIN_ASSIGN(const auto state, graph.states.current(manifest));
    if (at.value_or(state.checkpoint) == state.checkpoint) {
      return json_response(told(state.checkpoint));
    }
    plan.events.push_back(return_to(*at));
  }
  if (plan.made_for) {
    SKEIN_ASSIGN(const Seq last,
                 langgraph::write_plan(service.store(), service.threads(), manifest, plan));
    return json_response(told(last));
  }
  return answer_later([&service, told, thread = manifest.id,
                       plan = std::move(plan)](const Answer& answer) {
    const auto submitted =
        service.pump().submit(langgraph::appends_of(thread, plan), [answer, told](auto results) {
          const Result<Seq> last = langgraph::last_of(results);
          if (last) {
            answer(json_response(told(*last)));
          } else {
            answer(tl::unexpected(Problem(last.error())));
          }
        });
    if (!submitted) answer(tl::unexpected(Problem(submitted.error())));
  });
}

constexpr int kMostBranches = 32;  // whose states are in one answer

// The states of some checkpoints, the newest first: one pass over the path from `head`, and one
// over each branch that was left behind.
Result<std::vector<langgraph::StateView>> states_at(Store& store, ThreadId thread, Seq head,
                                                    const std::vector<Seq>& wanted) {
  std::map<Seq, langgraph::StateView, std::greater<>> states;
  std::set<Seq> left(wanted.begin(), wanted.end());
  for (int pass = 0; pass < kMostBranches && !left.empty(); ++pass) {
    langgraph::ThreadState state(thread);
    ReadRange range;
    range.view = View::kPath;
    range.head = pass == 0 ? head : *left.rbegin();
    SKEIN_TRY(store.read(thread, range, [&](Event& event) {
      state.add(event);
      if (left.erase(event.seq) > 0) states.emplace(event.seq, langgraph::view_of(state));
      return !left.empty() && state.bytes() <= langgraph::limits::kMaxStateBytes;
    }));
    if (state.bytes() > langgraph::limits::kMaxStateBytes) break;
    if (pass > 0) left.erase(range.head);
  }
  std::vector<langgraph::StateView> found;
  for (auto& [seq, state] : states) found.push_back(std::move(state));
  return found;
}

struct HistoryRequest {
  langgraph::HistoryQuery query;
  std::string filter = "null";  // of the states' metadata
};

// The checkpoints that are asked for, the newest first. Steps count from the beginning of a path,
// so that a filter reads all of it.
Result<std::vector<Seq>> find_checkpoints(Store& store, const Manifest& manifest,
                                          const HistoryRequest& asked) {
  const langgraph::HistoryQuery& query = asked.query;
  if (asked.filter == "null") return langgraph::list_checkpoints(store, manifest.id, query);
  std::deque<Seq> found;
  langgraph::ThreadState state(manifest.id);
  ReadRange range;
  range.view = View::kPath;
  range.head = query.head;
  SKEIN_TRY(store.read(manifest.id, range, [&](Event& event) {
    if (event.seq >= query.before) return false;
    const bool fits =
        state.add(event) &&
        json_contains(state_metadata(manifest, state.step(), state.run_id()), asked.filter);
    if (fits) found.push_back(event.seq);
    if (found.size() > query.limit) found.pop_front();
    return state.bytes() <= langgraph::limits::kMaxStateBytes;
  }));
  return std::vector<Seq>(found.rbegin(), found.rend());
}

Reply history(LangGraph& graph, const Manifest& manifest, const HistoryRequest& asked) {
  const langgraph::HistoryQuery& query = asked.query;
  const bool of_head = query.head == kLastSeq;
  if (manifest.last_seq == 0 || query.head == 0 || (!of_head && !is_there(manifest, query.head))) {
    return json_response("[]");
  }
  Store& store = graph.service.store();
  SKEIN_ASSIGN(const auto seqs, find_checkpoints(store, manifest, asked));
  SKEIN_ASSIGN(const auto states, states_at(store, manifest.id, query.head, seqs));
  Waits waits;
  Seq now = 0;  // the checkpoint of the current state
  if (of_head) {
    SKEIN_ASSIGN(const auto current, graph.states.current(manifest));
    SKEIN_ASSIGN(waits, waits_of(graph, manifest, current));
    now = current.checkpoint;
  }
  std::vector<std::string> shown;
  for (const langgraph::StateView& state : states) {
    shown.push_back(state_json(manifest, state, state.checkpoint == now ? waits : Waits{}));
  }
  return json_response(json_array_of(shown));
}

Reply post_history(LangGraph& graph, const Request& request) {
  HistoryRequest asked;
  asked.query.limit =
      static_cast<std::size_t>(json_to_int(member(request.body, "limit")).value_or(10));
  const std::string given = member(request.body, "before");
  SKEIN_ASSIGN(const auto before, read_checkpoint(given));
  if (before) asked.query.before = *before;
  if (!before && given != "null") {
    return refuse(400, "invalid", "before must name a checkpoint_id, got " + excerpt(given));
  }
  SKEIN_ASSIGN(const auto head, read_checkpoint(member(request.body, "checkpoint")));
  if (head) asked.query.head = *head;
  asked.filter = member(request.body, "metadata");
  return history(graph, *request.thread, asked);
}

Reply get_history(LangGraph& graph, const Request& request) {
  HistoryRequest asked;
  SKEIN_ASSIGN(const auto limit, request.query_number("limit", 1, langgraph::limits::kMaxHistory));
  asked.query.limit = static_cast<std::size_t>(limit.value_or(10));
  if (const auto id = request.query("before")) {
    SKEIN_ASSIGN(const auto before, read_checkpoint(Json::string(*id).text()));
    if (before) asked.query.before = *before;
  }
  return history(graph, *request.thread, asked);
}

constexpr const char* kUpdateBody =
    R"({"type":"object","properties":{"values":{"type":["object","array","null"]},)"
    R"("as_node":{"type":["string","null"]},"checkpoint_id":{"type":["string","null"]},)"
    R"("checkpoint":{"type":["object","null"]}}})";
#define SKEIN_CHECKPOINT                                                    \
  R"("checkpoint":{"type":["object","null"],"properties":{"thread_id":{},)" \
  R"("checkpoint_ns":{},"checkpoint_id":{"type":["string","null"]},)"       \
  R"("checkpoint_map":{}},"additionalProperties":false})"
constexpr const char* kHistoryBody =
    R"({"type":"object","properties":{"limit":{"type":"integer","minimum":1,"maximum":1000},)"
    R"("before":{"type":["string","object","null"]},"metadata":{"type":["object","null"]},)" SKEIN_CHECKPOINT
    R"(},"additionalProperties":false})";
constexpr const char* kAtBody = R"({"type":"object","properties":{)" SKEIN_CHECKPOINT
                                R"(,"subgraphs":{"type":["boolean","null"]}},)"
                                R"("additionalProperties":false})";
#undef SKEIN_CHECKPOINT

}  // namespace

void add_state_routes(const Shared& shared, std::vector<Route>& routes) {
  const auto add = [&](std::string method, std::string path, std::string name, std::string summary,
                       Access access, Handler handler) -> Route& {
    routes.push_back(make_route(std::move(method), "/threads/{thread_id}" + path, std::move(name),
                                "states", std::move(summary), access, std::move(handler)));
    routes.back().agent = AgentOf::kThread;
    return routes.back();
  };
  add("GET", "/state", "lgGetState", "The state of a thread", Access::kRead,
      [shared](Service&, Request& request) {
        return get_state(*shared, *request.thread, std::nullopt);
      });
  Route& update =
      add("POST", "/state", "lgUpdateState", "Writes values into a thread", Access::kWrite,
          [shared](Service&, Request& request) { return update_state(*shared, request); });
  update.body = BodySpec{kUpdateBody};
  add("POST", "/state/checkpoint", "lgGetStateAt", "The state at a checkpoint", Access::kRead,
      [shared](Service&, Request& request) -> Reply {
        SKEIN_ASSIGN(const auto at, read_checkpoint(member(request.body, "checkpoint")));
        return get_state(*shared, *request.thread, at);
      })
      .body = BodySpec{kAtBody};
  add("GET", "/state/{checkpoint_id}", "lgGetStateById", "The state at a checkpoint", Access::kRead,
      [shared](Service&, Request& request) -> Reply {
        const std::string id = Json::string(request.parameter("checkpoint_id")).text();
        SKEIN_ASSIGN(const auto at, read_checkpoint(id));
        return get_state(*shared, *request.thread, at);
      });
  Route& lists =
      add("GET", "/history", "lgGetHistory", "States, the newest first", Access::kRead,
          [shared](Service&, Request& request) { return get_history(*shared, request); });
  lists.strict_query = true;
  lists.parameters = {{.name = "limit",
                       .in = ParameterIn::kQuery,
                       .description = "at most so many",
                       .schema = R"({"type":"integer","minimum":1,"maximum":1000})"},
                      {.name = "before",
                       .in = ParameterIn::kQuery,
                       .description = "checkpoint id: only older ones"}};
  add("POST", "/history", "lgPostHistory", "States, the newest first", Access::kRead,
      [shared](Service&, Request& request) { return post_history(*shared, request); })
      .body = BodySpec{kHistoryBody};
}

}  // namespace skein::http
