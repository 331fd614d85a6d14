#include "http/langgraph/thread_events.h"

#include <algorithm>
#include <utility>

#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/try.h"

namespace skein::http {
namespace {

using langgraph::ThreadState;

// Numbers of what belongs to one stored event: what it made, then the message that follows it, by
// how far its text has come, and at last the end of the run whose last event it is.
constexpr std::uint64_t kRoom = std::uint64_t{1} << 20;
enum Place : std::uint64_t {
  kRunning = 0,
  kBlockFinish = 1,
  kMessageFinish = 2,
  kTool = 3,
  kUpdates = 4,
  kValues = 5,
  kMessageStart = 14,
  kBlockStart = 15,
  kText = 16,
  kTextEnd = kRoom - 4,
  kInput = kRoom - 2,
  kOver = kRoom - 1,
};

std::uint64_t number_of(Seq seq, std::uint64_t place) { return seq * kRoom + place; }

std::string run_id_of(const Event& event) {
  if (event.metadata.empty()) return "";
  return JsonFields(event.metadata.text()).take_string("runId").value_or("");
}

class ThreadEvents : public Stream {
 public:
  ThreadEvents(Shared shared, const Manifest& manifest, ThreadEventsFilter filter, Seq from,
               ThreadState state)
      : shared_(std::move(shared)),
        thread_(manifest.id),
        agent_id_(manifest.agent_id),
        filter_(std::move(filter)),
        cursor_(from),
        state_(std::move(state)) {}

  std::vector<Topic> topics() const override { return {Topic::of(thread_)}; }

  Result<Pulled> pull(std::size_t max_bytes) override {
    pulled_ = {};
    bytes_ = 0;
    bool again = true;
    while (again && bytes_ < max_bytes) {
      SKEIN_ASSIGN(const bool stored, read_log(max_bytes));
      SKEIN_ASSIGN(const bool behind, read_run());
      again = stored || behind;
    }
    pulled_.more = again;
    return std::move(pulled_);
  }

 private:
  // True: there may be more.
  Result<bool> read_log(std::size_t max_bytes) {
    constexpr std::uint64_t kAtOnce = 64;
    std::vector<Event> events;
    ReadRange range;
    range.from = cursor_ + 1;
    range.limit = kAtOnce;
    SKEIN_TRY(shared_->service.store().read(thread_, range, [&](Event& event) {
      events.push_back(std::move(event));
      return true;
    }));
    for (const Event& event : events) {
      SKEIN_TRY(take(event));
      cursor_ = event.seq;
      if (bytes_ >= max_bytes) return true;
    }
    return events.size() == kAtOnce;
  }

  Result<void> take(const Event& event) {
    const std::string run_id = run_id_of(event);
    // Also one that asked a person, and goes on.
    if (!run_id.empty() && (run_id != run_id_ || over_)) {
      SKEIN_TRY(end_run());
      SKEIN_TRY(begin_run(run_id, event));
    }
    // What leaves a run behind comes after its end.
    if (run_id.empty() && event.base) SKEIN_TRY(end_run());
    const std::string message_id = state_.next_message_id(run_id);
    if (event.base && *event.base != state_.head()) {
      SKEIN_ASSIGN(state_, langgraph::read_state(shared_->service.store(), thread_, event.seq));
    } else {
      state_.add(event);
    }
    const bool shows = state_.checkpoint() == event.seq;
    if (shows) show(event, message_id, !run_id.empty());
    if (run_id.empty()) return {};
    run_seq_ = event.seq;
    run_at_ = event.timestamp;
    if (!shows) return {};  // what the run costs stands before what it says
    said_seq_ = event.seq;
    text_.clear();
    if (ahead_at_ == event.seq) text_ = std::exchange(ahead_, "");
    told_ = 0;
    started_ = false;
    return {};
  }

  // --- What an event makes ---

  void show(const Event& event, const std::string& message_id, bool of_run) {
    const auto* said = std::get_if<Message>(&event.payload);
    const auto* narrated = std::get_if<AssistantText>(&event.payload);
    const auto* use = std::get_if<ToolUse>(&event.payload);
    const bool by_agent = use != nullptr || narrated != nullptr ||
                          (said != nullptr && said->role == Role::kAssistant);
    const bool by_tool = said != nullptr && said->role == Role::kTool;
    if (of_run && by_agent && use == nullptr) {
      finish_message(event, message_id, said != nullptr ? said->text : narrated->text);
    }
    if (use != nullptr) tell_tool_start(event, *use);
    if (by_tool) tell_tool_end(event, *said);
    if (of_run && (by_agent || by_tool) && !state_.messages().empty()) {
      const std::string data =
          JsonObject().add_json("messages", json_array_of({state_.messages().back().json})).str();
      tell("updates", "updates", event.seq, kUpdates, event.timestamp, data,
           by_tool ? "tools" : "agent");
    }
    tell("values", "values", event.seq, kValues, event.timestamp, state_.values());
  }

  void tell_tool_start(const Event& event, const ToolUse& use) {
    JsonFields metadata(event.metadata.empty() ? "{}" : event.metadata.text());
    tell("tools", "tools", event.seq, kTool, event.timestamp,
         JsonObject()
             .add("event", "tool-started")
             .add("tool_call_id", metadata.take_string("tool_call_id").value_or(""))
             .add("tool_name", use.name)
             .add_json("input", use.input.text())
             .str());
  }

  void tell_tool_end(const Event& event, const Message& said) {
    JsonFields metadata(event.metadata.empty() ? "{}" : event.metadata.text());
    const bool failed = metadata.take_bool("is_error").value_or(false);
    JsonObject data;
    data.add("event", failed ? "tool-error" : "tool-finished")
        .add("tool_call_id", metadata.take_string("tool_call_id").value_or(""));
    data.add(failed ? "message" : "output", said.text);
    tell("tools", "tools", event.seq, kTool, event.timestamp, data.str());
  }

  // --- Messages, word by word ---

  void start_message(const std::string& id, Timestamp at) {
    if (std::exchange(started_, true)) return;
    tell("messages", "messages", said_seq_, kMessageStart, at,
         JsonObject().add("event", "message-start").add("id", id).add("run_id", id).str());
    tell("messages", "messages", said_seq_, kBlockStart, at,
         JsonObject()
             .add("event", "content-block-start")
             .add_json("index", "0")
             .add_json("content", R"({"type":"text","text":""})")
             .add("run_id", id)
             .str());
  }

  // `whole`: nothing more will come, so that the last word is complete.
  void tell_words(const std::string& id, Timestamp at, bool whole) {
    while (told_ < text_.size()) {
      const auto space = text_.find_first_of(" \t\n", told_);
      std::size_t end = text_.size();
      if (space != std::string::npos) end = std::min(text_.find_first_not_of(" \t\n", space), end);
      // White space may go on as well.
      if (end == text_.size() && !whole) return;
      std::uint64_t place = kText + end;
      if (place >= kTextEnd) {
        if (!whole) return;
        end = text_.size();
        place = kTextEnd;
      }
      start_message(id, at);
      const std::string delta = JsonObject()
                                    .add("type", "text-delta")
                                    .add("text", text_.substr(told_, end - told_))
                                    .str();
      tell("messages", "messages", said_seq_, place, at,
           JsonObject()
               .add("event", "content-block-delta")
               .add_json("index", "0")
               .add_json("delta", delta)
               .add("run_id", id)
               .str());
      told_ = end;
    }
  }

  void finish_message(const Event& event, const std::string& id, const std::string& text) {
    if (!text.starts_with(text_)) told_ = 0;  // something else was said instead
    text_ = text;
    start_message(id, event.timestamp);
    tell_words(id, event.timestamp, true);
    const std::string content = JsonObject().add("type", "text").add("text", text).str();
    tell("messages", "messages", event.seq, kBlockFinish, event.timestamp,
         JsonObject()
             .add("event", "content-block-finish")
             .add_json("index", "0")
             .add_json("content", content)
             .add("run_id", id)
             .str());
    tell("messages", "messages", event.seq, kMessageFinish, event.timestamp,
         JsonObject()
             .add("event", "message-finish")
             .add_json("responseMetadata", "{}")
             .add("run_id", id)
             .str());
  }

  // --- Runs ---

  Result<void> begin_run(const std::string& run_id, const Event& first) {
    run_id_ = run_id;
    over_ = false;
    run_seq_ = first.seq;
    said_seq_ = first.seq;
    tell_lifecycle("running", first.seq, kRunning, first.timestamp);
    source_.reset();
    ahead_.clear();
    ahead_at_ = 0;
    auto joined = shared_->service.runner().join(run_id);
    // Its record may have been removed; its events are there.
    if (joined) source_ = std::move(*joined);
    return {};
  }

  // What the run says before it is stored, and its end. True: the log has more.
  Result<bool> read_run() {
    if (!source_) {
      if (!run_id_.empty() && !over_) SKEIN_TRY(end_run());
      return false;
    }
    while (true) {
      SKEIN_ASSIGN(auto event, source_->next(std::chrono::milliseconds(0), {}));
      if (!event) break;
      if (event->kind == RunEventKind::kEvent) {
        ahead_at_ = event->event->seq;
        ahead_.clear();
        if (ahead_at_ > cursor_) return true;
      } else if (event->kind == RunEventKind::kText && ahead_at_ <= run_seq_) {
        text_ += event->text;
        tell_words(state_.next_message_id(run_id_), shared_->service.clock().now(), false);
      } else if (event->kind == RunEventKind::kText) {
        ahead_ += event->text;
      }
    }
    if (!source_->ended()) return false;
    source_.reset();
    SKEIN_TRY(end_run());
    return false;
  }

  Result<void> end_run() {
    if (run_id_.empty() || over_) return {};
    const auto run = shared_->service.runner().get(run_id_);
    if (run && !run->ended()) return {};
    over_ = true;
    source_.reset();
    if (!run) {
      tell_lifecycle("completed", run_seq_, kOver, run_at_);
      return {};
    }
    if (run->question) {
      tell("input.requested", "input", run_seq_, kInput, run->ended_at,
           JsonObject()
               .add("interrupt_id", interrupt_id(*run))
               .add_json("payload", question_json(*run->question))
               .str());
    }
    const bool failed = run->status == RunStatus::kError || run->status == RunStatus::kTimeout;
    const std::string error = failed && run->error ? run->error->message : "";
    const char* how = "completed";
    if (failed) how = "failed";
    if (run->status == RunStatus::kInterrupted) how = "interrupted";
    tell_lifecycle(how, run_seq_, kOver, run->ended_at, error);
    return {};
  }

  void tell_lifecycle(std::string_view event, Seq seq, Place place, Timestamp at,
                      const std::string& error = "") {
    JsonObject data;
    data.add("event", event).add("graph_name", agent_id_);
    if (!error.empty()) data.add("error", error);
    tell("lifecycle", "lifecycle", seq, place, at, data.str());
  }

  void tell(std::string_view method, std::string_view channel, Seq seq, std::uint64_t place,
            Timestamp at, const std::string& data, std::string_view node = {}) {
    const std::uint64_t number = number_of(seq, place);
    if (!filter_.channels.contains(channel) || !filter_.root) return;
    if (filter_.since && number <= *filter_.since) return;
    JsonObject params;
    params.add_json("namespace", "[]");
    params.add("timestamp", static_cast<std::uint64_t>(std::max<std::int64_t>(0, at.ms())));
    if (!node.empty()) params.add("node", node);
    params.add_json("data", data);
    const std::string id = std::to_string(number);
    const std::string event = JsonObject()
                                  .add("type", "event")
                                  .add("event_id", id)
                                  .add("seq", number)
                                  .add("method", method)
                                  .add_json("params", params.str())
                                  .str();
    pulled_.frames.push_back(share(sse_frame(method, event, id)));
    bytes_ += pulled_.frames.back()->size();
  }

  const Shared shared_;
  const ThreadId thread_;
  const std::string agent_id_;
  const ThreadEventsFilter filter_;
  Seq cursor_;         // the last event of the log that was taken
  ThreadState state_;  // up to it
  // The run that is told: its last event that was taken, the last of those that show, what it said
  // since, and how much of that was told.
  std::string run_id_;
  Seq run_seq_ = 0;
  Seq said_seq_ = 0;
  Timestamp run_at_;
  bool over_ = true;
  std::unique_ptr<RunStream> source_;
  std::string text_;
  std::size_t told_ = 0;
  bool started_ = false;
  // Where the source is ahead of the log: said after that event.
  Seq ahead_at_ = 0;
  std::string ahead_;
  Pulled pulled_;
  std::size_t bytes_ = 0;
};

// Where those that come without a number begin: before the newest runs.
Result<Seq> first_seq(LangGraph& graph, ThreadId thread) {
  RunQuery query;
  query.thread = thread;
  query.limit = limits::kMaxReplayedRuns;
  SKEIN_ASSIGN(const auto runs, graph.service.runner().list(query));
  Seq first = kLastSeq;
  for (const Run& run : runs) {
    if (run.first_seq > 0) first = std::min(first, run.first_seq - 1);
    if (run.first_seq == 0 && !run.ended()) first = std::min(first, run.base_seq);
  }
  return runs.size() < query.limit || first == kLastSeq ? Seq{0} : first;
}

// Where those that have a number go on: before the run that it belongs to, whose frames are
// numbered from where it began.
Result<Seq> seq_before(LangGraph& graph, const Manifest& manifest, std::uint64_t number) {
  const Seq reached = std::min<Seq>(number / kRoom, manifest.last_seq);
  if (reached == 0) return Seq{0};
  std::string run_id;
  Seq first = reached;
  ReadRange range;
  range.from = reached;
  range.direction = Direction::kBackward;
  SKEIN_TRY(graph.service.store().read(manifest.id, range, [&](Event& event) {
    const std::string of = run_id_of(event);
    if (of.empty()) return true;
    if (run_id.empty()) run_id = of;
    if (of == run_id) first = event.seq;
    return of == run_id;
  }));
  return first - 1;
}

}  // namespace

std::uint64_t last_number(Seq last_seq) { return last_seq == 0 ? 0 : number_of(last_seq, kOver); }

Result<std::unique_ptr<Stream>> thread_events(Shared shared, const Manifest& manifest,
                                              ThreadEventsFilter filter) {
  SKEIN_ASSIGN(const Seq from, filter.since ? seq_before(*shared, manifest, *filter.since)
                                            : first_seq(*shared, manifest.id));
  SKEIN_ASSIGN(auto state, langgraph::read_state(shared->service.store(), manifest.id, from));
  return std::make_unique<ThreadEvents>(std::move(shared), manifest, std::move(filter), from,
                                        std::move(state));
}

}  // namespace skein::http
