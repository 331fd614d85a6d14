#include "runner/tool_calls.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/quote.h"
#include "core/text.h"
#include "skein/limits.h"
#include "skein/runner.h"

namespace skein {
namespace {

bool is_of_type(RawJson value, std::string_view type) {
  const char first = value.empty() ? '\0' : value.front();
  if (type == "string") return first == '"';
  if (type == "object") return first == '{';
  if (type == "array") return first == '[';
  if (type == "boolean") return first == 't' || first == 'f';
  if (type == "null") return first == 'n';
  if (type == "integer") return json_to_int(value).has_value();
  if (type == "number") return json_to_double(value).has_value();
  return true;
}

// "type" of a schema is one name or a list of them; anything else says nothing.
bool fits_schema(RawJson value, RawJson schema) {
  JsonFields fields(schema);
  if (const auto one = fields.take_string("type")) return is_of_type(value, *one);
  const auto several = fields.take_strings("type");
  if (!several || several->empty()) return true;
  return std::any_of(several->begin(), several->end(),
                     [&](const std::string& type) { return is_of_type(value, type); });
}

std::optional<std::string> wrong_call(const ToolCall& call,
                                      const std::vector<ToolDefinition>& definitions) {
  const auto definition =
      std::find_if(definitions.begin(), definitions.end(),
                   [&](const ToolDefinition& known) { return known.name == call.name; });
  if (definition == definitions.end()) return "there is no tool " + quote(call.name);
  return wrong_input(call.input, definition->input_schema);
}

// What several threads share while tools are called.
struct Shop {
  std::mutex mutex;
  std::condition_variable came;
  std::size_t next = 0;                                    // under mutex
  std::deque<std::pair<std::size_t, ToolResult>> results;  // under mutex
};

void serve(Shop& shop, ToolBox& box, const std::vector<ToolCall>& calls,
           const std::stop_token& stop) {
  while (true) {
    std::size_t mine = 0;
    {
      const std::lock_guard lock(shop.mutex);
      if (shop.next == calls.size()) return;
      mine = shop.next++;
    }
    ToolResult result{.text = "stopped", .is_error = true};
    if (!stop.stop_requested()) result = box.call(calls[mine], stop);
    const std::lock_guard lock(shop.mutex);
    shop.results.emplace_back(mine, std::move(result));
    shop.came.notify_one();
  }
}

}  // namespace

std::optional<std::string> wrong_input(const Json& input, const Json& schema) {
  if (input.kind() != Json::Kind::kObject) {
    return "input must be a JSON object, got " + excerpt(input.text());
  }
  if (schema.kind() != Json::Kind::kObject) return std::nullopt;
  JsonFields rules(schema.text());
  const JsonFields given(input.text());
  const auto value_of = [&](std::string_view name) -> std::optional<RawJson> {
    for (const JsonFields::Field& field : given.others()) {
      if (field.name == name) return field.value;
    }
    return std::nullopt;
  };
  const auto required = rules.take_strings("required").value_or(std::vector<std::string>{});
  for (const std::string& name : required) {
    if (!value_of(name)) return "input lacks the member " + quote(name);
  }
  const auto properties = rules.take_object("properties");
  if (!properties) return std::nullopt;
  const JsonFields known(*properties);
  for (const JsonFields::Field& property : known.others()) {
    const auto value = value_of(property.name);
    if (value && !fits_schema(*value, property.value)) {
      return "member " + quote(property.name) +
             " of the input is of the wrong type: " + excerpt(*value);
    }
  }
  return std::nullopt;
}

Json storable_input(const ToolCall& call) {
  if (call.input.kind() == Json::Kind::kObject) return call.input;
  const std::string& said = call.malformed.empty() ? call.input.text() : call.malformed;
  return Json::trusted(R"({"malformed":)" + Json::string(mended_utf8(said)).text() + "}");
}

CheckedCalls check_calls(const std::vector<ToolCall>& calls,
                         const std::vector<ToolDefinition>& definitions) {
  CheckedCalls checked;
  std::set<std::string> ids;
  for (const ToolCall& call : calls) {
    ToolCall tidied = call;
    std::string wrong = wrong_call(call, definitions).value_or("");
    for (int i = 2; tidied.id.empty() || !ids.insert(tidied.id).second; ++i) {
      tidied.id = (call.id.empty() ? "call" : call.id) + "-" + std::to_string(i);
    }
    if (!call.malformed.empty()) {
      wrong = "the input is no JSON object: " + quote(call.malformed);
    }
    tidied.input = storable_input(call);
    tidied.malformed.clear();
    if (tidied.name.empty() || tidied.name.size() > limits::kMaxToolNameBytes ||
        !valid_utf8(tidied.name)) {
      tidied.name = "invalid";
    }
    if (checked.calls.size() >= limits::kMaxToolCallsPerTurn) {
      wrong = "at most " + std::to_string(limits::kMaxToolCallsPerTurn) + " calls in one turn";
    }
    checked.calls.push_back(std::move(tidied));
    checked.wrong.push_back(std::move(wrong));
  }
  return checked;
}

ToolResult tidy(ToolResult result) {
  if (!valid_utf8(result.text)) result.text = mended_utf8(result.text);
  if (result.text.size() <= limits::kMaxToolResultBytes) return result;
  const std::size_t all = result.text.size();
  result.text.resize(beginning(result.text, limits::kMaxToolResultBytes).size());
  result.text += "\n(cut off: " + std::to_string(all) + " bytes, the limit is " +
                 std::to_string(limits::kMaxToolResultBytes) + ")";
  return result;
}

void call_tools(ToolBox& box, const std::vector<ToolCall>& calls, const std::stop_token& stop,
                const std::function<bool(const ToolCall&, ToolResult)>& done) {
  if (calls.size() == 1) {
    done(calls.front(), box.call(calls.front(), stop));
    return;
  }
  std::stop_source own;
  const std::stop_callback pass_on(stop, [&] { own.request_stop(); });
  Shop shop;
  std::vector<std::jthread> helpers;
  try {
    for (std::size_t i = 0; i < std::min(calls.size(), limits::kMaxParallelTools); ++i) {
      helpers.emplace_back([&] { serve(shop, box, calls, own.get_token()); });
    }
  } catch (const std::system_error&) {  // fewer will do
    if (helpers.empty()) serve(shop, box, calls, own.get_token());
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    std::unique_lock lock(shop.mutex);
    shop.came.wait(lock, [&] { return !shop.results.empty(); });
    auto [index, result] = std::move(shop.results.front());
    shop.results.pop_front();
    lock.unlock();
    if (!own.stop_requested() && !done(calls[index], std::move(result))) own.request_stop();
  }
}

}  // namespace skein
