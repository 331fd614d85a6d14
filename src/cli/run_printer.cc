#include "cli/run_printer.h"

#include <fmt/format.h>
#include <unistd.h>

#include "api/runs.h"
#include "cli/stop.h"
#include "core/json_object.h"
#include "core/text.h"

namespace skein {
namespace {

constexpr std::size_t kShownBytes = 200;  // of a tool's input and result

std::string shortened(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  if (line.size() == text.size() && line.size() <= kShownBytes) return std::string(line);
  return std::string(beginning(line, kShownBytes)) + " …";
}

JsonObject call_json(std::string_view event, const ToolCall& call) {
  JsonObject object;
  object.add("event", event).add("id", call.id).add("name", call.name);
  return object;
}

}  // namespace

void RunPrinter::line(std::string_view event, std::string_view name, std::string_view value) {
  context_.out().write(JsonObject().add("event", event).add(name, value).str() + "\n");
  // Whoever reads is told by flush() at the end, if nobody does any more.
  (void)context_.out().flush();
}

void RunPrinter::piece(std::string_view text) {
  if (text.empty()) return;
  context_.out().write_stored(text);
  (void)context_.out().flush();
  in_line_ = text.back() != '\n';
}

void RunPrinter::end_line() {
  if (in_line_) piece("\n");
}

void RunPrinter::note(std::string_view text) {
  end_line();
  static const Style style = style_for(STDERR_FILENO, system_clock().now());
  print_line_to_stderr(style.paint(Tone::kFaint, style.stored_line(text)));
}

void RunPrinter::show_question(const RunQuestion& question) {
  for (const ToolCall& call : question.calls) {
    note(fmt::format("? {} {} needs a person's yes", call.name, shortened(call.input.text())));
  }
  if (run_) {
    note(fmt::format("  skein runs resume {} --yes      or --no", run_->id));
  }
}

RunCallbacks RunPrinter::callbacks() {
  RunCallbacks callbacks;
  callbacks.on_start = [this](const Run& run) {
    run_ = run;
    if (form_ == RunOutput::kLines) {
      context_.out().write(JsonObject().add("event", "start").add_json("run", to_json(run)).str() +
                           "\n");
      (void)context_.out().flush();
    }
  };
  if (form_ == RunOutput::kJson) return callbacks;
  if (form_ == RunOutput::kLines) {
    callbacks.on_text = [this](std::string_view text) { line("text", "text", text); };
    callbacks.on_thinking = [this](std::string_view text) { line("thinking", "text", text); };
    callbacks.on_narration = [this](std::string_view text) { line("narration", "text", text); };
    callbacks.on_tool = [this](const ToolCall& call) {
      std::string input;
      append_json_on_one_line(input, call.input.empty() ? "{}" : call.input.text());
      context_.out().write(call_json("tool", call).add_json("input", input).str() + "\n");
      (void)context_.out().flush();
    };
    callbacks.on_tool_result = [this](const ToolCall& call, const ToolResult& result) {
      context_.out().write(call_json("tool_result", call)
                               .add("text", result.text)
                               .add("isError", result.is_error)
                               .str() +
                           "\n");
      (void)context_.out().flush();
    };
    callbacks.on_response = [this](std::string_view text) { line("response", "text", text); };
    callbacks.on_error = [this](const Error& error) { line("error", "message", error.message); };
    return callbacks;
  }
  callbacks.on_text = [this](std::string_view text) { piece(text); };
  callbacks.on_narration = [this](std::string_view) { end_line(); };
  callbacks.on_tool = [this](const ToolCall& call) {
    note(fmt::format("→ {} {}", call.name, shortened(call.input.text())));
  };
  callbacks.on_tool_result = [this](const ToolCall&, const ToolResult& result) {
    note(fmt::format("{} {}", result.is_error ? "✗" : "←", shortened(result.text)));
  };
  callbacks.on_question = [this](const RunQuestion& question) { show_question(question); };
  return callbacks;
}

Outcome RunPrinter::finish_text(const RunOutcome& outcome, int signal) {
  end_line();
  if (outcome.run.status == RunStatus::kSuccess) return kExitDone;
  if (!outcome.run.question) note("(stopped)");
  return stopped(signal);
}

Outcome RunPrinter::stopped(int signal) {
  if (signal != 0) {
    (void)context_.out().flush();
    end_by_signal(signal);
  }
  return kExitRefused;
}

Outcome RunPrinter::finish(const Result<RunOutcome>& outcome, int signal) {
  if (!outcome) {
    if (form_ == RunOutput::kText) end_line();
    // A run that began and failed is not a thread that is missing or busy, whatever the provider
    // said.
    return tl::unexpected(run_ ? Failure(outcome.error(), kExitRefused) : Failure(outcome.error()));
  }
  if (form_ == RunOutput::kText) return finish_text(*outcome, signal);
  if (form_ == RunOutput::kJson) {
    context_.out().write(outcome_json(outcome->run, outcome->response) + "\n");
  } else {
    context_.out().write(
        JsonObject().add("event", "end").add_json("run", to_json(outcome->run)).str() + "\n");
  }
  return outcome->run.status == RunStatus::kSuccess ? Outcome(kExitDone) : stopped(signal);
}

}  // namespace skein
