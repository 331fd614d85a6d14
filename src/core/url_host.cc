#include "core/url_host.h"

#include <algorithm>

namespace skein {

bool has_plain_host(std::string_view url) {
  const std::size_t scheme = url.find("://");
  std::string_view host = scheme == std::string_view::npos ? url : url.substr(scheme + 3);
  host = host.substr(0, host.find_first_of("/?#"));
  const bool address = host.starts_with('[');  // of IPv6, which may have %25 and a zone
  return std::all_of(host.begin(), host.end(), [address](unsigned char c) {
    return c < 0x80 && (c != '%' || address) && c != '\\';
  });
}

}  // namespace skein
