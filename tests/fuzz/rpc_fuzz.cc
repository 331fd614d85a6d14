// Messages of JSON-RPC from outside: what is accepted says the same when it is written and read
// again, and what is refused is answered with a message that is one.

#include <string>

#include "core/json.h"
#include "fuzz/support/check.h"
#include "rpc/json_rpc.h"
#include "rpc/mcp_headers.h"
#include "rpc/mcp_protocol.h"

namespace {

using namespace skein;

std::string line_of(const RpcMessage& message) {
  return std::visit([](const auto& each) { return rpc_line(each); }, message);
}

void check_message(const RpcMessage& message) {
  const std::string line = line_of(message);
  FUZZ_CHECK(line.find('\n') == std::string::npos);
  const auto again = parse_rpc(line);
  FUZZ_CHECK(again.has_value());
  FUZZ_CHECK(again->index() == message.index());
  FUZZ_CHECK(line_of(*again) == line);
}

void check_refusal(const RpcRefusal& refusal) {
  FUZZ_CHECK(refusal.error.code == kRpcParseError || refusal.error.code == kRpcInvalidRequest);
  const auto answer = parse_rpc(rpc_line(refusal));
  FUZZ_CHECK(answer.has_value());
  FUZZ_CHECK(std::holds_alternative<RpcResponse>(*answer));
  FUZZ_CHECK(!std::get<RpcResponse>(*answer).outcome.has_value());
}

// Results as a server may make them up.
void read_results(const Json& result) {
  if (const auto page = parse_tool_page(result)) {
    for (const McpTool& tool : page->tools) {
      FUZZ_CHECK(validate_json(tool.input_schema.text(), "schema").has_value());
      const auto marks = mirrored_parameters(tool.input_schema);
      if (!marks) continue;
      for (const HttpHeader& header : mirrored_headers(*marks, result)) {
        FUZZ_CHECK(is_http_token(header.name));
        FUZZ_CHECK(header.value.find_first_of("\r\n") == std::string::npos);
      }
    }
  }
  if (const auto text = parse_tool_result(result)) FUZZ_CHECK(valid_utf8(text->text));
  (void)parse_input_required(result);
  (void)parse_discovered(result);
  (void)parse_initialized(result);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  for (const auto& message : parse_rpc_batch(text)) {
    if (!message) {
      check_refusal(message.error());
      continue;
    }
    check_message(*message);
    if (const auto* response = std::get_if<RpcResponse>(&*message)) {
      if (response->outcome) {
        read_results(*response->outcome);
      } else {
        (void)supported_versions(response->outcome.error());
      }
    }
  }
  return 0;
}
