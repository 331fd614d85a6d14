// Takes credentials out of events and manifests.
#pragma once

#include "core/redact.h"
#include "skein/event.h"
#include "skein/thread.h"

namespace skein {

// Texts, metadata, inputs of tools and unknown fields; answers how many there were.
std::size_t redact(Event& event, const Redactor& redactor);
std::size_t redact(Manifest& manifest, const Redactor& redactor);

}  // namespace skein
