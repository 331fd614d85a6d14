// What a writer says about its operations: the acknowledgements that must outlive it.
//
// A line each, written by one system call the moment the store acknowledged, before anything else
// happens. The workload is among them, so that the file says all that a verifier needs:
//
//   opened, closed             a store was
//   workload SEED WRITERS SHARED ONE_THREAD_ONLY
//   done WRITER NUMBER RESULT…  the numbers that the store answered; "!code" for what failed
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crash/harness/workload.h"
#include "skein/error.h"

namespace skein::crash {

// Writes lines to a file descriptor. Thread-safe; ends the program when it cannot write.
class JournalWriter {
 public:
  // A socket is written by sendto(2), so that faults injected into writes do not hit it.
  explicit JournalWriter(int fd);
  void line(std::string text);

 private:
  int fd_;
  bool socket_;
};

std::string workload_line(const Workload& workload);

// What is known of a part of an operation: its answer, or the code of its error.
struct Outcome {
  std::optional<std::uint64_t> answer;
  std::string error;

  bool acknowledged() const { return answer.has_value(); }
  // Whether it may have happened all the same.
  bool unknown() const { return !answer && (error.empty() || error == "io"); }
};
std::string outcome_text(const Result<std::uint64_t>& result);

// Takes the answers in all lines from that byte on back: what was acknowledged then is unknown.
std::string doubt_after(std::string_view journal, std::size_t offset);

struct Journal {
  Workload workload;
  // By writer and number. What is not in here was never begun, except each writer's next one.
  std::vector<std::map<std::uint64_t, std::vector<Outcome>>> done;

  // A last line without an end is left out: its write was cut short.
  static Result<Journal> parse(std::string_view text);
  static Result<Journal> load(const std::string& path);
  std::uint64_t acknowledged() const;
};

}  // namespace skein::crash
