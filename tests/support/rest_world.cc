#include "support/rest_world.h"

#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <fstream>
#include <map>
#include <sstream>

#include "http/v1/routes.h"
#include "support/expect.h"

namespace skein::test {
namespace {

constexpr const char* kConfig =
    R"({"defaultAgent":"mine","embedder":"none",
        "agents":{"mine":{"engine":"echo"},"theirs":{"engine":"echo"}}})";

TestServer::Setup setup_of(const std::string& backend) {
  TestServer::Setup setup;
  setup.backend = backend;
  setup.config = kConfig;
  return setup;
}

}  // namespace

RestWorld::RestWorld(const std::string& backend)
    : server_(setup_of(backend)),
      routes_(http::v1_routes(server_.service())),
      admin(server_.make_key(http::Access::kAdmin)),
      reader(server_.make_key(http::Access::kRead)),
      my_writer(server_.make_key(http::Access::kWrite, {"mine"})),
      their_writer(server_.make_key(http::Access::kWrite, {"theirs"})) {
  thread = made("createThread", "/v1/threads",
                R"({"agentId":"mine","title":"About tourmaline","metadata":{"user_id":"u-1"},
                    "system":"You echo.","messages":[{"text":"Where is the tourmaline?"},
                    {"role":"assistant","text":"In the tourmaline box."}]})",
                "threadId");
  victim = made("createThread", "/v1/threads", R"({"agentId":"mine"})", "threadId");
  run = made("startRun", "/v1/runs?wait=true",
             R"({"threadId":")" + thread + R"(","text":"Say tourmaline"})", "runId");
  item = made("createItem", "/v1/items", R"({"text":"Polish the tourmaline"})", "id");
  session = made("startSession", "/v1/sessions", R"({"agent":"mine"})", "session_id");
  checkpoint = made("createCheckpoint", "/v1/checkpoints",
                    R"({"title":"Tourmaline cut","summary":"Half done"})", "thread_id");
  task = made("createTask", "/v1/tasks", R"({"agentId":"mine","text":"Sort tourmalines"})", "id");
  finished_task =
      made("createTask", "/v1/tasks", R"({"agentId":"mine","text":"Count them"})", "id");
  trigger = made("addTrigger", "/v1/triggers",
                 R"({"agentId":"mine","cron":"0 9 * * *","text":"Count tourmalines"})", "id");
  // So that nothing is written behind the back of a test.
  server_.service().runner().finish_effects();
}

std::string RestWorld::made(const std::string& name, const std::string& target,
                            const std::string& body, const std::string& field) {
  const Answered answered = ask(route(name).method, target, body, admin);
  EXPECT_LT(answered.status, 300) << name << answered;
  if (answered.status >= 300) return {};
  return std::string(answered.json().as_object().at(field).as_string());
}

const http::Route& RestWorld::route(const std::string& name) const {
  for (const http::Route& one : routes_.routes) {
    if (one.name == name) return one;
  }
  ADD_FAILURE() << "there is no route " << name;
  return routes_.routes.front();
}

Answered RestWorld::ask(const std::string& method, const std::string& target,
                        const std::string& body, const std::string& key) {
  return server_.ask(method, target, body, key);
}

Answered RestWorld::ask(const Sample& sample, const std::string& key) {
  const std::string& method = route(sample.route).method;
  if (!sample.stream) return ask(method, sample.target, sample.body, key);
  HttpConnection connection(server_.port());
  std::vector<HttpHeader> headers;
  if (!key.empty()) headers.push_back({"Authorization", "Bearer " + key});
  connection.send_request(method, sample.target, {}, headers);
  Answered head = connection.read_head();
  return head;
}

std::vector<Sample> RestWorld::samples() const {
  const std::string on_thread = "/v1/threads/" + thread;
  const std::string on_run = "/v1/runs/" + run;
  std::vector<Sample> all = {
      {"listThreads",
       R"(/v1/threads?metadata=%7B%22user_id%22%3A%22u-1%22%7D&total=true&limit=10)"},
      {"createThread", "/v1/threads", R"({"agentId":"mine","title":"Another"})", 201},
      {"getThread", on_thread},
      {"updateThread", on_thread, R"({"title":"Retitled","metadata":{"user_id":"u-1","n":1}})"},
      {"setThreadStatus", on_thread + "/status", R"({"status":"active"})"},
      {"forkThread", on_thread + "/fork", R"({"seq":2})", 201},
      {"pinEvent", on_thread + "/pins/2"},
      {"unpinEvent", on_thread + "/pins/2"},
      {"listEvents", on_thread + "/events?limit=2&order=desc&view=path"},
      {"getEvent", on_thread + "/events/2"},
      {"appendEvent", on_thread + "/events",
       R"({"type":"tool_use","name":"look","input":{"where":"box"},"metadata":{"tool_call_id":"c1"}})",
       201},
      {"appendEvents", on_thread + "/events/batch",
       R"({"events":[{"role":"tool","text":"found","metadata":{"tool_call_id":"c1"}},
                     {"type":"nonsense"},{"type":"result","cost":0.5}]})"},
      {"listMessages", on_thread + "/messages?role=user&limit=5"},
      {"addMessage", on_thread + "/messages", R"({"text":"And now?"})", 201},
      {"streamEvents", on_thread + "/stream?after=1", "", 200, true},
      {"getContext", on_thread + "/context?maxTokens=4000&strategy=hybrid"},
      {"summarizeThread", on_thread + "/summaries", R"({"threshold":1,"keepRecent":1})"},
      {"getSummaryProgress", on_thread + "/summaries/progress"},
      {"undoSummary", on_thread + "/summaries/newest"},
      {"listChanges", "/v1/events?event=thread:message&limit=3"},
      {"streamChanges", "/v1/events/stream?since=", "", 200, true},
      {"startRun", "/v1/runs", R"({"agentId":"mine","text":"Hello"})", 202},
      {"listRuns", "/v1/runs?threadId=" + thread},
      {"getRun", on_run},
      {"waitForRun", on_run + "/wait?timeoutMs=60000"},
      {"streamRun", on_run + "/stream", "", 200, true},
      {"cancelRun", on_run + "/cancel"},
      {"answerRun", on_run + "/answer", R"({"yes":true})", 409},
      {"backfill", "/v1/backfill", R"({"agentId":"mine"})"},
      {"search", "/v1/search?q=tourmaline&agentId=mine&by=words"},
      {"getRecallStatus", "/v1/recall"},
      {"listItems", "/v1/items?includeResolved=true"},
      {"createItem", "/v1/items", R"({"text":"Buy a bigger box"})", 201},
      {"getItem", "/v1/items/" + item},
      {"resolveItem", "/v1/items/" + item + "/resolve", R"({"resolution_note":"Shiny"})"},
      {"resolveItemByText", "/v1/items/resolve", R"({"text_match":"bigger box"})"},
      {"startSession", "/v1/sessions", R"({"agent":"mine","session_id":"s-2"})", 201},
      {"listOpenSessions", "/v1/sessions"},
      {"getSession", "/v1/sessions/" + session},
      {"closeSession", "/v1/sessions/" + session + "/close", R"({"summary":"Done"})"},
      {"closeStaleSessions", "/v1/sessions/close-stale"},
      {"listCheckpoints", "/v1/checkpoints?q=tourmaline"},
      {"createCheckpoint", "/v1/checkpoints", R"({"type":"handoff","title":"Over to you"})", 201},
      {"getCheckpoint", "/v1/checkpoints/" + checkpoint},
      {"updateCheckpoint", "/v1/checkpoints/" + checkpoint, R"({"next_steps":["Ship"]})"},
      {"resumeCheckpoint", "/v1/checkpoints/" + checkpoint + "/resume"},
      {"getUsage", "/v1/usage?by=day"},
      {"createTask", "/v1/tasks", R"({"agentId":"mine","text":"Sort again"})", 201},
      {"listTasks", "/v1/tasks"},
      {"getTask", "/v1/tasks/" + task},
      {"runTask", "/v1/tasks/" + task + "/runs", "{}", 202},
      {"updateTask", "/v1/tasks/" + task, R"({"steps":[{"title":"Sort"}]})"},
      {"cancelTask", "/v1/tasks/" + task + "/cancel"},
      {"completeTask", "/v1/tasks/" + finished_task + "/complete", "{}"},
      {"addTrigger", "/v1/triggers",
       R"({"agentId":"mine","cron":"@daily","text":"Dust off","zone":"UTC"})", 201},
      {"listTriggers", "/v1/triggers"},
      {"getTrigger", "/v1/triggers/" + trigger},
      {"updateTrigger", "/v1/triggers/" + trigger, R"({"enabled":false})"},
      {"removeTrigger", "/v1/triggers/" + trigger, "", 204},
      {"listAgents", "/v1/agents"},
      {"getAgent", "/v1/agents/mine"},
      {"deleteThread", "/v1/threads/" + victim, "", 204},
  };
  return all;
}

std::string RestWorld::traces() {
  std::string all;
  const auto batch = server_.store().changes(Store::kNow, 1, std::chrono::milliseconds(0));
  if (batch) all += batch->cursor + "\n";
  std::map<std::string, std::string> files;
  for (const char* part : {".gitmem", "workspace"}) {
    const std::filesystem::path folder = server_.folder() / part;
    if (!std::filesystem::exists(folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      files[entry.path().string()] = text.str();
    }
  }
  for (const auto& [name, text] : files) all += name + "\n" + text + "\n";
  return all;
}

}  // namespace skein::test
