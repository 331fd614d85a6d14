#include "api/summaries.h"
#include "api/threads.h"
#include "core/json_object.h"
#include "http/v1/common.h"
#include "http/v1/describe.h"
#include "http/v1/resources.h"
#include "skein/context.h"
#include "skein/limits.h"

namespace skein::http::v1 {
namespace {

Reply get_context(Service& service, Request& request) {
  ContextRequest wanted;
  SKEIN_ASSIGN_OR_REFUSE(const auto tokens,
                         request.query_number("maxTokens", 1, limits::kMaxContextTokens));
  SKEIN_ASSIGN_OR_REFUSE(const auto strategy, parsed(request, "strategy", parse_context_strategy));
  wanted.max_tokens = tokens.value_or(wanted.max_tokens);
  wanted.strategy = strategy.value_or(wanted.strategy);
  SKEIN_ASSIGN_OR_REFUSE(const ContextWindow window,
                         service.threads().context(request.thread->id.str(), wanted));
  return json_response(to_json(window));
}

Response summary_response(const SummaryOutcome& made) {
  JsonObject object;
  object.add_json("summary", made.summary ? summary_json(*made.summary) : "null");
  if (!made.note.empty()) object.add("note", made.note);
  return json_response(object.str());
}

// An engine takes its time: nobody waits for it on a thread of the pool, and it stops when the
// client goes away.
Reply summarize_later(Service& service, const Manifest& thread, SummaryOptions wish) {
  SKEIN_ASSIGN_OR_REFUSE(const auto job, service.summaries().start(thread, std::move(wish)));
  Waiting waiting;
  waiting.topics = {Topic::of(thread.id)};
  waiting.poll = [job]() -> tl::expected<std::optional<Response>, Problem> {
    const auto made = job->result();
    if (!made) return std::nullopt;
    if (!*made) return tl::unexpected(Problem(made->error()));
    return std::optional<Response>(summary_response(**made));
  };
  waiting.abandoned = [job] { job->stop(); };
  waiting.ends_at_once = true;
  return wait_for(std::move(waiting));
}

Reply summarize(Service& service, Request& request) {
  JsonFields fields = body_of(request);
  SummaryOptions wish;
  SummarizeRequest& wanted = wish.request;
  wanted.threshold = number_in(fields, "threshold").value_or(wanted.threshold);
  wanted.keep_recent = number_in(fields, "keepRecent").value_or(wanted.keep_recent);
  wanted.max_tokens = number_in(fields, "maxTokens").value_or(wanted.max_tokens);
  wish.extract = fields.take_bool("extract").value_or(false);
  const Manifest& thread = *request.thread;
  if (!wish.extract && has_summary_engine(service.agents().agents(), thread.agent_id)) {
    return summarize_later(service, thread, std::move(wish));
  }
  SKEIN_ASSIGN_OR_REFUSE(const SummaryOutcome made,
                         make_summary(service.store(), service.agents(), thread, std::move(wish)));
  return summary_response(made);
}

Reply progress(Service& service, Request& request) {
  const auto job = service.summaries().find(request.thread->id);
  const SummaryProgress now = job ? job->progress() : SummaryProgress{};
  return json_response(JsonObject()
                           .add("underWay", job != nullptr)
                           .add("done", now.done)
                           .add("total", now.total)
                           .str());
}

Reply undo(Service& service, Request& request) {
  UndoRequest wanted;
  if (request.parameter("seq") != "newest") {
    SKEIN_ASSIGN_OR_REFUSE(wanted.seq, seq_in_path(request, "seq"));
  }
  SKEIN_ASSIGN_OR_REFUSE(const Seq undone,
                         service.threads().undo_summary(request.thread->id.str(), wanted));
  return json_response(JsonObject().add("undone", undone).str());
}

}  // namespace

std::vector<Route> context_routes() {
  std::vector<Route> routes;
  routes.push_back(
      {.method = "GET",
       .path = "/v1/threads/{thread_id}/context",
       .name = "getContext",
       .tag = "context",
       .summary = "What of a thread fits into a model's window, and what became of the rest",
       .access = Access::kRead,
       .agent = AgentOf::kThread,
       .parameters = {in_query("maxTokens",
                               with_default(whole(1, limits::kMaxContextTokens), "8000"),
                               "The window, in tokens of o200k_base."),
                      in_query("strategy", named("ContextStrategy"), "Absent: recent.")},
       .responses = {gives(200, "The messages, and a ledger of all events.",
                           named("ContextWindow"))},
       .handler = get_context});
  routes.push_back(once(
      {.method = "POST",
       .path = "/v1/threads/{thread_id}/summaries",
       .name = "summarizeThread",
       .tag = "context",
       .summary = "Append a summary of what is old",
       .description =
           "The engine of the thread's agent writes it, if that agent is trusted. Otherwise, with "
           "`extract`, or where the engine fails, its sentences are those of the thread; `note` "
           "says why. A client that disconnects stops it, and nothing is written.",
       .access = Access::kWrite,
       .agent = AgentOf::kThread,
       .body = may_take(object(
           {may("threshold", with_default(whole(0), "50"),
                "Nothing is done unless more messages are not yet summarised"),
            may("keepRecent", with_default(whole(0), "10"), "The newest that stay as they are"),
            may("maxTokens", with_default(whole(1, limits::kMaxSummaryTokens), "600")),
            may("extract", truth(), "Use sentences of the thread, and no engine")})),
       .responses = {gives(200, "The summary; null: there was nothing to do.",
                           object({must("summary", or_null(named("Summary"))),
                                   may("note", text(), "Why the engine did not write it")}))},
       .handler = summarize}));
  routes.push_back({.method = "GET",
                    .path = "/v1/threads/{thread_id}/summaries/progress",
                    .name = "getSummaryProgress",
                    .tag = "context",
                    .summary = "How far the summary is that an engine of this server writes",
                    .access = Access::kRead,
                    .agent = AgentOf::kThread,
                    .responses = {gives(200, "Events that the engine has read, of how many.",
                                        object({must("underWay", truth()), must("done", whole(0)),
                                                must("total", whole(0))}))},
                    .handler = progress});
  routes.push_back(
      {.method = "DELETE",
       .path = "/v1/threads/{thread_id}/summaries/{seq}",
       .name = "undoSummary",
       .tag = "context",
       .summary = "Take a summary out of force",
       .access = Access::kWrite,
       .agent = AgentOf::kThread,
       .parameters = {in_path("seq", text(20), "Its position, or `newest`.")},
       .responses = {gives(200, "Which one it was.", object({must("undone", whole(1))}))},
       .handler = undo});
  return routes;
}

}  // namespace skein::http::v1
