// By which names the server may be called, and from which pages.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/http_client.h"
#include "http/options.h"
#include "http/response.h"

namespace skein::http {

// Whether it is an address of this machine alone: 127.0.0.0/8 or ::1.
bool is_loopback(std::string_view ip_address);

// A page in a browser can send requests to any address, and can make its own name stand for any
// address. So a request must be for a name that is ours, and one that says which page it came from
// must come from ours or from one that the configuration names. Immutable.
class OriginRules {
 public:
  explicit OriginRules(const ServerOptions& options);

  // 421: the name is not ours. 403: the page is not welcome. 400: there is no such name.
  tl::expected<void, Problem> check(const std::vector<HttpHeader>& headers) const;
  // What pages of other origins need to be told; empty: the request is from none.
  std::vector<HttpHeader> headers_for(const std::optional<std::string>& origin) const;

 private:
  bool is_ours(std::string_view host) const;

  const bool loopback_only_;
  std::vector<std::string> hosts_;
  const std::vector<std::string> origins_;
};

}  // namespace skein::http
