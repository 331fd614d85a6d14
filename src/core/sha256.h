// The checksum that files of others are known by.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace skein {

// 64 lower-case hex digits.
std::string sha256_hex(std::string_view bytes);

// Of bytes that come in pieces.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  // Of all that was added; nothing may be added after that.
  std::string hex();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

// The same for what only those who have the key can make (RFC 2104).
std::string hmac_sha256_hex(std::string_view key, std::string_view bytes);

// Whether the two are the same, in a time that does not tell where they differ.
bool same_secret(std::string_view a, std::string_view b);

}  // namespace skein
