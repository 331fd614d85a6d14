#include <fmt/format.h>

#include "api/recall.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/search_text.h"
#include "cli/stop.h"
#include "core/try.h"

namespace skein {
namespace {

// Which model to use, beyond what the settings say.
Argument embedder_argument(std::optional<std::string>& embedder) {
  return {
      .names = "--embedder",
      .value_name = "MODEL",
      .help = "auto, none, bge-small, minilm or openai:URL#MODEL (SKEIN_EMBEDDER; default auto)",
      .set = into(embedder)};
}

struct OpenIndex {
  std::unique_ptr<Store> store;
  OpenedRecall recall;
};

tl::expected<OpenIndex, Failure> open_index(Context& context,
                                            const std::optional<std::string>& embedder) {
  SKEIN_ASSIGN_OR_FAIL(Settings settings, context.settings());
  if (embedder) settings.embedder = *embedder;
  OpenIndex opened;
  SKEIN_ASSIGN_OR_FAIL(opened.store, context.open(IfMissing::kRefuse));
  auto recall = open_recall(settings, *opened.store);
  if (!recall) return tl::unexpected<Failure>(std::move(recall).error());
  opened.recall = std::move(*recall);
  return opened;
}

class Search : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "search",
            .summary = "find what was said, by meaning and by words",
            .examples =
                "  skein search \"What did we decide about retries?\"\n"
                "  skein search \"parser error last week\" --agent support --role user --limit 10\n"
                "  skein search \"retry policy\" --json\n",
            .details =
                "Searches the threads of all agents and shows the best message of each thread, "
                "with those around it. Names and\ndates in the question count: \"What did Ana say "
                "in March?\" prefers what Ana said, and what was said in March.\nOnly indexed "
                "messages are found; `skein backfill` indexes."};
  }

  std::vector<Argument> arguments() override {
    return {
        {.names = "query",
         .value_name = "QUERY",
         .help = "a question or some words; all of it is text, there are no operators",
         .set = into(query_),
         .required = true},
        {.names = "--agent",
         .value_name = "A",
         .help = "search only threads of this agent (default: all agents)",
         .set = into(agent_)},
        {.names = "--all-agents",
         .help = "search threads of all agents; this is the default",
         .set = into(all_agents_),
         .hidden = true},
        {.names = "--limit",
         .value_name = "N",
         .help = "at most so many results (default 5)",
         .set = into(limit_)},
        {.names = "--context",
         .value_name = "N",
         .help = "so many messages before and after each match (default 3)",
         .set = into(around_)},
        {.names = "--per-thread",
         .value_name = "N",
         .help = "up to so many results of one thread (default 1)",
         .set = into(per_thread_)},
        status_argument(options_.status),
        metadata_argument(options_.metadata),
        {.names = "--since",
         .value_name = "TIME",
         .help = "said then or later: ISO 8601, a date, or how long ago (7d, 12h)",
         .set = into_time(options_.since)},
        {.names = "--until",
         .value_name = "TIME",
         .help = "said before then",
         .set = into_time(options_.until)},
        with_choices<Role>({.names = "--role", .value_name = "ROLE", .help = "said by it only"},
                           {{"user", Role::kUser}, {"assistant", Role::kAssistant}}, role_),
        embedder_argument(embedder_),
    };
  }

  Outcome run(Context& context) override {
    if (all_agents_ && agent_) return wrong_usage("--agent and --all-agents exclude each other");
    if (agent_) options_.agents = std::vector{*agent_};
    options_.limit = limit_.value_or(options_.limit);
    options_.context = around_.value_or(options_.context);
    options_.per_thread = per_thread_.value_or(options_.per_thread);
    if (role_) options_.roles = {*role_};
    SKEIN_ASSIGN_OR_FAIL(const OpenIndex index, open_index(context, embedder_));
    SKEIN_ASSIGN(const SearchAnswer answer, index.recall->search(query_, options_));
    if (context.json()) {
      context.out().write(to_json(answer) + "\n");
      return kExitDone;
    }
    context.out().write(search_text(answer, context.style()));
    SKEIN_TRY(context.out().flush());
    for (const std::string& line : search_notes(answer)) print_notice(line);
    return kExitDone;
  }

 private:
  std::string query_;
  SearchOptions options_;
  std::optional<std::string> agent_;
  bool all_agents_ = false;
  std::optional<std::uint64_t> limit_;
  std::optional<std::uint64_t> around_;
  std::optional<std::uint64_t> per_thread_;
  std::optional<Role> role_;
  std::optional<std::string> embedder_;
};

class Backfill : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "backfill",
            .summary = "index what was said and is not indexed yet, for search",
            .examples =
                "  skein backfill\n"
                "  skein backfill --agent support --json\n"
                "  skein backfill --rebuild\n",
            .details =
                "Looks through all threads, indexes what is missing and removes what is gone. "
                "Words first: search works after\nseconds. Then a model turns each message into "
                "a vector, which takes some milliseconds a message. Interrupted\nat any point, the "
                "next one goes on from there."};
  }

  std::vector<Argument> arguments() override {
    return {
        {.names = "--agent",
         .value_name = "A",
         .help = "index only threads of this agent (default: all agents)",
         .set = into(options_.agent_id)},
        {.names = "--rebuild", .help = "throw the index away first", .set = into(options_.rebuild)},
        embedder_argument(embedder_)};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const OpenIndex index, open_index(context, embedder_));
    for (const std::string& note : index.recall.notes) print_notice(note);
    StopRequest signals;
    std::stop_source stop;
    Progress words("indexing words");
    Progress vectors("making vectors");
    options_.stop = stop.get_token();
    options_.progress = [&](const BackfillProgress& progress) {
      if (progress.embedding) words.clear();
      (progress.embedding ? vectors : words).update(progress.done, progress.total);
      if (signals.signal() != 0) stop.request_stop();
    };
    SKEIN_ASSIGN(const BackfillResult result, index.recall->backfill(options_));
    words.clear();
    vectors.clear();
    if (context.json()) {
      context.out().write(to_json(result) + "\n");
    } else {
      context.out().write(fmt::format("{} messages indexed, {} entries removed{}{}\n",
                                      result.embedded, result.cleaned,
                                      index.recall->model().empty() ? ", words only" : "",
                                      result.stopped ? "; stopped before the end" : ""));
    }
    SKEIN_TRY(context.out().flush());
    if (signals.signal() != 0) end_by_signal(signals.signal());
    return kExitDone;
  }

 private:
  BackfillOptions options_;
  std::optional<std::string> embedder_;
};

}  // namespace

CommandGroup recall_commands() {
  CommandGroup group;
  group.commands.push_back(std::make_unique<Search>());
  group.commands.push_back(std::make_unique<Backfill>());
  return group;
}

}  // namespace skein
