// One round of the tests that interrupt a writer: started, interrupted, looked at.
#pragma once

#include <chrono>
#include <functional>
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

// What came of one interruption.
struct Interruption {
  Verdict verdict;
  std::uint64_t acknowledged = 0;
};

// What came of many. A round in which nothing was acknowledged could lose nothing.
struct Series {
  int rounds = 0;
  int unsound = 0;
  int with_acknowledgements = 0;
  int noticed = 0;  // unsound, of those with acknowledgements
  std::uint64_t acknowledged = 0;
  std::string said{};  // by the unsound ones, with their seeds
};
Series repeat(int rounds, std::uint64_t first_seed,
              const std::function<Interruption(std::uint64_t seed)>& interrupt);

}  // namespace skein::crash
