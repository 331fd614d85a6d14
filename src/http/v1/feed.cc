// What happens to threads: pages that one asks for, and a stream that tells.
#include <mutex>

#include "api/watch.h"
#include "core/json_array.h"
#include "core/json_object.h"
#include "http/v1/common.h"
#include "http/v1/describe.h"
#include "http/v1/resources.h"

namespace skein::http::v1 {
namespace {

constexpr std::size_t kStandardPage = 100;
constexpr std::size_t kMaxPage = 1000;
constexpr std::uint64_t kMaxWaitMs = 60'000;
// Steps of one look: beyond them the reader comes again, from where it is then.
constexpr int kMaxSteps = 64;

Outcome<ThreadEventFeed> feed_of(Service& service, const Request& request, std::string since) {
  ThreadEventFilter filter;
  for (const std::string& kind : request.all_queries("event")) {
    SKEIN_ASSIGN_OR_REFUSE(const ThreadEventKind wanted, parse_thread_event_kind(kind));
    filter.kinds.push_back(wanted);
  }
  if (const auto thread = request.query("threadId")) {
    // One that is gone may be asked for by its id, where nobody must be kept from learning that it
    // never was: its deletion is still told.
    SKEIN_ASSIGN_OR_REFUSE(const ThreadRef ref, ThreadRef::parse(*thread));
    SKEIN_ASSIGN_OR_REFUSE(const auto known, service.store().get(ref));
    const bool hidden =
        known ? !request.caller.sees(known->agent_id) : !ref.id() || !request.caller.all_agents;
    if (hidden) return refuse(404, "not_found", "there is no thread " + ref.str());
    filter.thread = known ? known->id : *ref.id();
  }
  SKEIN_ASSIGN_OR_REFUSE(const AgentScope scope, scope_of(request));
  std::optional<std::vector<std::string>> agents;
  if (!scope.all) agents = scope.agents;
  return ThreadEventFeed(service.store(), std::move(since), std::move(filter), std::move(agents));
}

// A page, or nothing while there is nothing to tell.
struct Page {
  std::vector<std::string> events;
  std::string cursor;

  std::string json() const {
    return JsonObject().add_json("events", json_array_of(events)).add("cursor", cursor).str();
  }
};

Result<Page> next_page(ThreadEventFeed& feed, std::size_t limit) {
  Page page;
  for (int steps = 0; steps < kMaxSteps && page.events.empty(); ++steps) {
    SKEIN_ASSIGN(const ThreadEventFeed::Step step, feed.next(std::chrono::milliseconds(0)));
    page.cursor = feed.cursor();
    for (const ThreadEvent& event : step.events) {
      if (page.events.size() == limit) return page;
      page.events.push_back(to_json(event));
      // The rest of the step is for the next page.
      if (page.events.size() == limit && &event != &step.events.back()) page.cursor = event.cursor;
    }
    if (!step.moved) break;
  }
  return page;
}

// A page that is waited for. Looking, and giving up, may happen at the same time.
struct Watched {
  explicit Watched(ThreadEventFeed opened) : feed(std::move(opened)) {}

  std::mutex mutex;
  ThreadEventFeed feed;  // under mutex
  // Until here there was nothing to tell: whoever gives up goes on from here, and does not miss
  // what was found at that moment. Under mutex.
  std::string quiet_until;
};

Result<Page> look(Watched& watched, std::size_t limit) {
  const std::lock_guard lock(watched.mutex);
  SKEIN_ASSIGN(Page page, next_page(watched.feed, limit));
  if (page.events.empty()) watched.quiet_until = page.cursor;
  return page;
}

Reply list_changes(Service& service, Request& request) {
  SKEIN_ASSIGN_OR_REFUSE(const std::size_t limit, limit_of(request, kStandardPage, kMaxPage));
  SKEIN_ASSIGN_OR_REFUSE(const auto wait_ms, request.query_number("waitMs", 0, kMaxWaitMs));
  SKEIN_ASSIGN_OR_REFUSE(ThreadEventFeed opened,
                         feed_of(service, request, request.query("since").value_or("")));
  const auto watched = std::make_shared<Watched>(std::move(opened));
  SKEIN_ASSIGN_OR_REFUSE(const Page first, called("since", "cursor", look(*watched, limit)));
  if (!first.events.empty() || wait_ms.value_or(0) == 0) return json_response(first.json());
  Waiting waiting;
  waiting.topics = {Topic::all()};
  waiting.poll = [watched, limit]() -> tl::expected<std::optional<Response>, Problem> {
    SKEIN_ASSIGN_OR_REFUSE(const Page page, look(*watched, limit));
    if (page.events.empty()) return std::nullopt;
    return json_response(page.json());
  };
  waiting.timeout = std::chrono::milliseconds(*wait_ms);
  waiting.ends_at_once = true;
  waiting.late = [watched]() -> Reply {
    const std::lock_guard lock(watched->mutex);
    Page empty;
    empty.cursor = watched->quiet_until;
    return json_response(empty.json());
  };
  return wait_for(std::move(waiting));
}

class FeedStream final : public Stream {
 public:
  FeedStream(ThreadEventFeed feed, std::vector<ThreadEvent> first)
      : feed_(std::move(feed)), ready_(std::move(first)) {}

  std::vector<Topic> topics() const override { return {Topic::all()}; }

  Result<Pulled> pull(std::size_t max_bytes) override {
    Pulled pulled;
    std::size_t bytes = 0;
    pulled.more = true;
    for (int steps = 0; steps < kMaxSteps && bytes < max_bytes; ++steps) {
      if (ready_.empty()) {
        SKEIN_ASSIGN(ThreadEventFeed::Step step, feed_.next(std::chrono::milliseconds(0)));
        pulled.more = step.moved;
        ready_ = std::move(step.events);
      }
      for (const ThreadEvent& event : ready_) {
        pulled.frames.push_back(
            share(sse_frame(to_string(event.kind), to_json(event), event.cursor)));
        bytes += pulled.frames.back()->size();
      }
      ready_.clear();
      if (!pulled.more) break;
    }
    return pulled;
  }

 private:
  ThreadEventFeed feed_;
  std::vector<ThreadEvent> ready_;  // read, and not told yet
};

Reply stream_changes(Service& service, Request& request) {
  auto since = request.header("Last-Event-ID");
  const char* const name = since ? "Last-Event-ID" : "since";
  if (!since) since = request.query("since").value_or(std::string(Store::kNow));
  SKEIN_ASSIGN_OR_REFUSE(ThreadEventFeed feed, feed_of(service, request, *since));
  // Here and now: what is no cursor is refused, and "now" is when one asked.
  SKEIN_ASSIGN_OR_REFUSE(ThreadEventFeed::Step first,
                         called(name, "cursor", feed.next(std::chrono::milliseconds(0))));
  return stream_response(std::make_unique<FeedStream>(std::move(feed), std::move(first.events)));
}

std::vector<Parameter> filter_parameters() {
  return {repeated(in_query("event", named("ThreadEventKind"),
                            "Only events of this kind; may be given again for more.")),
          agent_parameter(),
          in_query("threadId", some_text(64), "Only what happens to this thread.")};
}

}  // namespace

std::vector<Route> feed_routes() {
  Route list = {.method = "GET",
                .path = "/v1/events",
                .name = "listChanges",
                .tag = "feed",
                .summary = "What happened to threads since a cursor, in every process",
                .description =
                    "Each message, and each closing and archiving of a thread that still "
                    "exists, is told once; several updates may be told as one.",
                .access = Access::kRead,
                .agent = AgentOf::kHandler,
                .parameters = filter_parameters(),
                .responses = {gives(200, "A page.", named("ThreadEventPage"))},
                .handler = list_changes};
  list.parameters.push_back(
      in_query("since", text(512),
               "The cursor of the page or event before; empty: from the beginning; `now`."));
  list.parameters.push_back(limit_parameter(kStandardPage, kMaxPage));
  list.parameters.push_back(
      in_query("waitMs", whole(0, kMaxWaitMs), "How long to wait while there is nothing."));
  Route stream = {.method = "GET",
                  .path = "/v1/events/stream",
                  .name = "streamChanges",
                  .tag = "feed",
                  .summary = "What happens to threads, as server-sent events",
                  .description =
                      "The name of each is its kind, its data a ThreadEvent, its id the "
                      "cursor right after it. Whoever comes again with Last-Event-ID "
                      "misses nothing and sees nothing twice, also after a restart.",
                  .access = Access::kRead,
                  .agent = AgentOf::kHandler,
                  .parameters = filter_parameters(),
                  .responses = {streams("Events, without end.")},
                  .handler = stream_changes};
  stream.parameters.push_back(
      in_query("since", with_default(text(512), "\"now\""),
               "A cursor; empty: from the beginning; `now`: what happens from now on."));
  stream.parameters.push_back(last_event_id_parameter());
  std::vector<Route> routes;
  routes.push_back(std::move(list));
  routes.push_back(std::move(stream));
  return routes;
}

}  // namespace skein::http::v1
