// Where the links of items lead.
#pragma once

#include <string>

#include "skein/store.h"

namespace skein {

// Whether a link names a thread that is not there any more. Empty: it names none.
Result<bool> thread_is_gone(Store& store, const std::string& thread);

}  // namespace skein
