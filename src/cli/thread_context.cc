// skein thread context, skein thread summarize
#include "skein/context.h"

#include <fmt/format.h>

#include "api/summaries.h"
#include "api/threads.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/show_text.h"
#include "cli/stop_on_signal.h"
#include "cli/thread_commands.h"
#include "core/json_object.h"
#include "core/try.h"

namespace skein {
namespace {

std::string range_text(const LedgerEntry& entry) {
  if (!entry.seqs) return "-";
  const SeqRange& seqs = *entry.seqs;
  return seqs.first == seqs.last ? fmt::format("{}", seqs.first)
                                 : fmt::format("{}-{}", seqs.first, seqs.last);
}

std::string ledger_text(const ContextWindow& context, std::uint64_t max_tokens) {
  std::string text = fmt::format("{} of {} tokens, strategy {}\n", context.tokens, max_tokens,
                                 to_string(context.strategy));
  text += fmt::format("{:>15}  {:<10}  {:>9}  {}\n", "EVENTS", "", "TOKENS", "WHY");
  for (const LedgerEntry& entry : context.ledger) {
    text += fmt::format("{:>15}  {:<10}  {:>9}  {}\n", range_text(entry), to_string(entry.what),
                        fmt::format("{}{}", entry.estimated ? "~" : "", entry.tokens), entry.why);
  }
  return text;
}

class ContextCommand : public Command {
 public:
  CommandInfo info() const override {
    return {
        .name = "context",
        .summary = "print what of a thread fits into a model's window, and what became of the rest",
        .examples =
            "  skein thread context a1b2c3d4e5f6\n"
            "  skein thread context a1b2c3d4e5f6 --max-tokens 4000 --strategy hybrid\n"
            "  skein thread context a1b2c3d4e5f6 --strategy summary --json | jq .ledger\n",
        .details =
            "recent: the newest messages. summary: what summaries do not cover, and a summary "
            "of what does not fit.\nhybrid: pinned messages, decisions and the best matches "
            "for the newest question first.\nSystem messages and the newest user message are "
            "always in; a tool's call and response stay together.\nTokens are o200k_base, "
            "and 4 for each message."};
  }

  std::vector<Argument> arguments() override {
    return {
        thread_argument(thread_),
        {.names = "--max-tokens",
         .value_name = "N",
         .help = "how many there is room for (default 8000)",
         .set = into(max_tokens_)},
        with_choices<ContextStrategy>({.names = "--strategy",
                                       .value_name = "S",
                                       .help = "recent, summary or hybrid (default recent)"},
                                      {{"recent", ContextStrategy::kRecent},
                                       {"summary", ContextStrategy::kSummary},
                                       {"hybrid", ContextStrategy::kHybrid}},
                                      strategy_),
    };
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(auto store, context.open(IfMissing::kRefuse));
    SKEIN_ASSIGN(const Manifest manifest, find_thread(*store, *thread_));
    ContextRequest request;
    request.max_tokens = max_tokens_.value_or(request.max_tokens);
    request.strategy = strategy_.value_or(request.strategy);
    SKEIN_ASSIGN(const ContextWindow window, make_context(*store, manifest.id, request));
    if (context.json()) {
      context.out().write(to_json(window) + "\n");
      return kExitDone;
    }
    for (const Event& event : window.messages) {
      context.out().write(event_text(event, context.style()));
    }
    context.out().write(ledger_text(window, request.max_tokens));
    return kExitDone;
  }

 private:
  std::optional<ThreadRef> thread_;
  std::optional<std::uint64_t> max_tokens_;
  std::optional<ContextStrategy> strategy_;
};

class SummarizeCommand : public Command {
 public:
  CommandInfo info() const override {
    return {
        .name = "summarize",
        .summary = "append a summary of what is old, or take one out of force",
        .examples =
            "  skein thread summarize a1b2c3d4e5f6\n"
            "  skein thread summarize a1b2c3d4e5f6 --threshold 50 --keep-recent 10 --json\n"
            "  skein thread summarize a1b2c3d4e5f6 --extract\n"
            "  skein thread summarize a1b2c3d4e5f6 --undo\n",
        .details =
            "The summary is one more event, and undoing it is another: nothing that was said "
            "is changed.\nThe engine of the thread's agent writes it, if that agent is trusted. "
            "Without one, with --extract, or where the\nengine fails (which is told), its "
            "sentences are those of the thread itself, and no network is used.\nCtrl-C stops "
            "it, and nothing is written."};
  }

  std::vector<Argument> arguments() override {
    return {
        thread_argument(thread_),
        {.names = "--threshold",
         .value_name = "N",
         .help = "do nothing unless there are more messages than this (default 50)",
         .set = into(threshold_)},
        {.names = "--keep-recent",
         .value_name = "N",
         .help = "leave so many of the newest messages as they are (default 10)",
         .set = into(keep_recent_)},
        {.names = "--max-tokens",
         .value_name = "N",
         .help = "how long the summary may be (default 600)",
         .set = into(max_tokens_)},
        {.names = "--extract",
         .help = "use sentences of the thread itself, and no engine",
         .set = into(wish_.extract)},
        {.names = "--undo", .help = "take the newest summary out of force", .set = into(undo_)},
        {.names = "--summary",
         .value_name = "SEQ",
         .help = "with --undo: this summary instead of the newest",
         .set = into(summary_)},
    };
  }

  Outcome run(Context& context) override {
    if (undo_ && (threshold_ || keep_recent_ || max_tokens_ || wish_.extract)) {
      return wrong_usage("--undo makes no summary: it goes with --summary only");
    }
    if (summary_ && !undo_) return wrong_usage("--summary goes with --undo");
    SKEIN_ASSIGN_OR_FAIL(auto store, context.open(IfMissing::kRefuse));
    SKEIN_ASSIGN(const Manifest manifest, find_thread(*store, *thread_));
    return undo_ ? undo(context, *store, manifest.id) : make(context, *store, manifest);
  }

 private:
  Outcome make(Context& context, Store& store, const Manifest& thread) {
    SummarizeRequest& request = wish_.request;
    request.threshold = threshold_.value_or(request.threshold);
    request.keep_recent = keep_recent_.value_or(request.keep_recent);
    request.max_tokens = max_tokens_.value_or(request.max_tokens);
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    Progress progress("summarising");
    wish_.progress = [&](const SummaryProgress& now) { progress.update(now.done, now.total); };
    Result<SummaryOutcome> made;
    int signal = 0;
    {
      const StopOnSignal stop;
      wish_.stop = stop.token();
      made = make_summary(store, *agents_without_tools(settings), thread, wish_);
      signal = stop.signal();
    }
    progress.clear();
    if (!made && signal != 0) end_by_signal(signal);
    SKEIN_TRY(made);
    const auto& summary = made->summary;
    if (!made->note.empty()) {
      print_notice("the summary is made of the thread's own sentences: " + printable(made->note));
    }
    if (context.json()) {
      context.out().write(to_json(*made) + "\n");
    } else if (!summary) {
      context.out().write(
          fmt::format("nothing to do: no more than {} messages, or none that may be summarised\n",
                      request.threshold));
    } else {
      context.out().write(fmt::format("{} {}\n", thread.id.str(), summary->seq));
      context.out().write_stored(summary->text + "\n");
    }
    return kExitDone;
  }

  Outcome undo(Context& context, Store& store, ThreadId thread) const {
    SKEIN_ASSIGN(const Seq seq, undo_summary(store, thread, {.seq = summary_}));
    context.out().write(context.json() ? JsonObject().add("undone", seq).str() + "\n"
                                       : fmt::format("summary {} was undone\n", seq));
    return kExitDone;
  }

  std::optional<ThreadRef> thread_;
  std::optional<std::uint64_t> threshold_;
  std::optional<std::uint64_t> keep_recent_;
  std::optional<std::uint64_t> max_tokens_;
  SummaryOptions wish_;
  bool undo_ = false;
  std::optional<std::uint64_t> summary_;
};

}  // namespace

std::unique_ptr<Command> thread_context_command() { return std::make_unique<ContextCommand>(); }
std::unique_ptr<Command> thread_summarize_command() { return std::make_unique<SummarizeCommand>(); }

}  // namespace skein
