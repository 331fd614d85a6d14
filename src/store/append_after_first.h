// Several appends, of which the first decides.
#pragma once

#include <span>
#include <vector>

#include "skein/store.h"

namespace skein {

// The first, which expects where it will stand; and the others behind it, only if it was accepted.
// None of them, if one breaks a rule by itself.
// Where writes together are not one transaction, others may write in between.
std::vector<Result<Appended>> append_after_first(Writes& in, std::span<const Append> appends);

}  // namespace skein
