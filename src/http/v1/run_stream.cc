// Runs as they go on.
#include "api/runs.h"
#include "core/json_object.h"
#include "http/v1/common.h"
#include "http/v1/describe.h"
#include "http/v1/resources.h"
#include "http/v1/run_answers.h"
#include "skein/runner.h"

namespace skein::http::v1 {
namespace {

// What the run answered: the text of its response, which is in the thread.
Result<std::string> outcome_of(Service& service, const Run& run) {
  std::string response;
  if (run.response_seq) {
    SKEIN_TRY(service.store().read(run.thread, {.from = *run.response_seq, .limit = 1},
                                   [&](Event& event) {
                                     if (auto* said = std::get_if<Message>(&event.payload)) {
                                       response = std::move(said->text);
                                     }
                                     return false;
                                   }));
  }
  return outcome_json(run, response);
}

// One event of a run as a frame. Pieces of text have no id: whoever comes again gets the events
// that they became part of.
std::string frame_of(const RunEvent& event) {
  switch (event.kind) {
    case RunEventKind::kStatus:
      return sse_frame("status", to_json(*event.run), event.position);
    case RunEventKind::kText:
      return sse_frame("text", JsonObject().add("text", event.text).str());
    case RunEventKind::kThinking:
      return sse_frame("thinking", JsonObject().add("text", event.text).str());
    case RunEventKind::kEvent:
      break;
  }
  return sse_frame("event", to_json(*event.event), event.position);
}

class RunFrames final : public Stream {
 public:
  RunFrames(ThreadId thread, std::unique_ptr<RunStream> run)
      : thread_(thread), run_(std::move(run)) {}

  std::vector<Topic> topics() const override { return {Topic::of(thread_)}; }

  Result<Pulled> pull(std::size_t max_bytes) override {
    Pulled pulled;
    std::size_t bytes = 0;
    while (bytes < max_bytes) {
      SKEIN_ASSIGN(const std::optional<RunEvent> event, run_->next(std::chrono::milliseconds(0)));
      if (!event) {
        pulled.ended = run_->ended();
        return pulled;
      }
      pulled.frames.push_back(share(frame_of(*event)));
      bytes += pulled.frames.back()->size();
    }
    pulled.more = true;
    return pulled;
  }

 private:
  const ThreadId thread_;
  const std::unique_ptr<RunStream> run_;
};

Reply stream_run(Service& service, Request& request) {
  const std::string position = request.header("Last-Event-ID").value_or("");
  SKEIN_ASSIGN_OR_REFUSE(auto run,
                         called("Last-Event-ID", "position",
                                service.runner().join(request.parameter("run_id"), position)));
  return stream_response(std::make_unique<RunFrames>(request.thread->id, std::move(run)));
}

}  // namespace

Response run_response(int status, const Run& run) {
  Response response = json_response(status, to_json(run));
  if (status == 202) response.header("Location", "/v1/runs/" + run.id);
  return response;
}

Reply wait_for_run(Service& service, std::string run_id, std::chrono::milliseconds timeout,
                   std::vector<HttpHeader> headers) {
  SKEIN_ASSIGN_OR_REFUSE(const ThreadId thread, thread_of_run(run_id));
  const auto look = [&service, run_id, headers = std::move(headers)](
                        bool whatever) -> tl::expected<std::optional<Response>, Problem> {
    SKEIN_ASSIGN_OR_REFUSE(const Run run, service.runner().get(run_id));
    if (!run.ended() && !whatever) return std::nullopt;
    SKEIN_ASSIGN_OR_REFUSE(std::string json, outcome_of(service, run));
    Response response = json_response(std::move(json));
    response.headers.insert(response.headers.end(), headers.begin(), headers.end());
    return response;
  };
  Waiting waiting;
  waiting.topics = {Topic::of(thread)};
  waiting.poll = [look] { return look(false); };
  waiting.timeout = timeout;
  waiting.late = [look]() -> Reply {
    SKEIN_ASSIGN_OR_REFUSE(std::optional<Response> response, look(true));
    return std::move(*response);
  };
  return wait_for(std::move(waiting));
}

std::vector<Route> run_stream_routes() {
  std::vector<Route> routes;
  routes.push_back(
      {.method = "GET",
       .path = "/v1/runs/{run_id}/stream",
       .name = "streamRun",
       .tag = "runs",
       .summary = "What a run does and did, as server-sent events",
       .description =
           "`status` (a Run; first of all while it goes on, whenever its status changes, and at "
           "the end, once), `event` (an "
           "Event, as the thread has it), `text` and `thinking` (pieces that are no "
           "events yet, without an id). Ends with the run. Goes on right after "
           "Last-Event-ID, also after a restart.",
       .access = Access::kRead,
       .agent = AgentOf::kRun,
       .parameters = {last_event_id_parameter()},
       .responses = {streams("The run, until it has ended.")},
       .handler = stream_run});
  return routes;
}

}  // namespace skein::http::v1
