#include "engine/claude_code/claude_code.h"

#include <chrono>
#include <optional>
#include <stop_token>
#include <thread>

#include "core/line_buffer.h"
#include "core/quote.h"
#include "core/redact.h"
#include "core/subprocess.h"
#include "core/try.h"
#include "engine/claude_code/command.h"
#include "engine/claude_code/stream_json.h"
#include "engine/ending.h"
#include "engine/option_problems.h"

namespace skein {
namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 50ms;   // how long a stop may go unseen
constexpr auto kToRead = 60s;  // for the program to take its input
constexpr auto kToEnd = 10s;   // for the program to end after its result
constexpr std::size_t kMaxErrorBytes = 4096;

// One start of the program, to its end.
class ClaudeRun {
 public:
  ClaudeRun(EngineSink& sink, const std::stop_token& stop)
      : reader_(sink), lines_(limits::kMaxStreamEventBytes), stop_(stop) {}

  Result<EngineTurn> run(const Spawn& spawn, const std::string& prompt) {
    auto started = Subprocess::start(spawn);
    if (!started) {
      if (started.error().code == ErrorCode::kNotFound) {
        started.error().message += " (the engine claude-code needs the program claude)";
      }
      return tl::unexpected(std::move(started).error());
    }
    Subprocess& process = *started;
    const std::stop_callback killer(stop_, [&process] { process.kill(); });
    const std::jthread writer([&] {
      // A program that does not read ends with a result of its own.
      static_cast<void>(process.write(prompt, kToRead));
      process.close_input();
    });
    auto listened = listen(process);
    std::optional<Exit> exit;
    if (listened && !reader_.has_ended()) exit = process.wait(kToEnd);
    process.kill();  // what is left of it need not read its input either
    if (stop_.stop_requested()) return turn_stopped();
    SKEIN_TRY(std::move(listened));
    if (reader_.has_ended()) return reader_.finish();
    return ended_without_result(exit);
  }

  // After a failure: whether that may be because the session is gone or cannot be continued.
  bool session_may_be_dead() const { return reader_.session_may_be_dead(); }

 private:
  // Until the program has said everything.
  Result<void> listen(Subprocess& process) {
    std::optional<std::chrono::steady_clock::time_point> patience;
    while (!stop_.stop_requested()) {
      SKEIN_ASSIGN(const Subprocess::Chunk chunk, process.read(kLook));
      errors_ += chunk.err;
      if (errors_.size() > kMaxErrorBytes) errors_.erase(0, errors_.size() - kMaxErrorBytes);
      SKEIN_TRY(take(chunk.out));
      if (chunk.ended) {
        lines_.end();
        return take({});
      }
      if (!reader_.has_ended()) continue;
      const auto now = std::chrono::steady_clock::now();
      if (!patience) patience = now + kToEnd;
      if (now > *patience || process.wait(0ms)) return {};
    }
    return {};
  }

  Result<void> take(std::string_view bytes) {
    if (!bytes.empty()) {
      std::copy(bytes.begin(), bytes.end(), lines_.room(bytes.size()));
      lines_.fill(bytes.size());
    }
    for (LineBuffer::Line line; lines_.next(line);) SKEIN_TRY(reader_.take(line.text));
    return {};
  }

  Result<EngineTurn> ended_without_result(const std::optional<Exit>& exit) const {
    std::string said = mended_utf8(errors_);
    redact_text(said);
    return fail(ErrorCode::kIo,
                "claude ended without a result (" +
                    (exit ? exit->str() : std::string("it went on without a word")) + ")" +
                    (said.empty() ? "" : ": " + said));
  }

  StreamJsonReader reader_;
  LineBuffer lines_;
  const std::stop_token& stop_;
  std::string errors_;  // the end of what it wrote there
};

class ClaudeCodeEngine : public Engine {
 public:
  std::string_view name() const override { return "claude-code"; }
  bool is_agent() const override { return true; }
  bool takes_session_id(std::string_view id) const override { return is_claude_session_id(id); }

  Result<EngineTurn> run(const EngineRequest& request, EngineSink& sink,
                         std::stop_token stop) override {
    std::vector<FieldProblem> problems;
    const ClaudeOptions options = parse_claude_options(request.options, "options", problems);
    SKEIN_TRY(no_problems(problems));
    SKEIN_ASSIGN(const ScratchFolder scratch, ScratchFolder::create());
    if (request.session_id && takes_session_id(*request.session_id)) {
      SKEIN_ASSIGN(const Spawn spawn,
                   claude_command(request, options, request.session_id, scratch));
      ClaudeRun resumed(sink, stop);
      auto turn = resumed.run(spawn, resumed_prompt(request.messages));
      if (turn || stop.stop_requested() || turn.error().code == ErrorCode::kNotFound ||
          !resumed.session_may_be_dead()) {
        return turn;
      }
    }
    SKEIN_ASSIGN(const ScratchFolder fresh, ScratchFolder::create());
    SKEIN_ASSIGN(const Spawn spawn, claude_command(request, options, std::nullopt, fresh));
    return ClaudeRun(sink, stop).run(spawn, new_prompt(request.messages));
  }
};

}  // namespace

std::shared_ptr<Engine> make_claude_code_engine() { return std::make_shared<ClaudeCodeEngine>(); }

std::vector<FieldProblem> check_claude_code_options(const Json& options, std::string_view path) {
  std::vector<FieldProblem> problems;
  parse_claude_options(options, path, problems);
  return problems;
}

}  // namespace skein
