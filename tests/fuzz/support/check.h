// What a fuzz program promises about its input; when it does not hold, the program ends by a
// signal.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#define FUZZ_CHECK(condition)                                                             \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                       \
    }                                                                                     \
  } while (false)

namespace skein::fuzz {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Takes the first byte off the input, to choose among several things to do.
inline std::uint8_t take_choice(std::string_view& text) {
  if (text.empty()) return 0;
  const auto choice = static_cast<std::uint8_t>(text.front());
  text.remove_prefix(1);
  return choice;
}

}  // namespace skein::fuzz
