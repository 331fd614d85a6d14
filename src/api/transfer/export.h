// Writes threads for other programs and for people.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "skein/store.h"

namespace skein {

// Takes the text in pieces.
using TextSink = std::function<Result<void>(std::string_view piece)>;

// Whether line 1 says the thread's id, because no file name will.
enum class ThreadIdIn { kFileName, kLine };

// The manifest on line 1 and an event a line, checksums included: import_threads and a jsonl: store
// read it without loss. Events that cannot be read are left out; answers how many those are.
Result<std::uint64_t> export_jsonl(Store& store, const Manifest& manifest, ThreadIdIn where,
                                   const TextSink& sink);

// For people: title, metadata, messages with role and time, tool uses and results.
Result<void> export_markdown(Store& store, const Manifest& manifest, const TextSink& sink);

}  // namespace skein
