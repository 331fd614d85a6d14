#include "program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

namespace skein::test {
namespace fs = std::filesystem;
namespace {

constexpr int kMinuteMs = 60'000;

void close_fd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

void leave_network() {
  if (::unshare(CLONE_NEWNET) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return;
  const int any = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq loopback{};
  std::strcpy(loopback.ifr_name, "lo");
  loopback.ifr_flags = IFF_UP | IFF_RUNNING;
  ::ioctl(any, SIOCSIFFLAGS, &loopback);
  ::close(any);
}

[[noreturn]] void become_program(const Start& start) {
  if (::chdir(start.folder.c_str()) != 0) ::_exit(126);
  if (start.own_network) leave_network();
  ::unsetenv("SKEIN_STORE");
  ::unsetenv("SKEIN_WORKSPACE");
  for (const std::string& variable : start.environment)
    ::putenv(const_cast<char*>(variable.c_str()));
  std::vector<char*> argv = {const_cast<char*>(start.program.c_str())};
  for (const std::string& argument : start.arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  ::execv(start.program.c_str(), argv.data());
  ::_exit(127);
}

// Appends what can be read; false at the end.
bool drain(int fd, std::string& text) {
  char buffer[16 << 10];
  const ssize_t got = ::read(fd, buffer, sizeof buffer);
  if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

}  // namespace

std::string skein_program() { return SKEIN_PROGRAM; }

boost::json::value Ran::json() const {
  boost::system::error_code error;
  auto value = boost::json::parse(out, error);
  EXPECT_FALSE(error) << *this;
  return value;
}

std::vector<boost::json::value> Ran::json_lines() const {
  std::vector<boost::json::value> values;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) values.push_back(boost::json::parse(line));
  return values;
}

std::string Ran::out_line() const {
  return out.ends_with('\n') ? out.substr(0, out.size() - 1) : out;
}

std::ostream& operator<<(std::ostream& stream, const Ran& ran) {
  return stream << "exit code " << ran.code << ", signal " << ran.signal << "\n--- out\n"
                << ran.out << "--- err\n"
                << ran.err;
}

Running::Running(const Start& start) {
  if (start.on_terminal) {
    int terminal = -1;
    pid_ = ::forkpty(&terminal, nullptr, nullptr, nullptr);
    if (pid_ == 0) become_program(start);
    in_ = terminal;
    out_ = ::dup(terminal);
    return;
  }
  int in[2];
  int out[2];
  int err[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) {
    ADD_FAILURE() << "no pipes";
    return;
  }
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    become_program(start);
  }
  ::close(in[0]);
  ::close(out[1]);
  ::close(err[1]);
  in_ = in[1];
  out_ = out[0];
  err_ = err[0];
}

Running::Running(Running&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      in_(std::exchange(other.in_, -1)),
      out_(std::exchange(other.out_, -1)),
      err_(std::exchange(other.err_, -1)),
      out_text_(std::move(other.out_text_)),
      err_text_(std::move(other.err_text_)) {}

Running::~Running() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  close_fd(in_);
  close_fd(out_);
  close_fd(err_);
}

void Running::send(std::string_view text) {
  std::signal(SIGPIPE, SIG_IGN);
  while (!text.empty() && in_ >= 0) {
    // Reads meanwhile, so that a program that answers before it reads on does not wait for us.
    pollfd fds[] = {{in_, POLLOUT, 0}, {out_, POLLIN, 0}, {err_, POLLIN, 0}};
    if (::poll(fds, 3, kMinuteMs) <= 0) break;
    if (fds[1].revents != 0 && !drain(out_, out_text_)) close_fd(out_);
    if (fds[2].revents != 0 && !drain(err_, err_text_)) close_fd(err_);
    if (fds[0].revents == 0) continue;
    const ssize_t written = ::write(in_, text.data(), std::min<std::size_t>(text.size(), 4096));
    if (written < 0) return close_fd(in_);  // it does not read any more
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void Running::end_input() { close_fd(in_); }

bool Running::read_some(int timeout_ms) {
  pollfd fds[] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
  if (out_ < 0 && err_ < 0) return false;
  const int ready = ::poll(fds, 2, timeout_ms);
  if (ready == 0) {
    ADD_FAILURE() << "nothing came for a minute; so far: " << out_text_ << err_text_;
    return false;
  }
  if (fds[0].revents != 0 && !drain(out_, out_text_)) close_fd(out_);
  if (fds[1].revents != 0 && !drain(err_, err_text_)) close_fd(err_);
  return true;
}

std::optional<std::string> Running::read_line() {
  while (out_text_.find('\n') == std::string::npos) {
    if (out_ < 0 || !read_some(kMinuteMs)) return std::nullopt;
  }
  const std::size_t end = out_text_.find('\n');
  std::string line = out_text_.substr(0, end);
  out_text_.erase(0, end + 1);
  return line;
}

std::optional<std::string> Running::read_some_text() {
  while (out_text_.empty()) {
    if (out_ < 0 || !read_some(kMinuteMs)) return std::nullopt;
  }
  return std::exchange(out_text_, "");
}

void Running::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);  // -1 would be every process of this user
}

Ran Running::finish(std::string_view input) {
  send(input);
  end_input();
  while (read_some(kMinuteMs)) {
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  Ran ran;
  if (WIFEXITED(status)) ran.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ran.signal = WTERMSIG(status);
  ran.out = std::move(out_text_);
  ran.err = std::move(err_text_);
  return ran;
}

Ran Running::finish_on_terminal() {
  while (out_ >= 0 && read_some(kMinuteMs)) {
  }
  return finish();
}

Workspace::Workspace(std::string_view backend) {
  if (backend.empty()) {
    fs::create_directory(path() / ".skein");
  } else {
    environment_.push_back("SKEIN_STORE=" + url(backend, "store"));
  }
}

std::string Workspace::url(std::string_view backend, std::string_view name) const {
  const std::string ending = backend == "sqlite" ? ".db" : "";
  return std::string(backend) + ":" + (path() / name).string() + ending;
}

std::string path_with_skein() {
  const char* path = std::getenv("PATH");
  return fs::path(skein_program()).parent_path().string() + ":" +
         (path != nullptr ? path : "/usr/bin:/bin");
}

Start Workspace::prepared(std::vector<std::string> arguments) const {
  return {.folder = path(), .arguments = std::move(arguments), .environment = environment_};
}

Start Workspace::bash() const {
  Start start = prepared({});
  start.program = "/bin/bash";
  start.environment.push_back("PATH=" + path_with_skein());
  return start;
}

Running Workspace::start(std::vector<std::string> arguments) const {
  return Running(prepared(std::move(arguments)));
}

Ran Workspace::run(std::vector<std::string> arguments, std::string_view input) const {
  return start(std::move(arguments)).finish(input);
}

Ran Workspace::shell(const std::string& script) const {
  Start start = bash();
  start.arguments = {"-c", script};
  return Running(start).finish();
}

Ran Workspace::run_on_terminal(std::vector<std::string> arguments, std::string_view input,
                               const std::vector<std::string>& environment) const {
  Start start = prepared(std::move(arguments));
  start.environment.emplace_back("TERM=xterm");
  start.environment.insert(start.environment.end(), environment.begin(), environment.end());
  start.on_terminal = true;
  Running running(start);
  running.send(input);
  // The terminal stays open until the program is done: closing it would hang up.
  std::string out;
  while (auto line = running.read_line()) out += *line + "\n";
  Ran ran = running.finish();
  ran.out = out + ran.out;
  return ran;
}

void Workspace::trust() const {
  const Ran printed = run({"trust", "--print", "--json"});
  ASSERT_EQ(printed.code, 0) << printed;
  const Ran trusted =
      run({"trust", "--trust", std::string(printed.json().at("digest").as_string())});
  ASSERT_EQ(trusted.code, 0) << trusted;
}

std::string Workspace::create(std::vector<std::string> more) const {
  more.insert(more.begin(), {"thread", "create"});
  const Ran ran = run(std::move(more));
  EXPECT_EQ(ran.code, 0) << ran;
  return ran.out_line();
}

void Workspace::append(const std::string& thread, const std::string& text) const {
  const Ran ran = run({"thread", "append", thread, "--text", text});
  EXPECT_EQ(ran.code, 0) << ran;
}

std::vector<boost::json::value> Workspace::events(const std::string& thread,
                                                  std::vector<std::string> more) const {
  more.insert(more.begin(), {"thread", "events", thread, "--jsonl"});
  const Ran ran = run(std::move(more));
  EXPECT_EQ(ran.code, 0) << ran;
  return ran.json_lines();
}

std::vector<std::string> Workspace::texts(const std::string& thread,
                                          std::vector<std::string> more) const {
  std::vector<std::string> texts;
  for (const auto& event : events(thread, std::move(more))) {
    const auto* text = event.as_object().if_contains("text");
    texts.emplace_back(text != nullptr ? std::string_view(text->as_string()) : "");
  }
  return texts;
}

void Workspace::write(std::string_view name, std::string_view content) const {
  fs::create_directories((path() / name).parent_path());
  std::ofstream(path() / name, std::ios::binary) << content;
}

std::string Workspace::read(std::string_view name) const {
  std::ifstream stream(path() / name, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

}  // namespace skein::test
