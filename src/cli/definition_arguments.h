// Arguments by which a definition of an agent is put together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "skein/json.h"

namespace skein {

class DefinitionArguments {
 public:
  // --engine, --model, …, --set and --unset.
  std::vector<Argument> arguments();

  // Whether any of them was given.
  bool any() const;
  // `before` with everything that was asked for.
  Result<Json> apply(const Json& before) const;
  // The text of --system-file, which becomes a file of the agent.
  Result<std::optional<std::string>> system_text() const;

 private:
  struct Field {
    std::string path;
    std::optional<std::string> text;
  };
  Field description_{"description", {}};
  Field engine_{"engine", {}};
  Field model_{"model", {}};
  Field title_model_{"titleModel", {}};
  Field system_{"system", {}};
  std::optional<std::string> system_file_;
  std::vector<std::string> options_;
  std::vector<std::string> servers_;
  std::vector<std::string> set_;
  std::vector<std::string> unset_;
};

// The words of a command line: separated by spaces, quotes keep them together. kInvalid: a quote is
// open, or there are no words.
Result<std::vector<std::string>> split_command(std::string_view text);

}  // namespace skein
