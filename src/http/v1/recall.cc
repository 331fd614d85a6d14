#include "api/recall.h"

#include <atomic>

#include "core/json_object.h"
#include "http/v1/common.h"
#include "http/v1/describe.h"
#include "http/v1/resources.h"
#include "skein/recall.h"

namespace skein::http::v1 {
namespace {

Result<SearchBy> parse_by(std::string_view text) {
  return text == "words" ? SearchBy::kWords : text == "meaning" ? SearchBy::kDense : SearchBy::kAll;
}

// Everything that the caller may see, unless it names an agent.
Outcome<void> set_scope(const Request& request, SearchOptions& options) {
  SKEIN_ASSIGN_OR_REFUSE(const auto all, request.query_flag("allAgents"));
  SKEIN_ASSIGN_OR_REFUSE(AgentScope scope, scope_of(request));
  if (all.value_or(false)) {
    if (request.query("agentId")) {
      return refuse(400, "invalid", "agentId and allAgents exclude each other");
    }
    if (!scope.all) {
      return refuse(403, "forbidden", "allAgents needs a key for all agents; leave it out");
    }
  }
  if (!scope.all) options.agents = std::move(scope.agents);
  return {};
}

Reply search(Service& service, Request& request) {
  SearchOptions options;
  SKEIN_TRY_OR_REFUSE(set_scope(request, options));
  SKEIN_ASSIGN_OR_REFUSE(options.limit, limit_of(request, 5, limits::kMaxSearchResults));
  SKEIN_ASSIGN_OR_REFUSE(const auto around,
                         request.query_number("context", 0, limits::kMaxSearchContext));
  SKEIN_ASSIGN_OR_REFUSE(const auto per_thread,
                         request.query_number("perThread", 1, limits::kMaxSearchResults));
  options.context = around.value_or(options.context);
  options.per_thread = per_thread.value_or(options.per_thread);
  SKEIN_ASSIGN_OR_REFUSE(options.status, parsed(request, "status", parse_status));
  SKEIN_ASSIGN_OR_REFUSE(options.metadata, metadata_of(request));
  SKEIN_ASSIGN_OR_REFUSE(options.since, request.query_time("since"));
  SKEIN_ASSIGN_OR_REFUSE(options.until, request.query_time("until"));
  SKEIN_ASSIGN_OR_REFUSE(const auto role, parsed(request, "role", parse_role));
  if (role) options.roles = {*role};
  SKEIN_ASSIGN_OR_REFUSE(const auto by, parsed(request, "by", parse_by));
  options.by = by.value_or(SearchBy::kAll);
  SKEIN_ASSIGN_OR_REFUSE(Recall* const recall, service.recall());
  SKEIN_ASSIGN_OR_REFUSE(const SearchAnswer answer,
                         recall->search(request.query("q").value_or(""), options));
  return json_response(to_json(answer));
}

Reply get_status(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const AgentScope scope, scope_of(request));
  SKEIN_ASSIGN_OR_REFUSE(Recall* const recall, service.recall());
  RecallStatus sum;
  if (scope.all) {
    SKEIN_ASSIGN_OR_REFUSE(sum, recall->status());
  }
  for (const std::string& agent : scope.all ? std::vector<std::string>() : scope.agents) {
    SKEIN_ASSIGN_OR_REFUSE(const RecallStatus one, recall->status(agent));
    sum.messages += one.messages;
    sum.with_vectors += one.with_vectors;
    sum.threads += one.threads;
    sum.model = one.model;
  }
  return json_response(JsonObject()
                           .add("messages", sum.messages)
                           .add("withVectors", sum.with_vectors)
                           .add("threads", sum.threads)
                           .add("bytes", sum.bytes)
                           .add("model", sum.model)
                           .str());
}

// What the caller may see, or the agent that it names; one backfill for each.
Outcome<std::vector<std::optional<std::string>>> agents_to_index(
    const Request& request, const std::optional<std::string>& named) {
  if (named) {
    SKEIN_TRY_OR_REFUSE(check_sees(request, *named));
    return std::vector{named};
  }
  std::vector<std::optional<std::string>> agents(request.caller.agents.begin(),
                                                 request.caller.agents.end());
  if (request.caller.all_agents) agents = {std::nullopt};
  return agents;
}

Result<BackfillResult> backfill_each(Recall& recall, BackfillOptions options,
                                     const std::vector<std::optional<std::string>>& agents) {
  BackfillResult sum;
  for (const auto& agent : agents) {
    options.agent_id = agent;
    SKEIN_ASSIGN(const BackfillResult one, recall.backfill(options));
    sum.embedded += one.embedded;
    sum.cleaned += one.cleaned;
    sum.stopped = sum.stopped || one.stopped;
  }
  return sum;
}

// One at a time: it takes as long as there is to index, and a thread of the pool.
Reply backfill(std::atomic_flag& under_way, Service& service, Request& request) {
  JsonFields fields = body_of(request);
  SKEIN_ASSIGN_OR_REFUSE(const auto agents, agents_to_index(request, text_in(fields, "agentId")));
  BackfillOptions options;
  options.rebuild = fields.take_bool("rebuild").value_or(false);
  options.stop = request.stop;
  if (options.rebuild && (!request.caller.all_agents || !request.caller.may(Access::kAdmin))) {
    return refuse(403, "forbidden", "rebuild needs the right admin, for all agents");
  }
  SKEIN_ASSIGN_OR_REFUSE(Recall* const recall, service.recall());
  if (under_way.test_and_set()) {
    return refuse(409, "busy", "a backfill is under way: one at a time");
  }
  const auto result = backfill_each(*recall, options, agents);
  under_way.clear();
  SKEIN_TRY_OR_REFUSE(result);
  return json_response(to_json(*result));
}

Route search_route() {
  const auto limit = static_cast<std::int64_t>(limits::kMaxSearchResults);
  return {
      .method = "GET",
      .path = "/v1/search",
      .name = "search",
      .tag = "recall",
      .summary = "Find what was said, by meaning and by words",
      .description =
          "The best message of each thread, with those around it, best first. `agents` and "
          "`searched` say what was searched. Only what is indexed is found; `notIndexed` says how "
          "much is not. Every character of `q` is text.",
      .access = Access::kRead,
      .agent = AgentOf::kHandler,
      .parameters = {required(in_query("q", some_text(limits::kMaxQueryBytes), "The question.")),
                     in_query("agentId", some_text(limits::kMaxAgentIdBytes),
                              "Only messages of this agent. Absent: of every agent that the key "
                              "sees."),
                     in_query("allAgents", truth(),
                              "Require that all agents are searched: a key that sees only some "
                              "is refused."),
                     limit_parameter(5, limits::kMaxSearchResults),
                     in_query("context", with_default(whole(0, limits::kMaxSearchContext), "3"),
                              "Messages before, and after, each match."),
                     in_query("perThread", with_default(whole(1, limit), "1"),
                              "Results of one thread."),
                     in_query("status", named("ThreadStatus"), "Of threads with this status."),
                     metadata_parameter(), in_query("since", time(), "Not before."),
                     in_query("until", time(), "Before."),
                     in_query("role", choice({"user", "assistant"}), "Of this role only."),
                     in_query("by", with_default(choice({"all", "words", "meaning"}), "\"all\""),
                              "Which parts of the ranking are used.")},
      .responses = {gives(200, "What was found, and what that rests on.", named("SearchAnswer"))},
      .handler = search};
}

}  // namespace

std::vector<Route> recall_routes() {
  std::vector<Route> routes;
  routes.push_back(search_route());
  routes.push_back({.method = "GET",
                    .path = "/v1/recall",
                    .name = "getRecallStatus",
                    .tag = "recall",
                    .summary = "How much is indexed",
                    .access = Access::kRead,
                    .agent = AgentOf::kHandler,
                    .parameters = {agent_parameter()},
                    .responses = {gives(200, "The index.", named("RecallStatus"))},
                    .handler = get_status});
  const auto under_way = std::make_shared<std::atomic_flag>();
  routes.push_back(
      {.method = "POST",
       .path = "/v1/backfill",
       .name = "backfill",
       .tag = "recall",
       .summary = "Index what was said and is not indexed yet, and remove what is gone",
       .description =
           "Answers when it is done, or when the server stops; what was done stays done. "
           "Without an agent it indexes every agent that the key sees. `rebuild` needs the right "
           "admin, for all agents.",
       .access = Access::kWrite,
       .agent = AgentOf::kHandler,
       .body = may_take(object({may("agentId", some_text(limits::kMaxAgentIdBytes)),
                                may("rebuild", truth(), "Throw the index away first")})),
       .responses = {gives(200, "What was done.", named("BackfillResult"))},
       .handler = [under_way](Service& service, Request& request) {
         return backfill(*under_way, service, request);
       }});
  return routes;
}

}  // namespace skein::http::v1
