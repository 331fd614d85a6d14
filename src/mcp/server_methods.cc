// What a server answers about its tools, resources and prompts.
#include <fmt/format.h>

#include <algorithm>

#include "core/json_array.h"
#include "core/quote.h"
#include "core/sha256.h"
#include "core/visible.h"
#include "mcp/limits.h"
#include "mcp/server.h"
#include "rpc/mcp_protocol.h"

namespace skein::mcp {
namespace {

constexpr std::int64_t kLegacyResourceNotFound = -32002;

RpcError invalid(std::string message, Json data = {}) {
  return {kRpcInvalidParams, std::move(message), std::move(data)};
}

// Storage that fails is our affair; everything else is about what was asked for.
RpcError as_rpc(const Error& error) {
  const bool ours = error.code == ErrorCode::kIo || error.code == ErrorCode::kDamaged;
  return {ours ? kRpcInternalError : kRpcInvalidParams, visible_line(error.message)};
}

std::string one_line(const Json& json) {
  std::string line;
  append_json_on_one_line(line, json.text());
  return line;
}

std::string completions(std::vector<std::string> values) {
  const bool more = values.size() > limits::kMaxCompletions;
  if (more) values.resize(limits::kMaxCompletions);
  JsonObject object;
  object.add("values", values);
  if (!more) object.add("total", std::uint64_t{values.size()});
  return object.add("hasMore", more).str();
}

std::string prompt_json(const Prompt& prompt, bool structured) {
  std::vector<std::string> arguments;
  for (const PromptArgument& argument : prompt.arguments) {
    arguments.push_back(JsonObject()
                            .add("name", argument.name)
                            .add("description", argument.description)
                            .add("required", argument.required)
                            .str());
  }
  JsonObject object;
  object.add("name", prompt.name);
  if (structured) object.add("title", prompt.title);
  object.add("description", prompt.description);
  if (!arguments.empty()) object.add_json("arguments", json_array_of(arguments));
  return object.str();
}

const Prompt* find_prompt(const std::vector<Prompt>& prompts,
                          const std::optional<std::string>& name) {
  const auto found = std::find_if(prompts.begin(), prompts.end(),
                                  [&](const Prompt& prompt) { return prompt.name == name; });
  return found == prompts.end() ? nullptr : &*found;
}

tl::expected<PromptValues, RpcError> prompt_values(const Prompt& prompt, JsonFields& fields) {
  PromptValues values;
  const auto given = fields.take_object("arguments");
  const JsonFields members(given.value_or("{}"));
  for (const JsonFields::Field& field : members.others()) {
    const auto text = json_to_string(field.value);
    if (!text)
      return tl::unexpected(invalid("argument " + quote(field.name) + " must be a string"));
    values[field.name] = *text;
  }
  for (const PromptArgument& argument : prompt.arguments) {
    if (argument.required && !values.contains(argument.name)) {
      return tl::unexpected(
          invalid("prompt " + quote(prompt.name) + " needs the argument " + quote(argument.name)));
    }
  }
  return values;
}

// What the client would have to be able to do for these requests and is not; empty: nothing.
std::string lacking_capabilities(const std::string& requests, const ClientCapabilities& client) {
  bool elicitation = false;
  bool sampling = false;
  bool roots = false;
  const JsonFields all(requests.empty() ? "{}" : requests);
  for (const JsonFields::Field& each : all.others()) {
    const auto method = JsonFields(each.value).take_string("method");
    elicitation = elicitation || (method == "elicitation/create" && !client.elicitation);
    sampling = sampling || (method == "sampling/createMessage" && !client.sampling);
    roots = roots || (method == "roots/list" && !client.roots);
  }
  if (!elicitation && !sampling && !roots) return {};
  JsonObject lacking;
  if (elicitation) lacking.add_json("elicitation", "{}");
  if (sampling) lacking.add_json("sampling", "{}");
  if (roots) lacking.add_json("roots", "{}");
  return lacking.str();
}

// What a state is good for: the same request of the same client.
std::string purpose_of(std::string_view method, const std::string& name, std::string_view arguments,
                       const Exchange& exchange) {
  return fmt::format("{} {} {} {}", method, name, sha256_hex(arguments), exchange.caller.key);
}

}  // namespace

Server::Answer Server::list_tools(JsonFields& fields, const Exchange& exchange, Peer*) {
  return page_of("tools", exchange.structured() ? tool_entries_ : plain_tool_entries_, fields);
}

tl::expected<Exchange, RpcError> Server::with_input(const Exchange& exchange, JsonFields& fields,
                                                    const std::string& purpose) {
  Exchange with = exchange;
  if (!exchange.modern()) return with;
  for (const JsonFields::Field& field : fields.others()) {
    if (field.name == "inputResponses") {
      if (!field.value.starts_with('{')) {
        return tl::unexpected(
            invalid("\"inputResponses\" must be an object, got " + excerpt(field.value)));
      }
      with.input_responses = Json::trusted(std::string(field.value));
    }
    if (field.name == "requestState") {
      const auto text = json_to_string(field.value);
      if (!text) return tl::unexpected(invalid("\"requestState\" must be a string"));
      auto state = seal_.open(*text, purpose);
      if (!state) return tl::unexpected(as_rpc(state.error()));
      with.state = std::move(*state);
    }
  }
  return with;
}

Server::Answer Server::required(const InputRequired& input, const std::string& purpose,
                                const Exchange& exchange) {
  const std::string lacking = lacking_capabilities(input.requests, exchange.client);
  if (!lacking.empty()) {
    return tl::unexpected(
        RpcError{kMcpMissingCapability, "the client must be able to do what this request needs",
                 Json::trusted(JsonObject().add_json("requiredCapabilities", lacking).str())});
  }
  JsonObject result;
  if (!input.requests.empty()) result.add_json("inputRequests", input.requests);
  if (!input.state.empty()) {
    const auto sealed = seal_.close(input.state, purpose);
    if (!sealed) return tl::unexpected(as_rpc(sealed.error()));
    result.add("requestState", *sealed);
  }
  Body body(std::move(result));
  body.type = "input_required";
  return body;
}

Server::Answer Server::tool_result(const Tool& tool, ToolAnswer answer,
                                   const Exchange& exchange) const {
  JsonObject result;
  std::string content = "[";
  if (!answer.text.empty() || answer.blocks.empty()) {
    // What an error names may be anybody's text: it makes up no lines for the model to read.
    if (answer.is_error) answer.text = tool.name + ": " + visible_line(answer.text);
    content += text_block(answer.text);
  }
  for (const std::string& block : answer.blocks) content += (content.size() > 1 ? "," : "") + block;
  result.add_json("content", content + "]");
  if (!answer.structured.empty() && exchange.structured()) {
    result.add_json("structuredContent", one_line(answer.structured));
  }
  if (answer.is_error) result.add("isError", true);
  return result;
}

Server::Answer Server::call_tool(JsonFields& fields, const Exchange& exchange, Peer*) {
  const auto name = fields.take_string("name");
  const auto found = name ? tools_.find(*name) : tools_.end();
  if (found == tools_.end()) {
    return tl::unexpected(invalid("there is no tool " + quote(name.value_or(""))));
  }
  const Tool& tool = *found->second;
  const auto given = fields.take("arguments", any_json);
  if (given && !given->starts_with('{') && *given != "null") {
    return tl::unexpected(invalid("\"arguments\" must be an object, got " + excerpt(*given)));
  }
  const Json object = Json::trusted(given && *given != "null" ? std::string(*given) : "{}");
  const std::string purpose = purpose_of("tools/call", tool.name, object.text(), exchange);
  const auto with = with_input(exchange, fields, purpose);
  if (!with) return tl::unexpected(with.error());
  if (!tool.read_only && !exchange.caller.read_only.empty()) {
    return tool_result(tool, {.text = exchange.caller.read_only, .is_error = true}, exchange);
  }
  if (tool.of_workspace && !exchange.caller.all_agents) {
    return tool_result(tool, {.text = std::string(kForAllAgents), .is_error = true}, exchange);
  }
  Result<Arguments> arguments = Arguments::as_given(object);
  if (tool.own_schema.empty()) {
    arguments = Arguments::read(tool.parameters, object, workspace_.clock().now());
  }
  if (!arguments) {
    return tool_result(tool, {.text = arguments.error().message, .is_error = true}, exchange);
  }
  ToolOutcome outcome = tool.run(*arguments, *with);
  if (auto* answer = std::get_if<ToolAnswer>(&outcome)) {
    return tool_result(tool, std::move(*answer), exchange);
  }
  if (const auto* input = std::get_if<InputRequired>(&outcome))
    return required(*input, purpose, exchange);
  return tl::unexpected(std::get<RpcError>(std::move(outcome)));
}

Server::Answer Server::list_resources(JsonFields& fields, const Exchange& exchange, Peer*) {
  std::vector<std::string> all;
  for (const ResourceSet& set : catalogue_.resources) {
    auto entries = set.list(exchange.caller);
    if (!entries) return tl::unexpected(as_rpc(entries.error()));
    std::move(entries->begin(), entries->end(), std::back_inserter(all));
  }
  return page_of("resources", all, fields);
}

Server::Answer Server::list_templates(JsonFields& fields, const Exchange&, Peer*) {
  std::vector<std::string> all;
  for (const ResourceSet& set : catalogue_.resources) {
    all.insert(all.end(), set.templates.begin(), set.templates.end());
  }
  return page_of("resourceTemplates", all, fields);
}

Result<std::string> Server::read_uri(const std::string& uri, const Exchange& exchange) const {
  for (const ResourceSet& set : catalogue_.resources) {
    auto contents = set.read(uri, exchange);
    if (contents || contents.error().code != ErrorCode::kNotFound) return contents;
  }
  return fail(ErrorCode::kNotFound, "there is no resource " + quote(uri));
}

Server::Answer Server::read_resource(JsonFields& fields, const Exchange& exchange, Peer*) {
  const auto uri = fields.take_string("uri");
  if (!uri || uri->size() > limits::kMaxUriBytes) {
    return tl::unexpected(invalid("\"uri\" must be a string of at most " +
                                  std::to_string(limits::kMaxUriBytes) + " bytes"));
  }
  auto contents = read_uri(*uri, exchange);
  if (!contents) {
    RpcError error = as_rpc(contents.error());
    const bool missing = error.code == kRpcInvalidParams;
    if (missing && !exchange.modern()) error.code = kLegacyResourceNotFound;
    if (missing) error.data = Json::trusted(JsonObject().add("uri", *uri).str());
    return tl::unexpected(std::move(error));
  }
  return JsonObject().add_json("contents", *contents);
}

Server::Answer Server::subscribe(JsonFields& fields, const Exchange&, Peer* peer) {
  const auto uri = fields.take_string("uri");
  if (!uri || uri->size() > limits::kMaxUriBytes) {
    return tl::unexpected(invalid("\"uri\" must be a string of at most " +
                                  std::to_string(limits::kMaxUriBytes) + " bytes"));
  }
  if (!peer->subscribe(watch_, *uri)) {
    return tl::unexpected(invalid("there may be at most " +
                                  std::to_string(limits::kMaxSubscribedUris) + " subscriptions"));
  }
  watch_.wait_until_looking();
  return JsonObject();
}

Server::Answer Server::unsubscribe(JsonFields& fields, const Exchange&, Peer* peer) {
  const auto uri = fields.take_string("uri");
  if (!uri) return tl::unexpected(invalid("\"uri\" must be a string"));
  peer->unsubscribe(*uri);
  return JsonObject();
}

Server::Answer Server::list_prompts(JsonFields& fields, const Exchange& exchange, Peer*) {
  std::vector<std::string> all;
  for (const Prompt& prompt : catalogue_.prompts) {
    all.push_back(prompt_json(prompt, exchange.structured()));
  }
  return page_of("prompts", all, fields);
}

Server::Answer Server::get_prompt(JsonFields& fields, const Exchange& exchange, Peer*) {
  const auto name = fields.take_string("name");
  const Prompt* prompt = find_prompt(catalogue_.prompts, name);
  if (prompt == nullptr) {
    return tl::unexpected(invalid("there is no prompt " + quote(name.value_or(""))));
  }
  const auto values = prompt_values(*prompt, fields);
  if (!values) return tl::unexpected(values.error());
  std::string given;
  for (const auto& [key, value] : *values) given += quote(key) + quote(value, value.size() + 1);
  const std::string purpose = purpose_of("prompts/get", prompt->name, given, exchange);
  const auto with = with_input(exchange, fields, purpose);
  if (!with) return tl::unexpected(with.error());
  PromptOutcome outcome = prompt->run(*values, *with);
  if (const auto* answer = std::get_if<PromptAnswer>(&outcome)) {
    JsonObject result;
    result.add("description", answer->description).add_json("messages", answer->messages);
    return result;
  }
  if (const auto* input = std::get_if<InputRequired>(&outcome))
    return required(*input, purpose, exchange);
  return tl::unexpected(std::get<RpcError>(std::move(outcome)));
}

Server::Answer Server::complete(JsonFields& fields, const Exchange& exchange, Peer*) {
  const auto ref = fields.take_object("ref");
  const auto argument = fields.take_object("argument");
  JsonFields about(ref.value_or("{}"));
  JsonFields asked(argument.value_or("{}"));
  const auto type = about.take_string("type");
  const auto name = asked.take_string("name");
  const auto begin = asked.take_string("value");
  if (!type || !name || !begin) {
    return tl::unexpected(
        invalid("\"ref\" must have \"type\", and \"argument\" must have \"name\" and \"value\""));
  }
  Result<std::vector<std::string>> values = std::vector<std::string>();
  if (*type == "ref/prompt") {
    const auto prompt_name = about.take_string("name");
    const Prompt* prompt = find_prompt(catalogue_.prompts, prompt_name);
    if (prompt == nullptr) {
      return tl::unexpected(invalid("there is no prompt " + quote(prompt_name.value_or(""))));
    }
    if (prompt->complete) values = prompt->complete(*name, *begin, exchange.caller);
  } else if (*type == "ref/resource") {
    const auto uri = about.take_string("uri").value_or("");
    for (const ResourceSet& set : catalogue_.resources) {
      if (!set.complete || !values || !values->empty()) continue;
      values = set.complete(uri, *begin, exchange.caller);
    }
  } else {
    return tl::unexpected(
        invalid("\"type\" must be ref/prompt or ref/resource, got " + quote(*type)));
  }
  if (!values) return tl::unexpected(as_rpc(values.error()));
  return JsonObject().add_json("completion", completions(std::move(*values)));
}

}  // namespace skein::mcp
