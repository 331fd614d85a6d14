// A second process: this test program again, started to do one thing. Its main() calls
// run_as_child.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skein::test {

class Child {
 public:
  explicit Child(const std::vector<std::string>& arguments);
  ~Child();  // kills it, if it still runs
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void send_line(std::string_view line);
  std::optional<std::string> read_line();  // nothing at the end of its output
  std::vector<std::string> read_to_end();
  int wait();  // its exit code; -1 if it was killed

 private:
  pid_t pid_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

// Runs `command` with the arguments after the marker, when this process was started by Child.
// Nothing otherwise.
using ChildCommand = std::function<int(const std::vector<std::string>& arguments)>;
std::optional<int> run_as_child(int argc, char** argv, const ChildCommand& command);

// For the child's side: one line to the parent, at once, and one line from it.
void tell_parent(std::string_view line);
std::optional<std::string> hear_parent();

}  // namespace skein::test
