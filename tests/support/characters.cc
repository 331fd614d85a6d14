#include "support/characters.h"

#include <utf8proc.h>

#include <array>

namespace skein::test {
namespace {

utf8proc_category_t category_of(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

}  // namespace

void append_utf8(std::string& text, char32_t c) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes.data());
  text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(size));
}

bool is_assigned(char32_t c) {
  const utf8proc_category_t category = category_of(c);
  return category != UTF8PROC_CATEGORY_CN && category != UTF8PROC_CATEGORY_CS;
}

bool is_private(char32_t c) { return category_of(c) == UTF8PROC_CATEGORY_CO; }

}  // namespace skein::test
