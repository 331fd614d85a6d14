#include "bench/recall_bench.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "core/try.h"

namespace skein {
namespace {

class RecallBench : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "recall",
            .summary = "measure how well search finds what answers known questions",
            .examples =
                "  skein bench recall --data path/to/data\n"
                "  skein bench recall --data path/to/data --embedder none --json\n",
            .details =
                "The folder holds conversations.jsonl (conv, session, dia_id, speaker, text, "
                "timestamp, and perhaps caption)\nand questions.jsonl (conv, question, evidence, "
                "category). Each conv becomes an agent, each session a thread,\nand each question "
                "is asked within its conv. R@5 and R@10 are the shares of the evidence among the "
                "first 5\nand 10, at the level of messages and of threads; questions of category 5 "
                "are counted apart."};
  }

  std::vector<Argument> arguments() override {
    return {{.names = "--data",
             .value_name = "DIR",
             .help = "where the conversations and the questions are",
             .set = into(options_.data),
             .required = true,
             .is_path = true},
            {.names = "--folder",
             .value_name = "DIR",
             .help = "keep store and index here for the next run (default: in memory)",
             .set = into(options_.folder),
             .is_path = true},
            {.names = "--embedder",
             .value_name = "MODEL",
             .help = "auto, none, bge-small, minilm or openai:URL#MODEL (SKEIN_EMBEDDER)",
             .set = into(embedder_)}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    SKEIN_ASSIGN(const OpenedEmbedder embedder,
                 open_embedder(embedder_.value_or(settings.embedder)));
    for (const std::string& note : embedder.notes) print_notice(note);
    options_.embedder = embedder.embedder.get();
    options_.progress = [](std::string_view doing) { print_notice(doing); };
    SKEIN_ASSIGN(const auto reports, bench::run_recall_bench(options_));
    context.out().write(context.json() ? bench::to_json(reports) + "\n" : bench::to_table(reports));
    return kExitDone;
  }

 private:
  bench::RecallBenchOptions options_;
  std::optional<std::string> embedder_;
};

}  // namespace

std::unique_ptr<Command> recall_bench_command() { return std::make_unique<RecallBench>(); }

}  // namespace skein
