#include "bench/checkpoint_bench.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "core/file.h"
#include "core/subprocess.h"
#include "core/try.h"
#include "skein/checkpoints.h"

namespace skein::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kRounds = 11;
constexpr double kListGoalMs = 100;
constexpr double kFirstListGoalSeconds = 10;
constexpr double kHookGoalMs = 50;

// One of many, with as much text as people write; every hundredth is about "mrr".
Checkpoint sample(std::size_t number) {
  const auto made =
      Timestamp::from_ms(1'769'178'652'000 + static_cast<std::int64_t>(number) * 60'000);
  Checkpoint checkpoint;
  checkpoint.id = fmt::format("T-20260123-143052-sample-{:05}", number);
  checkpoint.created_at = made;
  checkpoint.updated_at = made;
  checkpoint.type = number % 3 == 0 ? CheckpointType::kAuto : CheckpointType::kCheckpoint;
  checkpoint.title = fmt::format("Sample number {}{}", number, number % 100 == 0 ? " mrr" : "");
  checkpoint.summary = fmt::format(
      "Moved part {} of the import to the new schema, and repaired what broke in the "
      "reports on the way; the tests of module {} pass again.",
      number, number % 97);
  checkpoint.files_touched = {fmt::format("src/module_{}/import.ts", number % 97),
                              fmt::format("tests/module_{}/import_test.ts", number % 97)};
  checkpoint.next_steps = {"Deploy it", "Tell those who wait for it"};
  checkpoint.tags = {"import", fmt::format("module-{}", number % 97)};
  checkpoint.git.emplace();
  checkpoint.git->branch = "main";
  checkpoint.git->current_commit = fmt::format("{:07x}", number * 7919);
  return checkpoint;
}

Result<double> run_ms(const BenchOptions& options, std::vector<std::string> arguments,
                      std::string_view input) {
  std::error_code error;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", error).string();
  arguments.insert(arguments.begin(), {self, "--workspace", options.folder});
  const auto begin = SteadyClock::now();
  SKEIN_ASSIGN(const Finished done, run_program({.argv = std::move(arguments)}, input, {}));
  const std::chrono::duration<double, std::milli> taken = SteadyClock::now() - begin;
  if (!done.exit.ok()) return fail(ErrorCode::kIo, "the program failed: " + done.err);
  return taken.count();
}

Result<Row> measured(const BenchOptions& options, std::string work, double goal_ms,
                     const std::vector<std::string>& arguments, std::string_view input = {}) {
  std::vector<double> times;
  for (int i = 0; i < kRounds; ++i) {
    SKEIN_ASSIGN(const double taken, run_ms(options, arguments, input));
    times.push_back(taken);
  }
  const double typical = median(times);
  return Row{std::move(work),
             duration(typical / 1000),
             fmt::format("median of {} runs of the program", kRounds),
             typical,
             goal_ms,
             true,
             "ms"};
}

Result<void> write_samples(const BenchOptions& options, std::size_t count) {
  options.say("writing checkpoints");
  const std::string threads = options.folder + "/workspace/threads";
  Flusher unflushed(false);
  SKEIN_TRY(make_folders(threads, unflushed));
  for (std::size_t i = 0; i < count; ++i) {
    const Checkpoint checkpoint = sample(i);
    std::ofstream(threads + "/" + checkpoint.id + ".json") << to_json(checkpoint);
  }
  return {};
}

Result<void> bench_lists(const BenchOptions& options, std::vector<Row>& rows) {
  const std::size_t count = options.quick ? 1'000 : 10'000;
  SKEIN_TRY(write_samples(options, count));
  options.say("listing and searching them");
  const std::string of = fmt::format(" of {} checkpoints", count);
  const std::vector<std::string> list = {"checkpoints", "list"};
  SKEIN_ASSIGN(const double first, run_ms(options, list, {}));
  rows.push_back({"first list" + of, duration(first / 1000), "reads every file", first / 1000,
                  kFirstListGoalSeconds, true, "s"});
  SKEIN_ASSIGN(Row listed, measured(options, "list" + of, kListGoalMs, list));
  rows.push_back(std::move(listed));
  SKEIN_ASSIGN(Row searched, measured(options, "search" + of, kListGoalMs,
                                      {"checkpoints", "search", "mrr", "--tag", "import"}));
  rows.push_back(std::move(searched));
  return {};
}

Result<void> bench_hook(const BenchOptions& options, std::vector<Row>& rows) {
  options.say("calling a hook");
  SKEIN_ASSIGN(Row hook,
               measured(options, "hook with nothing to do", kHookGoalMs, {"hook", "post-tool-use"},
                        R"({"session_id":"s","tool_name":"Read"})"));
  rows.push_back(std::move(hook));
  return {};
}

}  // namespace

std::span<const Part> checkpoint_bench_parts() {
  static const std::vector<Part> parts = {{"lists", bench_lists}, {"hook", bench_hook}};
  return parts;
}

}  // namespace skein::bench
