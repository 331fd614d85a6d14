// Moves all that one store holds to another.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "skein/store.h"

namespace skein {

struct MigrateOptions {
  // What is being done, and how far; a total of 0 is not known. From any thread, never two at once.
  std::function<void(std::string_view doing, std::uint64_t done, std::uint64_t total)> progress{};
  // A thread or record that could not be taken, and why; likewise.
  std::function<void(const std::string& problem)> problem{};
};

// What a store holds, to be compared with another.
struct StoreContents {
  std::uint64_t threads = 0;
  std::uint64_t events = 0;
  std::uint64_t records = 0;
  std::string sha256;  // over all of them, in an order that does not depend on the store

  bool operator==(const StoreContents&) const = default;
};

struct MigrateSummary {
  std::uint64_t threads = 0;  // those that were copied, now
  std::uint64_t events = 0;
  std::uint64_t records = 0;
  std::uint64_t disabled = 0;  // triggers among them that were enabled
  std::uint64_t problems = 0;
  StoreContents from;
  StoreContents to;

  // Everything is there, and nothing else.
  bool verified() const { return problems == 0 && from == to; }
};

// Copies threads with their ids, times, fields, events and keys, and the records of all
// collections; not leases, nothing that is derived, and no signatures of records: those that make
// Skein act arrive unsigned, and triggers disabled. Whatever is there already stays as it is:
// doing it again goes on where it was interrupted. Then both stores are read in full and compared.
// Nobody should write to either meanwhile. kIo: one of the stores fails.
Result<MigrateSummary> migrate_store(Store& from, Store& to, const MigrateOptions& options);

}  // namespace skein
