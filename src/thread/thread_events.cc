#include "skein/thread_events.h"

#include <algorithm>

#include "core/json_object.h"
#include "core/quote.h"
#include "skein/thread_manager.h"

namespace skein {
namespace {

constexpr struct {
  ThreadEventKind kind;
  const char* name;
} kKinds[] = {
    {ThreadEventKind::kCreated, "thread:created"},   {ThreadEventKind::kMessage, "thread:message"},
    {ThreadEventKind::kUpdated, "thread:updated"},   {ThreadEventKind::kClosed, "thread:closed"},
    {ThreadEventKind::kArchived, "thread:archived"}, {ThreadEventKind::kDeleted, "thread:deleted"}};

}  // namespace

const char* to_string(ThreadEventKind kind) {
  for (const auto& entry : kKinds) {
    if (entry.kind == kind) return entry.name;
  }
  return "unknown";
}

Result<ThreadEventKind> parse_thread_event_kind(std::string_view text) {
  std::string known;
  for (const auto& entry : kKinds) {
    if (text == entry.name) return entry.kind;
    known.append(known.empty() ? "" : ", ").append(entry.name);
  }
  return fail(ErrorCode::kInvalid, "event must be one of " + known + ", got " + quote(text));
}

std::vector<ThreadEventKind> all_thread_event_kinds() {
  std::vector<ThreadEventKind> kinds;
  for (const auto& entry : kKinds) kinds.push_back(entry.kind);
  return kinds;
}

std::string to_json(const ThreadEvent& event) {
  JsonObject object;
  object.add("event", to_string(event.kind)).add("threadId", event.thread.str());
  if (!event.agent_id.empty()) object.add("agentId", event.agent_id);
  if (event.message) {
    object.add("id", message_id(event.thread, event.message->seq))
        .add_json("message", to_json(*event.message));
  }
  if (event.manifest) object.add_json("thread", to_json(*event.manifest));
  return object.add("cursor", event.cursor).str();
}

bool ThreadEventFilter::matches(const ThreadEvent& event) const {
  if (thread && *thread != event.thread) return false;
  if (agent_id && *agent_id != event.agent_id) return false;
  return kinds.empty() || std::find(kinds.begin(), kinds.end(), event.kind) != kinds.end();
}

}  // namespace skein
