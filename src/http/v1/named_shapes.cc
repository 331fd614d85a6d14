// What threads, events and recall look like. Those of work and runs are in work_shapes.cc.
#include "http/v1/named_shapes.h"

#include "skein/context.h"
#include "skein/limits.h"
#include "skein/recall.h"

namespace skein::http::v1 {
namespace {

Shape metadata() { return pairs(anything()); }

// The members that events of every form have.
std::vector<Member> event_members(bool stored) {
  std::vector<Member> members;
  if (stored) {
    members.push_back(must("seq", whole(1), "Its position in the thread: 1, 2, 3 …"));
  } else {
    members.push_back(may("seq", whole(1), "The position that it must get, or else 409."));
    members.push_back(may("key", some_text(limits::kMaxKeyBytes),
                          "Idempotency key: accepted once in the thread."));
  }
  members.push_back(stored ? must("timestamp", time())
                           : may("timestamp", time(), "Absent: the server's clock."));
  members.push_back(
      may("base", whole(0), "The seq that it continues from, where that is not the one before."));
  members.push_back(may("memoryType", named("MemoryType")));
  members.push_back(may("metadata", metadata()));
  return members;
}

Shape event_form(bool stored, std::vector<Member> own) {
  for (Member& member : event_members(stored)) own.push_back(std::move(member));
  return record(own);
}

void add_events(NamedShapes& shapes, bool stored) {
  const std::string prefix = stored ? "" : "New";
  const auto type = [&](const char* name, bool optional = false) {
    return optional ? may("type", choice({name})) : must("type", choice({name}));
  };
  shapes.emplace_back(prefix + "MessageEvent",
                      event_form(stored, {type("message", !stored), must("role", named("Role")),
                                          must("text", text())}));
  shapes.emplace_back(prefix + "ToolUseEvent",
                      event_form(stored, {type("tool_use"), must("name", text()),
                                          must("input", pairs(anything()))}));
  shapes.emplace_back(prefix + "AssistantTextEvent",
                      event_form(stored, {type("assistant_text"), must("text", text())}));
  shapes.emplace_back(
      prefix + "ResultEvent",
      event_form(stored, {type("result"), may("cost", real()), may("durationMs", real()),
                          may("turns", whole(0)), may("inputTokens", whole(0)),
                          may("outputTokens", whole(0)), may("cacheReadTokens", whole(0))}));
  std::vector<Shape> forms = {named(prefix + "MessageEvent"), named(prefix + "ToolUseEvent"),
                              named(prefix + "AssistantTextEvent"), named(prefix + "ResultEvent")};
  if (stored) {
    shapes.emplace_back("UnreadableEvent", record({type("unreadable"), must("seq", whole(1)),
                                                   must("reason", text())}));
    forms.push_back(named("UnreadableEvent"));
  }
  shapes.emplace_back(prefix + "Event", any_of(forms));
}

void add_threads(NamedShapes& shapes) {
  shapes.emplace_back("ThreadStatus", choice({"active", "paused", "closed", "archived"}));
  shapes.emplace_back(
      "Thread",
      record({must("threadId", text(), "12 lower-case hex digits"), must("agentId", text()),
              must("status", named("ThreadStatus")), must("createdAt", time()),
              must("updatedAt", time()),
              must("lastSeq", whole(0), "The position of its last event; 0: none"),
              must("etag", text(), "What If-Match compares; appends leave it alone"),
              may("title", text()), may("metadata", metadata()),
              may("sessionId", text(), "The engine's own session"), may("taskId", text()),
              may("closedAt", time()), may("summary", text()), may("resolution", text()),
              may("archive", record({must("at", time()), may("retentionDays", whole(0)),
                                     may("reason", text())})),
              may("parent", record({must("threadId", text()), must("seq", whole(0))})),
              may("alias", text(), "A UUID that also names it"), may("pins", list(whole(1)))}));
  shapes.emplace_back("ThreadPage",
                      page("threads", named("Thread"), {may("total", whole(0), "All that match")}));
  shapes.emplace_back(
      "NewMessage",
      object({may("role", choice({"user", "assistant", "system", "tool"}), "Absent: user"),
              must("text", text()), may("metadata", metadata()),
              may("memoryType", named("MemoryType")),
              may("key", some_text(limits::kMaxKeyBytes),
                  "Idempotency key, as the header Idempotency-Key"),
              may("base", whole(0), "The seq that it continues from")}));
  shapes.emplace_back(
      "Message", record({must("id", text(), "<threadId>-<seq>"), must("threadId", text()),
                         must("seq", whole(1)), must("role", named("Role")), must("text", text()),
                         must("timestamp", time()), may("memoryType", named("MemoryType")),
                         may("metadata", metadata())}));
  shapes.emplace_back("MessagePage", page("messages", named("Message")));
  shapes.emplace_back("EventPage", page("events", named("Event")));
  shapes.emplace_back(
      "Appended",
      object({must("seq", whole(1)),
              may("repeated", truth(), "The key was there already, with the same event")}));
  shapes.emplace_back(
      "RefusedAppend",
      object({must("error", object({must("code", text()), must("message", text())}))}));
  shapes.emplace_back("ThreadEvent",
                      record({must("event", named("ThreadEventKind")), must("threadId", text()),
                              may("agentId", text()), may("id", text(), "Of the message"),
                              may("message", named("Event")), may("thread", pairs(anything())),
                              must("cursor", text(), "Goes on right after this one")}));
  shapes.emplace_back("ThreadEventKind",
                      choice({"thread:created", "thread:message", "thread:updated", "thread:closed",
                              "thread:archived", "thread:deleted"}));
  shapes.emplace_back("ThreadEventPage",
                      object({must("events", list(named("ThreadEvent"))),
                              must("cursor", text(),
                                   "Where the next page begins, also if this one "
                                   "is empty")}));
}

void add_context(NamedShapes& shapes) {
  shapes.emplace_back("ContextStrategy", choice({"recent", "summary", "hybrid"}));
  shapes.emplace_back("LedgerEntry", object({may("from", whole(1)), may("to", whole(1)),
                                             must("what", choice({"in", "summarised", "left_out"})),
                                             must("why", text()), must("tokens", whole(0)),
                                             may("estimated", truth())}));
  shapes.emplace_back(
      "ContextWindow",
      object({must("messages", list(named("Event"))),
              must("ledger", list(named("LedgerEntry")), "What became of each event of the thread"),
              must("tokens", whole(0)), must("strategy", named("ContextStrategy"))}));
  shapes.emplace_back("Summary", object({must("seq", whole(1)),
                                         must("covers", list(list(whole(1))),
                                              "[first, last] of each range that it stands for"),
                                         must("text", text()), must("tokens", whole(0)),
                                         must("by", choice({"engine", "extraction"})),
                                         may("model", text(), "That wrote it")}));
}

void add_recall(NamedShapes& shapes) {
  shapes.emplace_back("SearchMessage", record({must("seq", whole(1)), must("role", named("Role")),
                                               must("text", text()), must("timestamp", time()),
                                               may("speaker", text()), may("match", truth())}));
  shapes.emplace_back(
      "SearchResult",
      record({must("threadId", text()), must("threadTitle", text()), must("agentId", text()),
              must("seq", whole(1)), must("timestamp", time()), must("score", real()),
              must("why", pairs(real()), "What each part adds to the score"),
              must("messages", list(named("SearchMessage")))}));
  shapes.emplace_back(
      "SearchAnswer",
      record({must("results", list(named("SearchResult"))),
              must("used", list(choice({"words", "vectors"}))), must("searched", whole(0)),
              must("allAgents", truth(), "The scope was all agents"),
              must("agents", list(text()),
                   "The agents that were searched; of all agents, the first 100 with messages in "
                   "the index"),
              must("agentCount", whole(0)), must("withoutVector", whole(0)),
              must("notIndexed", whole(0)), must("notIndexedExact", truth()),
              may("note", text())}));
  shapes.emplace_back(
      "BackfillResult",
      object({must("embedded", whole(0)), must("cleaned", whole(0)), may("stopped", truth())}));
  shapes.emplace_back(
      "RecallStatus",
      object({must("messages", whole(0)), must("withVectors", whole(0)), must("threads", whole(0)),
              must("bytes", whole(0)), must("model", text(), "Empty: words only")}));
}

}  // namespace

Shape page(const std::string& name, const Shape& item, std::vector<Member> more) {
  std::vector<Member> members = {
      must(name, list(item)),
      may("next", text(), "The cursor of the next page; absent: this was the last")};
  for (Member& member : more) members.push_back(std::move(member));
  return object(members);
}

NamedShapes named_shapes() {
  NamedShapes shapes;
  shapes.emplace_back("Role", choice({"user", "assistant", "system", "tool"}));
  shapes.emplace_back("MemoryType",
                      choice({"conversation_turn", "tool_result", "intermediate_result",
                              "context_summary", "decision_point"}));
  shapes.emplace_back(
      "Problem",
      record({must("type", text()), must("title", text()), must("status", whole(400, 599)),
              must("code", text(), "A lower-case word for programs"),
              must("detail", text(), "Names the rule and the value"), may("instance", text())}));
  add_threads(shapes);
  add_events(shapes, true);
  add_events(shapes, false);
  add_context(shapes);
  add_recall(shapes);
  add_work_shapes(shapes);
  add_run_shapes(shapes);
  return shapes;
}

}  // namespace skein::http::v1
