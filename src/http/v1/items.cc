#include "api/work/answers.h"
#include "core/json_array.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "http/v1/common.h"
#include "http/v1/describe.h"
#include "http/v1/resources.h"
#include "skein/limits.h"
#include "skein/work_items.h"

namespace skein::http::v1 {
namespace {

// What an item links to, as a body says it.
ItemLinks links_in(JsonFields& fields) {
  return {.thread = text_in(fields, "thread").value_or(""),
          .run = text_in(fields, "run").value_or(""),
          .checkpoint = text_in(fields, "checkpoint").value_or(""),
          .commit = text_in(fields, "commit").value_or("")};
}

Reply item_response(Service& service, int status, std::string_view id,
                    const std::vector<WorkItem>& also_resolved = {}) {
  SKEIN_ASSIGN_OR_REFUSE(const ListedItem listed, service.items().show(id));
  SKEIN_ASSIGN_OR_REFUSE(std::string json, item_json(service.store(), listed, also_resolved));
  Response response = json_response(status, std::move(json));
  if (status == 201) response.header("Location", "/v1/items/" + listed.item.id);
  return response;
}

Reply list_items(Service& service, Request& request) {
  ListItems wanted;
  wanted.with_details = true;
  if (const auto status = request.query("status")) {
    wanted.status = *status == "resolved" ? ItemStatus::kResolved : ItemStatus::kOpen;
  }
  SKEIN_ASSIGN_OR_REFUSE(const auto resolved, request.query_flag("includeResolved"));
  wanted.include_resolved = resolved.value_or(false);
  wanted.project = request.query("project");
  wanted.session_id = request.query("session_id");
  wanted.of_session = wanted.session_id.has_value();
  wanted.linked_to = {.thread = request.query("thread").value_or(""),
                      .run = request.query("run").value_or(""),
                      .checkpoint = request.query("checkpoint").value_or(""),
                      .commit = request.query("commit").value_or("")};
  SKEIN_ASSIGN_OR_REFUSE(const ItemListing listing, service.items().list(wanted));
  std::vector<std::string> items;
  for (const ListedItem& listed : listing.items) {
    SKEIN_ASSIGN_OR_REFUSE(std::string json, item_json(service.store(), listed));
    items.push_back(std::move(json));
  }
  JsonObject answer;
  answer.add_json("items", json_array_of(items));
  answer.add("total_open", std::uint64_t{listing.total_open});
  answer.add("total_resolved", std::uint64_t{listing.total_resolved});
  if (listing.project) answer.add("project", *listing.project);
  return json_response(answer.str());
}

Reply create_item(Service& service, Request& request) {
  JsonFields fields = body_of(request);
  CreateItem wanted;
  wanted.text = text_in(fields, "text").value_or("");
  wanted.project = text_in(fields, "project");
  wanted.session_id = text_in(fields, "session_id");
  wanted.allow_duplicate = fields.take_bool("allow_duplicate").value_or(false);
  wanted.linear_issue = text_in(fields, "linear_issue").value_or("");
  wanted.opened_by = links_in(fields);
  SKEIN_ASSIGN_OR_REFUSE(const WorkItem item, service.items().create(wanted));
  return item_response(service, 201, item.id);
}

Reply get_item(Service& service, Request& request) {
  SKEIN_TRY_OR_REFUSE(check_item_id(request.parameter("item_id")));
  return item_response(service, 200, request.parameter("item_id"));
}

Reply resolve(Service& service, ResolveItem wanted, JsonFields& fields) {
  wanted.resolution_note = text_in(fields, "resolution_note");
  wanted.closed_by = links_in(fields);
  std::vector<WorkItem> also_resolved;
  SKEIN_ASSIGN_OR_REFUSE(const WorkItem item, service.items().resolve(wanted, &also_resolved));
  return item_response(service, 200, item.id, also_resolved);
}

Reply resolve_item(Service& service, Request& request) {
  JsonFields fields = body_of(request);
  ResolveItem wanted;
  wanted.id = request.parameter("item_id");
  SKEIN_TRY_OR_REFUSE(check_item_id(*wanted.id));
  wanted.session_id = text_in(fields, "session_id");
  return resolve(service, std::move(wanted), fields);
}

Reply resolve_by_text(Service& service, Request& request) {
  JsonFields fields = body_of(request);
  ResolveItem wanted;
  wanted.text_match = text_in(fields, "text_match");
  wanted.project = text_in(fields, "project");
  wanted.session_id = text_in(fields, "session_id");
  if (is_item_position(*wanted.text_match) && !wanted.project && !wanted.session_id) {
    return refuse(400, "invalid",
                  "text_match " + quote(*wanted.text_match) +
                      " is a position in a list; name the list by \"project\" or "
                      "\"session_id\", as in GET /v1/items");
  }
  return resolve(service, std::move(wanted), fields);
}

std::vector<Member> resolution_members() {
  return {may("resolution_note", text(limits::kMaxItemTextChars)),
          may("session_id", some_text(limits::kMaxWorkSessionIdBytes),
              "Absent: the workspace's newest open working session"),
          may("thread", text(limits::kMaxLinkBytes), "What closed it"),
          may("run", text(limits::kMaxLinkBytes)),
          may("checkpoint", text(limits::kMaxLinkBytes)),
          may("commit", text(limits::kMaxLinkBytes))};
}

Route list_route() {
  const auto link = [](const char* name) {
    return in_query(name, some_text(limits::kMaxLinkBytes),
                    std::string("Only those that link to this ") + name + ".");
  };
  return {
      .method = "GET",
      .path = "/v1/items",
      .name = "listItems",
      .tag = "items",
      .summary = "What is open, the oldest first",
      .access = Access::kRead,
      .parameters = {in_query("status", choice({"open", "resolved"}), "Absent: open."),
                     in_query("includeResolved", truth(),
                              "Also what was resolved in the last 14 days."),
                     in_query("project", some_text(limits::kMaxProjectBytes),
                              "Only those of this project."),
                     in_query("session_id", some_text(limits::kMaxWorkSessionIdBytes),
                              "Only those of the project of this working session."),
                     link("thread"), link("run"), link("checkpoint"), link("commit")},
      .responses = {gives(200, "The items; totals are of the project, else of the whole workspace.",
                          named("ItemList"))},
      .handler = list_items};
}

Route create_route() {
  return {.method = "POST",
          .path = "/v1/items",
          .name = "createItem",
          .tag = "items",
          .summary = "Note something that is open",
          .description = "One that says nearly the same as an open one of its project is 409.",
          .access = Access::kWrite,
          .body = takes(object({must("text", some_text(limits::kMaxItemTextChars)),
                                may("project", some_text(limits::kMaxProjectBytes)),
                                may("session_id", some_text(limits::kMaxWorkSessionIdBytes)),
                                may("allow_duplicate", truth()),
                                may("linear_issue", text(limits::kMaxLinkBytes),
                                    "The key of the issue that it is about"),
                                may("thread", text(limits::kMaxLinkBytes), "What opened it"),
                                may("run", text(limits::kMaxLinkBytes)),
                                may("checkpoint", text(limits::kMaxLinkBytes)),
                                may("commit", text(limits::kMaxLinkBytes))})),
          .responses = {gives(201, "The item.", named("ItemDetails"))},
          .handler = create_item};
}

}  // namespace

std::vector<Route> item_routes() {
  std::vector<Route> routes;
  routes.push_back(workspace_wide(list_route()));
  routes.push_back(workspace_wide(once(create_route())));
  routes.push_back(workspace_wide({.method = "GET",
                                   .path = "/v1/items/{item_id}",
                                   .name = "getItem",
                                   .tag = "items",
                                   .summary = "An item with what opened it and what closed it",
                                   .access = Access::kRead,
                                   .responses = {gives(200, "The item.", named("ItemDetails"))},
                                   .handler = get_item}));
  routes.push_back(
      workspace_wide({.method = "POST",
                      .path = "/v1/items/{item_id}/resolve",
                      .name = "resolveItem",
                      .tag = "items",
                      .summary = "Mark an item as done; again, it changes nothing",
                      .access = Access::kWrite,
                      .body = may_take(object(resolution_members())),
                      .responses = {gives(200, "The item as it is now.", named("ResolvedItem"))},
                      .handler = resolve_item}));
  std::vector<Member> by_text = {
      must(
          "text_match", some_text(limits::kMaxItemTextChars),
          "Looked for in open items, without regard to case; it must be in one of them only. #2 is "
          "the second open item of the project's or the session's list"),
      may("project", some_text(limits::kMaxProjectBytes),
          "Whose items are meant. Absent: those of the session's project")};
  for (Member& member : resolution_members()) by_text.push_back(std::move(member));
  routes.push_back(
      workspace_wide({.method = "POST",
                      .path = "/v1/items/resolve",
                      .name = "resolveItemByText",
                      .tag = "items",
                      .summary = "Mark the item as done whose text matches",
                      .access = Access::kWrite,
                      .body = takes(object(by_text)),
                      .responses = {gives(200, "The item as it is now.", named("ResolvedItem"))},
                      .handler = resolve_by_text}));
  return routes;
}

}  // namespace skein::http::v1
