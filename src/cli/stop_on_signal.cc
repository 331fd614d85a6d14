#include "cli/stop_on_signal.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace skein {

StopOnSignal::StopOnSignal() : done_(::eventfd(0, EFD_CLOEXEC)) {
  watcher_ = std::jthread([this] {
    pollfd fds[] = {{request_.fd(), POLLIN, 0}, {done_.get(), POLLIN, 0}};
    while (::poll(fds, 2, -1) < 0 && errno == EINTR) {
    }
    if (request_.signal() != 0) source_.request_stop();
  });
}

StopOnSignal::~StopOnSignal() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(done_.get(), &one, sizeof one);
}

}  // namespace skein
