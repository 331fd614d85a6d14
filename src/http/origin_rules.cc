#include "http/origin_rules.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>

#include "core/quote.h"
#include "http/request.h"

namespace skein::http {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

bool is_port(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

// "name:80" → "name", "[::1]:80" → "::1"; empty: it is neither.
std::string host_name(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) return {};
    const std::string_view after = host.substr(end + 1);
    const bool well_formed = after.empty() || (after.front() == ':' && is_port(after.substr(1)));
    return well_formed ? lower(host.substr(1, end - 1)) : "";
  }
  const std::size_t colon = host.rfind(':');
  if (colon == std::string_view::npos) return lower(host);
  return is_port(host.substr(colon + 1)) ? lower(host.substr(0, colon)) : "";
}

bool is_ip(const std::string& text) {
  unsigned char address[16];
  return ::inet_pton(AF_INET, text.c_str(), address) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), address) == 1;
}

// All values of a header.
std::vector<std::string> values_of(const std::vector<HttpHeader>& headers, std::string_view name) {
  std::vector<std::string> values;
  for (const HttpHeader& header : headers) {
    if (is_header(header, name)) values.push_back(header.value);
  }
  return values;
}

}  // namespace

bool is_loopback(std::string_view ip_address) {
  const std::string text(ip_address);
  unsigned char address[16];
  if (::inet_pton(AF_INET, text.c_str(), address) == 1) return address[0] == 127;
  return text == "::1";
}

OriginRules::OriginRules(const ServerOptions& options)
    : loopback_only_(is_loopback(options.address)), origins_(options.origins) {
  for (const std::string& host : options.hosts) hosts_.push_back(lower(host));
  hosts_.push_back(lower(options.address));
}

bool OriginRules::is_ours(std::string_view host) const {
  const std::string name = host_name(host);
  if (name == "localhost" || name.ends_with(".localhost") || is_loopback(name)) return true;
  if (std::find(hosts_.begin(), hosts_.end(), name) != hosts_.end()) return true;
  // An address cannot be made to stand for another one.
  return !loopback_only_ && is_ip(name);
}

tl::expected<void, Problem> OriginRules::check(const std::vector<HttpHeader>& headers) const {
  const std::vector<std::string> hosts = values_of(headers, "host");
  if (hosts.size() != 1) return refuse(400, "bad_host", "a request has exactly one Host");
  if (!is_ours(hosts.front())) {
    return refuse(421, "bad_host",
                  "this server is not called " + quote(hosts.front()) +
                      "; the names that it may be called by are \"hosts\" in its configuration");
  }
  const std::vector<std::string> origins = values_of(headers, "origin");
  if (origins.empty()) return {};
  const std::string& origin = origins.front();
  if (origins.size() == 1) {
    if (origin == "http://" + hosts.front() || origin == "https://" + hosts.front()) return {};
    if (std::find(origins_.begin(), origins_.end(), origin) != origins_.end()) return {};
  }
  return refuse(403, "bad_origin",
                "pages of " + quote(origin) +
                    " may not call this server; those that may are \"origins\" in its "
                    "configuration");
}

std::vector<HttpHeader> OriginRules::headers_for(const std::optional<std::string>& origin) const {
  if (origins_.empty()) return {};
  std::vector<HttpHeader> headers = {{"Vary", "Origin"}};
  if (!origin || std::find(origins_.begin(), origins_.end(), *origin) == origins_.end()) {
    return headers;
  }
  headers.push_back({"Access-Control-Allow-Origin", *origin});
  headers.push_back({"Access-Control-Expose-Headers",
                     "Content-Location, ETag, Idempotent-Replayed, Location, Mcp-Session-Id, "
                     "Retry-After, X-Pagination-Next, X-Pagination-Total, X-Request-Id"});
  return headers;
}

}  // namespace skein::http
