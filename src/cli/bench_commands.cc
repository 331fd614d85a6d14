#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

class BenchStore : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "store",
            .summary = "measure appends, loads and look-ups against bare loops in the same run",
            .examples =
                "  skein bench store\n"
                "  skein bench store --quick --only append\n"
                "  skein bench store --folder . --json\n",
            .details =
                "Works in a new folder on the disk to be measured and removes it in the end. The "
                "whole takes some minutes\nand two gigabytes. Ratios are what counts: the "
                "figures themselves depend on the disk and on what else runs.\nThe exit code is 1 "
                "when a goal was missed."};
  }

  std::vector<Argument> arguments() override {
    return {{.names = "--quick",
             .help = "a tenth of the work: for a look, not for figures",
             .set = into(quick_)},
            {.names = "--only",
             .value_name = "PART",
             .help = "one part of it",
             .set = into(only_),
             .choices = bench::store_bench_parts()},
            {.names = "--folder",
             .value_name = "DIR",
             .help = "where to work; the current folder, if not given",
             .set = into(folder_),
             .is_path = true}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN(const ScratchFolder scratch, ScratchFolder::make(folder_));
    bench::StoreBenchOptions options;
    options.folder = scratch.path();
    options.quick = quick_;
    options.only = only_;
    options.progress = [](std::string_view doing) { print_notice(doing); };
    SKEIN_ASSIGN(const std::vector<bench::Row> rows, bench::run_store_bench(options));
    context.out().write(context.json() ? bench::to_json(rows) + "\n" : bench::to_table(rows));
    for (const bench::Row& row : rows) {
      if (!row.reached()) return kExitRefused;
    }
    return kExitDone;
  }

 private:
  bool quick_ = false;
  std::string only_;
  std::string folder_ = ".";
};

}  // namespace

CommandGroup bench_commands() {
  CommandGroup group{"bench", "measure what this machine does", {}};
  group.commands.push_back(std::make_unique<BenchStore>());
  return group;
}

}  // namespace skein
