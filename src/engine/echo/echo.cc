#include "engine/echo/echo.h"

#include <algorithm>

#include "core/pause.h"
#include "core/try.h"
#include "engine/ending.h"
#include "engine/option_problems.h"

namespace skein {
namespace {

using Milliseconds = std::chrono::milliseconds;

struct EchoOptions {
  Milliseconds delay{0};                   // before each piece
  std::int64_t repeat = 1;                 // how often the text is said
  std::optional<std::int64_t> fail_after;  // pieces
  std::optional<std::string> reply;        // said instead of what it was told
  std::string thinking;                    // told before the response
  std::optional<double> cost_usd;          // of each turn
};

EchoOptions parse_options(const Json& json, std::string_view path,
                          std::vector<FieldProblem>& problems) {
  EchoOptions options;
  if (json.empty()) return options;
  CheckedFields fields(options_text(json), std::string(path), into_problems(problems));
  options.delay = Milliseconds(fields.whole("delayMs", 0, 60'000).value_or(0));
  options.repeat = fields.whole("repeat", 1, 1'000'000).value_or(1);
  options.fail_after = fields.whole("failAfter", 0, 1'000'000'000);
  options.reply = fields.text("reply", {.max_bytes = limits::kMaxEngineTextBytes});
  options.thinking = fields.text("thinking", {.max_bytes = 65536}).value_or("");
  options.cost_usd = fields.number("costUsd", 0, 1e6);
  return options;
}

std::string_view take_until(std::string_view& text, std::string_view separators) {
  const auto end = text.find_first_of(separators);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

std::int64_t count_words(std::string_view text) {
  std::int64_t words = 0;
  while (!text.empty()) words += take_until(text, " \t\n").empty() ? 0 : 1;
  return words;
}

// A word and the white space after it.
std::string_view take_piece(std::string_view& text) {
  const auto space = std::min(text.find_first_of(" \t\n"), text.size());
  const auto end = std::min(text.find_first_not_of(" \t\n", space), text.size());
  const std::string_view piece = text.substr(0, end);
  text.remove_prefix(end);
  return piece;
}

bool waits_for_result(const EngineRequest& request) {
  return request.messages.empty() || request.messages.back().role != Role::kTool;
}

class EchoTurn {
 public:
  EchoTurn(const EngineRequest& request, const EchoOptions& options, EngineSink& sink,
           const std::stop_token& stop)
      : request_(request), options_(options), sink_(sink), stop_(stop) {}

  Result<EngineTurn> run() {
    turn_.model = request_.model.empty() ? "echo" : request_.model;
    if (!options_.thinking.empty() && !sink_.on_thinking(options_.thinking)) return turn_refused();
    SKEIN_TRY(obey(newest_user_message()));
    if (!turn_.calls.empty()) {
      turn_.end = TurnEnd::kToolCalls;
    } else {
      SKEIN_TRY(say(response()));
    }
    if (stop_.stop_requested()) return turn_stopped();
    count();
    return std::move(turn_);
  }

 private:
  std::string_view newest_user_message() const {
    const auto found =
        std::find_if(request_.messages.rbegin(), request_.messages.rend(),
                     [](const EngineMessage& message) { return message.role == Role::kUser; });
    return found == request_.messages.rend() ? std::string_view() : std::string_view(found->text);
  }

  // Carries out the orders in a message, if it has any.
  Result<void> obey(std::string_view message) {
    if (!message.starts_with('/')) return {};
    const bool first = waits_for_result(request_);
    while (!message.empty()) {
      std::string_view line = take_until(message, "\n");
      const std::string_view order = take_until(line, " ");
      if (order == "/fail") return fail(ErrorCode::kIo, std::string(line));
      if (order == "/again" || (order == "/tool" && first)) call(line);
    }
    return {};
  }

  void call(std::string_view line) {
    ToolCall call;
    call.id = "echo-" + std::to_string(request_.messages.size()) + "-" +
              std::to_string(turn_.calls.size() + 1);
    call.name = take_until(line, " ");
    auto input = Json::parse_object(line.empty() ? "{}" : line);
    if (input) {
      call.input = std::move(*input);
    } else {
      call.malformed = line;
    }
    turn_.calls.push_back(std::move(call));
  }

  std::string response() const {
    if (options_.reply) return *options_.reply;
    if (waits_for_result(request_)) return std::string(newest_user_message());
    std::string results;
    for (auto message = request_.messages.rbegin();
         message != request_.messages.rend() && message->role == Role::kTool; ++message) {
      results.insert(0, message->text + (results.empty() ? "" : "\n"));
    }
    return results;
  }

  Result<void> say(const std::string& text) {
    if (text.size() * static_cast<std::size_t>(options_.repeat) > limits::kMaxEngineTextBytes) {
      return fail(ErrorCode::kIo, "the response is larger than " +
                                      std::to_string(limits::kMaxEngineTextBytes) + " bytes");
    }
    std::int64_t pieces = 0;
    for (std::int64_t i = 0; i < options_.repeat; ++i) {
      for (std::string_view left = text; !left.empty();) {
        if (pieces++ == options_.fail_after) {
          return fail(ErrorCode::kIo, "echo was told to fail here");
        }
        const std::string_view piece = take_piece(left);
        if (!pause_for(options_.delay, stop_)) return turn_stopped();
        if (!sink_.on_text(piece)) return turn_refused();
        turn_.text += piece;
      }
    }
    return {};
  }

  void count() {
    std::int64_t input = count_words(request_.system);
    for (const EngineMessage& message : request_.messages) input += count_words(message.text);
    turn_.usage.input_tokens = input;
    turn_.usage.output_tokens = count_words(turn_.text) + std::ssize(turn_.calls);
    turn_.usage.cost_usd = options_.cost_usd;
  }

  const EngineRequest& request_;
  const EchoOptions& options_;
  EngineSink& sink_;
  const std::stop_token& stop_;
  EngineTurn turn_;
};

class EchoEngine : public Engine {
 public:
  std::string_view name() const override { return "echo"; }
  bool is_agent() const override { return false; }

  Result<EngineTurn> run(const EngineRequest& request, EngineSink& sink,
                         std::stop_token stop) override {
    std::vector<FieldProblem> problems;
    const EchoOptions options = parse_options(request.options, "options", problems);
    SKEIN_TRY(no_problems(problems));
    return EchoTurn(request, options, sink, stop).run();
  }
};

}  // namespace

std::shared_ptr<Engine> make_echo_engine() { return std::make_shared<EchoEngine>(); }

std::vector<FieldProblem> check_echo_options(const Json& options, std::string_view path) {
  std::vector<FieldProblem> problems;
  parse_options(options, path, problems);
  return problems;
}

}  // namespace skein
