#include "bench/search_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "bench/in_child.h"
#include "bench/search_workload.h"
#include "bench/workload.h"
#include "core/try.h"
#include "skein/recall.h"

namespace skein::bench {
namespace {

constexpr const char* kAgent = "bench";

struct Place {
  std::string store_url;
  std::string index;
};

// "100,000 messages", of so many hundreds.
std::string messages_text(std::size_t hundreds) {
  const std::size_t thousands = hundreds / 10;
  return thousands < 1000
             ? fmt::format("{},000 messages", thousands)
             : fmt::format("{},{:03},000 messages", thousands / 1000, thousands % 1000);
}

Place place_in(const BenchOptions& options, std::string_view name) {
  const std::string base = fmt::format("{}/{}", options.folder, name);
  return {"sqlite:" + base + ".db", base + ".recall"};
}

struct Building {
  double words_rate = 0;  // messages a second
  double bytes = 0;       // on disk, of one message
};

Result<double> index_seconds(Store& store, const Place& place, Embedder* embedder) {
  const Stopwatch watch;
  SKEIN_ASSIGN(const auto recall,
               Recall::open(store, {.index_path = place.index, .embedder = embedder}));
  SKEIN_TRY(recall->backfill());
  return watch.seconds();
}

// Conversations, their words, and their vectors.
Result<Building> build(const Place& place, std::size_t threads, std::size_t messages) {
  StoreOptions unflushed;
  unflushed.unsafe_no_flush = true;
  SKEIN_ASSIGN(const auto store, open_store(place.store_url, unflushed));
  SKEIN_TRY(make_conversations(*store, kAgent, threads, messages));
  Building building;
  const auto all = static_cast<double>(threads * messages);
  SKEIN_ASSIGN(const double seconds, index_seconds(*store, place, nullptr));
  building.words_rate = all / seconds;
  MadeUpEmbedder embedder;
  SKEIN_TRY(index_seconds(*store, place, &embedder));
  std::error_code error;
  building.bytes = static_cast<double>(std::filesystem::file_size(place.index, error)) / all;
  return building;
}

struct Times {
  double words = 0;     // seconds, by words alone
  double vectors = 0;   // with vectors
  double embedded = 0;  // with a question that a real model embeds; 0: there is none
  double peak = 0;      // MB, with the index in memory
};

Result<double> median_time(Recall& recall, SearchBy by) {
  MadeUpText text(7);
  std::vector<double> times;
  SearchOptions options;
  options.agents = std::vector<std::string>{kAgent};
  options.by = by;
  for (int i = 0; i < 25; ++i) {
    const std::string question = text.question();
    const Stopwatch watch;
    SKEIN_ASSIGN(const SearchAnswer answer, recall.search(question, options));
    // The first ones load the index.
    if (i >= 4) times.push_back(watch.seconds());
    if (answer.results.empty()) return fail(ErrorCode::kNotFound, "nothing was found: " + question);
  }
  return median(std::move(times));
}

Result<Times> ask(const Place& place, bool with_model) {
  SKEIN_ASSIGN(const auto store, open_store(place.store_url));
  Times times;
  {
    MadeUpEmbedder embedder;
    SKEIN_ASSIGN(const auto recall,
                 Recall::open(*store, {.index_path = place.index, .embedder = &embedder}));
    SKEIN_ASSIGN(times.words, median_time(*recall, SearchBy::kWords));
    SKEIN_ASSIGN(times.vectors, median_time(*recall, SearchBy::kAll));
    times.peak = peak_mb();
  }
  if (!with_model) return times;
  SKEIN_ASSIGN(const OpenedEmbedder model, open_embedder("auto"));
  if (!model.embedder) return times;
  MadeUpEmbedder embedder(model.embedder.get());
  SKEIN_ASSIGN(const auto recall,
               Recall::open(*store, {.index_path = place.index, .embedder = &embedder}));
  SKEIN_ASSIGN(times.embedded, median_time(*recall, SearchBy::kAll));
  return times;
}

Row time_row(std::string work, double seconds, double goal_ms) {
  return {.work = std::move(work),
          .figure = duration(seconds),
          .against = "",
          .value = seconds * 1e3,
          .goal = goal_ms,
          .at_most = true,
          .unit = "ms"};
}

Row disk_row(std::string work, double bytes) {
  return {.work = std::move(work),
          .figure = fmt::format("{:.0f} B a message", bytes),
          .against = "",
          .value = bytes,
          .goal = 1200,
          .at_most = true,
          .unit = "B"};
}

Result<void> measure_hundred_thousand(const BenchOptions& options, std::vector<Row>& rows) {
  const std::size_t threads = options.quick ? 100 : 1000;
  const Place place = place_in(options, "hundred");
  options.say(fmt::format("indexing {} messages", threads * 100));
  SKEIN_ASSIGN(const Building building, in_child([&] { return build(place, threads, 100); }));
  const std::string size = messages_text(threads);
  rows.push_back({.work = "indexing words of " + size,
                  .figure = per_second(building.words_rate),
                  .against = "",
                  .value = building.words_rate,
                  .goal = 20'000,
                  .at_most = false,
                  .unit = "/s"});
  rows.push_back(disk_row("index of " + size + ", two vectors each", building.bytes));
  options.say("asking");
  SKEIN_ASSIGN(const Times times, in_child([&] { return ask(place, true); }));
  rows.push_back(time_row("a question to " + size + ", words", times.words, 25));
  rows.push_back(time_row("… words and vectors, without embedding it", times.vectors, 25));
  if (times.embedded > 0) {
    rows.push_back(time_row("… with embedding it", times.embedded, 40));
  }
  return {};
}

Result<void> measure_million(const BenchOptions& options, std::vector<Row>& rows) {
  const std::size_t threads = options.quick ? 1100 : 10'000;
  const Place place = place_in(options, "million");
  const std::string size = messages_text(threads);
  options.say("indexing " + size);
  SKEIN_ASSIGN(const Building building, in_child([&] { return build(place, threads, 100); }));
  options.say("asking");
  SKEIN_ASSIGN(const Times times, in_child([&] { return ask(place, false); }));
  rows.push_back(time_row("a question to " + size + ", words", times.words, 150));
  rows.push_back(time_row("… words and vectors", times.vectors, 150));
  rows.push_back(disk_row("index of " + size + ", one vector each", building.bytes));
  rows.push_back({.work = "memory for searching " + size,
                  .figure = fmt::format("{:.0f} MB", times.peak),
                  .against = "",
                  .value = times.peak,
                  .goal = 600,
                  .at_most = true,
                  .unit = "MB"});
  return {};
}

// What indexing costs beyond the model itself.
Result<void> measure_model(const BenchOptions& options, std::vector<Row>& rows) {
  SKEIN_ASSIGN(const OpenedEmbedder model, open_embedder("auto"));
  if (!model.embedder) {
    for (const std::string& note : model.notes) options.say(note);
    return {};
  }
  const Place place = place_in(options, "model");
  SKEIN_ASSIGN(const auto store, open_store(place.store_url));
  SKEIN_TRY(make_conversations(*store, kAgent, options.quick ? 2 : 10, 50));
  SKEIN_TRY(model.embedder->embed_one("warm", EmbedKind::kPassage));
  const auto before = model.embedder->model_time();
  options.say("making vectors");
  SKEIN_ASSIGN(const double seconds, index_seconds(*store, place, model.embedder.get()));
  const std::chrono::duration<double> bare = model.embedder->model_time() - before;
  rows.push_back({.work = "indexing with " + model.embedder->model(),
                  .figure = duration(seconds),
                  .against = "the model alone: " + duration(bare.count()),
                  .value = seconds / bare.count(),
                  .goal = 1.3,
                  .at_most = true,
                  .unit = "×"});
  return {};
}

}  // namespace

std::span<const Part> search_bench_parts() {
  // The model last: it leaves threads behind, and the others fork.
  static const Part kParts[] = {{"hundred", measure_hundred_thousand},
                                {"million", measure_million},
                                {"model", measure_model}};
  return kParts;
}

}  // namespace skein::bench
