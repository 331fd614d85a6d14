// How much of the processor this thread got, and how long it waited for it.
#pragma once

#include <chrono>

namespace skein {

struct ProcessorTime {
  std::chrono::nanoseconds worked{0};
  std::chrono::nanoseconds waited{0};  // ready to work, while others did

  ProcessorTime operator-(const ProcessorTime& before) const {
    return {worked - before.worked, waited - before.waited};
  }
};

// Of the calling thread so far; zeros where the system does not say.
ProcessorTime processor_time();

}  // namespace skein
