// Runs: started, waited for, streamed, listed, cancelled.
#include <algorithm>
#include <utility>

#include "api/run_states.h"
#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/try.h"
#include "http/langgraph/run_start.h"
#include "http/langgraph/run_stream.h"
#include "http/langgraph/shared.h"
#include "skein/limits.h"

namespace skein::http {
namespace {

std::string place_of(const StartedRun& started) {
  if (started.temporary) return "/runs/" + started.run.id;
  return "/threads/" + started.thread_id + "/runs/" + started.run.id;
}

std::optional<std::string> thread_parameter(const Request& request) {
  for (const auto& [name, value] : request.parameters) {
    if (name == "thread_id") return value;
  }
  return std::nullopt;
}

tl::expected<StartedRun, Problem> start(const Shared& shared, const Request& request) {
  const auto thread = thread_parameter(request);
  if (!thread) shared->temporary.sweep();
  return start_run(*shared, request, thread, request.body);
}

// The values that a run left, or what went wrong.
Result<std::string> outcome_json(LangGraph& graph, const Run& run) {
  if (run.status == RunStatus::kError || run.status == RunStatus::kTimeout) {
    return JsonObject()
        .add_json("__error__", JsonObject()
                                   .add("error", "Error")
                                   .add("message", run.error ? run.error->message : "failed")
                                   .str())
        .str();
  }
  SKEIN_ASSIGN(const auto state, current_state(graph, run.thread));
  std::string values = *state.values;
  if (!run.question) return values;
  values.pop_back();
  values += values.size() > 1 ? ",\"__interrupt__\":" : "\"__interrupt__\":";
  return values + interrupts_json(run) + "}";
}

// Answers when the run has ended.
Response when_ended(const Shared& shared, const Request& request, const Run& run,
                    bool cancel_when_abandoned, std::function<Result<Response>(const Run&)> make) {
  Waiting waiting;
  waiting.topics = {Topic::of(run.thread)};
  waiting.poll = [shared, id = run.id,
                  make = std::move(make)]() -> tl::expected<std::optional<Response>, Problem> {
    SKEIN_ASSIGN(const Run now, shared->service.runner().latest(id));
    if (!now.ended()) return std::nullopt;
    SKEIN_ASSIGN(auto response, make(now));
    return std::optional<Response>(std::move(response));
  };
  if (cancel_when_abandoned) {
    waiting.abandoned = [shared, request_id = request.id, id = run.id] {
      const auto cancelled = shared->service.runner().cancel(id);
      if (cancelled) return;
      shared->service.log("run " + id + ": " + cancelled.error().message, request_id);
    };
  }
  return wait_for(std::move(waiting));
}

Reply create(const Shared& shared, const Request& request) {
  auto started = start(shared, request);
  if (!started) return tl::unexpected(started.error());
  return json_response(run_json(started->run, started->thread_id))
      .header("Content-Location", place_of(*started));
}

Reply wait(const Shared& shared, const Request& request) {
  const auto thread = thread_parameter(request);
  if (!thread) shared->temporary.sweep();
  auto ended = finish_run(*shared, request, thread, request.body);
  if (!ended) return tl::unexpected(ended.error());
  SKEIN_ASSIGN(auto json, outcome_json(*shared, ended->run));
  if (ended->temporary && !ended->keeps) shared->temporary.delivered(ended->run.thread);
  return json_response(std::move(json)).header("Content-Location", place_of(*ended));
}

Reply stream(const Shared& shared, const Request& request) {
  auto started = start(shared, request);
  if (!started) return tl::unexpected(started.error());
  RunStreamOptions options;
  options.request = request.id;
  options.modes = started->modes.empty() ? modes_of(started->run) : started->modes;
  options.cancel_when_abandoned = started->cancel_on_disconnect;
  options.temporary = started->temporary && !started->keeps;
  if (started->resumes) options.known_to = started->run.last_seq;
  SKEIN_ASSIGN(auto frames, run_stream(shared, started->run, std::move(options)));
  return stream_response(std::move(frames))
      .header("Content-Location", place_of(*started))
      .header("Location", place_of(*started) + "/stream");
}

Reply batch(const Shared& shared, const Request& request) {
  shared->temporary.sweep();
  std::vector<std::string> runs;
  for (const RawJson body : json_elements(request.body)) {
    auto started = start_run(*shared, request, std::nullopt, body);
    if (!started) return tl::unexpected(started.error());
    runs.push_back(run_json(started->run, started->thread_id));
  }
  return json_response(json_array_of(runs));
}

// The run of the path, on the thread of the path.
tl::expected<Run, Problem> find_run(LangGraph& graph, const Request& request) {
  const std::string& id = request.parameter("run_id");
  const Problem none(404, "not_found", "Run not found: " + id);
  auto run = graph.service.runner().get(id);
  const bool other = run && request.thread && run->thread != request.thread->id;
  if (other || (!run && run.error().code != ErrorCode::kIo)) return tl::unexpected(none);
  if (!run) return tl::unexpected(Problem(std::move(run).error()));
  return std::move(*run);
}

// Calls `answer` with the run of the path.
Handler with_run(const Shared& shared,
                 std::function<Reply(const Shared&, const Request&, const Run&)> answer) {
  return [shared, answer = std::move(answer)](Service&, Request& request) -> Reply {
    auto run = find_run(*shared, request);
    if (!run) return tl::unexpected(run.error());
    return answer(shared, request, *run);
  };
}

// A reader may leave, but not stop a run by that.
bool cancels_on_disconnect(const Request& request) {
  return request.query("cancel_on_disconnect") == "1" && request.caller.may(Access::kWrite);
}

Reply get(const Shared&, const Request& request, const Run& run) {
  return json_response(run_json(run, client_id(*request.thread)));
}

Reply join(const Shared& shared, const Request& request, const Run& run) {
  const bool cancels = cancels_on_disconnect(request);
  return when_ended(shared, request, run, cancels, [shared](const Run& now) -> Result<Response> {
    SKEIN_ASSIGN(auto json, outcome_json(*shared, now));
    return json_response(std::move(json));
  });
}

Reply join_stream(const Shared& shared, const Request& request, const Run& run) {
  RunStreamOptions options;
  options.request = request.id;
  options.modes = request.all_queries("stream_mode");
  if (options.modes.empty()) options.modes = modes_of(run);
  options.cancel_when_abandoned = cancels_on_disconnect(request);
  if (const auto last = request.header("Last-Event-ID"); last && !last->empty()) {
    const auto cursor = FrameCursor::parse(*last);
    if (!cursor) {
      return refuse(400, "invalid",
                    "Last-Event-ID must be an id of this stream, or -1, got " + *last);
    }
    options.after = *cursor;
  }
  SKEIN_ASSIGN(auto frames, run_stream(shared, run, std::move(options)));
  return stream_response(std::move(frames)).header("Location", request.path);
}

Reply cancel(const Shared& shared, const Request& request, const Run& run) {
  const auto wait = request.query("wait");
  const bool waits = wait == "1" || wait == "true";
  // One that has ended stays as it is.
  const bool rolls_back = request.query("action") == "rollback" && !run.ended();
  SKEIN_TRY(shared->service.runner().cancel(run.id, {.roll_back = rolls_back}));
  if (!waits && !rolls_back) {
    Response accepted;
    accepted.status = 202;
    return accepted;
  }
  return when_ended(shared, request, run, false,
                    [](const Run&) -> Result<Response> { return no_content(); });
}

// The thread that a body names; nothing: it names none.
tl::expected<std::optional<ThreadId>, Problem> named_thread(LangGraph& graph,
                                                            const Request& request) {
  const auto id = json_to_string(member(request.body, "thread_id"));
  if (!id) return std::nullopt;
  SKEIN_ASSIGN(const ThreadRef ref, ThreadRef::parse(*id));
  SKEIN_ASSIGN(const auto manifest, graph.service.store().get(ref));
  if (manifest && request.caller.sees(manifest->agent_id)) return manifest->id;
  return refuse(404, "not_found", "Thread with ID " + *id + " not found");
}

// Those that work, or wait for their turn ("running", "pending" or "all"), as far as the caller
// sees them.
Result<std::vector<std::string>> open_runs(LangGraph& graph, const Caller& caller,
                                           std::optional<ThreadId> thread,
                                           std::string_view status) {
  Service& service = graph.service;
  SKEIN_ASSIGN(auto threads, busy_threads(service.store(), service.clock()));
  if (thread) std::erase_if(threads, [&](ThreadId busy) { return busy != *thread; });
  std::vector<std::string> ids;
  for (const ThreadId busy : threads) {
    for (const RunStatus open : {RunStatus::kPending, RunStatus::kRunning}) {
      if (status != "all" && status != to_string(open)) continue;
      RunQuery query;
      query.thread = busy;
      query.status = open;
      query.limit = limits::kMaxPageSize;
      SKEIN_ASSIGN(const auto runs, service.runner().list(query));
      for (const Run& run : runs) {
        if (caller.sees(run.agent_id)) ids.push_back(run.id);
      }
    }
  }
  return ids;
}

Reply cancel_many(const Shared& shared, const Request& request) {
  if (request.query("action") == "rollback") {
    return refuse(422, "not_offered",
                  "action rollback is not offered for several runs: cancel them one by one");
  }
  auto ids = JsonFields(request.body).take_strings("run_ids");
  const auto status = json_to_string(member(request.body, "status"));
  if (ids.has_value() == status.has_value()) {
    return refuse(422, "invalid", "either run_ids or status must be given");
  }
  auto thread = named_thread(*shared, request);
  if (!thread) return tl::unexpected(thread.error());
  if (status) {
    SKEIN_ASSIGN(ids, open_runs(*shared, request.caller, *thread, *status));
  } else {
    for (const std::string& id : *ids) {
      const auto run = shared->service.runner().get(id);
      const bool seen = run && request.caller.sees(run->agent_id);
      if (!seen || run->thread != thread->value_or(run->thread)) {
        return refuse(404, "not_found", "Run not found: " + id);
      }
    }
  }
  for (const std::string& id : *ids) SKEIN_TRY(shared->service.runner().cancel(id));
  return no_content();
}

Reply list(const Shared& shared, const Request& request) {
  SKEIN_ASSIGN(const auto limit, request.query_number("limit", 1, limits::kMaxPageSize));
  SKEIN_ASSIGN(const auto offset, request.query_number("offset", 0, 1'000'000));
  RunQuery query;
  query.thread = request.thread->id;
  if (const auto status = request.query("status")) {
    SKEIN_ASSIGN(query.status, parse_run_status(*status));
  }
  std::uint64_t to_pass = offset.value_or(0);
  const std::size_t wanted = static_cast<std::size_t>(limit.value_or(10));
  std::vector<std::string> shown;
  query.limit = limits::kMaxPageSize;
  if (to_pass == 0) query.limit = wanted;
  while (shown.size() < wanted) {
    SKEIN_ASSIGN(const auto runs, shared->service.runner().list(query));
    for (const Run& run : runs) {
      if (to_pass > 0) {
        --to_pass;
      } else if (shown.size() < wanted) {
        shown.push_back(run_json(run, client_id(*request.thread), request.all_queries("select")));
      }
    }
    if (runs.size() < query.limit) break;
    query.before = runs.back().id;
  }
  return json_response(json_array_of(shown));
}

Reply remove(const Shared& shared, const Request&, const Run& run) {
  SKEIN_TRY(forget_run(shared->service.store(), shared->service.clock(), run.id));
  return no_content();
}

Parameter query_parameter(std::string name, std::string description,
                          std::string schema = R"({"type":"string"})") {
  Parameter parameter;
  parameter.name = std::move(name);
  parameter.description = std::move(description);
  parameter.schema = std::move(schema);
  parameter.repeated = true;
  return parameter;
}

}  // namespace

void add_run_routes(const Shared& shared, std::vector<Route>& routes) {
  const auto add = [&](std::string method, std::string path, std::string name, std::string summary,
                       Access access, AgentOf agent, Handler handler) -> Route& {
    routes.push_back(make_route(std::move(method), std::move(path), std::move(name), "runs",
                                std::move(summary), access, std::move(handler)));
    routes.back().agent = agent;
    return routes.back();
  };
  const auto with = [shared](Reply (*answer)(const Shared&, const Request&)) -> Handler {
    return [shared, answer](Service&, Request& request) { return answer(shared, request); };
  };
  const std::string of_thread = "/threads/{thread_id}/runs";
  for (const bool stateless : {false, true}) {
    const std::string path = stateless ? "/runs" : of_thread;
    const std::string ending = stateless ? "Alone" : "";
    const std::string where = stateless ? " in a thread of its own" : " on a thread";
    add("POST", path, "lgCreateRun" + ending, "Starts a run" + where, Access::kWrite,
        AgentOf::kHandler, with(create))
        .body = BodySpec{kRunBody};
    Route& waits = add("POST", path + "/wait", "lgWaitRun" + ending, "Runs to the end" + where,
                       Access::kWrite, AgentOf::kHandler, with(wait));
    waits.body = BodySpec{kRunBody};
    waits.runs_on = RunsOn::kOwnThread;
    Route& streams =
        add("POST", path + "/stream", "lgStreamRun" + ending, "Runs, and tells" + where,
            Access::kWrite, AgentOf::kHandler, with(stream));
    streams.body = BodySpec{kRunBody};
    streams.goes_on = [](const Request&) { return true; };
  }
  add("POST", "/runs/batch", "lgBatchRuns", "Starts several runs, each in a thread of its own",
      Access::kWrite, AgentOf::kHandler, with(batch))
      .body = BodySpec{std::string(R"({"type":"array","minItems":1,"maxItems":100,"items":)") +
                       kRunBody + "}"};
  Route& cancels = add("POST", "/runs/cancel", "lgCancelRuns", "Stops several runs", Access::kWrite,
                       AgentOf::kHandler, with(cancel_many));
  cancels.body = BodySpec{R"({"type":"object","properties":{"run_ids":)"
                          R"({"type":["array","null"],"maxItems":100,"items":{"type":"string"}},)"
                          R"("status":{"enum":["pending","running","all",null]},)"
                          R"("thread_id":{"type":["string","null"]}},)"
                          R"("additionalProperties":false})"};
  cancels.strict_query = true;
  cancels.parameters = {query_parameter("action", "interrupt; rollback is refused",
                                        R"({"enum":["interrupt","rollback"]})")};
  const auto stream_parameters = {
      query_parameter("stream_mode", "instead of the run's own"),
      query_parameter("cancel_on_disconnect", "1: the run is stopped when the client goes away")};
  add("GET", "/runs/{run_id}/stream", "lgJoinStreamAlone", "Tells what a run does", Access::kRead,
      AgentOf::kRun, with_run(shared, join_stream))
      .parameters = stream_parameters;
  Route& lists = add("GET", of_thread, "lgListRuns", "Runs of a thread, the newest first",
                     Access::kRead, AgentOf::kThread, with(list));
  lists.strict_query = true;
  lists.parameters = {query_parameter("limit", "at most so many", R"({"type":"integer"})"),
                      query_parameter("offset", "so many are passed over", R"({"type":"integer"})"),
                      query_parameter("status", "only these"),
                      query_parameter("select", "members to show")};
  const std::string one = of_thread + "/{run_id}";
  add("GET", one, "lgGetRun", "One run", Access::kRead, AgentOf::kThread, with_run(shared, get));
  add("DELETE", one, "lgDeleteRun", "Removes a run's record; its events stay", Access::kWrite,
      AgentOf::kThread, with_run(shared, remove));
  add("GET", one + "/join", "lgJoinRun", "Waits for a run", Access::kRead, AgentOf::kThread,
      with_run(shared, join))
      .parameters = {query_parameter("cancel_on_disconnect", "1: stopped with the client")};
  add("GET", one + "/stream", "lgJoinStream", "Tells what a run does", Access::kRead,
      AgentOf::kThread, with_run(shared, join_stream))
      .parameters = stream_parameters;
  add("POST", one + "/cancel", "lgCancelRun", "Stops a run", Access::kWrite, AgentOf::kThread,
      with_run(shared, cancel))
      .parameters = {
      query_parameter("wait", "1: answers when it has ended"),
      query_parameter("action", "interrupt, or rollback", R"({"enum":["interrupt","rollback"]})")};
}

}  // namespace skein::http
