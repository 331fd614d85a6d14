#include "http/langgraph/run_start.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/langgraph/update.h"
#include "api/run_states.h"
#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/pause.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein::http {

const char* const kRunBody =
    R"({"type":"object","required":["assistant_id"],"properties":{)"
    R"("assistant_id":{"type":"string"},"checkpoint_id":{"type":["string","null"]},)"
    R"("checkpoint":{"type":["object","null"]},"command":{"type":["object","null"]},)"
    R"("metadata":{"type":["object","null"]},"config":{"type":["object","null"]},)"
    R"("webhook":{"type":["string","null"]},)"
    R"("interrupt_before":{"type":["string","array","null"]},)"
    R"("interrupt_after":{"type":["string","array","null"]},)"
    R"("on_disconnect":{"enum":["cancel","continue",null]},)"
    R"("multitask_strategy":{"enum":["reject","rollback","interrupt","enqueue",null]},)"
    R"("stream_mode":{"type":["string","array","null"]},)"
    R"("stream_subgraphs":{"type":["boolean","null"]},)"
    R"("stream_resumable":{"type":["boolean","null"]},)"
    R"("after_seconds":{"type":["number","null"]},)"
    R"("if_not_exists":{"enum":["reject","create",null]},)"
    R"("on_completion":{"enum":["delete","keep",null]}}})";

namespace {

constexpr const char* kBusy =
    "Thread is already running a task. Wait for it to finish or choose a different multitask "
    "strategy.";

bool is_given(const std::string& json) {
  return json != "null" && json != "[]" && json != "{}" && json != "\"\"";
}

// What would change what a run does, and is not done here.
tl::expected<void, Problem> check_offered(const JsonFields& body) {
  for (const char* name : {"webhook", "interrupt_before", "interrupt_after", "feedback_keys"}) {
    if (!is_given(member(body, name))) continue;
    return refuse(422, "not_offered", std::string(name) + " is not offered");
  }
  if (json_to_double(member(body, "after_seconds")).value_or(0) > 0) {
    return refuse(422, "not_offered", "after_seconds is not offered: runs begin at once");
  }
  const JsonFields command(member(body, "command"));
  if (is_given(member(command, "goto"))) {
    return refuse(422, "not_offered", "command.goto is not offered: an agent has one node");
  }
  if (is_given(member(command, "update")) &&
      (is_given(member(body, "input")) || member(command, "resume") != "null")) {
    return refuse(422, "not_offered",
                  "command.update beside input or command.resume is not offered: update the state "
                  "first");
  }
  return {};
}

// Those that are named; none, when none is.
tl::expected<std::vector<std::string>, Problem> read_modes(const JsonFields& body) {
  constexpr std::string_view kKnown[] = {"values",      "updates", "messages", "messages-tuple",
                                         "events",      "tasks",   "debug",    "custom",
                                         "checkpoints", "tools"};
  const std::string json = member(body, "stream_mode");
  std::vector<std::string> modes;
  if (auto one = json_to_string(json)) modes.push_back(std::move(*one));
  for (const RawJson mode : json_elements(json)) {
    modes.push_back(json_to_string(mode).value_or(std::string(mode)));
  }
  for (const std::string& mode : modes) {
    if (std::find(std::begin(kKnown), std::end(kKnown), mode) == std::end(kKnown)) {
      return refuse(400, "invalid", "there is no stream_mode " + quote(mode));
    }
  }
  return modes;
}

// A thread in which nothing was said yet takes the agent of its first run. kConflict: it is no
// longer as it was read.
Result<Manifest> rebind(LangGraph& graph, const Manifest& manifest, const std::string& agent) {
  Service& service = graph.service;
  SKEIN_ASSIGN(const bool busy, is_busy(service.store(), service.clock(), manifest.id));
  if (busy) {
    return fail(ErrorCode::kBusy, "thread " + manifest.id.str() + " has a run of assistant " +
                                      quote(manifest.agent_id) + ", not " + quote(agent));
  }
  UpdateOptions options;
  options.expect_version = manifest.version;
  options.agent_id = agent;
  return service.store().update(manifest.id, {}, options);
}

Result<Manifest> make_thread(LangGraph& graph, const std::string& id, const std::string& agent) {
  NewConversation conversation{.agent_id = agent};
  conversation.alias = id;
  return graph.service.threads().create(conversation);
}

// Many may come for a thread that is not there yet, or that has no agent of its own: one of them
// makes it, and the others find it made.
tl::expected<Manifest, Problem> thread_for(LangGraph& graph, const Request& request,
                                           const std::string& id, const std::string& agent,
                                           const JsonFields& body) {
  constexpr int kAttempts = 20;
  SKEIN_ASSIGN(const ThreadRef ref, ThreadRef::parse(id));
  for (int attempt = 1;; ++attempt) {
    SKEIN_ASSIGN(auto manifest, graph.service.store().get(ref));
    Result<Manifest> made;
    if (!manifest && member(body, "if_not_exists") == "\"create\"") {
      made = make_thread(graph, id, agent);
    } else if (!manifest || !request.caller.sees(manifest->agent_id)) {
      return refuse(404, "not_found", "Thread with ID " + id + " not found");
    } else if (manifest->agent_id == agent) {
      return std::move(*manifest);
    } else if (manifest->last_seq == 0) {
      made = rebind(graph, *manifest, agent);
    } else {
      return refuse(409, "conflict",
                    "thread " + id + " belongs to assistant " + quote(manifest->agent_id) +
                        ", not " + quote(agent) +
                        ": only one that nothing was written into takes the assistant of its first "
                        "run. Make it with metadata.graph_id");
    }
    if (made) return std::move(*made);
    // Busy: with a run of the same agent, perhaps, that was first.
    const ErrorCode code = made.error().code;
    const bool again = code == ErrorCode::kConflict || code == ErrorCode::kBusy;
    if (!again || attempt == kAttempts) {
      return tl::unexpected(Problem(std::move(made).error()));
    }
  }
}

std::string kwargs_json(const JsonFields& body, const std::vector<std::string>& modes,
                        bool temporary) {
  JsonObject kwargs;
  for (const char* name : {"config", "context", "command"}) {
    if (const std::string json = member(body, name); json != "null") kwargs.add_json(name, json);
  }
  const std::vector<std::string> usual{"values"};
  return kwargs.add("stream_mode", modes.empty() ? usual : modes)
      .add("temporary", temporary)
      .add("subgraphs", false)
      .add("resumable", member(body, "stream_resumable") == "true")
      .str();
}

NewMessage input_message(const Event& event) {
  const Message& message = std::get<Message>(event.payload);
  return {.role = message.role, .text = message.text, .metadata = event.metadata};
}

// Puts the values of a body into the request: the run writes them when its turn has come.
tl::expected<void, Problem> add_input(LangGraph& graph, const Manifest& manifest,
                                      const std::string& values, RunRequest& request) {
  Service& service = graph.service;
  SKEIN_ASSIGN(const auto plan,
               langgraph::plan_update(service.store(), manifest, request.base, values));
  const bool fits =
      plan.plain && std::all_of(plan.events.begin(), plan.events.end(), [](const Event& event) {
        return std::holds_alternative<Message>(event.payload);
      });
  const bool only_base =
      !plan.plain && !plan.events.empty() && request.base &&
      plan.events.front().base == request.base &&
      std::all_of(plan.events.begin(), plan.events.end(), [](const Event& event) {
        return std::holds_alternative<Message>(event.payload);
      });
  if (fits || only_base) {
    for (const Event& event : plan.events) request.input.messages.push_back(input_message(event));
    return {};
  }
  if (plan.events.empty()) return {};
  if (plan.events.front().base) {
    // It was planned for the thread as it is.
    SKEIN_ASSIGN(const bool busy, is_busy(service.store(), service.clock(), manifest.id));
    if (busy) return refuse(422, "busy", kBusy);
    request.base.reset();
  }
  request.input.events = plan.events;
  request.input.made_for = plan.made_for;
  return {};
}

bool is_uuid(std::string_view name) {
  constexpr std::string_view kShape = "00000000-0000-0000-0000-000000000000";
  return std::equal(name.begin(), name.end(), kShape.begin(), kShape.end(),
                    [](char c, char shape) { return (c == '-') == (shape == '-'); });
}

// A person's answer: true, "accept", {"type":"accept"}, {"decisions":[{"type":"approve"}]}; else a
// no.
RunAnswer read_answer(std::string_view resume) {
  RunAnswer answer;
  if (resume == "true") answer.yes = true;
  if (const auto word = json_to_string(resume)) {
    answer.yes = *word == "accept" || *word == "approve" || *word == "yes";
    if (!answer.yes) answer.note = *word;
  }
  if (const auto elements = json_elements(resume); !elements.empty()) {
    answer.yes = std::all_of(elements.begin(), elements.end(),
                             [](RawJson one) { return read_answer(one).yes; });
  }
  if (!resume.starts_with('{')) return answer;
  JsonFields fields(resume);
  if (const auto type = fields.take_string("type")) {
    answer = read_answer(Json::string(*type).text());
    answer.note = fields.take_string("message").value_or("");
    return answer;
  }
  if (const auto decisions = member(resume, "decisions"); decisions != "null") {
    return read_answer(decisions);
  }
  return answer;
}

// The same to the question of a run, or by the id of its interrupt.
tl::expected<RunAnswer, Problem> read_answer_to(const Run& run, std::string_view resume) {
  const std::string asked = interrupt_id(run);
  const JsonFields fields(resume);
  const auto& all = fields.others();
  const bool by_id = std::any_of(
      all.begin(), all.end(), [](const JsonFields::Field& field) { return is_uuid(field.name); });
  if (by_id && (all.size() != 1 || all.front().name != asked)) {
    return refuse(409, "conflict",
                  "the open interrupt is " + asked + ", and resume answers " + excerpt(resume));
  }
  RunAnswer answer = read_answer(by_id ? all.front().value : resume);
  answer.resumed = run.resumed;
  return answer;
}

ThreadId thread_of(const RunRequest& request) {
  return ThreadId::parse(request.thread_id).value_or(ThreadId());
}

// The run whose question is to be answered.
tl::expected<Run, Problem> run_that_asks(LangGraph& graph, const Manifest& manifest) {
  RunQuery query;
  query.thread = manifest.id;
  query.limit = 1;
  SKEIN_ASSIGN(auto runs, graph.service.runner().list(query));
  if (runs.empty() || !runs.front().question) {
    return refuse(409, "conflict", "no run of this thread waits for an answer");
  }
  return std::move(runs.front());
}

// What a client asks for: a run, or an answer to the question of one.
struct Order {
  StartedRun started{};  // but for the run
  RunRequest request{};
  std::optional<std::string> asking{};  // the run that asks
  RunAnswer answer{};

  bool goes_with_the_run() const { return started.temporary && !started.keeps; }
};

// A run is over for its clients when its record says so, which is a moment before it lets go of the
// thread: a client that was told of the end is not refused for that.
tl::expected<Run, Problem> unless_busy(LangGraph& graph, const Order& order,
                                       const std::function<Result<Run>()>& go) {
  using namespace std::chrono_literals;
  Service& service = graph.service;
  const auto until = std::chrono::steady_clock::now() + 5s;
  while (true) {
    auto run = go();
    if (run) return std::move(*run);
    const bool rejected =
        run.error().code == ErrorCode::kBusy && order.request.multitask == Multitask::kReject;
    if (!rejected || order.asking) return tl::unexpected(Problem(std::move(run).error()));
    SKEIN_ASSIGN(const bool busy,
                 is_busy(service.store(), service.clock(), thread_of(order.request)));
    if (busy || std::chrono::steady_clock::now() > until) return refuse(422, "busy", kBusy);
    pause_for(1ms, {});
  }
}

// To the end, on this thread.
Result<Run> execute(LangGraph& graph, const Order& order, const std::stop_token& gone) {
  Runner& runner = graph.service.runner();
  std::string run_id;
  RunCallbacks callbacks;
  callbacks.on_start = [&](const Run& run) {
    run_id = run.id;
    if (order.goes_with_the_run()) graph.temporary.add(run);
  };
  const std::stop_token stop = order.started.cancel_on_disconnect ? gone : std::stop_token();
  auto outcome = order.asking ? runner.resume(*order.asking, order.answer, callbacks, stop)
                              : runner.execute(order.request, callbacks, stop);
  if (outcome) return std::move(outcome->run);
  // What went wrong in the run is in its record.
  if (!run_id.empty()) return runner.get(run_id);
  return tl::unexpected(std::move(outcome).error());
}

Result<void> read_request(const JsonFields& body, RunRequest& request) {
  SKEIN_ASSIGN(
      request.multitask,
      parse_multitask(json_to_string(member(body, "multitask_strategy")).value_or("reject")));
  if (std::string metadata = member(body, "metadata"); metadata != "null") {
    request.metadata = Json::trusted(std::move(metadata));
  }
  SKEIN_ASSIGN(request.base, read_checkpoint(member(body, "checkpoint_id")));
  if (!request.base) {
    SKEIN_ASSIGN(request.base, read_checkpoint(member(body, "checkpoint")));
  }
  if (!request.base) {
    SKEIN_ASSIGN(request.base, read_checkpoint(member(body, "config")));
  }
  return {};
}

tl::expected<Order, Problem> read_order(LangGraph& graph, const Request& request,
                                        const std::optional<std::string>& thread_id,
                                        std::string_view json) {
  const JsonFields body(json);
  if (auto fine = check_offered(body); !fine) return tl::unexpected(fine.error());
  const std::string assistant = json_to_string(member(body, "assistant_id")).value_or("");
  const auto agent = find_agent(graph, request.caller, assistant);
  if (!agent) return tl::unexpected(no_assistant(assistant));

  Order order;
  StartedRun& started = order.started;
  started.temporary = !thread_id;
  started.keeps = member(body, "on_completion") == "\"keep\"";
  started.cancel_on_disconnect = member(body, "on_disconnect") == "\"cancel\"";
  RunRequest& wanted = order.request;
  wanted.agent_id = *agent;
  SKEIN_TRY(read_request(body, wanted));
  auto modes = read_modes(body);
  if (!modes) return tl::unexpected(modes.error());
  started.modes = std::move(*modes);
  wanted.kwargs = Json::trusted(kwargs_json(body, started.modes, order.goes_with_the_run()));

  Manifest manifest;
  if (thread_id) {
    auto found = thread_for(graph, request, *thread_id, *agent, body);
    if (!found) return tl::unexpected(found.error());
    manifest = std::move(*found);
    wanted.thread_id = manifest.id.str();
    started.thread_id = client_id(manifest);
  } else if (!started.keeps) {
    wanted.thread_metadata = Json::trusted(JsonObject().add(TemporaryThreads::kMark, true).str());
  }
  const std::string command = member(body, "command");
  if (const std::string resume = member(command, "resume"); thread_id && resume != "null") {
    auto asking = run_that_asks(graph, manifest);
    if (!asking) return tl::unexpected(asking.error());
    auto answer = read_answer_to(*asking, resume);
    if (!answer) return tl::unexpected(answer.error());
    order.asking = std::move(asking->id);
    started.resumes = true;
    order.answer = std::move(*answer);
    return order;
  }
  std::string values = member(body, "input");
  if (values == "null") values = member(command, "update");
  if (values != "null" && !values.starts_with('{') && !values.starts_with('[')) {
    return refuse(422, "invalid", "input must be an object, got " + excerpt(values));
  }
  if (auto added = add_input(graph, manifest, values, wanted); !added) {
    return tl::unexpected(added.error());
  }
  return order;
}

StartedRun with_run(StartedRun started, Run run) {
  started.run = std::move(run);
  if (started.thread_id.empty()) started.thread_id = started.run.thread.uuid();
  return started;
}

}  // namespace

tl::expected<Json, Problem> run_kwargs(const JsonFields& body) {
  const auto modes = read_modes(body);
  if (!modes) return tl::unexpected(modes.error());
  return Json::trusted(kwargs_json(body, *modes, false));
}

std::vector<std::string> modes_of(const Run& run) {
  JsonFields kwargs(run.kwargs.empty() ? "{}" : run.kwargs.text());
  return kwargs.take_strings("stream_mode").value_or(std::vector<std::string>{"values"});
}

tl::expected<StartedRun, Problem> start_run(LangGraph& graph, const Request& request,
                                            const std::optional<std::string>& thread_id,
                                            std::string_view body) {
  auto order = read_order(graph, request, thread_id, body);
  if (!order) return tl::unexpected(order.error());
  Runner& runner = graph.service.runner();
  auto run = unless_busy(graph, *order, [&] {
    return order->asking ? runner.start_resume(*order->asking, order->answer)
                         : runner.start(order->request);
  });
  if (!run) return tl::unexpected(run.error());
  if (order->goes_with_the_run()) graph.temporary.add(*run);
  return with_run(std::move(order->started), std::move(*run));
}

tl::expected<StartedRun, Problem> finish_run(LangGraph& graph, const Request& request,
                                             const std::optional<std::string>& thread_id,
                                             std::string_view body) {
  auto order = read_order(graph, request, thread_id, body);
  if (!order) return tl::unexpected(order.error());
  auto run = unless_busy(graph, *order, [&] { return execute(graph, *order, request.gone); });
  if (!run) return tl::unexpected(run.error());
  return with_run(std::move(order->started), std::move(*run));
}

}  // namespace skein::http
