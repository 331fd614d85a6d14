#include "skein/triggers.h"

#include <algorithm>

#include "api/agents.h"
#include "core/json_array.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "http/v1/common.h"
#include "http/v1/describe.h"
#include "http/v1/resources.h"
#include "skein/limits.h"

namespace skein::http::v1 {
namespace {

// 404 also for triggers of agents that the caller does not see.
Outcome<TriggerInfo> seen_trigger(Service& service, const Request& request) {
  const std::string& id = request.parameter("trigger_id");
  SKEIN_ASSIGN_OR_REFUSE(TriggerInfo info, service.triggers().show(id));
  if (request.caller.sees(info.trigger.agent_id)) return info;
  return refuse(404, "not_found", "there is no trigger " + quote(id));
}

Reply add_trigger(Service& service, Request& request) {
  JsonFields fields = body_of(request);
  NewTrigger wanted;
  wanted.agent_id = text_in(fields, "agentId").value_or("");
  SKEIN_TRY_OR_REFUSE(check_sees(request, wanted.agent_id));
  SKEIN_TRY_OR_REFUSE(service.agents().check(wanted.agent_id));
  wanted.cron = text_in(fields, "cron").value_or("");
  wanted.text = text_in(fields, "text").value_or("");
  wanted.zone = text_in(fields, "zone").value_or("");
  wanted.enabled = fields.take_bool("enabled").value_or(true);
  wanted.name = text_in(fields, "name").value_or("");
  SKEIN_ASSIGN_OR_REFUSE(const Trigger trigger, service.triggers().add(wanted));
  SKEIN_ASSIGN_OR_REFUSE(const TriggerInfo info, service.triggers().show(trigger.id));
  return json_response(201, to_json(info)).header("Location", "/v1/triggers/" + trigger.id);
}

Reply list_triggers(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const AgentScope scope, scope_of(request));
  SKEIN_ASSIGN_OR_REFUSE(const std::vector<TriggerInfo> infos, service.triggers().list());
  std::vector<std::string> triggers;
  for (const TriggerInfo& info : infos) {
    const auto& agents = scope.agents;
    const bool shown =
        scope.all || std::find(agents.begin(), agents.end(), info.trigger.agent_id) != agents.end();
    if (shown) triggers.push_back(to_json(info));
  }
  return json_response(JsonObject().add_json("triggers", json_array_of(triggers)).str());
}

Reply get_trigger(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const TriggerInfo info, seen_trigger(service, request));
  return json_response(to_json(info));
}

Reply update_trigger(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const TriggerInfo info, seen_trigger(service, request));
  JsonFields fields = body_of(request);
  TriggerChange change;
  change.cron = text_in(fields, "cron");
  change.zone = text_in(fields, "zone");
  change.text = text_in(fields, "text");
  change.name = text_in(fields, "name");
  change.enabled = fields.take_bool("enabled");
  SKEIN_TRY_OR_REFUSE(service.triggers().update(info.trigger.id, change));
  SKEIN_ASSIGN_OR_REFUSE(const TriggerInfo changed, service.triggers().show(info.trigger.id));
  return json_response(to_json(changed));
}

Reply remove_trigger(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const TriggerInfo info, seen_trigger(service, request));
  SKEIN_TRY_OR_REFUSE(service.triggers().remove(info.trigger.id));
  return no_content();
}

}  // namespace

std::vector<Route> trigger_routes() {
  std::vector<Route> routes;
  routes.push_back(
      once({.method = "POST",
            .path = "/v1/triggers",
            .name = "addTrigger",
            .tag = "triggers",
            .summary = "Run an agent on a schedule, each time in a new thread",
            .access = Access::kWrite,
            .agent = AgentOf::kHandler,
            .body = takes(object(
                {must("agentId", some_text(limits::kMaxAgentIdBytes)),
                 must("cron", some_text(256),
                      "Minute, hour, day of the month, month, day of the week; or "
                      "@hourly, @daily, @weekly, @monthly, @yearly"),
                 must("text", some_text(limits::kMaxTriggerTextBytes), "What the agent is told"),
                 may("zone", some_text(64), "Absent: the zone of the server's system"),
                 may("name", text(limits::kMaxTriggerNameBytes)),
                 may("enabled", with_default(truth(), "true"))})),
            .responses = {gives(201, "The trigger.", named("Trigger"))},
            .handler = add_trigger}));
  routes.push_back({.method = "GET",
                    .path = "/v1/triggers",
                    .name = "listTriggers",
                    .tag = "triggers",
                    .summary = "Triggers, when they are due, and what they missed",
                    .access = Access::kRead,
                    .agent = AgentOf::kHandler,
                    .parameters = {agent_parameter()},
                    .responses = {gives(200, "The triggers, oldest first.", named("TriggerList"))},
                    .handler = list_triggers});
  routes.push_back({.method = "GET",
                    .path = "/v1/triggers/{trigger_id}",
                    .name = "getTrigger",
                    .tag = "triggers",
                    .summary = "A trigger",
                    .access = Access::kRead,
                    .agent = AgentOf::kHandler,
                    .responses = {gives(200, "The trigger.", named("Trigger"))},
                    .handler = get_trigger});
  routes.push_back(
      {.method = "PATCH",
       .path = "/v1/triggers/{trigger_id}",
       .name = "updateTrigger",
       .tag = "triggers",
       .summary = "Change, enable or disable a trigger",
       .description = "What was due under the old schedule, or while it was disabled, is not made "
                      "up for.",
       .access = Access::kWrite,
       .agent = AgentOf::kHandler,
       .body = takes(
           object({may("cron", some_text(256)), may("zone", some_text(64)),
                   may("text", some_text(limits::kMaxTriggerTextBytes)),
                   may("name", text(limits::kMaxTriggerNameBytes)), may("enabled", truth())})),
       .responses = {gives(200, "The trigger as it is now.", named("Trigger"))},
       .handler = update_trigger});
  routes.push_back({.method = "DELETE",
                    .path = "/v1/triggers/{trigger_id}",
                    .name = "removeTrigger",
                    .tag = "triggers",
                    .summary = "Forget a trigger; its threads and runs stay",
                    .access = Access::kWrite,
                    .agent = AgentOf::kHandler,
                    .responses = {gives_nothing("It is gone.")},
                    .handler = remove_trigger});
  return routes;
}

}  // namespace skein::http::v1
