// Conversations in the form that providers insist on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "skein/engine.h"

namespace skein {

// The same conversation with every call of a tool followed by its one result, in the order of the
// calls. A call without a result, as a run leaves it that was ended in between, gets one that says
// so; a result without a call becomes a user's message.
std::vector<EngineMessage> well_formed(const std::vector<EngineMessage>& messages);

// The result of a tool whose call the model does not see. Providers reject it in the role of a
// tool, so it is a user's message that names the tool and quotes the result.
struct StrayResult {
  std::string_view tool;  // its name; empty: not known
  std::string_view call;  // the id of the call; empty: not known
  std::string_view text;
};
EngineMessage stray_tool_result(const StrayResult& result);

// Appends a JSON string; what is not UTF-8 is mended.
void append_json_text(std::string& out, std::string_view text);
std::string json_text(std::string_view text);

// A tool's input as an object: providers take nothing else there. Any other value becomes
// {"input": value}.
std::string input_object(const ToolCall& call);

// A tool's schema, which may be absent.
std::string_view input_schema(const ToolDefinition& tool);

// Appends the members of an object, which may be absent, to one that is being written.
class JsonObject;
void add_members(JsonObject& out, const Json& object, std::string_view except = {});

}  // namespace skein
