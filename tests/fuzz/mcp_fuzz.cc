// Bytes on the standard input of an MCP server, and over HTTP: whatever comes, every line gets one
// answer or none, and each answer is a message on one line with the id of its request.

#include <filesystem>
#include <string>

#include "core/json.h"
#include "core/line_buffer.h"
#include "fuzz/support/check.h"
#include "mcp/catalogue.h"
#include "mcp/http_headers.h"
#include "mcp/server.h"
#include "rpc/json_rpc.h"

namespace {

using namespace skein;

constexpr std::size_t kMaxLine = 4096;

// A server on an empty store, for somebody who may only read.
struct Fixture {
  Fixture()
      : store(*open_store("memory:")),
        workspace({.settings = settings(), .store = store.get()}),
        server(workspace, mcp::workspace_catalogue(workspace), {}) {}

  static Settings settings() {
    Settings made;
    made.workspace = std::filesystem::temp_directory_path() / "skein-mcp-fuzz-nothing-there";
    made.store_url = "memory:";
    made.default_agent = "default";
    made.embedder = "none";
    made.project = "fuzz";
    return made;
  }

  std::unique_ptr<Store> store;
  mcp::Workspace workspace;
  mcp::Server server;
};

Fixture& fixture() {
  static Fixture made;
  return made;
}

void check_answer(const std::string& line, const Json& id) {
  FUZZ_CHECK(line.find('\n') == std::string::npos);
  const auto answer = parse_rpc(line);
  FUZZ_CHECK(answer.has_value());
  const auto* response = std::get_if<RpcResponse>(&*answer);
  FUZZ_CHECK(response != nullptr);
  FUZZ_CHECK(response->id.text() == id.text());
}

void ask_over_http(const RpcRequest& request, const mcp::Params& params, std::string_view header) {
  mcp::HttpAsked asked;
  asked.method = "POST";
  for (const char* name : {"MCP-Protocol-Version", "mcp-method", "Mcp-Name", "Accept"}) {
    asked.headers.push_back({name, std::string(header)});
  }
  (void)mcp::check_post(asked);
  (void)mcp::is_modern_request(asked, request, params);
  if (const auto wrong = mcp::check_modern_headers(asked, request, params)) {
    check_answer(rpc_line(RpcResponse{request.id, tl::unexpected(*wrong)}), request.id);
  }
}

void take(std::string_view line, mcp::Peer& peer, std::string_view header) {
  const auto message = parse_rpc(line);
  if (!message) return check_answer(rpc_line(message.error()), message.error().id);
  if (const auto* notification = std::get_if<RpcNotification>(&*message)) {
    if (notification->method != "notifications/initialized") {
      fixture().server.tell(*notification, peer);
    }
    return;
  }
  if (const auto* response = std::get_if<RpcResponse>(&*message)) {
    FUZZ_CHECK(!peer.settle(*response));
    return;
  }
  const auto& request = std::get<RpcRequest>(*message);
  mcp::Params params(request.params);
  ask_over_http(request, params, header);
  auto exchange = fixture().server.open(request, params, &peer);
  if (!exchange) {
    const RpcResponse refused{request.id, tl::unexpected(exchange.error())};
    return check_answer(rpc_line(refused), request.id);
  }
  // Subscriptions start a thread that looks at files.
  if (request.method == "resources/subscribe") return;
  exchange->caller.read_only = "this key may only read";
  exchange->send = [](const std::string& told) {
    FUZZ_CHECK(told.find('\n') == std::string::npos);
    FUZZ_CHECK(parse_rpc(told).has_value());
  };
  check_answer(rpc_line(fixture().server.answer(request, params, *exchange, &peer)), request.id);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes = fuzz::as_text(data, size);
  mcp::Peer peer([](const std::string&) {});
  LineBuffer lines(kMaxLine);
  LineBuffer::Line line;
  std::string header;
  // In pieces, whose lengths the first byte says.
  const std::size_t piece = bytes.empty() ? 1 : static_cast<unsigned char>(bytes[0]) % 61 + 1;
  while (!bytes.empty()) {
    const std::size_t count = std::min(piece, bytes.size());
    bytes.substr(0, count).copy(lines.room(count), count);
    lines.fill(count);
    bytes.remove_prefix(count);
    if (bytes.empty()) lines.end();
    while (lines.next(line)) {
      FUZZ_CHECK(line.text.size() <= kMaxLine);
      if (line.too_long || trim_json(line.text).empty()) continue;
      const std::string text(line.text);
      take(text, peer, header);
      header = text.substr(0, 64);
    }
  }
  return 0;
}
