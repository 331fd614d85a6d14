// Lists of messages, as OpenAI, LangChain and LangGraph write them.
#include <sys/stat.h>

#include <algorithm>

#include "api/transfer/transcripts/event_maker.h"
#include "api/transfer/transcripts/json_lines.h"
#include "api/transfer/transcripts/response_items.h"
#include "api/transfer/transcripts/transcript.h"
#include "core/file.h"
#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/try.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSource = "messages";
constexpr std::size_t kMaxFileBytes = std::size_t{256} << 20;

std::optional<RawJson> array(RawJson value) {
  return value.starts_with('[') ? std::optional(value) : std::nullopt;
}

// One conversation: its messages, and what stands around them.
struct List {
  std::vector<std::string> messages;
  std::string id;
  std::string model;
  Timestamp time;
};

// The state of a LangGraph thread has its messages in "values", and its id in several places.
List read_list(RawJson value) {
  List list;
  if (value.starts_with('[')) {
    for (const RawJson message : json_elements(value)) list.messages.emplace_back(message);
    return list;
  }
  JsonFields fields(value);
  list.time = fields.take_time("created_at").value_or(Timestamp{});
  list.model = fields.take_string("model").value_or("");
  for (const char* name : {"thread_id", "conversation_id", "session_id", "id"}) {
    if (list.id.empty()) list.id = fields.take_string(name).value_or("");
  }
  for (const char* name : {"checkpoint", "config"}) {
    JsonFields place(fields.take_object(name).value_or("{}"));
    JsonFields inner(place.take_object("configurable").value_or("{}"));
    if (list.id.empty()) list.id = place.take_string("thread_id").value_or("");
    if (list.id.empty()) list.id = inner.take_string("thread_id").value_or("");
  }
  JsonFields values(fields.take_object("values").value_or("{}"));
  auto messages = fields.take<RawJson>("messages", array);
  if (!messages) messages = values.take<RawJson>("messages", array);
  for (const RawJson message : json_elements(messages.value_or("[]"))) {
    list.messages.emplace_back(message);
  }
  return list;
}

// A message's role in the words of any of them; nothing for what is none.
std::optional<Role> role_of(std::string_view word) {
  struct Word {
    std::string_view word;
    Role role;
  };
  constexpr Word kWords[] = {{"user", Role::kUser},
                             {"human", Role::kUser},
                             {"HumanMessage", Role::kUser},
                             {"HumanMessageChunk", Role::kUser},
                             {"assistant", Role::kAssistant},
                             {"ai", Role::kAssistant},
                             {"AIMessage", Role::kAssistant},
                             {"AIMessageChunk", Role::kAssistant},
                             {"system", Role::kSystem},
                             {"developer", Role::kSystem},
                             {"SystemMessage", Role::kSystem},
                             {"tool", Role::kTool},
                             {"function", Role::kTool},
                             {"ToolMessage", Role::kTool},
                             {"FunctionMessage", Role::kTool}};
  for (const Word& known : kWords) {
    if (known.word == word) return known.role;
  }
  return std::nullopt;
}

// LangChain wraps messages in two ways: {"type","data"} and {"lc","id","kwargs"}.
struct Unwrapped {
  std::string role;
  std::string fields;
};

Unwrapped unwrap(RawJson message) {
  JsonFields outer(message);
  const std::string type = outer.take_string("type").value_or("");
  if (const auto kwargs = outer.take_object("kwargs")) {
    const auto path = outer.take_strings("id");
    return {path && !path->empty() ? path->back() : type, std::string(*kwargs)};
  }
  if (const auto data = outer.take_object("data")) return {type, std::string(*data)};
  return {outer.take_string("role").value_or(type), std::string(message)};
}

class MessageLists : public Transcript {
 public:
  MessageLists(fs::path path, const TranscriptListener& listener)
      : path_(std::move(path)), listener_(listener) {}

  Result<void> scan();
  const std::vector<TranscriptThread>& threads() const override { return threads_; }
  Result<void> read(const Sink& sink) override;

 private:
  Result<void> scan_lines();
  void note(const List& list, std::uint64_t line);
  Result<void> read_messages(const List& list, std::size_t thread, std::uint64_t line,
                             const Sink& sink);
  std::vector<Event> events_of(RawJson message, EventMaker& make) const;
  static void add_answer(JsonFields& fields, EventMaker& make, std::vector<Event>& events);

  const fs::path path_;
  const TranscriptListener& listener_;
  std::string text_;  // of a file that is one JSON value
  Timestamp written_;
  std::vector<TranscriptThread> threads_;
};

void MessageLists::note(const List& list, std::uint64_t line) {
  TranscriptThread thread;
  std::error_code error;
  // Without a name of its own a list is what is in this place.
  std::string id = list.id;
  if (id.empty()) {
    id = fs::weakly_canonical(path_, error).string();
    if (line > 0) id += ":" + std::to_string(line);
  }
  thread.identity = std::string(kSource) + "/" + id;
  const auto same = [&](const TranscriptThread& other) {
    return other.identity == thread.identity;
  };
  const bool repeats = std::any_of(threads_.begin(), threads_.end(), same);
  if (repeats) thread.identity += ":" + std::to_string(line);
  if (auto alias = check_alias(list.id); alias && !repeats) thread.alias = *alias;
  thread.created_at = list.time.is_set() ? list.time : written_;
  JsonObject metadata;
  metadata.add("source", kSource);
  if (!list.id.empty()) metadata.add("session_id", list.id);
  thread.metadata = Json::trusted(metadata.str());
  thread.keys_are_places = true;
  threads_.push_back(std::move(thread));
}

Result<void> MessageLists::scan_lines() {
  SKEIN_ASSIGN(JsonLines lines, JsonLines::open(path_, nullptr));
  JsonLines::Line line;
  while (true) {
    SKEIN_ASSIGN(const bool more, lines.next(line));
    if (!more) return {};
    note(read_list(line.object), line.number);
  }
}

// Of the history of a LangGraph thread the newest state, which comes first, has all messages.
RawJson newest_state(RawJson value) {
  const auto elements = json_elements(value);
  if (elements.empty() || !JsonFields(elements.front()).take_object("values")) return value;
  return elements.front();
}

Result<void> MessageLists::scan() {
  struct stat about{};
  if (::stat(path_.c_str(), &about) == 0) written_ = Timestamp::from_ms(about.st_mtime * 1000LL);
  const auto text = read_file(path_.string(), kMaxFileBytes);
  if (text && *text) {
    text_ = trim_json(**text);
    if (!validate_json(text_, "file", kMaxDocumentDepth + 2)) text_ = with_whole_surrogates(text_);
    if (validate_json(text_, "file", kMaxDocumentDepth + 2)) {
      note(read_list(newest_state(text_)), 0);
      return {};
    }
    text_.clear();
  }
  return scan_lines();
}

void MessageLists::add_answer(JsonFields& fields, EventMaker& make, std::vector<Event>& events) {
  if (const auto usage = fields.take_object("usage_metadata")) {
    JsonFields counts(*usage);
    make.set_tokens(tokens_json(counts.take_int("input_tokens"), counts.take_int("output_tokens"),
                                std::nullopt, std::nullopt));
  }
  if (const auto response = fields.take_object("response_metadata")) {
    JsonFields about(*response);
    if (auto model = about.take_string("model_name")) make.set_model(*model);
  }
  const auto calls = json_elements(fields.take<RawJson>("tool_calls", array).value_or("[]"));
  std::string text = text_of_content(fields.take<RawJson>("content", any_value).value_or("null"));
  if (text.empty()) text = fields.take_string("refusal").value_or("");
  if (!text.empty()) {
    events.push_back(calls.empty() ? make.said(Role::kAssistant, std::move(text))
                                   : make.narrated(std::move(text)));
  }
  for (const RawJson call : calls) {
    JsonFields outer(call);
    const std::string id = outer.take_string("id").value_or("");
    const std::string inner(outer.take_object("function").value_or(call));
    JsonFields parts(inner);
    Json input = Json::trusted("{}");
    if (const auto arguments = parts.take_string("arguments")) {
      input = object_or_wrapped(*arguments, "arguments");
    } else if (const auto args = parts.take_object("args")) {
      input = Json::trusted(std::string(*args));
    }
    events.push_back(
        make.called(id, parts.take_string("name").value_or("unknown"), std::move(input)));
  }
  make.set_tokens("");
}

std::vector<Event> MessageLists::events_of(RawJson message, EventMaker& make) const {
  std::vector<Event> events;
  const Unwrapped unwrapped = unwrap(message);
  JsonFields fields(unwrapped.fields);
  const auto role = role_of(unwrapped.role);
  if (!role) {
    ItemOutcome outcome = event_of_response_item(message, make);
    if (auto* event = std::get_if<Event>(&outcome)) {
      events.push_back(std::move(*event));
    } else {
      listener_.ignored(std::get<std::string>(outcome));
    }
  } else if (*role == Role::kAssistant) {
    add_answer(fields, make, events);
  } else if (*role == Role::kTool) {
    const std::string call = fields.take_string("tool_call_id").value_or("");
    const bool failed = fields.take_string("status") == "error";
    const RawJson content = fields.take<RawJson>("content", any_value).value_or("null");
    events.push_back(make.answered(call, text_of_tool_output(content), failed));
  } else {
    std::string text = text_of_content(fields.take<RawJson>("content", any_value).value_or("null"));
    if (!text.empty()) events.push_back(make.said(*role, std::move(text)));
  }
  for (const char* name : {"timestamp", "created_at"}) {
    const auto time = fields.take_time(name);
    for (Event& event : events) {
      if (time && !event.timestamp.is_set()) event.timestamp = *time;
    }
  }
  if (events.empty() && role) listener_.ignored("empty message");
  return events;
}

Result<void> MessageLists::read_messages(const List& list, std::size_t thread, std::uint64_t line,
                                         const Sink& sink) {
  if (thread >= threads_.size()) return {};
  EventMaker make(kSource);
  make.set_model(list.model);
  std::size_t count = 0;
  Timestamp time = threads_[thread].created_at;
  for (const std::string& message : list.messages) {
    if (!message.starts_with('{')) {
      listener_.ignored("no message");
      continue;
    }
    for (Event& event : events_of(message, make)) {
      TranscriptEvent one;
      one.thread = thread;
      one.line = line;
      if (!event.timestamp.is_set()) event.timestamp = time;
      time = event.timestamp;
      one.event = std::move(event);
      one.event.key = "message-" + std::to_string(++count);
      SKEIN_TRY(sink(std::move(one)));
    }
  }
  return {};
}

Result<void> MessageLists::read(const Sink& sink) {
  if (!text_.empty()) return read_messages(read_list(newest_state(text_)), 0, 0, sink);
  SKEIN_ASSIGN(JsonLines lines, JsonLines::open(path_, &listener_));
  JsonLines::Line line;
  for (std::size_t thread = 0;; ++thread) {
    SKEIN_ASSIGN(const bool more, lines.next(line));
    if (!more) return {};
    SKEIN_TRY(read_messages(read_list(line.object), thread, line.number, sink));
  }
}

}  // namespace

OpenedTranscript open_message_lists(const fs::path& path, const TranscriptListener& listener) {
  auto transcript = std::make_unique<MessageLists>(path, listener);
  SKEIN_TRY(transcript->scan());
  return transcript;
}

}  // namespace skein
