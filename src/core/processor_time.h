// How much of the processor this thread got, how long it waited for it, and what others got.
#pragma once

#include <chrono>

namespace skein {

struct ProcessorTime {
  std::chrono::nanoseconds worked{0};
  std::chrono::nanoseconds waited{0};  // ready to work, while others did
  std::chrono::nanoseconds others{0};  // that the other threads of this process worked

  ProcessorTime operator-(const ProcessorTime& before) const {
    return {worked - before.worked, waited - before.waited, others - before.others};
  }
};

// Of the calling thread so far; zeros where the system does not say.
ProcessorTime processor_time();

}  // namespace skein
