#include "cli/stop.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace skein {
namespace {

// A signal handler may touch nothing else.
std::atomic<int> caught{0};
std::atomic<int> wake_fd{-1};
static_assert(std::atomic<int>::is_always_lock_free);

int pipe_fds[2] = {-1, -1};

extern "C" void remember_signal(int signal) {
  const int saved_errno = errno;
  caught = signal;
  const char byte = 0;
  [[maybe_unused]] const auto written = ::write(wake_fd, &byte, 1);
  errno = saved_errno;
}

void set_handler(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

StopRequest::StopRequest() {
  caught = 0;
  if (::pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) != 0) return;
  wake_fd = pipe_fds[1];
  set_handler(remember_signal);
}

StopRequest::~StopRequest() {
  if (wake_fd < 0) return;
  set_handler(SIG_DFL);
  wake_fd = -1;
  ::close(pipe_fds[0]);
  ::close(pipe_fds[1]);
}

int StopRequest::signal() const { return caught; }
int StopRequest::fd() const { return pipe_fds[0]; }

void end_by_signal(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  std::_Exit(128 + signal);
}

}  // namespace skein
