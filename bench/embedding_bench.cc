#include "bench/embedding_bench.h"

#include <fmt/format.h>

#include <chrono>

#include "bench/workload.h"
#include "core/try.h"
#include "skein/embedder.h"

namespace skein::bench {
namespace {

constexpr double kLoadGoalSeconds = 1;
constexpr double kQuestionGoalMs = 15;  // what a search with a model may take more than one without
constexpr double kOverheadGoal = 1.05;

Result<std::unique_ptr<Embedder>> open_best() {
  SKEIN_ASSIGN(OpenedEmbedder opened, open_embedder("auto"));
  if (opened.embedder) return std::move(opened.embedder);
  return fail(ErrorCode::kNotFound, fmt::format("{}", fmt::join(opened.notes, "; ")));
}

// The first `words` words of a message.
std::string sample_text(std::uint64_t number, std::size_t words) {
  const std::string text = std::get<Message>(sample_event(number).payload).text;
  std::size_t end = 0;
  for (std::size_t i = 0; i < words && end != std::string::npos; ++i) end = text.find(' ', end + 1);
  return text.substr(0, end);
}

Result<void> bench_question(const BenchOptions& options, std::vector<Row>& rows) {
  options.say("loading the model, and embedding questions");
  SKEIN_ASSIGN(const std::unique_ptr<Embedder> embedder, open_best());
  const Stopwatch loading;
  SKEIN_TRY(embedder->embed_one("first use", EmbedKind::kQuery));
  const double load = loading.seconds();
  rows.push_back({"first use of the model", duration(load), embedder->model(), load,
                  kLoadGoalSeconds, true, "s"});

  std::vector<double> times;
  for (std::uint64_t i = 0; i < (options.quick ? 20u : 200u); ++i) {
    const std::string question = sample_text(i, 10);
    const Stopwatch watch;
    SKEIN_TRY(embedder->embed_one(question, EmbedKind::kQuery));
    times.push_back(watch.seconds());
  }
  const double typical = median(times);
  rows.push_back({"embed a question of 10 words", duration(typical), "one core", typical * 1000,
                  kQuestionGoalMs, true, "ms"});
  return {};
}

Result<void> bench_messages(const BenchOptions& options, std::vector<Row>& rows) {
  options.say("embedding messages");
  SKEIN_ASSIGN(const std::unique_ptr<Embedder> embedder, open_best());
  SKEIN_TRY(embedder->embed_one("first use", EmbedKind::kQuery));
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < (options.quick ? 30u : 300u); ++i) {
    texts.push_back(sample_text(i, 25));
  }
  const auto before = embedder->model_time();
  const Stopwatch watch;
  SKEIN_TRY(embedder->embed(texts, EmbedKind::kPassage));
  const double whole = watch.seconds();
  const std::chrono::duration<double> model = embedder->model_time() - before;
  const auto count = static_cast<double>(texts.size());
  rows.push_back({"embed a message of 25 words", duration(whole / count),
                  "the model alone, " + duration(model.count() / count), whole / model.count(),
                  kOverheadGoal, true, "×"});
  return {};
}

}  // namespace

std::span<const Part> embedding_bench_parts() {
  static const std::vector<Part> parts = {{"question", bench_question},
                                          {"messages", bench_messages}};
  return parts;
}

}  // namespace skein::bench
