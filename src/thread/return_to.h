// Going back: what came after an earlier event is left behind.
#pragma once

#include "skein/event.h"

namespace skein {

// The event that makes the state of an earlier one the current state, and writes nothing into it.
Event return_to(Seq earlier);

}  // namespace skein
