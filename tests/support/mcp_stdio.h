// An MCP server over a pair of pipes, in this process.
#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "core/file.h"
#include "core/line_buffer.h"
#include "mcp/catalogue.h"
#include "mcp/server.h"
#include "mcp/stdio_server.h"
#include "support/temp_dir.h"

namespace skein::test {

// Settings for a workspace in `folder`, with a store in a file and no model.
Settings mcp_settings(const std::filesystem::path& folder);

class McpPipes {
 public:
  // `prepare` may change what the server offers.
  explicit McpPipes(const std::function<void(mcp::Catalogue&)>& prepare = {});
  ~McpPipes();

  const std::filesystem::path& folder() const { return folder_.path(); }
  mcp::Server& server() { return *server_; }

  void send(std::string_view line);  // a line feed is added
  void send_bytes(std::string_view bytes);
  // The next message, waiting for it; null at the end.
  boost::json::value read();
  // A request with this id and its answer; what comes before that is dropped.
  boost::json::value call(std::string_view id, std::string_view method, std::string_view params);
  // "initialize", and its answer.
  boost::json::value initialize(std::string_view version = "2025-11-25");
  // The server gets no more, and ends.
  void end_input();

 private:
  TempDir folder_;
  std::unique_ptr<mcp::Workspace> workspace_;
  std::unique_ptr<mcp::Server> server_;
  Fd in_;
  Fd out_;
  LineBuffer lines_{std::size_t{64} << 20};
  Fd server_in_;
  Fd server_out_;
  std::jthread serving_;
};

// "_meta" of 2026-07-28, as a member.
inline constexpr std::string_view kModernMeta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientCapabilities":{}})";

}  // namespace skein::test
