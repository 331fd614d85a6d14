// What an agent can do besides talking: tools that its model may call, wherever they run.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "skein/error.h"
#include "skein/json.h"

namespace skein {

struct ToolDefinition {
  std::string name;  // unique within a box; [A-Za-z0-9_-]{1,64}, which every model API takes
  std::string description;
  Json input_schema;  // a JSON Schema object
};

// What the model asked for. Its input is data from a model: an object, and nothing more is known.
struct ToolCall {
  std::string id;  // links the call to its result; never empty
  std::string name;
  Json input;
  // What the model wrote where an object should be; `input` is absent then, and the call must be
  // answered by an error instead of being made.
  std::string malformed{};
};

// What goes back to the model. A tool that failed, an unknown name and a malformed input are
// results too: the model reads them and goes on.
struct ToolResult {
  std::string text;
  bool is_error = false;
};

// The tools of one run. Thread-safe: a model may call several at once, and they run in parallel.
class ToolBox {
 public:
  virtual ~ToolBox() = default;
  ToolBox() = default;
  ToolBox(const ToolBox&) = delete;
  ToolBox& operator=(const ToolBox&) = delete;

  // Fixed for the life of the box. Reaching servers for the first time may happen here; one that
  // cannot be reached is an error that names it.
  virtual Result<std::vector<ToolDefinition>> definitions(std::stop_token stop) = 0;

  // Whether a person must say yes before the tool is called.
  virtual bool needs_yes(std::string_view tool) const = 0;

  // Returns soon after a stop was asked for, whatever the tool does.
  virtual ToolResult call(const ToolCall& call, std::stop_token stop) = 0;
};

}  // namespace skein
