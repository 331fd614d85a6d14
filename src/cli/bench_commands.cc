#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/checkpoint_bench.h"
#include "bench/context_bench.h"
#include "bench/embedding_bench.h"
#include "bench/http_bench.h"
#include "bench/mcp_bench.h"
#include "bench/postgres_bench.h"
#include "bench/runs_bench.h"
#include "bench/scale_bench.h"
#include "bench/search_bench.h"
#include "bench/store_bench.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "core/try.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

// A fresh folder, gone with everything in it when this goes.
class ScratchFolder {
 public:
  static Result<ScratchFolder> make(const std::string& parent) {
    std::string path = (fs::path(parent) / "skein-bench-XXXXXX").string();
    if (mkdtemp(path.data()) != nullptr) return ScratchFolder(std::move(path));
    return fail(ErrorCode::kIo, "cannot make a folder in " + parent + ": " + std::strerror(errno));
  }
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// One benchmark: its parts, and what there is to know before running it.
class Bench : public Command {
 public:
  // `on_servers`: what is run instead when the store is on a server.
  Bench(CommandInfo info, std::span<const bench::Part> parts,
        std::span<const bench::Part> on_servers = {})
      : info_(std::move(info)), parts_(parts), on_servers_(on_servers) {}

  CommandInfo info() const override { return info_; }

  std::vector<Argument> arguments() override {
    std::vector<Argument> arguments{{.names = "--quick",
                                     .help = "a tenth of the work: for a look, not for figures",
                                     .set = into(options_.quick)},
                                    {.names = "--only",
                                     .value_name = "PART",
                                     .help = "one part of it",
                                     .set = into(options_.only),
                                     .choices = bench::part_names(parts_)},
                                    {.names = "--folder",
                                     .value_name = "DIR",
                                     .help = "where to work; the current folder, if not given",
                                     .set = into(folder_),
                                     .is_path = true}};
    if (info_.name == "scale") {
      arguments.push_back({.names = "--threads",
                           .value_name = "N",
                           .help = "how far to grow, from 10,000 (default 1,000,000)",
                           .set = into(threads_)});
    }
    return arguments;
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN(const ScratchFolder scratch, ScratchFolder::make(folder_));
    options_.folder = scratch.path();
    options_.progress = [](std::string_view doing) { print_notice(doing); };
    if (threads_) options_.threads = *threads_;
    std::span<const bench::Part> parts = parts_;
    if (!on_servers_.empty()) {
      SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
      if (settings.store_url.starts_with("postgres")) {
        options_.store = settings.store_url;
        parts = on_servers_;
      }
    }
    SKEIN_ASSIGN(const std::vector<bench::Row> rows, bench::run_parts(parts, options_));
    context.out().write(context.json() ? bench::to_json(rows) + "\n" : bench::to_table(rows));
    for (const bench::Row& row : rows) {
      if (!row.reached()) return kExitRefused;
    }
    return kExitDone;
  }

 private:
  const CommandInfo info_;
  const std::span<const bench::Part> parts_;
  const std::span<const bench::Part> on_servers_;
  bench::BenchOptions options_;
  std::string folder_ = ".";
  std::optional<std::uint64_t> threads_;
};

CommandInfo store_info() {
  return {.name = "store",
          .summary = "measure appends, loads and look-ups against bare loops in the same run",
          .examples =
              "  skein bench store\n"
              "  skein bench store --quick --only append\n"
              "  skein bench store --folder . --json\n"
              "  skein bench store --store postgres://localhost/skein\n",
          .details =
              "Works in a new folder on the disk to be measured and removes it in the end. The "
              "whole takes some minutes\nand two gigabytes. Ratios are what counts: the "
              "figures themselves depend on the disk and on what else runs.\nWith a store on "
              "PostgreSQL, that is measured against pgbench on the same server, in tables of its "
              "own.\nThe exit code is 1 when a goal was missed."};
}

CommandInfo scale_info() {
  return {
      .name = "scale",
      .summary = "measure a store as the number of its threads grows",
      .examples =
          "  skein bench scale --store postgres://localhost/skein\n"
          "  skein bench scale --threads 10000000\n",
      .details =
          "Grows a store of its own, in the folder or on the server that --store names, tenfold "
          "at a time, and removes it in\nthe end. The exit code is 1 when a goal was missed."};
}

CommandInfo context_info() {
  return {.name = "context",
          .summary = "measure what conversations cost beyond the store",
          .examples =
              "  skein bench context\n"
              "  skein bench context --quick --only subscribers\n",
          .details =
              "Works in a new folder on the disk to be measured and removes it in the end. The "
              "exit code is 1 when a goal\nwas missed."};
}

CommandInfo checkpoints_info() {
  return {.name = "checkpoints",
          .summary = "measure how long lists, searches and hooks take",
          .examples =
              "  skein bench checkpoints\n"
              "  skein bench checkpoints --only hook --json\n",
          .details =
              "Runs this program on a folder full of checkpoints, and removes it in the end. The "
              "exit code is 1 when a goal\nwas missed."};
}

CommandInfo embedding_info() {
  return {.name = "embedding",
          .summary = "measure the model that recall runs on",
          .examples =
              "  skein bench embedding\n"
              "  skein bench embedding --only question --json\n",
          .details =
              "On one core, with the best model that is there. The exit code is 1 when a goal was "
              "missed."};
}

CommandInfo runs_info() {
  return {.name = "runs",
          .summary = "measure what a run costs besides its engine",
          .examples =
              "  skein bench runs\n"
              "  skein bench runs --quick --only throughput\n",
          .details =
              "Runs the echo engine on a durable store in a new folder on the disk to be measured. "
              "The exit code is 1 when a goal\nwas missed."};
}

CommandInfo http_info() {
  return {.name = "http",
          .summary = "measure what the server costs beyond the store",
          .examples =
              "  skein bench http\n"
              "  skein bench http --quick --only append\n",
          .details =
              "Starts this program as a server in a new folder on the disk to be measured, and "
              "asks it over loopback; client\nand server share the machine. The exit code is 1 "
              "when a goal was missed."};
}

CommandInfo search_info() {
  return {.name = "search",
          .summary = "measure how fast search answers and indexes, and what it needs",
          .examples =
              "  skein bench search --quick\n"
              "  skein bench search --only million\n",
          .details =
              "Works in a new folder and removes it in the end. The whole takes some minutes and "
              "three gigabytes. Vectors are\nsynthetic, except where the model's time is what is "
              "measured. The exit code is 1 when a goal was missed."};
}

CommandInfo mcp_info() {
  return {.name = "mcp",
          .summary = "measure the MCP server over standard streams",
          .examples =
              "  skein bench mcp\n"
              "  skein bench mcp --quick --only start\n",
          .details =
              "Starts this program as a server in a new folder, and beside it the same tool made "
              "with the official TypeScript\nSDK, which tools/setup installs for the tests "
              "(SKEIN_NODE_MODULES says where it is, else run this in the\nrepository). The exit "
              "code is 1 when a goal was missed."};
}

}  // namespace

CommandGroup bench_commands() {
  CommandGroup group{"bench", "measure what this machine does", {}};
  group.commands.push_back(std::make_unique<Bench>(store_info(), bench::store_bench_parts(),
                                                   bench::postgres_bench_parts()));
  group.commands.push_back(std::make_unique<Bench>(scale_info(), bench::scale_bench_parts(),
                                                   bench::scale_bench_parts()));
  group.commands.push_back(std::make_unique<Bench>(context_info(), bench::context_bench_parts()));
  group.commands.push_back(
      std::make_unique<Bench>(checkpoints_info(), bench::checkpoint_bench_parts()));
  group.commands.push_back(
      std::make_unique<Bench>(embedding_info(), bench::embedding_bench_parts()));
  group.commands.push_back(std::make_unique<Bench>(runs_info(), bench::runs_bench_parts()));
  group.commands.push_back(std::make_unique<Bench>(search_info(), bench::search_bench_parts()));
  group.commands.push_back(std::make_unique<Bench>(http_info(), bench::http_bench_parts()));
  group.commands.push_back(std::make_unique<Bench>(mcp_info(), bench::mcp_bench_parts()));
  group.commands.push_back(recall_bench_command());
  return group;
}

}  // namespace skein
