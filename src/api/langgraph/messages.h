// Messages as LangChain writes them in JSON, to events and back.
//
// What a message has besides its role and its text is kept in metadata.langgraph of its event:
// an id that its sender chose, a name, contents that are not plain text. Calls of tools become
// events of their own, so that every engine understands them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "skein/event.h"

namespace skein::langgraph {

// What a message that a client sent becomes.
struct SentMessage {
  std::string id;             // empty: it named none
  bool removes = false;       // it takes the message of that id away, and has no events
  std::vector<Event> events;  // in this order
};

// "messages" of an input or an update: one message or an array of them, each an object, a text (of
// the user) or a pair of role and text. kInvalid names the rule and the value.
Result<std::vector<SentMessage>> parse_messages(RawJson messages);

// Takes away all messages.
inline constexpr std::string_view kRemoveAll = "__remove_all__";

// A call of a tool, as an assistant's message lists it.
struct ListedCall {
  std::string id;
  std::string name;
  Json input;
};

// A message as it is shown. `kept` is metadata.langgraph of its (first) event, or empty.
std::string user_message_json(std::string_view id, std::string_view text, RawJson kept);
std::string system_message_json(std::string_view id, std::string_view text, RawJson kept);
std::string tool_message_json(std::string_view id, const Event& event, RawJson kept);
struct AssistantMessage {
  std::string text;
  std::vector<ListedCall> calls;
  std::string model;  // empty: not known
  std::string usage;  // metadata.tokens, an object; empty: not known
};
std::string assistant_message_json(std::string_view id, const AssistantMessage& message,
                                   RawJson kept);

// The id of the n-th message (from 0) that an agent says in a run; known before it is stored.
std::string run_message_id(std::string_view run_id, std::size_t n);

}  // namespace skein::langgraph
