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

// What a StopRequest stands in for.
struct sigaction interrupt_before = {};
struct sigaction terminate_before = {};

struct sigaction action_for(void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  return action;
}

// A handler, because what is ignored stays ignored in programs that are started.
extern "C" void do_nothing(int) {}

}  // namespace

StopRequest::StopRequest() {
  caught = 0;
  if (::pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) != 0) return;
  wake_fd = pipe_fds[1];
  const auto remember = action_for(remember_signal, SA_RESETHAND);
  sigaction(SIGINT, &remember, &interrupt_before);
  sigaction(SIGTERM, &remember, &terminate_before);
}

StopRequest::~StopRequest() {
  if (wake_fd < 0) return;
  sigaction(SIGINT, &interrupt_before, nullptr);
  sigaction(SIGTERM, &terminate_before, nullptr);
  wake_fd = -1;
  ::close(pipe_fds[0]);
  ::close(pipe_fds[1]);
}

int StopRequest::signal() const { return caught; }
int StopRequest::fd() const { return pipe_fds[0]; }

InterruptsEndNothing::InterruptsEndNothing() {
  const auto nothing = action_for(do_nothing, SA_RESTART);
  sigaction(SIGINT, &nothing, nullptr);
}

InterruptsEndNothing::~InterruptsEndNothing() {
  const auto end = action_for(SIG_DFL, 0);
  sigaction(SIGINT, &end, nullptr);
}

void end_by_signal(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  std::_Exit(128 + signal);
}

}  // namespace skein
