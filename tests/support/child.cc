#include "support/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

extern char** environ;

namespace skein::test {
namespace {

constexpr std::string_view kMarker = "--skein-test-child";

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::abort();
}

std::optional<std::string> read_line_of(std::FILE* file) {
  std::string line;
  for (int c = std::getc(file); c != EOF; c = std::getc(file)) {
    if (c == '\n') return line;
    line.push_back(static_cast<char>(c));
  }
  return line.empty() ? std::nullopt : std::optional(line);
}

void write_line_to(std::FILE* file, std::string_view line) {
  std::fwrite(line.data(), 1, line.size(), file);
  std::fputc('\n', file);
  std::fflush(file);
}

}  // namespace

Child::Child(const std::vector<std::string>& arguments) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0) give_up("pipe");

  std::vector<std::string> words{"/proc/self/exe", std::string(kMarker)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  if (posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, argv.data(), environ) != 0) {
    give_up("cannot start a child");
  }
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  to_ = fdopen(in[1], "w");
  from_ = fdopen(out[0], "r");
}

Child::~Child() {
  if (pid_ > 0) kill(pid_, SIGKILL);
  wait();
  std::fclose(to_);
  std::fclose(from_);
}

void Child::send_line(std::string_view line) { write_line_to(to_, line); }

std::optional<std::string> Child::read_line() { return read_line_of(from_); }

std::vector<std::string> Child::read_to_end() {
  std::vector<std::string> lines;
  while (std::optional<std::string> line = read_line()) lines.push_back(std::move(*line));
  return lines;
}

int Child::wait() {
  if (pid_ <= 0) return 0;
  int status = 0;
  if (waitpid(pid_, &status, 0) != pid_) give_up("waitpid");
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::optional<int> run_as_child(int argc, char** argv, const ChildCommand& command) {
  if (argc < 2 || argv[1] != kMarker) return std::nullopt;
  return command(std::vector<std::string>(argv + 2, argv + argc));
}

void tell_parent(std::string_view line) { write_line_to(stdout, line); }

std::optional<std::string> hear_parent() { return read_line_of(stdin); }

}  // namespace skein::test
