// A shortcut for what most stored events are: a message of ours with nothing but role, text and
// time.
#pragma once

#include <string_view>

#include "skein/event.h"
#include "store/codec.h"

namespace skein {

// Reads text that append_event_open wrote (kBody), or a whole line of ours (kLine), whose checksum
// matched. False: it is not of this shape, and `event` is as good as unset.
bool read_plain_message(std::string_view text, EventSource source, Event& event);

}  // namespace skein
