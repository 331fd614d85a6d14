// The engines that there are, by name.
//
//   echo         says what it was told; no network. For demos, tests and measuring.
//   openai       any endpoint that speaks Chat Completions: OpenAI, Ollama, llama.cpp, vLLM …
//   anthropic    the Messages API.
//   claude-code  the program `claude`, with tools and sessions of its own.
//
// An engine has no settings of its own: EngineRequest::options says with each call how it is
// reached, and docs/agents.md what may stand there. Keys are never among them: an option names the
// environment variable that holds one.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "skein/engine.h"
#include "skein/limits.h"

namespace skein {

namespace limits {
inline constexpr std::size_t kMaxEngineTextBytes = kMaxTextBytes;              // text of one turn
inline constexpr std::size_t kMaxEngineThinkingBytes = std::size_t{16} << 20;  // and its thoughts
inline constexpr std::size_t kMaxToolInputBytes = std::size_t{1} << 20;        // of one call
inline constexpr std::size_t kMaxEngineToolCalls = 128;                        // of one turn
inline constexpr std::size_t kMaxStreamEventBytes = std::size_t{8} << 20;  // an event, or a line
inline constexpr std::size_t kMaxStreamBytes = std::size_t{256} << 20;     // all of a response
}  // namespace limits

const std::vector<std::string>& engine_names();

// kNotFound: there is none of that name. One engine serves any number of agents and runs.
Result<std::shared_ptr<Engine>> make_engine(std::string_view name);

// Whether a request must name a model: the engine has no default.
bool engine_needs_model(std::string_view name);
// As Engine::is_agent().
bool engine_is_agent(std::string_view name);

// What is wrong with one field of something that a person wrote.
struct FieldProblem {
  std::string field;  // "options.baseUrl"
  std::string reason;
};

// Everything that is wrong with options for that engine; `field` begins with `path`.
std::vector<FieldProblem> check_engine_options(std::string_view engine, const Json& options,
                                               std::string_view path);

}  // namespace skein
