#include "mcp/fixtures.h"

#include <fmt/format.h>

#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/pause.h"
#include "rpc/mcp_protocol.h"

namespace skein::mcp {
namespace {

using namespace std::chrono_literals;

// A red dot, and two bytes of silence.
constexpr std::string_view kPng =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg"
    "==";
constexpr std::string_view kWav =
    "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==";

std::string data_block(std::string_view type, std::string_view data, std::string_view mime) {
  return JsonObject().add("type", type).add("data", data).add("mimeType", mime).str();
}

std::string resource_block(std::string_view uri, std::string_view mime, std::string_view text) {
  const std::string resource =
      JsonObject().add("uri", uri).add("mimeType", mime).add("text", text).str();
  return JsonObject().add("type", "resource").add_json("resource", resource).str();
}

ToolOutcome said(std::string text) { return ToolAnswer{.text = std::move(text)}; }

Tool fixture(std::string name, std::string description,
             std::function<ToolOutcome(const Arguments&, const Exchange&)> run,
             std::vector<Parameter> parameters = {}) {
  return {.name = name,
          .title = name,
          .description = std::move(description),
          .parameters = std::move(parameters),
          .read_only = true,
          .run = std::move(run)};
}

Tool fixed(std::string name, std::vector<std::string> blocks, std::string text = {}) {
  return fixture(
      std::move(name), "Answers the same each time",
      [blocks = std::move(blocks), text = std::move(text)](const Arguments&, const Exchange&) {
        return ToolOutcome(ToolAnswer{.text = text, .blocks = blocks});
      });
}

void add_content(std::vector<Tool>& tools) {
  tools.push_back(fixed("test_simple_text", {}, "This is a simple text response for testing."));
  tools.push_back(fixed("test_image_content", {data_block("image", kPng, "image/png")}));
  tools.push_back(fixed("test_audio_content", {data_block("audio", kWav, "audio/wav")}));
  tools.push_back(
      fixed("test_embedded_resource", {resource_block("test://embedded-resource", "text/plain",
                                                      "This is an embedded resource content.")}));
  tools.push_back(fixed("test_multiple_content_types",
                        {data_block("image", kPng, "image/png"),
                         resource_block("test://mixed-content-resource", "application/json",
                                        R"({"test":"data","value":123})")},
                        "Multiple content types test:"));
  tools.push_back(fixture("test_error_handling", "Fails", [](const Arguments&, const Exchange&) {
    return ToolOutcome(ToolAnswer{.text = "This tool intentionally returns an error for testing",
                                  .is_error = true});
  }));
  Tool schema = fixed("json_schema_2020_12_tool", {}, "ok");
  schema.own_schema = Json::trusted(
      R"({"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":)"
      R"({"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},)"
      R"("city":{"type":"string"}}}},"properties":{"name":{"type":"string"},"address":)"
      R"({"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},)"
      R"("phone":{"type":"string"},"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":)"
      R"(["phone"]},{"required":["email"]}]}],"if":{"properties":{"contactMethod":{"const":"phone"}},)"
      R"("required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},)"
      R"("additionalProperties":false})");
  tools.push_back(std::move(schema));
}

void add_streams(std::vector<Tool>& tools) {
  tools.push_back(fixture("test_tool_with_logging", "Logs three times",
                          [](const Arguments&, const Exchange& exchange) {
                            exchange.log(LogLevel::kInfo, R"("Tool execution started")");
                            pause_for(50ms, exchange.stop);
                            exchange.log(LogLevel::kInfo, R"("Tool processing data")");
                            pause_for(50ms, exchange.stop);
                            exchange.log(LogLevel::kInfo, R"("Tool execution completed")");
                            return said("Logged three times");
                          }));
  tools.push_back(
      fixture("test_logging_tool", "Logs once", [](const Arguments&, const Exchange& exchange) {
        exchange.log(LogLevel::kInfo, R"("Logged")");
        return said("Logged, if that was wanted");
      }));
  tools.push_back(fixture("test_tool_with_progress", "Reports progress",
                          [](const Arguments&, const Exchange& exchange) {
                            for (const double done : {0.0, 50.0, 100.0}) {
                              exchange.progress(done, 100.0);
                              if (done < 100) pause_for(50ms, exchange.stop);
                            }
                            return said("Went all the way");
                          }));
  tools.push_back(fixture("test_reconnection", "Cuts the stream before it answers",
                          [](const Arguments&, const Exchange& exchange) {
                            if (exchange.cut) exchange.cut();
                            pause_for(100ms, exchange.stop);
                            return said("Answered after the stream was cut");
                          }));
}

// --- What a client is asked, in versions that ask ---

ToolOutcome ask(const Exchange& exchange, bool able, std::string_view method,
                const std::string& params, std::string_view before) {
  if (!able || !exchange.ask) {
    return ToolAnswer{.text = fmt::format("the client cannot do {}", method), .is_error = true};
  }
  const auto answer = exchange.ask(method, params);
  if (!answer) return ToolAnswer{.text = answer.error().message, .is_error = true};
  return said(fmt::format("{}{}", before, answer->text()));
}

std::string form(std::string_view message, std::string_view properties,
                 const std::vector<std::string>& required) {
  JsonObject schema;
  schema.add("type", "object").add_json("properties", properties);
  if (!required.empty()) schema.add("required", required);
  return JsonObject().add("message", message).add_json("requestedSchema", schema.str()).str();
}

std::string sampling(std::string_view prompt, std::uint64_t tokens) {
  const std::string message =
      JsonObject().add("role", "user").add_json("content", text_block(prompt)).str();
  return JsonObject().add_json("messages", "[" + message + "]").add("maxTokens", tokens).str();
}

void add_questions(std::vector<Tool>& tools) {
  tools.push_back(fixture("test_sampling", "Asks the client's model",
                          [](const Arguments& arguments, const Exchange& exchange) {
                            return ask(exchange, exchange.client.sampling, "sampling/createMessage",
                                       sampling(arguments.text_or("prompt", ""), 100),
                                       "LLM response: ");
                          },
                          {{.name = "prompt", .required = true}}));
  tools.push_back(fixture(
      "test_elicitation", "Asks the client's user",
      [](const Arguments& arguments, const Exchange& exchange) {
        return ask(exchange, exchange.client.elicitation, "elicitation/create",
                   form(arguments.text_or("message", ""),
                        R"({"username":{"type":"string","description":"User's response"},)"
                        R"("email":{"type":"string","description":"User's email address"}})",
                        {"username", "email"}),
                   "User response: ");
      },
      {{.name = "message", .required = true}}));
  tools.push_back(fixture(
      "test_elicitation_sep1034_defaults", "Asks with defaults",
      [](const Arguments&, const Exchange& exchange) {
        return ask(
            exchange, exchange.client.elicitation, "elicitation/create",
            form("Please check these",
                 R"({"name":{"type":"string","default":"John Doe"},"age":{"type":"integer",)"
                 R"("default":30},"score":{"type":"number","default":95.5},"status":{"type":)"
                 R"("string","enum":["active","inactive","pending"],"default":"active"},)"
                 R"("verified":{"type":"boolean","default":true}})",
                 {}),
            "Elicitation completed: ");
      }));
  tools.push_back(fixture(
      "test_elicitation_sep1330_enums", "Asks for choices",
      [](const Arguments&, const Exchange& exchange) {
        constexpr std::string_view kTitled =
            R"([{"const":"value1","title":"First"},{"const":"value2","title":"Second"}])";
        return ask(
            exchange, exchange.client.elicitation, "elicitation/create",
            form(
                "Please choose",
                fmt::format(
                    R"({{"untitledSingle":{{"type":"string","enum":["option1","option2","option3"]}},)"
                    R"("titledSingle":{{"type":"string","oneOf":{0}}},)"
                    R"("legacyEnum":{{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":)"
                    R"(["Option One","Option Two","Option Three"]}},"untitledMulti":{{"type":"array",)"
                    R"("items":{{"type":"string","enum":["option1","option2","option3"]}}}},)"
                    R"("titledMulti":{{"type":"array","items":{{"anyOf":{0}}}}}}})",
                    kTitled),
                {}),
            "Elicitation completed: ");
      }));
}

// --- What a client is asked by a result that requires input ---

std::string request(std::string_view method, std::string_view params) {
  return JsonObject().add("method", method).add_json("params", params).str();
}

std::string elicit(std::string_view message, std::string_view field, std::string_view type) {
  return request(
      "elicitation/create",
      form(message, JsonObject().add_json(field, JsonObject().add("type", type).str()).str(),
           {std::string(field)}));
}

// An object that came back under this key; empty: none.
std::string response(const Exchange& exchange, std::string_view key) {
  if (exchange.input_responses.empty()) return {};
  return std::string(JsonFields(exchange.input_responses.text()).take_object(key).value_or(""));
}

std::string accepted(const Exchange& exchange, std::string_view key, std::string_view field) {
  const std::string answer = response(exchange, key);
  if (answer.empty()) return {};
  JsonFields fields(answer);
  if (fields.take_string("action") != "accept") return {};
  JsonFields content(fields.take_object("content").value_or("{}"));
  return content.take_string(field).value_or("");
}

ToolOutcome required(const JsonObject& requests, std::string state = {}) {
  return InputRequired{requests.str(), std::move(state)};
}

ToolOutcome multi_round(const Arguments&, const Exchange& exchange) {
  if (exchange.state.empty()) {
    return required(
        JsonObject().add_json("step1", elicit("Step 1: What is your name?", "name", "string")),
        "asked for a name");
  }
  const std::string name = accepted(exchange, "step1", "name");
  if (!name.empty()) {
    return required(JsonObject().add_json(
                        "step2", elicit("Step 2: What is your favorite color?", "color", "string")),
                    "name " + name);
  }
  return said(exchange.state + ", color " + accepted(exchange, "step2", "color"));
}

ToolOutcome multiple_inputs(const Arguments&, const Exchange& exchange) {
  const bool complete = !exchange.state.empty() && !response(exchange, "user_name").empty() &&
                        !response(exchange, "greeting").empty() &&
                        !response(exchange, "client_roots").empty();
  if (complete) return said("Everything was answered");
  return required(JsonObject()
                      .add_json("user_name", elicit("What is your name?", "name", "string"))
                      .add_json("greeting", request("sampling/createMessage",
                                                    sampling("Generate a greeting", 50)))
                      .add_json("client_roots", request("roots/list", "{}")),
                  "asked for three things");
}

ToolOutcome capabilities(const Arguments&, const Exchange& exchange) {
  JsonObject requests;
  if (exchange.client.sampling) {
    requests.add_json("summary", request("sampling/createMessage", sampling("Sum it up", 50)));
  }
  if (exchange.client.elicitation) {
    requests.add_json("confirm", elicit("Please confirm", "ok", "boolean"));
  }
  if (!exchange.input_responses.empty()) return said("Answered");
  return required(requests, "asked");
}

// Asks once for one thing; `sealed`: and wants its state back.
Tool asks_once(std::string name, std::string key, std::string what, bool sealed,
               std::string_view field = {}) {
  return fixture(std::move(name), "Requires input",
                 [key, what, sealed, field](const Arguments&, const Exchange& exchange) {
                   const std::string answer = response(exchange, key);
                   const bool answered =
                       field.empty() ? !answer.empty() : !accepted(exchange, key, field).empty();
                   if (answered && (!sealed || exchange.state == "asked")) {
                     return said(field.empty() ? "state-ok " + answer
                                               : "Hello, " + accepted(exchange, key, field) + "!");
                   }
                   return required(JsonObject().add_json(key, what), sealed ? "asked" : "");
                 });
}

void add_required_input(std::vector<Tool>& tools) {
  tools.push_back(asks_once("test_input_required_result_elicitation", "user_name",
                            elicit("What is your name?", "name", "string"), false, "name"));
  tools.push_back(asks_once("test_streaming_elicitation", "confirm",
                            elicit("Please confirm", "ok", "boolean"), false));
  tools.push_back(asks_once(
      "test_input_required_result_sampling", "capital_question",
      request("sampling/createMessage", sampling("What is the capital of France?", 100)), false));
  tools.push_back(asks_once("test_input_required_result_list_roots", "client_roots",
                            request("roots/list", "{}"), false));
  for (const char* name :
       {"test_input_required_result_request_state", "test_input_required_result_tampered_state"}) {
    tools.push_back(asks_once(name, "confirm", elicit("Please confirm", "ok", "boolean"), true));
  }
  tools.push_back(
      fixture("test_input_required_result_multiple_inputs", "Requires input", multiple_inputs));
  tools.push_back(fixture("test_input_required_result_multi_round", "Requires input", multi_round));
  tools.push_back(
      fixture("test_input_required_result_capabilities", "Requires input", capabilities));
  tools.push_back(fixture(
      "test_missing_capability", "Needs a model", [](const Arguments&, const Exchange& exchange) {
        if (exchange.client.sampling) return said("The client has one");
        return ToolOutcome(RpcError{kMcpMissingCapability, "the client must be able to sample",
                                    Json::trusted(R"({"requiredCapabilities":{"sampling":{}}})")});
      }));
}

void add_triggers(std::vector<Tool>& tools, const FixtureHooks& hooks) {
  const auto trigger = [&tools](std::string name, const std::function<void()>& tell) {
    tools.push_back(fixture(std::move(name), "Says that a list changed",
                            [&tell](const Arguments&, const Exchange&) {
                              if (tell) tell();
                              return said("Told");
                            }));
  };
  trigger("test_trigger_tool_change", hooks.tools_changed);
  trigger("test_trigger_prompt_change", hooks.prompts_changed);
}

// --- Resources and prompts ---

ResourceSet resources() {
  const auto entry = [](std::string_view uri, std::string_view name, std::string_view mime) {
    return JsonObject().add("uri", uri).add("name", name).add("mimeType", mime).str();
  };
  ResourceSet set;
  set.list = [entry](const Caller&) -> Result<std::vector<std::string>> {
    return std::vector<std::string>{
        entry("test://static-text", "static-text", "text/plain"),
        entry("test://static-binary", "static-binary", "image/png"),
        entry("test://watched-resource", "watched-resource", "text/plain")};
  };
  set.templates = {JsonObject()
                       .add("uriTemplate", "test://template/{id}/data")
                       .add("name", "template")
                       .add("mimeType", "application/json")
                       .str()};
  set.read = [](std::string_view uri, const Exchange&) -> Result<std::string> {
    JsonObject contents;
    contents.add("uri", uri);
    if (uri == "test://static-text" || uri == "test://watched-resource") {
      contents.add("mimeType", "text/plain")
          .add("text", "This is the content of the static text resource.");
    } else if (uri == "test://static-binary") {
      contents.add("mimeType", "image/png").add("blob", kPng);
    } else if (uri.starts_with("test://template/") && uri.ends_with("/data")) {
      const std::string_view id = uri.substr(16, uri.size() - 16 - 5);
      contents.add("mimeType", "application/json");
      contents.add("text", JsonObject()
                               .add("id", id)
                               .add("templateTest", true)
                               .add("data", fmt::format("Data for ID: {}", id))
                               .str());
    } else {
      return fail(ErrorCode::kNotFound, "no fixture");
    }
    return "[" + contents.str() + "]";
  };
  return set;
}

std::string message(std::string_view content) {
  return JsonObject().add("role", "user").add_json("content", content).str();
}

std::string value(const PromptValues& values, const char* name) {
  const auto found = values.find(name);
  return found == values.end() ? "" : found->second;
}

Prompt prompt(std::string name, std::vector<PromptArgument> arguments,
              std::function<PromptOutcome(const PromptValues&, const Exchange&)> run) {
  return {.name = name,
          .title = name,
          .description = "For tests",
          .arguments = std::move(arguments),
          .run = std::move(run)};
}

PromptOutcome messages(const std::vector<std::string>& contents) {
  std::vector<std::string> all;
  for (const std::string& content : contents) all.push_back(message(content));
  return PromptAnswer{"For tests", json_array_of(all)};
}

void add_prompts(std::vector<Prompt>& prompts) {
  prompts.push_back(prompt("test_simple_prompt", {}, [](const PromptValues&, const Exchange&) {
    return messages({text_block("This is a simple prompt for testing.")});
  }));
  prompts.push_back(prompt(
      "test_prompt_with_arguments",
      {{"arg1", "First test argument", true}, {"arg2", "Second test argument", true}},
      [](const PromptValues& values, const Exchange&) {
        return messages({text_block(fmt::format("Prompt with arguments: arg1='{}', arg2='{}'",
                                                value(values, "arg1"), value(values, "arg2")))});
      }));
  prompts.push_back(prompt(
      "test_prompt_with_embedded_resource", {{"resourceUri", "URI of the resource to embed", true}},
      [](const PromptValues& values, const Exchange&) {
        return messages({resource_block(value(values, "resourceUri"), "text/plain",
                                        "Embedded resource content for testing."),
                         text_block("Please process the embedded resource above.")});
      }));
  prompts.push_back(prompt("test_prompt_with_image", {}, [](const PromptValues&, const Exchange&) {
    return messages(
        {data_block("image", kPng, "image/png"), text_block("Please analyze the image above.")});
  }));
  prompts.push_back(
      prompt("test_input_required_result_prompt", {},
             [](const PromptValues&, const Exchange& exchange) -> PromptOutcome {
               const std::string context = accepted(exchange, "user_context", "context");
               if (!context.empty()) return messages({text_block("Use this context: " + context)});
               return InputRequired{
                   JsonObject()
                       .add_json("user_context",
                                 elicit("What context should the prompt use?", "context", "string"))
                       .str(),
                   {}};
             }));
}

}  // namespace

void add_fixtures(Catalogue& catalogue, const FixtureHooks& hooks) {
  add_content(catalogue.tools);
  add_streams(catalogue.tools);
  add_questions(catalogue.tools);
  add_required_input(catalogue.tools);
  add_triggers(catalogue.tools, hooks);
  catalogue.resources.push_back(resources());
  add_prompts(catalogue.prompts);
}

}  // namespace skein::mcp
