#include "api/checkpoints.h"

#include "api/checkpoint_answers.h"
#include "core/percent.h"
#include "core/quote.h"
#include "http/v1/common.h"
#include "http/v1/describe.h"
#include "http/v1/resources.h"
#include "skein/limits.h"

namespace skein::http::v1 {
namespace {

constexpr std::size_t kStandardPage = 50;
constexpr std::size_t kMaxPage = 1000;
constexpr std::size_t kMaxIdBytes = 128;
constexpr std::size_t kMaxCheckpointsLookedAt = 100'000;

Checkpoints checkpoints_of(Service& service, const Request& request) {
  return workspace_checkpoints(
      service.settings(),
      [&service, id = request.id](const std::string& notice) { service.log(notice, id); });
}

// Ids are given whole: part of one might be of another tomorrow.
Outcome<std::string> checkpoint_in_path(const Request& request) {
  const std::string& id = request.parameter("checkpoint_id");
  if (id.size() > kMaxIdBytes || id.find('/') != std::string::npos || id.starts_with('.')) {
    return refuse(400, "invalid", "a checkpoint's id is T-YYYYMMDD-HHMMSS-slug");
  }
  return id;
}

Outcome<Checkpoint> whole_checkpoint(Service& service, const Request& request,
                                     const std::string& id) {
  SKEIN_ASSIGN_OR_REFUSE(Checkpoint found, checkpoints_of(service, request).get(id));
  if (found.id == id) return found;
  return refuse(404, "not_found", "there is no checkpoint " + id);
}

Reply list_checkpoints(Service& service, Request& request) {
  CheckpointQuery query;
  query.words = request.query("q").value_or("");
  query.tags = request.all_queries("tag");
  query.worker = request.query("worker").value_or("");
  SKEIN_ASSIGN_OR_REFUSE(query.since, request.query_time("since"));
  SKEIN_ASSIGN_OR_REFUSE(query.until, request.query_time("until"));
  SKEIN_ASSIGN_OR_REFUSE(const auto type, parsed(request, "type", parse_checkpoint_type));
  if (type) query.types = {*type};
  SKEIN_ASSIGN_OR_REFUSE(const std::size_t limit, limit_of(request, kStandardPage, kMaxPage));
  // A page begins behind the last id of the one before. Ids may share a second, so that the time
  // alone does not tell where that is.
  const std::string after = request.query("cursor").value_or("");
  query.limit = kMaxCheckpointsLookedAt;
  SKEIN_ASSIGN_OR_REFUSE(const std::vector<CheckpointEntry> entries,
                         checkpoints_of(service, request).list(query));
  std::vector<std::string> shown;
  std::string next;
  bool begun = after.empty();
  std::string last;
  for (const CheckpointEntry& entry : entries) {
    if (!begun) {
      begun = entry.id == after;
      continue;
    }
    if (shown.size() == limit) {
      next = last;
      break;
    }
    shown.push_back(entry_json(entry));
    last = entry.id;
  }
  if (!begun) {
    return refuse(400, "invalid",
                  "cursor must be `next` of a page whose last checkpoint is still there, got " +
                      quote(after));
  }
  return json_response(page_json("checkpoints", std::move(shown), next));
}

std::vector<std::string> texts_in(JsonFields& fields, std::string_view name) {
  return fields.take_strings(name).value_or(std::vector<std::string>());
}

Reply create_checkpoint(Service& service, Request& request) {
  JsonFields fields = body_of(request);
  NewCheckpoint wanted;
  if (text_in(fields, "type") == "handoff") wanted.type = CheckpointType::kHandoff;
  wanted.slug = text_in(fields, "slug").value_or("");
  wanted.title = text_in(fields, "title").value_or("");
  wanted.summary = text_in(fields, "summary").value_or("");
  wanted.next_steps = texts_in(fields, "next_steps");
  wanted.tags = texts_in(fields, "tags");
  wanted.files_touched = texts_in(fields, "files_touched");
  if (const auto worker = fields.take_object("worker")) {
    JsonFields of_worker(*worker);
    wanted.worker.emplace();
    wanted.worker->id = text_in(of_worker, "id").value_or("");
    wanted.worker->skill = text_in(of_worker, "skill");
    wanted.worker->state = WorkerState::kIdle;
    if (const auto state = text_in(of_worker, "state")) {
      SKEIN_ASSIGN_OR_REFUSE(wanted.worker->state, parse_worker_state(*state));
    }
  }
  SKEIN_ASSIGN_OR_REFUSE(
      const Checkpoint made,
      make_checkpoint(service.settings(), service.store(), wanted, text_in(fields, "session_id")));
  return json_response(201, checkpoint_json(made))
      .header("Location", "/v1/checkpoints/" + percent_encoded(made.id));
}

Reply get_checkpoint(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const std::string id, checkpoint_in_path(request));
  SKEIN_ASSIGN_OR_REFUSE(const Checkpoint checkpoint, whole_checkpoint(service, request, id));
  return json_response(checkpoint_json(checkpoint));
}

Reply update_checkpoint(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const std::string id, checkpoint_in_path(request));
  SKEIN_TRY_OR_REFUSE(whole_checkpoint(service, request, id));
  JsonFields fields = body_of(request);
  CheckpointUpdate changes;
  changes.summary = text_in(fields, "summary");
  changes.next_steps = texts_in(fields, "next_steps");
  changes.tags = texts_in(fields, "tags");
  changes.files_touched = texts_in(fields, "files_touched");
  if (const auto state = text_in(fields, "worker_state")) {
    SKEIN_ASSIGN_OR_REFUSE(changes.worker_state, parse_worker_state(*state));
  }
  SKEIN_ASSIGN_OR_REFUSE(const Checkpoint updated,
                         checkpoints_of(service, request).update(id, changes));
  return json_response(checkpoint_json(updated));
}

Reply resume(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const std::string id, checkpoint_in_path(request));
  if (id != "newest") SKEIN_TRY_OR_REFUSE(whole_checkpoint(service, request, id));
  SKEIN_ASSIGN_OR_REFUSE(const Resumed resumed,
                         resume_checkpoint(service.settings(), id == "newest" ? "" : id));
  std::string json = resumed_json(resumed);
  json.back() = ',';
  return json_response(json + "\"prompt\":" + Json::string(handoff_prompt(resumed)).text() + "}");
}

Shape lines(std::size_t max_length = limits::kMaxCheckpointTextBytes) {
  return list(text(max_length), limits::kMaxCheckpointItems);
}

Route list_route() {
  return {
      .method = "GET",
      .path = "/v1/checkpoints",
      .name = "listCheckpoints",
      .tag = "checkpoints",
      .summary = "Where the work stood, newest first",
      .access = Access::kRead,
      .parameters = {in_query("q", some_text(4096),
                              "Words that must all be there, each as the beginning of a word."),
                     repeated(in_query("tag", some_text(256), "With all of these tags.")),
                     in_query("worker", some_text(256), "Of the worker with this id or skill."),
                     in_query("since", time(), "Not before."), in_query("until", time(), "Before."),
                     in_query("type", named("CheckpointType"), "Of this type only."),
                     limit_parameter(kStandardPage, kMaxPage), cursor_parameter()},
      .responses = {gives(200, "A page.", named("CheckpointPage"))},
      .handler = list_checkpoints};
}

Route create_route() {
  return {.method = "POST",
          .path = "/v1/checkpoints",
          .name = "createCheckpoint",
          .tag = "checkpoints",
          .summary = "Write down where the work stands",
          .access = Access::kWrite,
          .body = takes(object(
              {may("type", with_default(choice({"checkpoint", "handoff"}), "\"checkpoint\"")),
               may("slug", text(256)), may("title", text(1024)),
               may("summary", text(limits::kMaxCheckpointTextBytes)), may("next_steps", lines()),
               may("tags", lines(256)), may("files_touched", lines(4096)),
               may("worker", object({must("id", some_text(256)), may("skill", text(256)),
                                     may("state", named("WorkerState"))})),
               may("session_id", some_text(limits::kMaxWorkSessionIdBytes),
                   "Of this session, with the commits since it began; absent: of the newest open "
                   "one")})),
          .responses = {gives(201, "The checkpoint.", named("Checkpoint"))},
          .handler = create_checkpoint};
}

}  // namespace

std::vector<Route> checkpoint_routes() {
  std::vector<Route> routes;
  routes.push_back(workspace_wide(list_route()));
  routes.push_back(workspace_wide(once(create_route())));
  routes.push_back(workspace_wide({.method = "GET",
                                   .path = "/v1/checkpoints/{checkpoint_id}",
                                   .name = "getCheckpoint",
                                   .tag = "checkpoints",
                                   .summary = "A checkpoint, as its file has it",
                                   .access = Access::kRead,
                                   .responses = {gives(200, "It.", named("Checkpoint"))},
                                   .handler = get_checkpoint}));
  routes.push_back(workspace_wide(
      {.method = "PATCH",
       .path = "/v1/checkpoints/{checkpoint_id}",
       .name = "updateCheckpoint",
       .tag = "checkpoints",
       .summary = "Change the summary or the worker's state, or add next steps, tags and files",
       .description =
           "Records anew where git stands, with the commits made since. A worker's state "
           "moves idle, loading, executing, verifying, completed; and "
           "from executing to error. Other moves are 409.",
       .access = Access::kWrite,
       .body = takes(
           object({may("summary", text(limits::kMaxCheckpointTextBytes)),
                   may("next_steps", lines()), may("tags", lines(256)),
                   may("files_touched", lines(4096)), may("worker_state", named("WorkerState"))})),
       .responses = {gives(200, "It, as it is now.", named("Checkpoint"))},
       .handler = update_checkpoint}));
  routes.push_back(workspace_wide(
      {.method = "GET",
       .path = "/v1/checkpoints/{checkpoint_id}/resume",
       .name = "resumeCheckpoint",
       .tag = "checkpoints",
       .summary = "A checkpoint, what is open, and how far the repository has moved since",
       .description = "`newest` is the newest that somebody asked for.",
       .access = Access::kRead,
       .responses = {gives(200, "All that one needs to go on.", named("ResumedCheckpoint"))},
       .handler = resume}));
  return routes;
}

}  // namespace skein::http::v1
