// One round of the tests that interrupt a writer: started, interrupted, looked at.
#pragma once

#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "crash/harness/process.h"

namespace skein::crash {

// What a round's writer does: how many write, for how long, and on what.
struct RoundPlan {
  std::vector<std::string> writer_options;
  std::chrono::microseconds run_for{0};
};
RoundPlan plan_round(std::mt19937_64& random, std::chrono::milliseconds longest);

// The command of a writer that journals to its standard output.
Spawn writer_command(const std::string& url, const std::string& journal,
                     const std::vector<std::string>& options);

// Waits until the writer began; false if it ended before.
bool wait_for_begin(Child& writer, const std::string& journal);

struct Verdict {
  bool sound = false;
  std::chrono::microseconds reopened_in{0};
  std::string said{};  // the problems
};
Verdict verify_apart(const std::string& url, const std::vector<std::string>& journals);

}  // namespace skein::crash
