// Names that give away that what they name is secret.
#pragma once

#include <string_view>

namespace skein {

// Whether a variable, header or field of that name usually holds a key or password.
bool names_secret(std::string_view name);

}  // namespace skein
