// What a run does, as it is shown while it happens.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/context.h"
#include "skein/runner.h"

namespace skein {

enum class RunOutput {
  kText,   // the response on standard output as it is written, the rest on standard error
  kJson,   // one object at the end
  kLines,  // an object a line, as things happen
};

class RunPrinter {
 public:
  RunPrinter(Context& context, RunOutput form) : context_(context), form_(form) {}

  // Borrows this.
  RunCallbacks callbacks();

  // The run as it began; nothing, if it did not.
  const std::optional<Run>& run() const { return run_; }

  // A line on standard error, apart from the response.
  void note(std::string_view text);

  // After the run: what is still to be said, and the exit code. `signal`: the one that stopped it.
  Outcome finish(const Result<RunOutcome>& outcome, int signal);

 private:
  void line(std::string_view event, std::string_view name, std::string_view value);
  void piece(std::string_view text);
  void end_line();
  void show_question(const RunQuestion& question);
  Outcome finish_text(const RunOutcome& outcome, int signal);
  // Ends the program by that signal, if there is one.
  Outcome stopped(int signal);

  Context& context_;
  const RunOutput form_;
  std::optional<Run> run_;
  bool in_line_ = false;  // the last piece did not end its line
};

}  // namespace skein
