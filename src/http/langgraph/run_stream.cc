#include "http/langgraph/run_stream.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/try.h"
#include "http/langgraph/run_start.h"

namespace skein::http {
namespace {

using langgraph::StateMessage;
using langgraph::ThreadState;

bool has(const std::vector<std::string>& modes, std::string_view mode) {
  return std::find(modes.begin(), modes.end(), mode) != modes.end();
}

std::string messages_json(const std::vector<std::string>& messages) {
  return JsonObject().add_json("messages", json_array_of(messages)).str();
}

class RunFrames : public Stream {
 public:
  RunFrames(Shared shared, const Run& run, std::unique_ptr<RunStream> source,
            RunStreamOptions options)
      : shared_(std::move(shared)),
        run_(run),
        state_(run.thread),
        source_(std::move(source)),
        options_(std::move(options)),
        numbered_(modes_of(run)),
        inputs_(json_elements(run.input.empty() ? "[]" : run.input.text()).size()) {}

  std::vector<Topic> topics() const override { return {Topic::of(run_.thread)}; }

  Result<Pulled> pull(std::size_t max_bytes) override {
    pulled_ = {};
    bytes_ = 0;
    if (next_frame_ == 0) {
      emit("metadata", JsonObject().add("run_id", run_.id).add_json("attempt", "1").str());
    }
    while (bytes_ < max_bytes) {
      SKEIN_ASSIGN(auto event, source_->next(std::chrono::milliseconds(0), {}));
      if (!event) break;
      SKEIN_TRY(take(*event));
    }
    pulled_.ended = source_->ended();
    pulled_.more = bytes_ >= max_bytes && !pulled_.ended;
    if (pulled_.ended && options_.temporary) shared_->temporary.delivered(run_.thread);
    return std::move(pulled_);
  }

  void abandoned() override {
    if (!options_.cancel_when_abandoned) return;
    const auto cancelled = shared_->service.runner().cancel(run_.id);
    if (cancelled) return;
    shared_->service.log("run " + run_.id + ": " + cancelled.error().message, options_.request);
  }

 private:
  Result<void> take(const RunEvent& event) {
    switch (event.kind) {
      case RunEventKind::kStatus:
        if (source_->ended()) tell_end(*event.run);
        return {};
      case RunEventKind::kText:
        tell_piece(event.text);
        return {};
      case RunEventKind::kThinking:
        return {};
      case RunEventKind::kEvent:
        return tell_event(*event.event);
    }
    return {};
  }

  // The state that the run goes on from; known once it has begun.
  Result<void> begin() {
    if (std::exchange(begun_, true)) return {};
    SKEIN_ASSIGN(const Run run, shared_->service.runner().get(run_.id));
    SKEIN_ASSIGN(state_,
                 langgraph::read_state(shared_->service.store(), run_.thread, run.base_seq));
    return {};
  }

  // What others wrote between the events of the run is part of the state as well, unless it was
  // left behind.
  Result<void> catch_up(Seq seq) {
    Store& store = shared_->service.store();
    ReadRange range;
    range.from = state_.head() + 1;
    range.head = seq;
    if (range.from > seq) return {};
    bool straight = true;
    SKEIN_TRY(store.read(run_.thread, range, [&](Event& event) {
      straight = !event.base || *event.base == state_.head();
      if (straight) state_.add(event);
      return straight;
    }));
    if (!straight) {
      SKEIN_ASSIGN(state_, langgraph::read_state(store, run_.thread, seq));
    }
    return {};
  }

  Result<void> tell_event(const Event& event) {
    SKEIN_TRY(begin());
    known_ = event.seq <= options_.known_to;
    const std::string expected = state_.next_message_id(run_.id);
    if (event.base == state_.head()) {
      state_.add(event);
    } else {
      SKEIN_TRY(catch_up(event.seq));
    }
    if (inputs_ > 0) {
      take_input(event.seq);
      return {};
    }
    if (state_.checkpoint() != event.seq || state_.messages().empty()) return {};
    const StateMessage& message = state_.messages().back();
    const auto* said = std::get_if<Message>(&event.payload);
    const bool by_tool = said != nullptr && said->role == Role::kTool;
    if (!by_tool) tell_rest(event, expected);
    tell_step(by_tool ? "tools" : "agent", {message.json});
    return {};
  }

  // All of it is one step. Several events may be one message.
  void take_input(Seq seq) {
    if (state_.checkpoint() == seq && !state_.messages().empty()) {
      const StateMessage& message = state_.messages().back();
      if (message.last == seq && message.first < seq && !fresh_.empty()) fresh_.pop_back();
      if (message.last == seq) fresh_.push_back(message.json);
    }
    if (--inputs_ == 0) tell_step("", std::exchange(fresh_, {}));
  }

  void tell_step(std::string_view node, const std::vector<std::string>& messages) {
    const std::int64_t before = next_frame_;
    if (!node.empty()) {
      emit_in("updates", "updates",
              [&] { return JsonObject().add_json(node, messages_json(messages)).str(); });
    }
    emit_in("values", "values", [&] { return state_.values(); });
    emit_in("messages", "messages/complete", [&] { return json_array_of(messages); });
    // A step that none of the run's modes shows is counted: text after it is not that before it.
    if (next_frame_ == before) ++next_frame_;
    text_.clear();
    told_ = 0;
  }

  // --- Text that is not stored yet ---

  void tell_piece(std::string_view piece) {
    known_ = false;
    text_ += piece;
    tell_text(state_.next_message_id(run_.id));
  }

  // What of the whole text was not told before it was stored.
  void tell_rest(const Event& event, const std::string& id) {
    std::string_view whole;
    if (const auto* said = std::get_if<Message>(&event.payload)) whole = said->text;
    if (const auto* said = std::get_if<AssistantText>(&event.payload)) whole = said->text;
    if (whole.empty()) return;
    if (!whole.starts_with(text_)) {
      // Something else was said instead, such as that the run was stopped.
      told_ = 0;
    }
    text_ = whole;
    tell_text(id);
  }

  // From where the reader is, which is behind the frame told last.
  void tell_text(const std::string& id) {
    if (next_frame_ - 1 < options_.after.frame || known_) return;
    if (next_frame_ - 1 == options_.after.frame) told_ = std::max(told_, options_.after.text);
    if (told_ >= text_.size()) return;
    const std::string piece = text_.substr(told_);
    told_ = text_.size();
    const std::string frame = std::to_string(next_frame_ - 1) + "." + std::to_string(told_);
    if (has(options_.modes, "messages-tuple")) {
      push("messages", json_array_of({message_json(id, piece), about()}), frame);
    }
    if (!has(options_.modes, "messages")) return;
    if (introduced_ != id) {
      introduced_ = id;
      const std::string metadata = JsonObject().add_json("metadata", about()).str();
      push("messages/metadata", JsonObject().add_json(id, metadata).str(), frame);
    }
    push("messages/partial", json_array_of({message_json(id, text_)}), frame);
  }

  static std::string message_json(const std::string& id, const std::string& text) {
    langgraph::AssistantMessage message;
    message.text = text;
    return langgraph::assistant_message_json(id, message, "");
  }

  std::string about() const {
    return JsonObject()
        .add("langgraph_node", "agent")
        .add("graph_id", run_.agent_id)
        .add("assistant_id", assistant_uuid(run_.agent_id))
        .add("run_id", run_.id)
        .str();
  }

  // --- The end ---

  void tell_end(const Run& run) {
    if (run.question && has(options_.modes, "values")) {
      std::string values = state_.values();
      values.pop_back();
      values += values.size() > 1 ? ",\"__interrupt__\":" : "\"__interrupt__\":";
      values += interrupts_json(run) + "}";
      // Without a number: the question goes when it is answered, and the frames after it have their
      // own.
      push("values", values, "");
    }
    const bool failed = run.status == RunStatus::kError || run.status == RunStatus::kTimeout;
    if (!failed) return;
    emit("error", JsonObject()
                      .add("error", run.status == RunStatus::kTimeout ? "TimeoutError" : "Error")
                      .add("message", run.error ? run.error->message : "the run failed")
                      .str());
  }

  // A frame that is the same each time.
  void emit(std::string_view event, const std::string& data) {
    const std::int64_t frame = next_frame_++;
    if (frame > options_.after.frame) push(event, data, std::to_string(frame));
  }

  // One of a mode. It is counted also where the reader does not want it.
  template <class Make>
  void emit_in(std::string_view mode, std::string_view event, Make make) {
    const bool wanted = has(options_.modes, mode) && !known_;
    if (has(numbered_, mode)) {
      const std::int64_t frame = next_frame_++;
      if (wanted && frame > options_.after.frame) push(event, make(), std::to_string(frame));
    } else if (wanted && next_frame_ > options_.after.frame) {
      push(event, make(), "");
    }
  }

  void push(std::string_view event, const std::string& data, const std::string& id) {
    pulled_.frames.push_back(share(sse_frame(event, data, id)));
    bytes_ += pulled_.frames.back()->size();
  }

  const Shared shared_;
  const Run run_;
  ThreadState state_;
  const std::unique_ptr<RunStream> source_;
  const RunStreamOptions options_;
  const std::vector<std::string> numbered_;  // the modes whose frames have numbers
  std::size_t inputs_;                       // messages of the input that did not come yet
  std::vector<std::string> fresh_;           // those that did
  bool begun_ = false;                       // the state is that of the run
  bool known_ = false;                       // the reader has what is told now
  std::string text_;                         // said since the last frame that is stored
  std::size_t told_ = 0;                     // how much of it the reader has
  std::string introduced_;                   // the message whose metadata was told
  std::int64_t next_frame_ = 0;
  Pulled pulled_;
  std::size_t bytes_ = 0;
};

}  // namespace

std::optional<FrameCursor> FrameCursor::parse(std::string_view text) {
  FrameCursor cursor;
  const char* const end = text.data() + text.size();
  auto [at, wrong] = std::from_chars(text.data(), end, cursor.frame);
  if (wrong != std::errc() || cursor.frame < -1) return std::nullopt;
  if (at != end && *at == '.') {
    const auto [after, bad] = std::from_chars(at + 1, end, cursor.text);
    if (bad != std::errc()) return std::nullopt;
    at = after;
  }
  if (at != end) return std::nullopt;
  return cursor;
}

Result<std::unique_ptr<Stream>> run_stream(Shared shared, const Run& run,
                                           RunStreamOptions options) {
  Service& service = shared->service;
  SKEIN_ASSIGN(auto source, service.runner().join(run.id));
  return std::make_unique<RunFrames>(std::move(shared), run, std::move(source), std::move(options));
}

}  // namespace skein::http
