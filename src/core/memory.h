// Memory that was used once, and is not needed now.
#pragma once

namespace skein {

// Gives it back to the system, whichever allocator the program has. Takes milliseconds.
void give_memory_back();
// From now on that happens by itself, also while nobody allocates anything, where the allocator
// can.
void give_memory_back_always();

}  // namespace skein
