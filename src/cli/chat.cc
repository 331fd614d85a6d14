#include "cli/chat.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>

#include "cli/arguments.h"
#include "cli/ask_for_trust.h"
#include "cli/run_desk.h"
#include "cli/run_printer.h"
#include "cli/stop_on_signal.h"
#include "core/line_buffer.h"
#include "core/try.h"
#include "skein/limits.h"

namespace skein {
namespace {

enum class Heard { kLine, kInterrupted, kEnd };

// Lines that somebody types, or a program sends.
class Ear {
 public:
  // kInterrupted: a signal came first.
  Heard next(std::string& line, const StopRequest& stop) {
    while (true) {
      if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) {
        line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return Heard::kLine;
      }
      if (buffer_.size() > limits::kMaxTextBytes) buffer_.clear();
      if (ended_) {
        line = std::exchange(buffer_, "");
        return line.empty() ? Heard::kEnd : Heard::kLine;
      }
      pollfd fds[] = {{STDIN_FILENO, POLLIN, 0}, {stop.fd(), POLLIN, 0}};
      if (::poll(fds, 2, -1) < 0 && errno != EINTR) return Heard::kEnd;
      if (stop.signal() != 0) return Heard::kInterrupted;
      if (fds[0].revents != 0) fill();
    }
  }

  // What was typed and not sent is gone, as it is on the terminal.
  void forget() { buffer_.clear(); }

 private:
  void fill() {
    char bytes[4096];
    const ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (got > 0) buffer_.append(bytes, static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) ended_ = true;
  }

  std::string buffer_;
  bool ended_ = false;
};

class Chat : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "chat",
            .summary = "talk with an agent",
            .examples =
                "  skein chat echo\n"
                "  skein chat support --thread a1b2c3d4e5f6\n",
            .details =
                "A line is a message. Ctrl-C stops the run under way and not the program; Ctrl-D "
                "ends it. Tools that need\na person's yes are asked for here."};
  }

  std::vector<Argument> arguments() override {
    return {{.names = "AGENT",
             .value_name = "AGENT",
             .help = "who answers",
             .set = into(agent_),
             .required = true},
            {.names = "--thread",
             .value_name = "ID",
             .help = "the thread to go on with (default: a new one)",
             .set = into(thread_)}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, settings_for_agent(context, agent_));
    SKEIN_ASSIGN_OR_FAIL(const OpenDesk desk, open_desk(context, settings, IfMissing::kCreate));
    SKEIN_TRY(desk.desk->agents().check(agent_));
    person_ = ::isatty(STDIN_FILENO) == 1;
    std::optional<InterruptsEndNothing> between_runs;
    if (person_) between_runs.emplace();
    int exit_code = kExitDone;
    std::string line;
    while (true) {
      const Heard heard = listen(context, "> ", line);
      if (heard == Heard::kEnd) break;
      if (heard == Heard::kInterrupted || line.find_first_not_of(" \t\r") == std::string::npos) {
        continue;
      }
      exit_code = answer(context, desk.runner(), line);
    }
    desk.runner().finish_effects();
    return person_ ? kExitDone : exit_code;
  }

 private:
  Heard listen(Context& context, std::string_view prompt, std::string& line) {
    const StopRequest stop;
    if (person_) {
      context.out().write(prompt);
      (void)context.out().flush();
    }
    const Heard heard = ear_.next(line, stop);
    if (heard == Heard::kInterrupted) {
      ear_.forget();
      if (stop.signal() != SIGINT) return Heard::kEnd;
    }
    if (heard != Heard::kLine && person_) context.out().write("\n");
    return heard;
  }

  int answer(Context& context, Runner& runner, const std::string& text) {
    RunPrinter printer(context, context.json() ? RunOutput::kLines : RunOutput::kText);
    Result<RunOutcome> outcome = fail(ErrorCode::kInvalid, "");
    {
      const StopOnSignal stop;
      outcome =
          runner.execute(run_request(agent_, thread_, text), printer.callbacks(), stop.token());
    }
    while (true) {
      if (printer.run() && thread_.empty()) {
        thread_ = printer.run()->thread.str();
        printer.note("thread " + thread_);
      }
      const Outcome shown = printer.finish(outcome, 0);
      if (!shown) report(shown.error(), context.json());
      if (!outcome || !outcome->run.question || !person_)
        return shown ? *shown : shown.error().exit_code;
      RunAnswer yes_or_no;
      std::string line;
      if (listen(context, "yes? [y/N] ", line) != Heard::kLine) return kExitRefused;
      yes_or_no.yes = line == "y" || line == "yes" || line == "Y";
      const std::string run_id = outcome->run.id;
      const StopOnSignal stop;
      outcome = runner.resume(run_id, yes_or_no, printer.callbacks(), stop.token());
    }
  }

  std::string agent_;
  std::string thread_;
  bool person_ = false;
  Ear ear_;
};

}  // namespace

std::unique_ptr<Command> chat_command() { return std::make_unique<Chat>(); }

}  // namespace skein
