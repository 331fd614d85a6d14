// How a turn ends early.
#pragma once

#include "skein/error.h"

namespace skein {

// The stop token asked for it.
inline tl::unexpected<Error> turn_stopped() { return fail(ErrorCode::kIo, "the turn was stopped"); }

// The sink answered false.
inline tl::unexpected<Error> turn_refused() {
  return fail(ErrorCode::kIo, "the turn was ended by whoever listened to it");
}

}  // namespace skein
