#include "crash/harness/rounds.h"

#include <fmt/format.h>

#include <cstdio>

#include "crash/harness/disk.h"

namespace skein::crash {

RoundPlan plan_round(std::mt19937_64& random, std::chrono::milliseconds longest) {
  static constexpr int kWriters[] = {1, 2, 4, 8};
  RoundPlan plan;
  plan.writer_options = {"--seed",    std::to_string(random() >> 1),
                         "--writers", std::to_string(kWriters[random() % 4]),
                         "--shared",  std::to_string(1 + random() % 4)};
  if (random() % 8 == 0) plan.writer_options.emplace_back("--one-thread");
  const auto most = std::chrono::microseconds(longest) / (random() % 10 == 0 ? 1 : 8);
  plan.run_for = std::chrono::microseconds(random() % static_cast<std::uint64_t>(most.count()));
  return plan;
}

Spawn writer_command(const std::string& url, const std::string& journal,
                     const std::vector<std::string>& options) {
  Spawn spawn{.command = {program("crash_writer"), url, "1"}};
  spawn.command.insert(spawn.command.end(), options.begin(), options.end());
  spawn.stdout_path = journal;
  spawn.stderr_path = journal + ".stderr";
  return spawn;
}

bool wait_for_begin(Child& writer, const std::string& journal) {
  const auto begun = [&] { return read_file(journal).find("workload") != std::string::npos; };
  return wait_until([&] { return begun() || !writer.running(); }) && begun();
}

Verdict verify_apart(const std::string& url, const std::vector<std::string>& journals) {
  const TempFolder folder;
  const std::string said = folder / "said";
  Spawn spawn{.command = {program("crash_verifier"), url}};
  spawn.command.insert(spawn.command.end(), journals.begin(), journals.end());
  spawn.stdout_path = said;
  spawn.stderr_path = said;
  const Exit exit = run(spawn);
  Verdict verdict{.sound = exit.clean(), .said = read_file(said)};
  long long us = 0;
  if (std::sscanf(verdict.said.c_str(), "reopened in %lld us", &us) == 1)
    verdict.reopened_in = std::chrono::microseconds(us);
  if (!exit.clean() && exit.code != 1) verdict.said += "The verifier did not finish: " + exit.str();
  return verdict;
}

Series repeat(int rounds, std::uint64_t first_seed,
              const std::function<Interruption(std::uint64_t seed)>& interrupt) {
  Series series{.rounds = rounds};
  for (int i = 0; i < rounds; ++i) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
    const Interruption one = interrupt(seed);
    series.acknowledged += one.acknowledged;
    if (one.acknowledged > 0) ++series.with_acknowledgements;
    if (one.verdict.sound) continue;
    ++series.unsound;
    if (one.acknowledged > 0) ++series.noticed;
    series.said += fmt::format("seed {}:\n{}\n", seed, one.verdict.said);
  }
  return series;
}

}  // namespace skein::crash
