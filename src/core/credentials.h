// Finds credentials in text by their shape.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace skein {

struct CredentialKind {
  std::string_view name;
  std::string_view what;  // for people
};

// All kinds that find_credentials knows, in the order of their names.
std::span<const CredentialKind> credential_kinds();

struct FoundCredential {
  std::size_t begin = 0;
  std::size_t length = 0;
  std::string_view kind;  // one of credential_kinds()
};

// In order, and apart from each other. Rather leaves an odd credential than takes what is none:
// prefix, length and mix of characters must all fit. Takes time in proportion to the text, whatever
// it is.
std::vector<FoundCredential> find_credentials(std::string_view text);

}  // namespace skein
