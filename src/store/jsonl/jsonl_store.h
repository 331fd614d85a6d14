// Threads as files that people and other programs read: DIR/<agent>/threads/<id>.jsonl, with line 1
// the manifest and an event on each line after it. docs/formats.md describes every byte.
#pragma once

#include <memory>
#include <string>

#include "skein/store.h"

namespace skein {

// Makes the folder if it is not there. Several processes may have it open. Programs that are not
// ours may write to the files while no thread of theirs is being written by us, not at the same
// time.
Result<std::unique_ptr<Store>> open_jsonl_store(const std::string& dir, StoreOptions options);

}  // namespace skein
