// What a tool is: a name, its parameters as data, and what it does.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mcp/exchange.h"
#include "rpc/json_rpc.h"
#include "skein/clock.h"
#include "skein/error.h"
#include "skein/json.h"
#include "skein/limits.h"

namespace skein::mcp {

struct Parameter {
  enum class Kind { kText, kChoice, kFlag, kWhole, kTexts, kArray, kObject, kTime };

  std::string name;
  Kind kind = Kind::kText;
  std::string description = {};
  bool required = false;
  std::vector<std::string> choices = {};
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
  std::string items = {};  // the schema of an array's elements, which the tool checks itself
};

// JSON Schema of an object with these members and no others.
Json schema_of(const std::vector<Parameter>& parameters);

// Arguments that fit their parameters. What is null was not given.
class Arguments {
 public:
  // kInvalid says everything that is wrong, and what would be right. Times are relative to `now`.
  static Result<Arguments> read(const std::vector<Parameter>& parameters, const Json& object,
                                Timestamp now);

  // Those of a tool with a schema of its own, which checks them itself.
  static Arguments as_given(const Json& object);

  // All of them, where they are as given.
  const Json& object() const { return object_; }
  std::optional<std::string> text(std::string_view name) const;
  std::string text_or(std::string_view name, std::string_view otherwise) const;
  bool flag(std::string_view name) const;
  std::optional<std::int64_t> whole(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  std::optional<Timestamp> time(std::string_view name) const;
  // An array or an object as it came; or absent.
  Json json(std::string_view name) const;

 private:
  std::map<std::string, Json, std::less<>> values_;
  Json object_;
  Timestamp now_;
};

struct ToolAnswer {
  std::string text{};  // for a model to read
  Json structured{};   // the same for programs, an object; or absent
  bool is_error = false;
  std::vector<std::string> blocks{};  // of content, as JSON, after the text
};

// Structured content with text from the store, marked as data by a member "notice".
Json stored_values(std::string_view object);

// The client is to ask somebody first, and then to call again.
struct InputRequired {
  std::string requests{};  // a JSON object; empty: none
  std::string state{};     // comes back as it is; empty: none
};

using ToolOutcome = std::variant<ToolAnswer, InputRequired, RpcError>;

struct Tool {
  std::string name;
  std::string title;
  std::string description;
  std::vector<Parameter> parameters = {};
  Json output_schema = {};  // of ToolAnswer::structured; or absent
  bool read_only = false;
  bool destructive = false;
  bool idempotent = false;
  // About what belongs to the workspace and to no agent: for callers that see all agents.
  bool of_workspace = false;
  std::function<ToolOutcome(const Arguments& arguments, const Exchange& exchange)> run;
  Json own_schema = {};  // instead of that of the parameters; or absent
};

// A tool that succeeds or says why not.
using PlainRun = std::function<Result<ToolAnswer>(const Arguments&, const Exchange&)>;
std::function<ToolOutcome(const Arguments&, const Exchange&)> plain(PlainRun run);

// As tools/list has it; `structured`: with what came with 2025-06-18.
std::string tool_json(const Tool& tool, bool structured);

}  // namespace skein::mcp
