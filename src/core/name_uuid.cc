#include "core/name_uuid.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <charconv>

namespace skein {

std::string name_uuid(std::string_view space, std::string_view name) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < space.size();) {
    if (space[i] == '-') {
      ++i;
      continue;
    }
    unsigned value = 0;
    std::from_chars(space.data() + i, space.data() + i + 2, value, 16);
    bytes += static_cast<char>(value);
    i += 2;
  }
  bytes += name;
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha1(), nullptr);
  digest[6] = static_cast<unsigned char>((digest[6] & 0x0F) | 0x50);
  digest[8] = static_cast<unsigned char>((digest[8] & 0x3F) | 0x80);
  std::string uuid;
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) uuid += '-';
    uuid += fmt::format("{:02x}", digest[i]);
  }
  return uuid;
}

}  // namespace skein
