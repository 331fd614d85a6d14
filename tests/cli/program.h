// The real program, run as a process of its own in a folder of its own.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <boost/json/value.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/temp_dir.h"

namespace skein::test {

// How a process ended, and what it said.
struct Ran {
  int code = -1;  // -1: a signal ended it
  int signal = 0;
  std::string out;
  std::string err;

  boost::json::value json() const;  // of `out`
  std::vector<boost::json::value> json_lines() const;
  std::string out_line() const;  // without its line feed
};

// For the messages of failed expectations.
std::ostream& operator<<(std::ostream& stream, const Ran& ran);

// Where the build put `skein`. A function, so that a compiled test says nothing about its checkout
// and another checkout finds it in the compiler's cache.
std::string skein_program();

struct Start {
  std::filesystem::path folder;
  std::vector<std::string> arguments;
  std::vector<std::string> environment = {};  // NAME=value, besides the test's own
  std::string program = skein_program();
  bool on_terminal = false;  // standard input, output and error are one terminal; `err` stays empty
  // With a loopback of its own, where the machine allows it: every port is free, and nothing else
  // can be reached.
  bool own_network = false;
};

// PATH, with the program `skein` of this build first.
std::string path_with_skein();

// A process that runs; killed at the end.
class Running {
 public:
  explicit Running(const Start& start);
  ~Running();
  Running(Running&& other) noexcept;
  Running(const Running&) = delete;

  void send(std::string_view text);
  void end_input();
  // The next line of its output, waiting for it; nothing at the end. Fails the test after a minute.
  std::optional<std::string> read_line();
  // What came since the last reading, waiting for it; nothing at the end.
  std::optional<std::string> read_some_text();
  void signal(int number) const;
  // Sends the input, ends it, and reads everything until the process is gone.
  Ran finish(std::string_view input = {});
  // The same without closing its input, which on a terminal would hang up.
  Ran finish_on_terminal();

 private:
  bool read_some(int timeout_ms);

  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::string out_text_;
  std::string err_text_;
};

// A workspace with a store in it.
class Workspace {
 public:
  // "sqlite" or "jsonl"; empty: the default store.
  explicit Workspace(std::string_view backend = "");

  const std::filesystem::path& path() const { return folder_.path(); }
  // --store for another store in the same folder.
  std::string url(std::string_view backend, std::string_view name) const;

  Ran run(std::vector<std::string> arguments, std::string_view input = {}) const;
  Ran run_on_terminal(std::vector<std::string> arguments, std::string_view input = {},
                      const std::vector<std::string>& environment = {}) const;
  Ran shell(const std::string& script) const;  // by bash()
  Running start(std::vector<std::string> arguments) const;
  // A bash without arguments yet, with the program `skein` in its path.
  Start bash() const;

  // Shorthands that fail the test if the program does.
  std::string create(std::vector<std::string> more = {}) const;  // the id
  void append(const std::string& thread, const std::string& text) const;
  std::vector<boost::json::value> events(const std::string& thread,
                                         std::vector<std::string> more = {}) const;
  std::vector<std::string> texts(const std::string& thread,
                                 std::vector<std::string> more = {}) const;

  void write(std::string_view name, std::string_view content) const;
  // Trusts everything in the workspace, as its user would.
  void trust() const;
  std::string read(std::string_view name) const;

 private:
  Start prepared(std::vector<std::string> arguments) const;

  TempDir folder_;
  std::vector<std::string> environment_;
};

// A workspace with a store of each kind that outlives a process; INSTANTIATE_ON_EVERY_BACKEND.
class OnEveryBackend : public testing::TestWithParam<std::string> {
 protected:
  Workspace workspace_{GetParam()};
};

#define INSTANTIATE_ON_EVERY_BACKEND(suite)                                     \
  INSTANTIATE_TEST_SUITE_P(Backends, suite, testing::Values("sqlite", "jsonl"), \
                           [](const auto& backend) { return backend.param; })

}  // namespace skein::test
