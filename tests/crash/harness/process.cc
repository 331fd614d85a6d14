#include "crash/harness/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

namespace skein::crash {
namespace {

void redirect(int fd, const std::string& path, int flags) {
  if (path.empty()) return;
  const int opened = ::open(path.c_str(), flags, 0600);
  if (opened < 0 || ::dup2(opened, fd) < 0) std::_Exit(126);
  ::close(opened);
}

// Only what is safe between fork and exec in a program that may have threads.
[[noreturn]] void become(const Spawn& spawn, char* const* arguments, char* const* environment) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  redirect(STDIN_FILENO, spawn.stdin_path, O_RDONLY);
  redirect(STDOUT_FILENO, spawn.stdout_path, O_WRONLY | O_CREAT | O_APPEND);
  redirect(STDERR_FILENO, spawn.stderr_path, O_WRONLY | O_CREAT | O_APPEND);
  if (spawn.pass_fd >= 0) ::fcntl(spawn.pass_fd, F_SETFD, 0);
  ::execvpe(arguments[0], arguments, environment);
  std::_Exit(127);
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_of(const Spawn& spawn) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  for (const auto& [name, value] : spawn.environment) {
    std::erase_if(all, [&](const std::string& entry) { return entry.starts_with(name + "="); });
    all.push_back(name + "=" + value);
  }
  return all;
}

}  // namespace

std::string Exit::str() const {
  if (timed_out) return "it hung and was killed";
  if (signal != 0) return fmt::format("it died of signal {}", signal);
  return fmt::format("it ended with code {}", code);
}

Child::Child(const Spawn& spawn) {
  std::vector<std::string> command = spawn.command;
  std::vector<std::string> environment = environment_of(spawn);
  const auto arguments = pointers(command);
  const auto variables = pointers(environment);
  pid_ = ::fork();
  if (pid_ == 0) become(spawn, arguments.data(), variables.data());
  if (pid_ < 0) {
    std::perror("fork");
    std::abort();
  }
  ::setpgid(pid_, pid_);
}

Child::~Child() { kill(); }

bool Child::reap(bool block) {
  if (reaped_) return true;
  const pid_t got = ::waitpid(pid_, &status_, block ? 0 : WNOHANG);
  reaped_ = got == pid_;
  return reaped_;
}

bool Child::running() { return !reap(false); }

void Child::signal(int number) const { ::kill(-pid_, number); }

bool Child::wait_stopped(std::chrono::milliseconds timeout) {
  bool stopped = false;
  const auto changed = [&] {
    int status = 0;
    if (reaped_ || ::waitpid(pid_, &status, WNOHANG | WUNTRACED) != pid_) return reaped_;
    stopped = WIFSTOPPED(status);
    if (!stopped) {
      reaped_ = true;
      status_ = status;
    }
    return true;
  };
  wait_until(changed, timeout);
  return stopped;
}

Exit Child::wait(std::chrono::milliseconds timeout) {
  const bool ended = wait_until([&] { return reap(false); }, timeout);
  if (!ended) {
    signal(SIGKILL);
    reap(true);
  }
  Exit exit;
  exit.timed_out = !ended;
  if (WIFEXITED(status_)) exit.code = WEXITSTATUS(status_);
  if (WIFSIGNALED(status_)) exit.signal = WTERMSIG(status_);
  return exit;
}

Exit Child::kill() {
  if (!reaped_) signal(SIGKILL);
  return wait(std::chrono::minutes(1));
}

Exit run(const Spawn& spawn, std::chrono::milliseconds timeout) {
  return Child(spawn).wait(timeout);
}

std::string program(const std::string& name) {
  return std::string(SKEIN_TEST_BIN_DIR) + "/" + name;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void pause_for(std::chrono::microseconds time) { std::this_thread::sleep_for(time); }

}  // namespace skein::crash
