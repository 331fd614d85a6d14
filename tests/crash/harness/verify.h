// Compares what a store holds after a fault with what writers were told.
#pragma once

#include <string>
#include <vector>

#include "crash/harness/journal.h"
#include "skein/store.h"

namespace skein::crash {

struct VerifyOptions {
  bool feed = true;        // look at the feed at all (without room it may lag behind)
  bool exact_feed = true;  // the feed repeats nothing (not so in `jsonl:` after a crash)
  bool write_on = true;    // appends afterwards: retries by key, old leases, the next seq
};

// What is wrong, a sentence each; empty when everything that was acknowledged is there with its
// content, nothing is there that nobody wrote, no operation is half there, and the store finds
// itself healthy and takes further writes.
std::vector<std::string> verify(Store& store, const Journal& journal, const VerifyOptions& options);

}  // namespace skein::crash
