#include "support/random_thread.h"

#include <string>
#include <vector>

#include "skein/context.h"
#include "support/builders.h"
#include "support/expect.h"

namespace skein::test {
namespace {

std::string random_words(std::mt19937_64& random) {
  static const std::vector<std::string> words = {
      "retry",  "the",      "PostgreSQL", "decided",  "lock",   "why?",    "42.5",    "中文决定。",
      "schema", "src/a.cc", "Berlin",     "fails",    "again.", "and",     "We will", "use",
      "😀",     "queue.",   "How?",       "module_7", "\n",     "timeout", "is",      "open:"};
  std::string text;
  const std::uint64_t size = random() % 20 == 0 ? random() % 400 : random() % 30;
  for (std::uint64_t i = 0; i < size; ++i) text += words[random() % words.size()] + " ";
  return text;
}

Event with_call_id(Event event, std::mt19937_64& random) {
  if (random() % 5 == 0) return event;
  return with_metadata(std::move(event),
                       "{\"tool_call_id\":\"" + std::to_string(random() % 6) + "\"}");
}

}  // namespace

Event random_conversation_event(std::mt19937_64& random, Seq last) {
  Event event;
  switch (random() % 12) {
    case 0:
    case 1:
    case 2:
      event = message(random_words(random), Role::kUser);
      break;
    case 3:
    case 4:
      event = message(random_words(random), Role::kAssistant);
      break;
    case 5:
      event = random() % 4 == 0 ? message(random_words(random), Role::kSystem)
                                : assistant_text(random_words(random));
      break;
    case 6:
    case 7:
    case 8:
      event =
          with_call_id(tool_use("look", "{\"at\":\"" + std::to_string(random()) + "\"}"), random);
      break;
    case 9:
    case 10:
      event = with_call_id(message(random_words(random), Role::kTool), random);
      break;
    default:
      event = run_result(0.5, 3);
  }
  if (random() % 20 == 0) event.memory_type = MemoryType::kDecisionPoint;
  if (random() % 40 == 0 && std::holds_alternative<Message>(event.payload) &&
      std::get<Message>(event.payload).role == Role::kAssistant) {
    event = with_extra(std::move(event), R"({"content":[{"type":"image","data":"AAAA"}]})");
  }
  if (last > 2 && random() % 30 == 0) event.base = last - 1 - random() % std::min<Seq>(last, 20);
  return event;
}

ThreadId make_random_thread(Store& store, std::mt19937_64& random) {
  const ThreadId thread = create_thread(store).id;
  const std::uint64_t size = random() % 120;
  Seq last = 0;
  for (std::uint64_t i = 0; i < size; ++i) {
    last = must_append(store, thread, random_conversation_event(random, last));
    if (random() % 40 == 0) {
      SummarizeRequest request;
      request.threshold = random() % 20;
      request.keep_recent = random() % 12;
      request.max_tokens = 60 + random() % 200;
      // Too little to say is no failure of the thread.
      const auto summary = summarize_thread(store, thread, request);
      if (summary && *summary) last = (*summary)->seq;
    }
    if (random() % 100 == 0 && undo_summary(store, thread, {})) ++last;
  }
  std::string pins;
  for (std::uint64_t i = random() % 4; last > 0 && i > 0; --i) {
    pins += (pins.empty() ? "" : ",") + std::to_string(1 + random() % last);
  }
  must(store.update(thread, patch("{\"pins\":[" + pins + "]}"), {}));
  return thread;
}

}  // namespace skein::test
