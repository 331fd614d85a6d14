// Requests over HTTP(S), with answers as a whole or as they come.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "skein/error.h"

namespace skein {

struct HttpHeader {
  std::string name;
  std::string value;
};

// Whether it can be a method or the name of a header.
bool is_http_token(std::string_view text);

struct HttpResponse {
  int status = 0;
  std::vector<HttpHeader> headers{};
  std::string body{};

  bool ok() const { return status >= 200 && status < 300; }
  // The value of the last header of that name, whatever its case; null if there is none.
  const std::string* header(std::string_view name) const;
};

struct HttpRequest {
  std::string method = "GET";
  std::string url{};  // http or https; redirections are not followed
  std::vector<HttpHeader> headers{};
  std::string body{};

  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds idle_timeout{60'000};  // in which no byte moves; 0: no limit
  std::chrono::milliseconds total_timeout{0};      // 0: no limit

  // Of a body that is kept. More of it is an error, or, when the status is one, is cut off.
  std::size_t max_body_bytes = std::size_t{16} << 20;

  // When it is set, the bodies of answers with a 2xx status go there piece by piece as they come,
  // and are not kept; `head` has status and headers. False ends the transfer, which is no error.
  std::function<bool(const HttpResponse& head, std::string_view piece)> on_piece{};
};

// Keeps connections for the next request to the same host. Thread-safe: any number of requests at
// once, each on its caller's thread, which the callback runs on too. Proxies are those that the
// environment names (https_proxy, no_proxy …), except for loopback, which is reached directly.
class HttpClient {
 public:
  HttpClient();
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Any status is an answer. kInvalid: a URL, a method or a header that cannot be sent; nothing
  // was. kBusy: a timeout, named. kIo: no connection (in time), cut off, too large, or stopped,
  // which takes effect at once. Messages name scheme, host and path, never the query or a header.
  Result<HttpResponse> send(const HttpRequest& request, std::stop_token stop = {});

 private:
  class Session;
  std::unique_ptr<Session> take_session();
  void give_back(std::unique_ptr<Session> session);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Session>> idle_;  // under mutex_
};

}  // namespace skein
