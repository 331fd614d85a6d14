#include <limits>

#include "api/threads.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/show_text.h"
#include "cli/stop.h"
#include "cli/thread_commands.h"
#include "core/try.h"

namespace skein {
namespace {

enum class Form { kText, kArray, kLines };

// Prints events one after the other in one of the forms.
class EventPrinter {
 public:
  EventPrinter(Context& context, Form form)
      : out_(context.out()), style_(context.style()), form_(form) {}

  void print(const Event& event) {
    if (form_ == Form::kText) {
      out_.write(event_text(event, style_));
    } else {
      out_.write(form_ == Form::kLines ? "" : first_ ? "[" : ",\n ");
      out_.write(to_json(event));
      if (form_ == Form::kLines) out_.write("\n");
    }
    first_ = false;
  }

  void finish() {
    if (form_ == Form::kArray) out_.write(first_ ? "[]\n" : "]\n");
  }

 private:
  Output& out_;
  const Style& style_;
  const Form form_;
  bool first_ = true;
};

class Events : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "events",
            .summary = "print what happened in a thread",
            .examples =
                "  skein thread events a1b2c3d4e5f6\n"
                "  skein thread events a1b2c3d4e5f6 --json --since 40 --limit 20\n"
                "  skein thread events a1b2c3d4e5f6 --reverse --limit 5\n"
                "  skein thread events a1b2c3d4e5f6 --follow --jsonl | jq .text\n"};
  }

  std::vector<Argument> arguments() override {
    return {
        thread_argument(thread_),
        {.names = "--jsonl", .help = "an event a line, as JSON", .set = into(jsonl_)},
        {.names = "--since",
         .value_name = "SEQ",
         .help = "only events after this one (default 0: all)",
         .set = into(since_)},
        {.names = "--limit", .value_name = "N", .help = "at most so many", .set = into(limit_)},
        {.names = "--reverse", .help = "the last one first", .set = into(reverse_)},
        {.names = "--path",
         .help = "leave out what was rolled back or edited away",
         .set = into(path_)},
        {.names = "--follow",
         .help = "go on with what is appended from now on, until Ctrl-C",
         .set = into(follow_)},
    };
  }

  Outcome run(Context& context) override {
    if (follow_ && reverse_) return wrong_usage("--follow and --reverse exclude each other");
    if (follow_ && path_) return wrong_usage("--follow and --path exclude each other");
    if (follow_ && context.json() && !jsonl_) {
      return wrong_usage("--follow never ends, and an array must: use --jsonl");
    }
    if (limit_ == 0u) return wrong_usage("--limit must be at least 1");
    SKEIN_ASSIGN_OR_FAIL(auto store, context.open(IfMissing::kRefuse));
    SKEIN_ASSIGN(const Manifest manifest, find_thread(*store, *thread_));
    const Form form = jsonl_ ? Form::kLines : context.json() ? Form::kArray : Form::kText;
    EventPrinter printer(context, form);
    if (follow_) return follow(context, *store, manifest.id, printer);
    SKEIN_TRY(read(*store, manifest.id, printer));
    printer.finish();
    return kExitDone;
  }

 private:
  Result<void> read(Store& store, ThreadId thread, EventPrinter& printer) const {
    const Seq since = since_.value_or(0);
    ReadRange range;
    range.limit = limit_.value_or(range.limit);
    range.direction = reverse_ ? Direction::kBackward : Direction::kForward;
    range.view = path_ ? View::kPath : View::kLog;
    if (!reverse_ && since == kLastSeq) return {};
    if (!reverse_) range.from = since + 1;
    return store.read(thread, range, [&](Event& event) {
      if (event.seq <= since) return false;
      printer.print(event);
      return true;
    });
  }

  Outcome follow(Context& context, Store& store, ThreadId thread, EventPrinter& printer) const {
    StopRequest stop;
    std::uint64_t left = limit_.value_or(std::numeric_limits<std::uint64_t>::max());
    Result<void> written;
    const auto go_on = [&] { return stop.signal() == 0 && written.has_value(); };
    const auto sink = [&](Event& event) {
      printer.print(event);
      return --left > 0 && go_on();
    };
    SKEIN_ASSIGN(const FollowEnd end, follow_events(store, thread, since_.value_or(0), go_on, sink,
                                                    [&] { written = context.out().flush(); }));
    SKEIN_TRY(written);
    if (end == FollowEnd::kRemoved) print_notice("the thread was deleted");
    return kExitDone;
  }

  std::optional<ThreadRef> thread_;
  bool jsonl_ = false;
  std::optional<std::uint64_t> since_;
  std::optional<std::uint64_t> limit_;
  bool reverse_ = false;
  bool path_ = false;
  bool follow_ = false;
};

}  // namespace

std::unique_ptr<Command> thread_events_command() { return std::make_unique<Events>(); }

}  // namespace skein
