// Sessions of Codex: a log of what went to and came from the model, and of what happened besides.
#include <unordered_map>

#include "api/transfer/transcripts/event_maker.h"
#include "api/transfer/transcripts/json_lines.h"
#include "api/transfer/transcripts/response_items.h"
#include "api/transfer/transcripts/transcript.h"
#include "core/json_fields.h"
#include "core/try.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSource = "codex";

struct Entry {
  explicit Entry(const JsonLines::Line& line) : fields(line.object), number(line.number) {
    time = fields.take_time("timestamp").value_or(Timestamp{});
    type = fields.take_string("type").value_or("");
    if (const auto found = fields.take_object("payload")) {
      payload = *found;
    } else if (!type.empty()) {
      // The first versions wrote items without an envelope.
      payload = line.object;
      type = "response_item";
    }
  }

  JsonFields fields;
  std::uint64_t number;
  Timestamp time;
  std::string type;
  RawJson payload;  // empty in the first line of the first versions
};

std::string type_in(RawJson payload) {
  return JsonFields(payload).take_string("type").value_or("");
}

class CodexRollout : public Transcript {
 public:
  CodexRollout(fs::path path, const TranscriptListener& listener)
      : path_(std::move(path)), listener_(listener) {}

  Result<void> scan();
  const std::vector<TranscriptThread>& threads() const override { return threads_; }
  Result<void> read(const Sink& sink) override;

 private:
  void note_session(RawJson about, Timestamp time);
  void note_tokens(RawJson payload, std::uint64_t answer_line);

  Result<void> take(const Entry& entry, const Sink& sink);
  Result<void> take_item(const Entry& entry, const Sink& sink);
  void take_happening(const Entry& entry);
  void roll_back(std::int64_t turns);
  Result<void> deliver(const Entry& entry, Event event, bool is_summary, const Sink& sink);

  const fs::path path_;
  const TranscriptListener& listener_;
  std::vector<TranscriptThread> threads_;
  std::unordered_map<std::uint64_t, std::string> tokens_by_line_;

  EventMaker make_{kSource};
  bool saw_session_ = false;
  std::unordered_map<std::string, std::uint64_t> events_at_;  // by time
  Timestamp last_time_;
  std::string last_key_;                   // of the event that the next one continues from
  bool rolled_back_ = false;               // last_key_ is not the previous one
  std::vector<std::string> before_turns_;  // last_key_ before each prompt on the current path
};

void CodexRollout::note_session(RawJson about, Timestamp time) {
  JsonFields fields(about);
  const auto id = fields.take_string("id");
  if (!id || id->empty() || !threads_.empty()) return;
  TranscriptThread thread;
  thread.identity = std::string(kSource) + "/" + *id;
  thread.usual_agent = kSource;
  thread.created_at = fields.take_time("timestamp").value_or(time);
  if (auto alias = check_alias(*id)) thread.alias = *alias;
  JsonObject metadata;
  metadata.add("source", kSource).add("session_id", *id);
  const auto add_link = [&](const std::optional<std::string>& other, const std::string& name) {
    if (!other) return;
    metadata.add(name + "_session_id", *other);
    metadata.add(name + "_thread", transcript_thread_id(kSource + ("/" + *other)).str());
  };
  add_link(fields.take_string("parent_thread_id"), "parent");
  add_link(fields.take_string("forked_from_id"), "forked_from");
  const auto add = [&](JsonFields& from, const char* field, const char* name) {
    if (auto value = from.take_string(field)) metadata.add(name, *value);
  };
  add(fields, "cwd", "cwd");
  add(fields, "cli_version", "version");
  add(fields, "agent_role", "agent_type");
  if (const auto git = fields.take_object("git")) {
    JsonFields state(*git);
    add(state, "branch", "git_branch");
    add(state, "commit_hash", "git_commit");
  }
  thread.metadata = Json::trusted(metadata.str());
  threads_.push_back(std::move(thread));
}

void CodexRollout::note_tokens(RawJson payload, std::uint64_t answer_line) {
  JsonFields fields(payload);
  const auto info = fields.take_object("info");
  if (!info) return;
  JsonFields counts(*info);
  const auto last = counts.take_object("last_token_usage");
  if (!last) return;
  JsonFields usage(*last);
  tokens_by_line_[answer_line] = tokens_json(
      usage.take_int("input_tokens"), usage.take_int("output_tokens"),
      usage.take_int("cached_input_tokens"), usage.take_int("cache_write_input_tokens"));
}

Result<void> CodexRollout::scan() {
  SKEIN_ASSIGN(JsonLines lines, JsonLines::open(path_, nullptr));
  JsonLines::Line line;
  std::uint64_t answer_line = 0;  // of the model's last item that no count followed yet
  while (true) {
    SKEIN_ASSIGN(const bool more, lines.next(line));
    if (!more) break;
    const Entry entry(line);
    if (entry.payload.empty()) note_session(line.object, entry.time);
    if (entry.type == "session_meta") note_session(entry.payload, entry.time);
    if (entry.type == "response_item" && is_by_model(entry.payload)) answer_line = line.number;
    if (entry.type == "event_msg" && answer_line > 0 && type_in(entry.payload) == "token_count") {
      note_tokens(entry.payload, answer_line);
      answer_line = 0;
    }
  }
  if (threads_.empty()) {
    return fail(ErrorCode::kDamaged, path_.string() + ": does not say whose session it is");
  }
  return {};
}

Result<void> CodexRollout::deliver(const Entry& entry, Event event, bool is_summary,
                                   const Sink& sink) {
  TranscriptEvent one;
  one.line = entry.number;
  one.event = std::move(event);
  if (entry.time.is_set()) last_time_ = entry.time;
  if (!last_time_.is_set()) last_time_ = threads_.front().created_at;
  one.event.timestamp = last_time_;
  // Entries have no names, but their times stay when a file is copied or thinned out.
  const std::string time = last_time_.str();
  one.event.key = time + "/" + std::to_string(events_at_[time]++);
  one.is_summary = is_summary;
  if (rolled_back_) {
    one.continues = last_key_.empty() ? Continues::kNothing : Continues::kNamed;
    one.after = last_key_;
    rolled_back_ = false;
  }
  const auto* message = std::get_if<Message>(&one.event.payload);
  if (message != nullptr && message->role == Role::kUser) before_turns_.push_back(last_key_);
  last_key_ = one.event.key;
  return sink(std::move(one));
}

Result<void> CodexRollout::take_item(const Entry& entry, const Sink& sink) {
  const auto tokens = tokens_by_line_.find(entry.number);
  make_.set_tokens(tokens == tokens_by_line_.end() ? "" : tokens->second);
  ItemOutcome outcome = event_of_response_item(entry.payload, make_);
  if (auto* event = std::get_if<Event>(&outcome)) {
    return deliver(entry, std::move(*event), false, sink);
  }
  listener_.ignored(std::get<std::string>(outcome));
  return {};
}

void CodexRollout::roll_back(std::int64_t turns) {
  for (; turns > 0 && !before_turns_.empty(); --turns) {
    last_key_ = before_turns_.back();
    before_turns_.pop_back();
    rolled_back_ = true;
  }
}

void CodexRollout::take_happening(const Entry& entry) {
  JsonFields fields(entry.payload);
  const std::string type = fields.take_string("type").value_or("event");
  if (type == "thread_rolled_back") return roll_back(fields.take_int("num_turns").value_or(0));
  // What was said is in the items; counts were taken in advance.
  if (type != "token_count") listener_.ignored(type);
}

Result<void> CodexRollout::take(const Entry& entry, const Sink& sink) {
  if (entry.payload.empty()) {
    if (saw_session_) listener_.ignored("state");
    saw_session_ = true;
    return {};
  }
  if (entry.type == "response_item") return take_item(entry, sink);
  JsonFields fields(entry.payload);
  if (entry.type == "event_msg") {
    take_happening(entry);
  } else if (entry.type == "turn_context") {
    make_.set_model(fields.take_string("model").value_or(""));
  } else if (entry.type == "compacted" || entry.type == "inter_agent_communication") {
    const bool is_summary = entry.type == "compacted";
    std::string text = fields.take_string(is_summary ? "message" : "content").value_or("");
    if (!text.empty()) {
      Event event =
          is_summary ? make_.summary(std::move(text)) : make_.said(Role::kUser, std::move(text));
      return deliver(entry, std::move(event), is_summary, sink);
    }
    listener_.ignored(entry.type);
  } else if (entry.type != "session_meta" || saw_session_) {
    listener_.ignored(entry.type);
  }
  saw_session_ = saw_session_ || entry.type == "session_meta";
  return {};
}

Result<void> CodexRollout::read(const Sink& sink) {
  SKEIN_ASSIGN(JsonLines lines, JsonLines::open(path_, &listener_));
  JsonLines::Line line;
  while (true) {
    SKEIN_ASSIGN(const bool more, lines.next(line));
    if (!more) return {};
    SKEIN_TRY(take(Entry(line), sink));
  }
}

}  // namespace

OpenedTranscript open_codex_rollout(const fs::path& path, const TranscriptListener& listener) {
  auto transcript = std::make_unique<CodexRollout>(path, listener);
  SKEIN_TRY(transcript->scan());
  return transcript;
}

}  // namespace skein
