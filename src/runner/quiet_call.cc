#include "runner/quiet_call.h"

#include <chrono>
#include <string>

#include "runner/usage_record.h"

namespace skein {
namespace {

class QuietSink final : public EngineSink {
 public:
  const EngineCost& cost() const { return cost_; }

  bool on_text(std::string_view /*piece*/) override { return true; }
  bool on_thinking(std::string_view /*piece*/) override { return true; }
  bool on_narration(std::string_view /*text*/) override { return true; }
  bool on_tool_use(const ToolCall& /*call*/) override { return true; }
  bool on_tool_result(const ToolCall& /*call*/, const ToolResult& /*result*/) override {
    return true;
  }
  void on_spent(const EngineUsage& usage, std::string_view model) override {
    if (!usage.is_something()) return;
    add_usage(cost_.usage, usage);
    if (!model.empty()) cost_.model = model;
  }

 private:
  EngineCost cost_;
};

}  // namespace

Result<EngineTurn> quiet_call(Engine& engine, const EngineRequest& request, const OnCost& on_cost,
                              const std::stop_token& stop) {
  QuietSink sink;
  const auto started = std::chrono::steady_clock::now();
  auto turn = engine.run(request, sink, stop);
  if (turn) sink.on_spent(turn->usage, turn->model);
  if (!on_cost || !sink.cost().usage.is_something()) return turn;
  EngineCost cost = sink.cost();
  if (cost.model.empty()) cost.model = request.model;
  cost.duration_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
  on_cost(cost);
  return turn;
}

}  // namespace skein
