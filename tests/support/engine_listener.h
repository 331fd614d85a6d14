// What an engine told while it worked.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/engine.h"

namespace skein::test {

class EngineListener : public EngineSink {
 public:
  bool on_text(std::string_view piece) override {
    text += piece;
    return tell("text " + std::string(piece));
  }
  bool on_thinking(std::string_view piece) override {
    thinking += piece;
    return tell("thinking " + std::string(piece));
  }
  bool on_narration(std::string_view said) override {
    text.clear();
    return tell("narration " + std::string(said));
  }
  bool on_tool_use(const ToolCall& call) override {
    return tell("use " + call.name + " " + call.input.text());
  }
  bool on_tool_result(const ToolCall& call, const ToolResult& result) override {
    return tell((result.is_error ? "error " : "result ") + call.name + " " + result.text);
  }

  void on_spent(const EngineUsage& usage, std::string_view model) override {
    spent.push_back(usage);
    spent_on = model;
  }

  std::string text;
  std::string thinking;
  std::vector<EngineUsage> spent;  // on attempts that failed
  std::string spent_on;            // the last model of these
  std::vector<std::string> told;
  std::function<bool()> go_on;  // asked after each; none: always

 private:
  bool tell(std::string what) {
    told.push_back(std::move(what));
    return !go_on || go_on();
  }
};

inline EngineRequest asking(std::string text) {
  EngineRequest request;
  request.messages.push_back({.role = Role::kUser, .text = std::move(text)});
  return request;
}

}  // namespace skein::test
