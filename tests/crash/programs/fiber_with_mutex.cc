// A fiber that holds a mutex while others go on: what preload/held_mutexes.cc is there to find.
// With an argument it lets go of it first.
#include <mutex>

#include "core/fiber.h"

int main(int argc, char** /*argv*/) {
  std::mutex mutex;
  skein::Fiber fiber([&] {
    std::unique_lock lock(mutex);
    if (argc > 1) lock.unlock();
    skein::Fiber::current()->pause();
  });
  while (!fiber.is_over()) fiber.resume();
}
