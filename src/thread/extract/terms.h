// The words of a text, as far as they tell one text from another.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace skein {

struct Term {
  std::uint32_t id = 0;
  bool notable = false;  // a number, or what looks like a name: Berlin, retry_count, src/main.cc
};

// Gives every word a number. Words are compared without case; those of scripts without spaces are
// the pairs of neighbouring characters. Single letters and the commonest words of English are left
// out.
class TermTable {
 public:
  // Of each word once, by rising id.
  std::vector<Term> terms_of(std::string_view text);
  std::size_t size() const { return ids_.size(); }

 private:
  std::unordered_map<std::string, std::uint32_t> ids_;
};

}  // namespace skein
