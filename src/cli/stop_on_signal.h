// Ctrl-C as a stop token: for work that ends early but in order.
#pragma once

#include <stop_token>
#include <thread>

#include "cli/stop.h"
#include "core/file.h"

namespace skein {

// While it lives, the first SIGINT or SIGTERM asks for the stop; a second one ends the process.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();

  std::stop_token token() const { return source_.get_token(); }
  // The signal that came, or 0.
  int signal() const { return request_.signal(); }

 private:
  StopRequest request_;
  std::stop_source source_;
  Fd done_;  // readable when nobody needs the watcher any more
  std::jthread watcher_;
};

}  // namespace skein
