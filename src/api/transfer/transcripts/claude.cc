// Sessions of Claude Code: a tree of entries, each of which names the one that it follows.
#include <algorithm>
#include <unordered_map>

#include "api/transfer/transcripts/event_maker.h"
#include "api/transfer/transcripts/json_lines.h"
#include "api/transfer/transcripts/transcript.h"
#include "core/file.h"
#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/try.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSource = "claude-code";

struct Entry {
  explicit Entry(const JsonLines::Line& line) : fields(line.object), number(line.number) {
    type = fields.take_string("type").value_or("");
    uuid = fields.take_string("uuid").value_or("");
    parent = fields.take_string("parentUuid").value_or("");
    session = fields.take_string("sessionId").value_or("");
    agent = fields.take_string("agentId").value_or("");
    time = fields.take_time("timestamp").value_or(Timestamp{});
    is_sidechain = fields.take_bool("isSidechain").value_or(false);
    is_meta = fields.take_bool("isMeta").value_or(false);
    is_summary = fields.take_bool("isCompactSummary").value_or(false);
  }

  bool is_turn() const { return type == "user" || type == "assistant"; }

  JsonFields fields;
  std::uint64_t number;
  std::string type, uuid, parent, session, agent;
  Timestamp time;
  bool is_sidechain, is_meta, is_summary;
};

// One answer of the API, whose blocks are entries of their own.
struct Answer {
  std::string tokens;
  bool calls_tools = false;
  bool counted = false;
};

// An event of a conversation, and the one that it continues from.
struct Node {
  std::string key;
  std::string answer;  // the id of the answer that it is a part of
  bool is_tool_result = false;
  int parent = -1;
};

struct Conversation {
  std::vector<Node> nodes;
  Timestamp last_time;
};

struct Place {
  Continues continues = Continues::kPrevious;
  int parent = -1;
};

class ClaudeTranscript : public Transcript {
 public:
  ClaudeTranscript(fs::path path, const TranscriptListener& listener)
      : path_(std::move(path)), listener_(listener) {}

  Result<void> scan();
  const std::vector<TranscriptThread>& threads() const override { return threads_; }
  Result<void> read(const Sink& sink) override;

 private:
  // What is in the file.
  std::string identity_of(const Entry& entry);
  TranscriptThread new_thread(Entry& entry, const std::string& identity) const;
  void add_subagent(TranscriptThread& thread, const Entry& entry, JsonObject& metadata) const;
  void note_thread(Entry& entry);
  void note_answer(Entry& entry);
  void note_title(Entry& entry);

  // What becomes of it.
  std::vector<Event> events_of(Entry& entry);
  void add_said(Entry& entry, std::vector<Event>& events);
  void add_queued(Entry& entry, std::vector<Event>& events);
  void add_answered(JsonFields& message, std::vector<Event>& events);
  void add_tool_result(RawJson block, std::vector<Event>& events);
  Place place_of(const Entry& entry, const Conversation& conversation, bool is_prompt) const;
  Result<void> deliver(Entry& entry, std::size_t thread, std::vector<Event> events,
                       const Sink& sink);
  void remember(const Entry& entry, std::size_t thread);

  const fs::path path_;
  const TranscriptListener& listener_;

  std::string session_;
  std::vector<TranscriptThread> threads_;
  std::unordered_map<std::string, std::size_t> thread_by_identity_;
  std::unordered_map<std::string, std::string> sidechain_roots_;  // by uuid
  std::unordered_map<std::string, Answer> answers_;               // by the API's id
  int title_rank_ = 0;

  EventMaker make_{kSource};
  std::vector<Conversation> conversations_;
  // Where entries stand: the last event at or above them; -1 above the first.
  std::unordered_map<std::string, int> places_;
  std::string answer_id_;  // of the entry at hand
};

// --- What is in the file ---

std::string ClaudeTranscript::identity_of(const Entry& entry) {
  const std::string base = std::string(kSource) + "/";
  if (!entry.is_sidechain) return base + session_;
  if (!entry.agent.empty()) return base + entry.session + "/" + entry.agent;
  // Before agents had names, a sidechain was what hung together.
  const auto above = sidechain_roots_.find(entry.parent);
  const std::string root = above == sidechain_roots_.end() ? entry.uuid : above->second;
  sidechain_roots_.emplace(entry.uuid, root);
  return base + entry.session + "/" + root;
}

void ClaudeTranscript::add_subagent(TranscriptThread& thread, const Entry& entry,
                                    JsonObject& metadata) const {
  const std::string parent = std::string(kSource) + "/" + entry.session;
  metadata.add("parent_session_id", entry.session);
  metadata.add("parent_thread", transcript_thread_id(parent).str());
  if (!entry.agent.empty()) metadata.add("agent_id", entry.agent);
  if (path_.stem() != "agent-" + entry.agent) return;
  constexpr std::size_t kMaxAboutBytes = 1 << 20;
  const fs::path about = path_.parent_path() / (path_.stem().string() + ".meta.json");
  const auto text = read_file(about.string(), kMaxAboutBytes);
  if (!text || !*text || !Json::parse_object(**text)) return;
  JsonFields fields(**text);
  if (auto type = fields.take_string("agentType")) metadata.add("agent_type", *type);
  if (auto call = fields.take_string("toolUseId")) metadata.add("tool_call_id", *call);
  thread.title = fields.take_string("description");
}

TranscriptThread ClaudeTranscript::new_thread(Entry& entry, const std::string& identity) const {
  TranscriptThread thread;
  thread.identity = identity;
  thread.usual_agent = kSource;
  thread.created_at = entry.time;
  JsonObject metadata;
  metadata.add("source", kSource);
  if (entry.is_sidechain) {
    add_subagent(thread, entry, metadata);
  } else {
    metadata.add("session_id", session_);
    thread.session_id = session_;
    if (auto alias = check_alias(session_)) thread.alias = *alias;
  }
  const auto add = [&](const char* field, const char* name) {
    if (auto value = entry.fields.take_string(field)) metadata.add(name, *value);
  };
  add("cwd", "cwd");
  add("gitBranch", "git_branch");
  add("version", "version");
  thread.metadata = Json::trusted(metadata.str());
  return thread;
}

void ClaudeTranscript::note_thread(Entry& entry) {
  const std::string identity = identity_of(entry);
  const auto [found, is_new] = thread_by_identity_.emplace(identity, threads_.size());
  if (is_new) threads_.push_back(new_thread(entry, identity));
  TranscriptThread& thread = threads_[found->second];
  if (!thread.created_at.is_set()) thread.created_at = entry.time;
}

void ClaudeTranscript::note_answer(Entry& entry) {
  const auto text = entry.fields.take_object("message");
  if (!text) return;
  JsonFields message(*text);
  const auto id = message.take_string("id");
  if (!id) return;
  Answer& answer = answers_[*id];
  if (message.take_string("stop_reason") == "tool_use") answer.calls_tools = true;
  for (const RawJson block :
       json_elements(message.take<RawJson>("content", any_value).value_or(""))) {
    if (JsonFields(block).take_string("type") == "tool_use") answer.calls_tools = true;
  }
  if (const auto usage = message.take_object("usage")) {
    // Early versions wrote counts before they were final: the last ones count.
    JsonFields counts(*usage);
    answer.tokens = tokens_json(counts.take_int("input_tokens"), counts.take_int("output_tokens"),
                                counts.take_int("cache_read_input_tokens"),
                                counts.take_int("cache_creation_input_tokens"));
  }
}

// What a person called the session counts more than what a program did.
void ClaudeTranscript::note_title(Entry& entry) {
  struct Kind {
    const char* type;
    const char* field;
  };
  constexpr Kind kKinds[] = {
      {"summary", "summary"}, {"ai-title", "aiTitle"}, {"custom-title", "customTitle"}};
  for (int rank = 0; rank < 3; ++rank) {
    if (entry.type != kKinds[rank].type || rank < title_rank_) continue;
    const auto title = entry.fields.take_string(kKinds[rank].field);
    const auto thread = thread_by_identity_.find(std::string(kSource) + "/" + session_);
    if (!title || title->empty() || thread == thread_by_identity_.end()) continue;
    threads_[thread->second].title = title;
    title_rank_ = rank;
  }
}

Result<void> ClaudeTranscript::scan() {
  // The file has the name of its session, which copies of its entries need not say.
  if (check_alias(path_.stem().string())) session_ = path_.stem().string();
  SKEIN_ASSIGN(JsonLines lines, JsonLines::open(path_, nullptr));
  JsonLines::Line line;
  while (true) {
    SKEIN_ASSIGN(const bool more, lines.next(line));
    if (!more) break;
    Entry entry(line);
    if (session_.empty()) session_ = entry.session;
    if (entry.is_turn()) note_thread(entry);
    if (entry.type == "assistant") note_answer(entry);
    note_title(entry);
  }
  conversations_.resize(threads_.size());
  return {};
}

// --- What becomes of it ---

void ClaudeTranscript::add_tool_result(RawJson block, std::vector<Event>& events) {
  JsonFields fields(block);
  const std::string call = fields.take_string("tool_use_id").value_or("");
  const RawJson content = fields.take<RawJson>("content", any_value).value_or("null");
  events.push_back(make_.answered(call, text_of_tool_output(content),
                                  fields.take_bool("is_error").value_or(false)));
}

// Texts side by side are one message; results of tools stand between them.
void ClaudeTranscript::add_said(Entry& entry, std::vector<Event>& events) {
  const auto text = entry.fields.take_object("message");
  if (!text) return listener_.ignored("user without a message");
  JsonFields message(*text);
  const RawJson content = message.take<RawJson>("content", any_value).value_or("null");
  std::string said = content.starts_with('[') ? "" : text_of_content(content);
  const auto add_text = [&] {
    if (said.empty()) return;
    if (said.starts_with("<local-command-")) {
      listener_.ignored("output of a command");
    } else if (entry.is_summary) {
      events.push_back(make_.summary(std::move(said)));
    } else {
      events.push_back(make_.said(Role::kUser, std::move(said)));
    }
    said.clear();
  };
  for (const RawJson block : json_elements(content)) {
    if (JsonFields(block).take_string("type") == "tool_result") {
      add_text();
      add_tool_result(block, events);
    } else if (const std::string more = text_of_content(block); !more.empty()) {
      said += (said.empty() ? "" : "\n\n") + more;
    }
  }
  add_text();
}

// A prompt that was typed while the agent was at work.
void ClaudeTranscript::add_queued(Entry& entry, std::vector<Event>& events) {
  const auto text = entry.fields.take_object("attachment");
  JsonFields attachment(text.value_or("{}"));
  const bool is_prompt = attachment.take_string("type") == "queued_command" &&
                         attachment.take_string("commandMode").value_or("prompt") == "prompt";
  std::string prompt =
      is_prompt ? text_of_content(attachment.take<RawJson>("prompt", any_value).value_or("null"))
                : "";
  if (prompt.empty()) return listener_.ignored("attachment");
  events.push_back(make_.said(Role::kUser, std::move(prompt)));
}

void ClaudeTranscript::add_answered(JsonFields& message, std::vector<Event>& events) {
  const std::string model = message.take_string("model").value_or("");
  if (model == "<synthetic>") return listener_.ignored("answer that no model gave");
  make_.set_model(model);
  answer_id_ = message.take_string("id").value_or("");
  Answer& answer = answers_[answer_id_];
  if (!answer.counted) make_.set_tokens(answer.tokens);
  const RawJson content = message.take<RawJson>("content", any_value).value_or("null");
  const auto add_text = [&](std::string text) {
    if (text.empty()) return;
    events.push_back(answer.calls_tools ? make_.narrated(std::move(text))
                                        : make_.said(Role::kAssistant, std::move(text)));
  };
  if (content.starts_with('"')) add_text(text_of_content(content));
  for (const RawJson block : json_elements(content)) {
    JsonFields fields(block);
    const std::string type = fields.take_string("type").value_or("");
    if (type == "text") {
      add_text(fields.take_string("text").value_or(""));
    } else if (type.ends_with("tool_use")) {
      const RawJson input = fields.take_object("input").value_or("{}");
      events.push_back(make_.called(fields.take_string("id").value_or(""),
                                    fields.take_string("name").value_or("unknown"),
                                    Json::trusted(std::string(input))));
    } else if (type.ends_with("tool_result")) {
      add_tool_result(block, events);
    } else {
      listener_.ignored(type.empty() ? "block" : type);
    }
  }
  if (!events.empty()) answer.counted = true;
  make_.set_tokens("");
}

std::vector<Event> ClaudeTranscript::events_of(Entry& entry) {
  std::vector<Event> events;
  answer_id_.clear();
  if (entry.type == "attachment") {
    add_queued(entry, events);
  } else if (!entry.is_turn()) {
    listener_.ignored(entry.type.empty() ? "entry without a type" : entry.type);
  } else if (entry.is_meta) {
    listener_.ignored("meta");
  } else if (entry.type == "user") {
    add_said(entry, events);
  } else if (const auto text = entry.fields.take_object("message")) {
    JsonFields message(*text);
    add_answered(message, events);
  }
  return events;
}

// Results of calls that were made at once each name their own call: they, and further calls of the
// same answer, do not part the ways.
Place ClaudeTranscript::place_of(const Entry& entry, const Conversation& conversation,
                                 bool is_prompt) const {
  const auto& nodes = conversation.nodes;
  const int last = static_cast<int>(nodes.size()) - 1;
  const Place previous{Continues::kPrevious, last};
  if (nodes.empty() || entry.is_summary) return previous;
  const auto parent = places_.find(entry.parent);
  const bool from_nothing = entry.parent.empty() || (parent != places_.end() && parent->second < 0);
  if (from_nothing) {
    return is_prompt && !entry.is_sidechain ? Place{Continues::kNothing, -1} : previous;
  }
  if (parent == places_.end()) return previous;
  const Node& wanted = nodes[static_cast<std::size_t>(parent->second)];
  for (int at = last; at != parent->second;) {
    const bool passes =
        at >= 0 &&
        (nodes[static_cast<std::size_t>(at)].is_tool_result ||
         (!wanted.answer.empty() && nodes[static_cast<std::size_t>(at)].answer == wanted.answer));
    if (!passes) return {Continues::kNamed, parent->second};
    at = nodes[static_cast<std::size_t>(at)].parent;
  }
  return previous;
}

Result<void> ClaudeTranscript::deliver(Entry& entry, std::size_t thread, std::vector<Event> events,
                                       const Sink& sink) {
  Conversation& conversation = conversations_[thread];
  const bool is_prompt = !events.empty() &&
                         std::holds_alternative<Message>(events.front().payload) &&
                         std::get<Message>(events.front().payload).role == Role::kUser;
  Place place = place_of(entry, conversation, is_prompt);
  for (std::size_t i = 0; i < events.size(); ++i) {
    TranscriptEvent one;
    one.thread = thread;
    one.line = entry.number;
    one.event = std::move(events[i]);
    const std::string name =
        entry.uuid.empty() ? "line-" + std::to_string(entry.number) : entry.uuid;
    one.event.key = i == 0 ? name : name + "/" + std::to_string(i);
    one.event.timestamp = entry.time.is_set() ? entry.time : conversation.last_time;
    one.continues = place.continues;
    if (place.continues == Continues::kNamed) {
      one.after = conversation.nodes[static_cast<std::size_t>(place.parent)].key;
    }
    const auto* message = std::get_if<Message>(&one.event.payload);
    one.is_summary = entry.is_summary && message != nullptr && message->role == Role::kSystem;
    conversation.last_time = one.event.timestamp;
    conversation.nodes.push_back({one.event.key, answer_id_,
                                  message != nullptr && message->role == Role::kTool,
                                  place.parent});
    place = {Continues::kPrevious, static_cast<int>(conversation.nodes.size()) - 1};
    SKEIN_TRY(sink(std::move(one)));
  }
  return {};
}

// An entry of which nothing became stands where the one above it does.
void ClaudeTranscript::remember(const Entry& entry, std::size_t thread) {
  if (entry.uuid.empty()) return;
  const auto above = places_.find(entry.parent);
  const int last = static_cast<int>(conversations_[thread].nodes.size()) - 1;
  const bool known = !entry.parent.empty() && above != places_.end();
  // The first entry after a compaction names none.
  const bool begins = entry.parent.empty() && entry.type != "system";
  places_[entry.uuid] = known ? above->second : begins ? -1 : last;
}

Result<void> ClaudeTranscript::read(const Sink& sink) {
  SKEIN_ASSIGN(JsonLines lines, JsonLines::open(path_, &listener_));
  JsonLines::Line line;
  while (true) {
    SKEIN_ASSIGN(const bool more, lines.next(line));
    if (!more) return {};
    Entry entry(line);
    // Entries of one session but of another file were copied into it.
    const auto thread = thread_by_identity_.find(identity_of(entry));
    if (thread == thread_by_identity_.end()) {
      listener_.ignored(entry.type.empty() ? "entry without a type" : entry.type);
      continue;
    }
    std::vector<Event> events = events_of(entry);
    remember(entry, thread->second);
    if (events.empty()) continue;
    SKEIN_TRY(deliver(entry, thread->second, std::move(events), sink));
    const auto& nodes = conversations_[thread->second].nodes;
    places_[entry.uuid] = static_cast<int>(nodes.size()) - 1;
  }
}

}  // namespace

OpenedTranscript open_claude_transcript(const fs::path& path, const TranscriptListener& listener) {
  auto transcript = std::make_unique<ClaudeTranscript>(path, listener);
  SKEIN_TRY(transcript->scan());
  return transcript;
}

}  // namespace skein
