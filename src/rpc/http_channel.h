// A server behind a URL: MCP's Streamable HTTP, with sessions (until 2025-11-25) and without.
#pragma once

#include <memory>
#include <mutex>

#include "core/http_client.h"
#include "core/sse_parser.h"
#include "rpc/channel.h"

namespace skein {

// Each message is a POST of its own; an answer comes as JSON or as a stream of events, on which the
// server may say other things first. A stream that was cut is taken up again where the protocol
// allows it. In the end the session, if there is one, is given back.
class HttpChannel final : public RpcChannel {
 public:
  // `client` is borrowed. `headers` go with every request.
  HttpChannel(HttpClient& client, std::string url, std::vector<HttpHeader> headers, RpcInbox inbox);
  ~HttpChannel() override;

  Result<RpcResponse> call(const RpcCall& call) override;
  void touch(const Json&) override {}  // bytes that come are a sign of life
  bool takes_cancellation() const override;
  Result<void> notify(const RpcNotification& notification) override;
  // From 2026-07-28 on there are no sessions, and a stream that ends is a cancellation.
  void set_version(const std::string& version) override;
  Result<void> alive() override;

 private:
  class Answer;

  HttpRequest request_for(const char* method, const std::string& body) const;
  Result<HttpResponse> exchange(HttpRequest request, const RpcCall& call, Answer& answer);
  Result<void> post(const std::string& line, std::stop_token stop);
  Result<RpcResponse> conclude(const RpcCall& call, Answer& answer, const HttpResponse& response);
  Result<RpcResponse> take_up(const RpcCall& call, Answer& answer);
  Result<RpcResponse> refused(const HttpResponse& response);
  void keep_session(const HttpResponse& response);
  std::string session() const;

  HttpClient& client_;
  const std::string url_;
  const std::vector<HttpHeader> headers_;
  const RpcInbox inbox_;

  mutable std::mutex mutex_;
  std::string session_;        // under mutex_; empty: none
  std::string version_;        // under mutex_; empty: not agreed yet
  bool session_over_ = false;  // under mutex_
};

}  // namespace skein
