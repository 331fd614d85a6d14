// The thread protocol: commands, and the stream of a thread's events.
#include <algorithm>
#include <utility>

#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"
#include "http/langgraph/run_start.h"
#include "http/langgraph/shared.h"
#include "http/langgraph/thread_events.h"

namespace skein::http {
namespace {

struct Command {
  std::string id;  // a number, as it came
  std::string method;
  std::string params = "{}";
  std::string thread_id;           // as the client wrote it
  std::optional<Manifest> thread;  // nothing: there is none yet
};

Response error_response(const Command& command, std::string_view code, std::string_view message) {
  return json_response(JsonObject()
                           .add("type", "error")
                           .add_json("id", command.id)
                           .add("error", code)
                           .add("message", message)
                           .str());
}

Result<Response> success(LangGraph& graph, const Command& command, const std::string& result) {
  SKEIN_ASSIGN(const ThreadRef ref, ThreadRef::parse(command.thread_id));
  SKEIN_ASSIGN(const auto manifest, graph.service.store().get(ref));
  const std::string meta =
      JsonObject()
          .add("thread_id", command.thread_id)
          .add("applied_through_seq", last_number(manifest ? manifest->last_seq : 0))
          .str();
  return json_response(JsonObject()
                           .add("type", "success")
                           .add_json("id", command.id)
                           .add_json("result", result)
                           .add_json("meta", meta)
                           .str());
}

// A problem of a run, in the protocol's words.
Response problem_answer(const Command& command, const Problem& problem) {
  const bool caller = problem.status == 400 || problem.status == 404 || problem.status == 409 ||
                      problem.status == 422;
  return error_response(command, caller ? "invalid_argument" : "internal", problem.message);
}

std::string run_body(const Command& command, const std::string& assistant, bool resumes) {
  JsonObject body;
  body.add("assistant_id", assistant)
      .add("if_not_exists", "create")
      .add("stream_mode", std::vector<std::string>{"values", "updates", "messages"});
  for (const char* name : {"config", "metadata"}) {
    if (const std::string json = member(command.params, name); json.starts_with('{')) {
      body.add_json(name, json);
    }
  }
  const std::string input = member(command.params, "input");
  if (resumes) {
    body.add_json("command", JsonObject().add_json("resume", input).str());
  } else {
    body.add_json("input", input);
  }
  const auto strategy = json_to_string(member(command.params, "multitaskStrategy"));
  body.add("multitask_strategy",
           strategy && parse_multitask(*strategy) ? *strategy : std::string("enqueue"));
  return body.str();
}

Result<std::optional<Run>> latest_run(LangGraph& graph, const Command& command) {
  if (!command.thread) return std::nullopt;
  RunQuery query;
  query.thread = command.thread->id;
  query.limit = 1;
  SKEIN_ASSIGN(auto runs, graph.service.runner().list(query));
  if (runs.empty()) return std::nullopt;
  return std::move(runs.front());
}

Reply run_start(LangGraph& graph, const Request& request, const Command& command) {
  const auto assistant = json_to_string(member(command.params, "assistant_id"));
  if (!assistant || assistant->empty()) {
    return error_response(command, "invalid_argument", "run.start requires an assistant_id.");
  }
  SKEIN_ASSIGN(const auto latest, latest_run(graph, command));
  const bool resumes = latest && latest->question && member(command.params, "input") != "null";
  auto started =
      start_run(graph, request, command.thread_id, run_body(command, *assistant, resumes));
  if (!started) return problem_answer(command, started.error());
  SKEIN_ASSIGN(auto response,
               success(graph, command, JsonObject().add("run_id", started->run.id).str()));
  return response;
}

// What the command answers, by the ids of the interrupts where it gives them.
std::vector<std::pair<std::optional<std::string>, std::string>> responses_of(
    const std::string& params) {
  const std::string many = member(params, "responses");
  std::vector<RawJson> all{params};
  if (many.starts_with('[')) all = json_elements(many);
  std::vector<std::pair<std::optional<std::string>, std::string>> responses;
  for (const RawJson one : all) {
    responses.emplace_back(json_to_string(member(one, "interrupt_id")), member(one, "response"));
  }
  return responses;
}

Reply input_respond(LangGraph& graph, const Request& request, Command command) {
  SKEIN_ASSIGN(const auto latest, latest_run(graph, command));
  if (!latest) {
    return error_response(command, "no_such_run",
                          "Thread has no active assistant; call run.start first.");
  }
  if (!latest->question) {
    return error_response(command, "invalid_argument",
                          "input.respond can only be used while the run is interrupted.");
  }
  const std::string asked = interrupt_id(*latest);
  std::string resume = "null";
  for (const auto& [id, response] : responses_of(command.params)) {
    if (id && *id != asked) {
      return error_response(command, "no_such_interrupt",
                            "The open interrupt is " + asked + ", not " + *id + ".");
    }
    resume = id ? JsonObject().add_json(*id, response).str() : response;
  }
  command.params = JsonObject().add_json("input", resume).str();
  auto started =
      start_run(graph, request, command.thread_id, run_body(command, latest->agent_id, true));
  if (!started) return problem_answer(command, started.error());
  SKEIN_ASSIGN(auto response, success(graph, command, "{}"));
  return response;
}

Reply state_get(LangGraph& graph, const Command& command) {
  JsonObject result;
  if (!command.thread) {
    result.add_json("values", "{}");
  } else {
    SKEIN_ASSIGN(const auto state, graph.states.current(*command.thread));
    std::string values = *state.values;
    if (const auto keys = JsonFields(command.params).take_strings("keys")) {
      JsonObject chosen;
      for (const JsonFields all(values); const auto& field : all.others()) {
        if (std::find(keys->begin(), keys->end(), field.name) != keys->end()) {
          chosen.add_json(field.name, field.value);
        }
      }
      values = chosen.str();
    }
    result.add_json("values", values);
    if (state.checkpoint > 0) {
      result.add_json(
          "checkpoint",
          JsonObject().add("id", langgraph::checkpoint_id(state.checkpoint)).add("ns", "").str());
    }
  }
  SKEIN_ASSIGN(auto response, success(graph, command, result.str()));
  return response;
}

Reply get_tree(LangGraph& graph, const Command& command) {
  SKEIN_ASSIGN(const auto latest, latest_run(graph, command));
  if (!latest) {
    return error_response(command, "no_such_run", "No active run is bound to this thread.");
  }
  const char* status = "completed";
  if (!latest->ended()) status = "running";
  if (latest->status == RunStatus::kInterrupted) status = "interrupted";
  if (latest->status == RunStatus::kError || latest->status == RunStatus::kTimeout) {
    status = "failed";
  }
  const std::string tree = JsonObject()
                               .add_json("namespace", "[]")
                               .add("status", status)
                               .add("graph_name", latest->agent_id)
                               .str();
  SKEIN_ASSIGN(auto response, success(graph, command, JsonObject().add_json("tree", tree).str()));
  return response;
}

// The thread of the path; nothing: there is none. One that the caller does not see is not there.
tl::expected<std::optional<Manifest>, Problem> find_thread(LangGraph& graph,
                                                           const Request& request) {
  const std::string& id = request.parameter("thread_id");
  SKEIN_ASSIGN(const ThreadRef ref, ThreadRef::parse(id));
  SKEIN_ASSIGN(auto manifest, graph.service.store().get(ref));
  if (manifest && !request.caller.sees(manifest->agent_id)) {
    return refuse(404, "not_found", "Thread with ID " + id + " not found");
  }
  return manifest;
}

Reply handle(LangGraph& graph, const Request& request) {
  Command command;
  command.id = member(request.body, "id");
  command.method = json_to_string(member(request.body, "method")).value_or("");
  if (std::string params = member(request.body, "params"); params != "null") {
    command.params = std::move(params);
  }
  command.thread_id = request.parameter("thread_id");
  auto thread = find_thread(graph, request);
  if (!thread) return tl::unexpected(thread.error());
  command.thread = std::move(*thread);
  if (command.method == "run.start") return run_start(graph, request, command);
  if (command.method == "input.respond") return input_respond(graph, request, std::move(command));
  if (command.method == "state.get") return state_get(graph, command);
  if (command.method == "agent.getTree") return get_tree(graph, command);
  SKEIN_ASSIGN(const auto latest, latest_run(graph, command));
  if (!latest) {
    return error_response(command, "no_such_run", "No active run is bound to this thread.");
  }
  return error_response(command, "unknown_command",
                        "Unknown protocol command: " + quote(command.method));
}

Reply events(const Shared& shared, const Request& request) {
  ThreadEventsFilter filter;
  JsonFields body(request.body);
  for (std::string& channel : body.take_strings("channels").value_or(std::vector<std::string>())) {
    filter.channels.insert(std::move(channel));
  }
  if (const auto since = body.take_int("since")) {
    filter.since = static_cast<std::uint64_t>(*since);
  }
  const std::string namespaces = member(request.body, "namespaces");
  const auto wanted = json_elements(namespaces);
  filter.root = wanted.empty() ||
                std::any_of(wanted.begin(), wanted.end(), [](RawJson one) { return one == "[]"; });
  SKEIN_ASSIGN(auto frames, thread_events(shared, *request.thread, std::move(filter)));
  return stream_response(std::move(frames));
}

constexpr const char* kCommandBody =
    R"({"type":"object","required":["id","method"],"properties":{"id":{"type":"integer",)"
    R"("minimum":0},"method":{"type":"string"},"params":{"type":"object"}}})";
constexpr const char* kEventsBody =
    R"({"type":"object","required":["channels"],"properties":{"channels":{"type":"array",)"
    R"("maxItems":100,"items":{"type":"string"}},"namespaces":{"type":"array","maxItems":100,)"
    R"("items":{"type":"array","items":{"type":"string"}}},"depth":{"type":"integer",)"
    R"("minimum":0},"since":{"type":"integer","minimum":0}},"additionalProperties":false})";

}  // namespace

void add_command_routes(const Shared& shared, std::vector<Route>& routes) {
  routes.push_back(
      make_route("POST", "/threads/{thread_id}/commands", "lgCommand", "protocol",
                 "A command of the thread protocol", Access::kWrite,
                 [shared](Service&, Request& request) { return handle(*shared, request); }));
  routes.back().agent = AgentOf::kHandler;
  routes.back().body = BodySpec{kCommandBody};
  routes.push_back(
      make_route("POST", "/threads/{thread_id}/stream/events", "lgStreamEvents", "protocol",
                 "The events of a thread's runs", Access::kRead,
                 [shared](Service&, Request& request) { return events(shared, request); }));
  routes.back().agent = AgentOf::kThread;
  routes.back().body = BodySpec{kEventsBody};
}

}  // namespace skein::http
