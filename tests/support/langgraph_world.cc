#include "support/langgraph_world.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "http/langgraph/routes.h"

namespace skein::test {
namespace {

std::string text_at(const Answered& answered, const char* pointer) {
  const auto json = answered.json();
  boost::system::error_code error;
  const auto* value = json.find_pointer(pointer, error);
  EXPECT_NE(value, nullptr) << pointer << answered;
  return value == nullptr ? "" : std::string(value->as_string());
}

}  // namespace

LangGraphWorld::LangGraphWorld() : routes_(http::langgraph_routes(rest_.server().service())) {
  const std::string& admin = rest_.admin;
  thread_ = made("/threads", R"({"metadata":{"graph_id":"mine","tag":"it's"}})", "thread_id");
  const std::string run = R"({"assistant_id":"mine","input":{"messages":"tourmaline"}})";
  ask("POST", on_thread("/runs/wait"), run, admin);
  run_ = text_at(ask("GET", on_thread("/runs"), "", admin), "/0/run_id");
  checkpoint_ = text_at(ask("GET", on_thread("/state"), "", admin), "/checkpoint/checkpoint_id");
  cron_ =
      made("/runs/crons",
           R"({"assistant_id":"mine","schedule":"0 9 * * *","input":{"messages":"x"}})", "cron_id");
  ask("PUT", "/store/items",
      R"({"namespace":["tourmaline"],"key":"k","value":{"tag":"it's","graph_id":"mine"}})", admin);
  ask("POST", "/saver/put",
      R"({"thread_id":"tourmaline","checkpoint_id":"c","checkpoint":{},)"
      R"("metadata":{"tag":"it's","graph_id":"mine"}})",
      admin);
  // So that nothing is written behind the back of a test.
  rest_.server().service().runner().finish_effects();
}

std::string LangGraphWorld::made(const std::string& path, const std::string& body,
                                 const std::string& field) {
  const Answered answered = ask("POST", path, body, rest_.admin);
  EXPECT_EQ(answered.status, 200) << answered;
  return text_at(answered, ("/" + field).c_str());
}

Answered LangGraphWorld::ask(const std::string& method, const std::string& target,
                             const std::string& body, const std::string& key) {
  if (target.find("stream") == std::string::npos) return rest_.ask(method, target, body, key);
  HttpConnection connection(rest_.server().port());
  connection.send_request(method, target, body, {{"X-Api-Key", key}});
  return connection.read_head();
}

Answered LangGraphWorld::ask(const LangGraphSample& sample, const std::string& key) {
  return ask(route(sample.route).method, sample.target, sample.body, key);
}

const http::Route& LangGraphWorld::route(const std::string& name) const {
  for (const http::Route& one : routes_.routes) {
    if (one.name == name) return one;
  }
  ADD_FAILURE() << "there is no route " << name;
  return routes_.routes.front();
}

std::string LangGraphWorld::shown_in(const Answered& answered) const {
  for (const std::string& hidden :
       {thread_, run_, cron_, std::string(RestWorld::kSecret), std::string("\"mine\"")}) {
    if (answered.body.find(hidden) != std::string::npos) return hidden;
  }
  return {};
}

std::vector<LangGraphSample> LangGraphWorld::samples() const {
  const std::string run = R"({"assistant_id":"mine","input":{"messages":"tourmaline"},)"
                          R"("multitask_strategy":"enqueue"})";
  const std::string one_run = on_thread("/runs/" + run_);
  const std::string item = R"({"namespace":["a"],"key":"k","value":{"x":1}})";
  const std::string saved = R"({"thread_id":"t","checkpoint_id":"c")";
  return {
      {"lgOk", "/ok", "", 200},
      {"lgInfo", "/info", "", 200},
      {"lgSearchAssistants", "/assistants/search", "{}", 200},
      {"lgCountAssistants", "/assistants/count", "{}", 200},
      {"lgGetAssistant", "/assistants/mine"},
      {"lgGetGraph", "/assistants/mine/graph"},
      {"lgGetSchemas", "/assistants/mine/schemas"},
      {"lgGetSubgraphs", "/assistants/mine/subgraphs"},
      {"lgGetSubgraph", "/assistants/mine/subgraphs/x"},
      {"lgGetVersions", "/assistants/mine/versions", "{}"},
      {"lgCreateAssistant", "/assistants", "", 403, 422},
      {"lgUpdateAssistant", "/assistants/mine", "", 403, 422},
      {"lgDeleteAssistant", "/assistants/mine", "", 403, 422},
      {"lgSetLatest", "/assistants/mine/latest", "", 403, 422},
      {"lgCreateThread", "/threads", R"({"metadata":{"graph_id":"mine"}})"},
      {"lgPruneThreads", "/threads/prune", R"({"thread_ids":[]})", 422, 422},
      {"lgPatchState", on_thread("/state"), R"({"metadata":{}})", 422, 422},
      {"lgJoinThreadStream", on_thread("/stream"), "", 422, 422},
      {"lgStreamEventsOverWebSocket", on_thread("/stream/events"), "", 422, 422},
      {"lgUi", "/ui/mine", R"({"name":"x"})", 422, 422},
      {"lgGetThread", on_thread("")},
      {"lgUpdateThread", on_thread(""), R"({"metadata":{"n":1}})"},
      {"lgCopyThread", on_thread("/copy")},
      {"lgSearchThreads", "/threads/search", R"({"limit":1000})", 200},
      {"lgCountThreads", "/threads/count", "{}", 200},
      {"lgGetState", on_thread("/state")},
      {"lgGetStateById", on_thread("/state/" + checkpoint_)},
      {"lgGetStateAt", on_thread("/state/checkpoint"),
       R"({"checkpoint":{"checkpoint_id":")" + checkpoint_ + "\"}}"},
      {"lgGetHistory", on_thread("/history?limit=1000")},
      {"lgPostHistory", on_thread("/history"), R"({"limit":1000})"},
      {"lgUpdateState", on_thread("/state"), R"({"values":{"n":1}})"},
      {"lgListRuns", on_thread("/runs?limit=1000")},
      {"lgGetRun", one_run},
      {"lgJoinRun", one_run + "/join"},
      {"lgJoinStream", one_run + "/stream"},
      {"lgJoinStreamAlone", "/runs/" + run_ + "/stream"},
      {"lgCancelRun", one_run + "/cancel", "", 404, 202},
      {"lgCancelRuns", "/runs/cancel", R"({"run_ids":[")" + run_ + "\"]}", 404, 204},
      {"lgCreateRun", on_thread("/runs"), run},
      {"lgWaitRun", on_thread("/runs/wait"), run},
      {"lgStreamRun", on_thread("/runs/stream"), run},
      {"lgCreateRunAlone", "/runs", run},
      {"lgWaitRunAlone", "/runs/wait", run},
      {"lgStreamRunAlone", "/runs/stream", run},
      {"lgBatchRuns", "/runs/batch", "[" + run + "]"},
      {"lgDeleteRun", one_run, "", 404, 204},
      {"lgCommand", on_thread("/commands"),
       R"({"id":1,"method":"run.start","params":{"assistant_id":"mine","input":{"messages":"x"}}})"},
      {"lgStreamEvents", on_thread("/stream/events"), R"({"channels":["values"]})"},
      {"lgCreateCron", "/runs/crons",
       R"({"assistant_id":"mine","schedule":"0 9 * * *","input":{"messages":"x"}})"},
      {"lgSearchCrons", "/runs/crons/search", R"({"limit":1000})", 200},
      {"lgCountCrons", "/runs/crons/count", "{}", 200},
      {"lgUpdateCron", "/runs/crons/" + cron_, R"({"enabled":false})"},
      {"lgCreateThreadCron", on_thread("/runs/crons"), "", 422, 422},
      {"lgDeleteCron", "/runs/crons/" + cron_},
      {"lgPutItem", "/store/items", item, 403, 204},
      {"lgGetItem", "/store/items?namespace=a&key=k", "", 403},
      {"lgSearchItems", "/store/items/search", R"({"namespace_prefix":[],"limit":1000})", 403},
      {"lgListNamespaces", "/store/namespaces", R"({"limit":1000})", 403},
      {"lgDeleteItem", "/store/items", R"({"namespace":["a"],"key":"k"})", 403, 204},
      {"saverPut", "/saver/put", saved + R"(,"checkpoint":{},"metadata":{}})", 403, 204},
      {"saverWrites", "/saver/writes", saved + R"(,"task_id":"w","writes":[]})", 403, 204},
      {"saverGet", "/saver/get", saved + "}", 403},
      {"saverList", "/saver/list", R"({"limit":1000})", 403},
      {"saverDelete", "/saver/delete", R"({"thread_id":"t"})", 403, 204},
      {"lgDeleteThread", on_thread(""), "", 404, 204},
  };
}

}  // namespace skein::test
