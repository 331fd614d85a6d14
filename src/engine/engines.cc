#include "skein/engines.h"

#include <algorithm>

#include "core/quote.h"
#include "engine/anthropic/anthropic.h"
#include "engine/claude_code/claude_code.h"
#include "engine/echo/echo.h"
#include "engine/openai/openai.h"

namespace skein {
namespace {

struct Kind {
  std::string_view name;
  std::shared_ptr<Engine> (*make)();
  std::vector<FieldProblem> (*check)(const Json& options, std::string_view path);
  bool needs_model;
  bool is_agent = false;
};

constexpr Kind kKinds[] = {
    {"echo", make_echo_engine, check_echo_options, false},
    {"openai", make_openai_engine, check_openai_options, true},
    {"anthropic", make_anthropic_engine, check_anthropic_options, true},
    {"claude-code", make_claude_code_engine, check_claude_code_options, false, true},
};

const Kind* find_kind(std::string_view name) {
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [name](const Kind& kind) { return kind.name == name; });
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace

bool is_engine_session_id(std::string_view id) {
  constexpr std::size_t kMaxBytes = 128;
  const auto is_plain = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  constexpr std::string_view kOthers = "._:+-";
  return !id.empty() && id.size() <= kMaxBytes && is_plain(id.front()) &&
         std::all_of(id.begin(), id.end(), [&](char c) {
           return is_plain(c) || kOthers.find(c) != std::string_view::npos;
         });
}

const std::vector<std::string>& engine_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Kind& kind : kKinds) all.emplace_back(kind.name);
    return all;
  }();
  return names;
}

Result<std::shared_ptr<Engine>> make_engine(std::string_view name) {
  const Kind* kind = find_kind(name);
  if (kind != nullptr) return kind->make();
  std::string known;
  for (const std::string& each : engine_names()) known += (known.empty() ? "" : ", ") + each;
  return fail(ErrorCode::kNotFound, "there is no engine " + quote(name) + "; those are " + known);
}

bool engine_needs_model(std::string_view name) {
  const Kind* kind = find_kind(name);
  return kind != nullptr && kind->needs_model;
}

bool engine_is_agent(std::string_view name) {
  const Kind* kind = find_kind(name);
  return kind != nullptr && kind->is_agent;
}

std::vector<FieldProblem> check_engine_options(std::string_view engine, const Json& options,
                                               std::string_view path) {
  const Kind* kind = find_kind(engine);
  if (kind == nullptr || options.empty()) return {};
  if (options.kind() != Json::Kind::kObject) {
    return {{std::string(path), "must be an object"}};
  }
  return kind->check(options, path);
}

}  // namespace skein
