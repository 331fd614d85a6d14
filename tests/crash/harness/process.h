// Child processes that a test starts, stops and kills.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace skein::crash {

struct Spawn {
  std::vector<std::string> command{};  // the first is the program, looked up in PATH
  std::vector<std::pair<std::string, std::string>> environment{};  // besides the test's own
  std::string stdin_path = "/dev/null";
  std::string stdout_path{};  // appended to; empty: as the test's
  std::string stderr_path{};
  int pass_fd = -1;  // stays open in the child, under the same number
};

struct Exit {
  bool timed_out = false;  // killed by us after waiting in vain
  int code = -1;           // -1: ended by a signal
  int signal = 0;

  bool clean() const { return !timed_out && code == 0; }
  std::string str() const;
};

// Killed with its whole process group, and waited for, by the destructor at the latest.
class Child {
 public:
  explicit Child(const Spawn& spawn);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  bool running();
  void signal(int number) const;
  // Waits until it is stopped by a signal; false if it ended, or did not within the timeout.
  bool wait_stopped(std::chrono::milliseconds timeout = std::chrono::seconds(30));
  Exit wait(std::chrono::milliseconds timeout);
  Exit kill();

 private:
  bool reap(bool block);

  pid_t pid_ = -1;
  bool reaped_ = false;
  int status_ = 0;
};

Exit run(const Spawn& spawn, std::chrono::milliseconds timeout = std::chrono::minutes(2));

// The path of a program of this build, by its name.
std::string program(const std::string& name);
std::string read_file(const std::string& path);

// Waits until the condition holds; false after the timeout.
template <class Condition>
bool wait_until(Condition condition, std::chrono::milliseconds timeout = std::chrono::seconds(30));

void pause_for(std::chrono::microseconds time);

template <class Condition>
bool wait_until(Condition condition, std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    pause_for(std::chrono::microseconds(200));
  }
  return true;
}

}  // namespace skein::crash
