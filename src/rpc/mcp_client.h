// A client of one MCP server: its tools, listed and called.
//
// The server is started or reached on first use, and told apart by what it speaks: 2026-07-28 is
// tried first (server/discover), then the versions that begin with "initialize". A server that is
// gone is started again by the next call, once per call at most. A call that was under way when the
// server went is not repeated: whether it had an effect is not known, and the error says so.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/http_client.h"
#include "rpc/mcp_session.h"
#include "skein/engine.h"
#include "skein/error.h"

namespace skein {

struct McpOptions {
  std::string folder{};                      // where a program starts; empty: where we are
  std::vector<std::string> roots{};          // folders that the server may be told of
  std::chrono::milliseconds start{30'000};   // for a server to be there
  std::chrono::milliseconds probe{5'000};    // for its answer in the newest version
  std::chrono::milliseconds idle{60'000};    // of a call, without an answer or progress
  std::chrono::milliseconds total{600'000};  // of a call
  std::string client_version = "1";
  std::function<void(std::string_view)> log{};  // from any thread; what was odd but no error
};

struct McpCall {
  std::string tool;
  Json arguments{};  // an object; absent: {}
  std::stop_token stop{};
  McpProgressCallback on_progress{};  // on any thread, never after the call returned
};

// Thread-safe: any number of calls at once. Every error names the server and the method.
class McpClient {
 public:
  // Borrows `http`. The server is named by its command or by its URL.
  McpClient(ToolServer server, McpOptions options, HttpClient& http);
  McpClient(const McpClient&) = delete;
  McpClient& operator=(const McpClient&) = delete;

  const std::string& name() const { return server_.name; }

  // All pages. Kept for as long as the server says that the list is good, or until it says that it
  // changed, where it says either. A tool that breaks a rule is left out, and logged.
  Result<std::vector<McpTool>> list_tools(std::stop_token stop = {});

  // A tool that failed is a result. Errors: kConflict: stopped. kBusy: no answer in time. kIo: the
  // server cannot be reached, or went away. kNotFound: there is no such program. kInvalid: it
  // refused, or does not keep to the protocol. After a stop or a timeout the server is told.
  Result<McpToolResult> call_tool(const McpCall& call);

  // What was agreed on, once there was a call; empty before.
  std::string version() const;

 private:
  using SessionPtr = std::shared_ptr<McpSession>;  // calls outlive a server that is replaced

  Result<SessionPtr> connect(const std::stop_token& stop, bool& fresh);
  Result<SessionPtr> make_session(const std::stop_token& stop);
  Result<std::unique_ptr<McpSession>> open_session();
  void drop(const SessionPtr& session);
  Result<std::vector<McpTool>> list_on(McpSession& session, const std::stop_token& stop);
  Result<McpToolPage> list_page(McpSession& session, const std::string& cursor,
                                const std::stop_token& stop);
  Result<McpToolResult> call_on(McpSession& session, const McpCall& call);
  Result<std::vector<HttpHeader>> headers_for(McpSession& session, const McpCall& call);

  const ToolServer server_;
  const McpOptions options_;
  HttpClient& http_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;        // connecting_
  bool connecting_ = false;                    // under mutex_
  bool known_legacy_ = false;                  // under mutex_
  std::optional<std::vector<McpTool>> tools_;  // under mutex_; as listed last
  RpcTime tools_good_until_{};                 // under mutex_
  SessionPtr session_;                         // under mutex_; the first to go
};

}  // namespace skein
