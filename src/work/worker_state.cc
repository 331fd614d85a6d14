#include <array>
#include <utility>

#include "core/quote.h"
#include "skein/checkpoints.h"

namespace skein {
namespace {

constexpr std::array<std::pair<WorkerState, const char*>, 6> kStates = {{
    {WorkerState::kIdle, "idle"},
    {WorkerState::kLoading, "loading"},
    {WorkerState::kExecuting, "executing"},
    {WorkerState::kVerifying, "verifying"},
    {WorkerState::kCompleted, "completed"},
    {WorkerState::kError, "error"},
}};

constexpr std::array<std::pair<WorkerState, WorkerState>, 5> kMoves = {{
    {WorkerState::kIdle, WorkerState::kLoading},
    {WorkerState::kLoading, WorkerState::kExecuting},
    {WorkerState::kExecuting, WorkerState::kVerifying},
    {WorkerState::kVerifying, WorkerState::kCompleted},
    {WorkerState::kExecuting, WorkerState::kError},
}};

}  // namespace

const char* to_string(WorkerState state) {
  for (const auto& [value, word] : kStates) {
    if (value == state) return word;
  }
  return "idle";
}

Result<WorkerState> parse_worker_state(std::string_view text) {
  for (const auto& [value, word] : kStates) {
    if (text == word) return value;
  }
  return fail(ErrorCode::kInvalid,
              "a worker's state is one of idle, loading, executing, verifying, completed, error; "
              "got " +
                  quote(text));
}

Result<void> check_worker_move(WorkerState from, WorkerState to) {
  if (from == to) return {};
  std::string possible;
  for (const auto& [source, target] : kMoves) {
    if (source != from) continue;
    if (target == to) return {};
    possible += possible.empty() ? "" : " or ";
    possible += to_string(target);
  }
  std::string message = "a worker cannot go from ";
  message.append(to_string(from)).append(" to ").append(to_string(to));
  message += possible.empty() ? std::string("; ") + to_string(from) + " is the end"
                              : "; only to " + possible;
  return fail(ErrorCode::kConflict, std::move(message));
}

}  // namespace skein
