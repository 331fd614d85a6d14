#include "api/langgraph/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/try.h"
#include "skein/thread_manager.h"
#include "thread/event_kind.h"

namespace skein::langgraph {
namespace {

constexpr std::string_view kCheckpointPrefix = "00000000-0000-6000-8000-";

Error too_large(ThreadId thread) {
  return {ErrorCode::kInvalid,
          fmt::format("the values of thread {} are larger than {} bytes: read it in parts, "
                      "with /v1/threads/{}/events",
                      thread.str(), limits::kMaxStateBytes, thread.str())};
}

JsonFields metadata_of(const Event& event) {
  return JsonFields(event.metadata.empty() ? "{}" : event.metadata.text());
}

std::string kept_of(JsonFields& metadata) {
  return std::string(metadata.take_object("langgraph").value_or("{}"));
}

}  // namespace

std::string checkpoint_id(Seq seq) { return fmt::format("{}{:012x}", kCheckpointPrefix, seq); }

std::optional<Seq> parse_checkpoint_id(std::string_view id) {
  if (id.size() != kCheckpointPrefix.size() + 12 || !id.starts_with(kCheckpointPrefix)) {
    return std::nullopt;
  }
  const std::string_view digits = id.substr(kCheckpointPrefix.size());
  Seq seq = 0;
  const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), seq, 16);
  if (wrong != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return seq;
}

// --- ThreadState ---

bool ThreadState::add(const Event& event) {
  head_ = event.seq;
  JsonFields metadata = metadata_of(event);
  std::string run_id = metadata.take_string("runId").value_or("");
  had_runs_ = had_runs_ || !run_id.empty();
  const EventKind kind = kind_of(event);
  if (kind == EventKind::kUndo || kind == EventKind::kUnreadable) return false;
  if (kind == EventKind::kRunResult) {
    if (!metadata.take_object("values")) return false;
    note_values(event);
  }
  if (const auto* message = std::get_if<Message>(&event.payload)) {
    add_message(event, message->role);
  } else if (const auto* narration = std::get_if<AssistantText>(&event.payload)) {
    begin_assistant(event, narration->text);
    write_assistant();
  } else if (const auto* use = std::get_if<ToolUse>(&event.payload)) {
    if (!open_) begin_assistant(event, "");
    std::string id = tool_call_id(event);
    if (id.empty()) id = "call-" + std::to_string(event.seq);
    open_->message.calls.push_back({std::move(id), use->name, use->input});
    messages_.back().last = event.seq;
    ++open_calls_;
    write_assistant();
  }
  parent_ = checkpoint_;
  checkpoint_ = event.seq;
  ++step_;
  at_ = event.timestamp;
  run_id_ = std::move(run_id);
  return true;
}

void ThreadState::add_message(const Event& event, Role role) {
  const std::string& text = std::get<Message>(event.payload).text;
  if (role == Role::kAssistant) {
    begin_assistant(event, text);
    write_assistant();
    open_.reset();
    return;
  }
  open_.reset();
  open_calls_ = role == Role::kTool && open_calls_ > 0 ? open_calls_ - 1 : 0;
  JsonFields metadata = metadata_of(event);
  const std::string kept = kept_of(metadata);
  std::string id = JsonFields(kept).take_string("id").value_or(message_id(thread_, event.seq));
  std::string json;
  if (role == Role::kUser) json = user_message_json(id, text, kept);
  if (role == Role::kSystem) json = system_message_json(id, text, kept);
  if (role == Role::kTool) json = tool_message_json(id, event, kept);
  push(std::move(id), event.seq, std::move(json));
}

void ThreadState::begin_assistant(const Event& event, std::string text) {
  JsonFields metadata = metadata_of(event);
  open_calls_ = 0;
  open_.emplace();
  open_->kept = kept_of(metadata);
  open_->message.text = std::move(text);
  open_->message.model = metadata.take_string("model").value_or("");
  open_->message.usage = std::string(metadata.take_object("tokens").value_or(""));
  const std::string run_id = metadata.take_string("runId").value_or("");
  std::string id = JsonFields(open_->kept).take_string("id").value_or("");
  if (id.empty()) {
    id = run_id.empty() ? message_id(thread_, event.seq) : next_message_id(run_id);
  }
  if (!run_id.empty()) {
    said_ = said_in_ == run_id ? said_ + 1 : 1;
    said_in_ = run_id;
  }
  push(std::move(id), event.seq, "");
}

std::string ThreadState::next_message_id(std::string_view run_id) const {
  return run_message_id(run_id, said_in_ == run_id ? said_ : 0);
}

void ThreadState::write_assistant() {
  StateMessage& message = messages_.back();
  bytes_ -= message.json.size();
  message.json = assistant_message_json(message.id, open_->message, open_->kept);
  bytes_ += message.json.size();
}

void ThreadState::push(std::string id, Seq seq, std::string json) {
  bytes_ += json.size() + 1;
  messages_.push_back({std::move(id), seq, seq, std::move(json)});
}

void ThreadState::note_values(const Event& event) {
  JsonFields metadata = metadata_of(event);
  const JsonFields values(metadata.take_object("values").value_or("{}"));
  for (const JsonFields::Field& field : values.others()) {
    std::string& value = others_[field.name];
    bytes_ += field.value.size() - value.size();
    value = field.value;
  }
}

std::optional<std::size_t> ThreadState::find(std::string_view id) const {
  // The newest first: that is what clients mean.
  for (std::size_t i = messages_.size(); i-- > 0;) {
    if (messages_[i].id == id) return i;
  }
  return std::nullopt;
}

std::string ThreadState::values() const {
  if (checkpoint_ == 0) return "{}";
  std::string json = "{\"messages\":[";
  json.reserve(bytes_ + 64);
  for (const StateMessage& message : messages_) {
    if (&message != &messages_.front()) json += ',';
    json += message.json;
  }
  json += ']';
  for (const auto& [name, value] : others_) {
    json += ',';
    append_json_string(json, name);
    json += ':';
    json += value;
  }
  json += '}';
  return json;
}

// --- Reading ---

Result<ThreadState> read_state(Store& store, ThreadId thread, Seq head) {
  ThreadState state(thread);
  if (head == 0) return state;
  ReadRange range;
  range.view = View::kPath;
  range.head = head;
  SKEIN_TRY(store.read(thread, range, [&](Event& event) {
    state.add(event);
    return state.bytes() <= limits::kMaxStateBytes;
  }));
  if (state.bytes() > limits::kMaxStateBytes) return tl::unexpected(too_large(thread));
  return state;
}

Result<std::vector<Seq>> list_checkpoints(Store& store, ThreadId thread,
                                          const HistoryQuery& query) {
  std::vector<Seq> found;
  ReadRange range;
  if (query.head != kLastSeq) {
    range.view = View::kPath;
    range.head = query.head;
  }
  range.direction = Direction::kBackward;
  SKEIN_TRY(store.read(thread, range, [&](Event& event) {
    if (event.seq >= query.before) return true;
    ThreadState alone(thread);
    if (alone.add(event)) found.push_back(event.seq);
    return found.size() < query.limit;
  }));
  return found;
}

StateView view_of(const ThreadState& state) {
  StateView view;
  view.values = std::make_shared<const std::string>(state.values());
  view.checkpoint = state.checkpoint();
  view.parent = state.parent();
  view.step = state.step();
  view.at = state.at();
  view.run_id = state.run_id();
  view.had_runs = state.had_runs();
  view.calls_open = state.calls_open();
  return view;
}

// --- StateCache ---

Result<StateView> StateCache::current(const Manifest& manifest) {
  const ThreadId thread = manifest.id;
  if (manifest.last_seq == 0) return view_of(ThreadState(thread));
  Shard& shard = shards_[std::hash<ThreadId>{}(thread) % kShards];
  const std::scoped_lock lock(shard.mutex);
  if (auto found = shard.entries.find(thread); found != shard.entries.end()) {
    Entry& entry = found->second;
    shard.used.splice(shard.used.begin(), shard.used, entry.used);
    const bool same = entry.version == manifest.version;
    if (same && entry.state.head() >= manifest.last_seq) return entry.view;
    const Result<bool> straight = same ? read_on(entry, thread) : false;
    if (straight && *straight && entry.state.bytes() <= limits::kMaxStateBytes) {
      charge(shard, entry);
      return entry.view;
    }
    forget(shard, found);
    if (!straight) return tl::unexpected(straight.error());
  }
  SKEIN_ASSIGN(ThreadState state, read_state(store_, thread));
  StateView view = view_of(state);
  constexpr std::size_t kMaxBytes = limits::kMaxCachedBytes / kShards;
  if (state.bytes() > kMaxBytes / 2) return view;
  shard.used.push_front(thread);
  const auto [entry, added] = shard.entries.emplace(
      thread, Entry{std::move(state), view, manifest.version, 0, shard.used.begin()});
  charge(shard, entry->second);
  constexpr std::size_t kMaxEntries = 4096;
  while (shard.bytes > kMaxBytes || shard.entries.size() > kMaxEntries) {
    forget(shard, shard.entries.find(shard.used.back()));
  }
  return view;
}

// Its messages are there twice: one by one, and as one text.
void StateCache::charge(Shard& shard, Entry& entry) {
  const std::size_t bytes = 2 * entry.state.bytes();
  shard.bytes += bytes - entry.charged;
  entry.charged = bytes;
}

// False: the path went elsewhere meanwhile.
Result<bool> StateCache::read_on(Entry& entry, ThreadId thread) {
  bool straight = true;
  ReadRange range;
  range.from = entry.state.head() + 1;
  SKEIN_TRY(store_.read(thread, range, [&](Event& event) {
    straight = !event.base || *event.base == entry.state.head();
    if (straight) entry.state.add(event);
    return straight && entry.state.bytes() <= limits::kMaxStateBytes;
  }));
  if (straight) entry.view = view_of(entry.state);
  return straight;
}

void StateCache::forget(Shard& shard, std::unordered_map<ThreadId, Entry>::iterator entry) {
  shard.bytes -= entry->second.charged;
  shard.used.erase(entry->second.used);
  shard.entries.erase(entry);
}

}  // namespace skein::langgraph
