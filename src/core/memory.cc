#include "core/memory.h"

#include <malloc.h>

#include <cstddef>

// There if the program is linked with jemalloc.
extern "C" int mallctl(const char* name, void* old_value, std::size_t* old_size, void* new_value,
                       std::size_t new_size) __attribute__((weak));

namespace skein {

void give_memory_back() {
  constexpr const char* kPurgeAll = "arena.4096.purge";  // MALLCTL_ARENAS_ALL
  if (mallctl != nullptr) mallctl(kPurgeAll, nullptr, nullptr, nullptr, 0);
  ::malloc_trim(0);
}

void give_memory_back_always() {
  bool yes = true;
  if (mallctl != nullptr) mallctl("background_thread", nullptr, nullptr, &yes, sizeof yes);
}

}  // namespace skein
