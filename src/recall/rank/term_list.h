// The terms of one message as bytes: what the index file keeps, and what postings are made of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skein {

using TermId = std::uint32_t;

struct TermCount {
  TermId term = 0;
  std::uint32_t count = 0;
};

namespace detail {
inline void put_number(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7F) | 0x80);
  out += static_cast<char>(value);
}
inline bool take_number(std::string_view& bytes, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 63 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}
}  // namespace detail

// Each term's distance to the one before, doubled, plus one if its count follows, all in base 128.
// Takes one entry for each occurrence, in any order.
inline std::string pack_terms(std::vector<TermId>& occurrences) {
  std::string out;
  std::sort(occurrences.begin(), occurrences.end());
  TermId before = 0;
  for (std::size_t i = 0; i < occurrences.size();) {
    std::size_t next = i;
    while (next < occurrences.size() && occurrences[next] == occurrences[i]) ++next;
    const std::uint64_t count = next - i;
    const std::uint64_t gap = occurrences[i] - before;
    detail::put_number(out, gap * 2 + (count > 1 ? 1 : 0));
    if (count > 1) detail::put_number(out, count);
    before = occurrences[i];
    i = next;
  }
  return out;
}

// Calls `each(TermCount)`, in order of the terms. False: the bytes are not such a list.
template <class Each>
bool unpack_terms(std::string_view bytes, Each each) {
  std::uint64_t term = 0;
  while (!bytes.empty()) {
    std::uint64_t gap = 0;
    std::uint64_t count = 1;
    if (!detail::take_number(bytes, gap)) return false;
    if ((gap & 1) != 0 && !detail::take_number(bytes, count)) return false;
    term += gap >> 1;
    if (term > 0xFFFFFFFFU) return false;
    each(TermCount{static_cast<TermId>(term), static_cast<std::uint32_t>(count)});
  }
  return true;
}

}  // namespace skein
