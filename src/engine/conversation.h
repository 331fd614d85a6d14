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

// Appends a JSON string; what is not UTF-8 is mended.
void append_json_text(std::string& out, std::string_view text);
std::string json_text(std::string_view text);

// What a model wrote as a tool's input, as an object: nothing but an object is taken there.
std::string_view input_object(const ToolCall& call);

// A tool's schema, which may be absent.
std::string_view input_schema(const ToolDefinition& tool);

// Appends the members of an object, which may be absent, to one that is being written.
class JsonObject;
void add_members(JsonObject& out, const Json& object, std::string_view except = {});

}  // namespace skein
