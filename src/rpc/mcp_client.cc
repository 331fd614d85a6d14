#include "rpc/mcp_client.h"

#include <algorithm>
#include <utility>

#include "core/json.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"
#include "rpc/http_channel.h"
#include "rpc/mcp_headers.h"
#include "rpc/server_environment.h"
#include "rpc/stdio_channel.h"

namespace skein {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kMaxInputRounds = 8;  // of questions before a result

tl::unexpected<Error> too_many(const McpSession& session, std::size_t limit,
                               std::string_view what) {
  return tl::unexpected(session.named(
      "tools/list", {ErrorCode::kInvalid,
                     "there are more than " + std::to_string(limit) + " " + std::string(what)}));
}

}  // namespace

McpClient::McpClient(ToolServer server, McpOptions options, HttpClient& http)
    : server_(std::move(server)), options_(std::move(options)), http_(http) {}

std::string McpClient::version() const {
  const std::lock_guard lock(mutex_);
  return session_ ? session_->version() : std::string();
}

// --- Reaching the server ---

Result<std::unique_ptr<McpSession>> McpClient::open_session() {
  McpIdentity identity;
  identity.server = server_.name;
  identity.version = options_.client_version;
  identity.roots = options_.roots;
  identity.log = options_.log;
  identity.on_tools_changed = [this] {
    const std::lock_guard lock(mutex_);
    tools_good_until_ = {};
  };
  return McpSession::open(std::move(identity),
                          [this](RpcInbox inbox) -> Result<std::unique_ptr<RpcChannel>> {
                            if (!server_.url.empty()) {
                              std::vector<HttpHeader> headers;
                              for (const auto& [name, value] : server_.headers)
                                headers.push_back({name, value});
                              return std::make_unique<HttpChannel>(
                                  http_, server_.url, std::move(headers), std::move(inbox));
                            }
                            Spawn spawn{.argv = server_.command,
                                        .folder = options_.folder,
                                        .environment = server_environment(server_.environment)};
                            return StdioChannel::start(std::move(spawn), std::move(inbox));
                          });
}

Result<McpClient::SessionPtr> McpClient::connect(const std::stop_token& stop, bool& fresh) {
  SessionPtr gone;  // destroyed after the lock was given back
  std::unique_lock lock(mutex_);
  while (true) {
    if (session_ && session_->alive()) return session_;
    if (!connecting_) break;
    if (!changed_.wait(lock, stop, [this] { return !connecting_; })) {
      return fail(ErrorCode::kConflict, "tool server " + quote(server_.name) + ": stopped");
    }
  }
  connecting_ = true;
  gone = std::move(session_);
  session_.reset();
  tools_.reset();
  tools_good_until_ = {};
  lock.unlock();
  gone.reset();
  auto made = make_session(stop);
  lock.lock();
  connecting_ = false;
  if (made) session_ = *made;
  fresh = true;
  changed_.notify_all();
  return made;
}

Result<McpClient::SessionPtr> McpClient::make_session(const std::stop_token& stop) {
  SKEIN_ASSIGN(SessionPtr session, open_session());
  bool legacy = false;
  {
    const std::lock_guard lock(mutex_);
    legacy = known_legacy_;
  }
  if (!legacy) {
    const auto modern = session->discover(options_.probe, stop);
    if (modern && *modern) return session;
    if (!modern && (modern.error().code != ErrorCode::kIo || session->alive())) {
      return tl::unexpected(modern.error());
    }
    if (!modern) {
      // Some end at the first request that is not "initialize".
      SKEIN_ASSIGN(session, open_session());
    }
  }
  if (auto initialized = session->initialize(options_.start, stop); !initialized) {
    // It may have been slow to start, and speak the newest version only.
    const bool refused = initialized.error().code == ErrorCode::kInvalid;
    if (!legacy && refused && session->discover(options_.probe, stop).value_or(false)) {
      return session;
    }
    return tl::unexpected(std::move(initialized).error());
  }
  const std::lock_guard lock(mutex_);
  known_legacy_ = true;
  return session;
}

void McpClient::drop(const SessionPtr& session) {
  SessionPtr gone;
  const std::lock_guard lock(mutex_);
  if (session_ == session) gone = std::move(session_);
}

// --- Tools ---

Result<std::vector<McpTool>> McpClient::list_tools(std::stop_token stop) {
  bool fresh = false;
  for (int attempt = 0;; ++attempt) {
    SKEIN_ASSIGN(const SessionPtr session, connect(stop, fresh));
    {
      const std::lock_guard lock(mutex_);
      if (tools_ && SteadyClock::now() < tools_good_until_) return *tools_;
    }
    auto tools = list_on(*session, stop);
    if (tools) return tools;
    const ErrorCode code = tools.error().code;
    const bool gone = code == ErrorCode::kIo || code == ErrorCode::kNotFound;
    if (fresh || attempt > 0 || !gone) return tools;
    drop(session);
  }
}

Result<McpToolPage> McpClient::list_page(McpSession& session, const std::string& cursor,
                                         const std::stop_token& stop) {
  std::string fields;
  if (!cursor.empty()) {
    fields = "\"cursor\":";
    append_json_string(fields, cursor);
  }
  SKEIN_ASSIGN(const RpcResponse answer, session.send({.method = "tools/list",
                                                       .fields = fields,
                                                       .headers = {},
                                                       .idle = options_.idle,
                                                       .total = options_.total,
                                                       .stop = stop}));
  if (!answer.outcome) return tl::unexpected(session.refused("tools/list", answer.outcome.error()));
  auto page = parse_tool_page(*answer.outcome);
  if (!page) return tl::unexpected(session.named("tools/list", std::move(page).error()));
  if (session.modern() && !server_.url.empty()) {
    std::erase_if(page->tools, [&](const McpTool& tool) {
      const auto marks = mirrored_parameters(tool.input_schema);
      if (!marks)
        page->left_out.push_back("tool " + quote(tool.name) + ": " + marks.error().message);
      return !marks;
    });
  }
  for (const std::string& why : page->left_out) session.log("left out " + why);
  return page;
}

Result<std::vector<McpTool>> McpClient::list_on(McpSession& session, const std::stop_token& stop) {
  std::vector<McpTool> tools;
  if (!session.info().has_tools) return tools;
  const bool tells = session.info().tells_tool_changes && !session.modern() && server_.url.empty();
  {
    // What it tells from here on is about a list that is newer than this one.
    const std::lock_guard lock(mutex_);
    tools_good_until_ = tells ? RpcTime::max() : RpcTime{};
  }
  auto fresh_until = RpcTime::max();
  std::string cursor;
  std::size_t pages = 0;
  do {
    if (++pages > limits::kMaxToolPages) return too_many(session, limits::kMaxToolPages, "pages");
    SKEIN_ASSIGN(McpToolPage page, list_page(session, cursor, stop));
    fresh_until = std::min(fresh_until, SteadyClock::now() + page.fresh_for);
    std::move(page.tools.begin(), page.tools.end(), std::back_inserter(tools));
    if (tools.size() > limits::kMaxServerTools) {
      return too_many(session, limits::kMaxServerTools, "tools");
    }
    cursor = page.next;
  } while (!cursor.empty());
  const std::lock_guard lock(mutex_);
  tools_ = tools;
  if (!tells) tools_good_until_ = fresh_until;
  return tools;
}

Result<std::vector<HttpHeader>> McpClient::headers_for(McpSession& session, const McpCall& call) {
  std::vector<HttpHeader> headers;
  if (!session.modern() || server_.url.empty()) return headers;
  headers.push_back({"Mcp-Name", mcp_header_value(call.tool)});
  std::optional<std::vector<McpTool>> tools;
  {
    const std::lock_guard lock(mutex_);
    tools = tools_;
  }
  if (!tools) {
    SKEIN_ASSIGN(tools, list_on(session, call.stop));
  }
  for (const McpTool& tool : *tools) {
    if (tool.name != call.tool) continue;
    SKEIN_ASSIGN(const auto marks, mirrored_parameters(tool.input_schema));
    const auto mirrored = mirrored_headers(marks, call.arguments);
    headers.insert(headers.end(), mirrored.begin(), mirrored.end());
  }
  return headers;
}

Result<McpToolResult> McpClient::call_on(McpSession& session, const McpCall& call) {
  constexpr std::string_view kMethod = "tools/call";
  const std::string arguments = call.arguments.empty() ? "{}" : call.arguments.text();
  std::string asked = JsonObject().add("name", call.tool).add_json("arguments", arguments).str();
  asked = asked.substr(1, asked.size() - 2);
  std::string more;
  bool listed_again = false;
  for (int round = 0; round < kMaxInputRounds; ++round) {
    SKEIN_ASSIGN(const auto headers, headers_for(session, call));
    SKEIN_ASSIGN(const RpcResponse answer, session.send({.method = std::string(kMethod),
                                                         .fields = asked + more,
                                                         .headers = headers,
                                                         .idle = options_.idle,
                                                         .total = options_.total,
                                                         .stop = call.stop,
                                                         .on_progress = &call.on_progress}));
    if (!answer.outcome) {
      const RpcError& error = answer.outcome.error();
      if (error.code != kMcpHeaderMismatch || !session.modern() || listed_again) {
        return tl::unexpected(session.refused(kMethod, error));
      }
      listed_again = true;  // its schema has changed, and with it the headers
      SKEIN_TRY(list_on(session, call.stop));
      continue;
    }
    auto required = parse_input_required(*answer.outcome);
    if (!required) return tl::unexpected(session.named(kMethod, std::move(required).error()));
    if (!*required) {
      auto result = parse_tool_result(*answer.outcome);
      if (!result) return tl::unexpected(session.named(kMethod, std::move(result).error()));
      return result;
    }
    auto responses = session.input_responses(**required);
    if (!responses) return tl::unexpected(session.named(kMethod, std::move(responses).error()));
    more = (*required)->requests.empty() ? "" : ",\"inputResponses\":" + responses->text();
    if (!(*required)->state.empty()) more += ",\"requestState\":" + (*required)->state.text();
  }
  return tl::unexpected(session.named(
      kMethod, {ErrorCode::kInvalid, "it keeps asking for input instead of giving a result"}));
}

Result<McpToolResult> McpClient::call_tool(const McpCall& call) {
  bool fresh = false;
  for (int attempt = 0;; ++attempt) {
    SKEIN_ASSIGN(const SessionPtr session, connect(call.stop, fresh));
    auto result = call_on(*session, call);
    if (result) return result;
    Error& error = result.error();
    if (error.code == ErrorCode::kNotFound) {
      // The server does not know us any more, so it has done nothing.
      drop(session);
      if (!fresh && attempt == 0) continue;
    }
    if (error.code == ErrorCode::kIo) {
      error.message += "; whether the call had an effect is not known";
    }
    return result;
  }
}

}  // namespace skein
