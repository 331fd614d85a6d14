// What the routes of this face have in common.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "api/langgraph/items.h"
#include "api/langgraph/saver.h"
#include "api/langgraph/state.h"
#include "core/json_fields.h"
#include "core/pause.h"
#include "http/langgraph/temporary.h"
#include "http/route.h"

namespace skein::http {

struct LangGraph {
  explicit LangGraph(Service& with)
      : service(with),
        states(with.store()),
        items(with.store(), with.clock()),
        saver(with.store()),
        temporary(with),
        started_at(with.clock().now()),
        sweeper([this](const std::stop_token& stop) {
          while (pause_for(TemporaryThreads::kSweepEvery, stop)) temporary.sweep();
        }) {}

  // Nobody works on anything any more when it returns.
  void stop() {
    sweeper.request_stop();
    if (sweeper.joinable()) sweeper.join();
  }

  Service& service;
  langgraph::StateCache states;
  langgraph::Items items;
  langgraph::Saver saver;
  TemporaryThreads temporary;
  const Timestamp started_at;
  std::jthread sweeper;  // last: it uses the others
};
using Shared = std::shared_ptr<LangGraph>;

// One file each.
void add_meta_routes(const Shared& shared, std::vector<Route>& routes);
void add_assistant_routes(const Shared& shared, std::vector<Route>& routes);
void add_thread_routes(const Shared& shared, std::vector<Route>& routes);
void add_search_routes(const Shared& shared, std::vector<Route>& routes);
void add_state_routes(const Shared& shared, std::vector<Route>& routes);
void add_run_routes(const Shared& shared, std::vector<Route>& routes);
void add_store_routes(const Shared& shared, std::vector<Route>& routes);
void add_cron_routes(const Shared& shared, std::vector<Route>& routes);
void add_command_routes(const Shared& shared, std::vector<Route>& routes);
void add_saver_routes(const Shared& shared, std::vector<Route>& routes);

// --- Ids ---

// Agents are known by their id and by a UUID that is made of it, as the reference server makes it.
std::string assistant_uuid(std::string_view agent_id);
// The agent of either; nothing: there is none that the caller sees.
std::optional<std::string> find_agent(LangGraph& graph, const Caller& caller,
                                      std::string_view assistant);
Problem no_assistant(std::string_view assistant);
// Whether values may be written into a thread of that agent before its first run: once they are, it
// keeps its agent, which must be one that can be run.
tl::expected<void, Problem> check_can_run(LangGraph& graph, const Caller& caller,
                                          std::string_view agent_id);

// What clients know a thread by: its alias, or the UUID form of its id.
std::string client_id(const Manifest& manifest);

// --- What is shown ---

// "idle", "busy", "interrupted" or "error".
std::string_view thread_status(const Manifest& manifest, bool busy);

// Members that are wanted; empty: all.
using Select = std::vector<std::string>;
Result<std::string> thread_json(LangGraph& graph, const Manifest& manifest, bool busy,
                                const Select& select = {});
// With its status looked up.
Result<std::string> thread_json(LangGraph& graph, const Manifest& manifest);

std::string run_json(const Run& run, const std::string& thread_id, const Select& select = {});

// Tools that wait for a person, as an array of interrupts; "[]" when there is no question.
std::string interrupts_json(const Run& run);
// What it asks: the value of that interrupt.
std::string question_json(const RunQuestion& question);
// The id of a run's open question: another for each, so that no answer is taken for a later one.
std::string interrupt_id(const Run& run);

// The values of a thread as they are now.
Result<langgraph::StateView> current_state(LangGraph& graph, ThreadId thread);

// A checkpoint as an object; `seq` 0 is the one before the first event.
std::string checkpoint_json(const std::string& thread_id, Seq seq);

// --- What is asked for ---

// The seq that a checkpoint's id names, an id or an object with "checkpoint_id"; nothing: none is
// named. kInvalid: it is none of ours.
Result<std::optional<Seq>> read_checkpoint(std::string_view json);

// The text of a member, whatever it is; "null" when it is not there.
std::string member(std::string_view object, std::string_view name);
std::string member(const JsonFields& object, std::string_view name);

Route make_route(std::string method, std::string path, std::string name, std::string tag,
                 std::string summary, Access access, Handler handler);

}  // namespace skein::http
