// Messages and pins between their events and manifests and the words of the manager.
#pragma once

#include <vector>

#include "skein/thread_manager.h"

namespace skein {

// `event` is a message.
ThreadMessage to_thread_message(ThreadId thread, Event event);

// The pins in rising order, each once.
ManifestPatch pins_patch(std::vector<Seq> pins);

}  // namespace skein
