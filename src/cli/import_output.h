// How an import is reported: problems as they are found, and a table at the end.
#pragma once

#include <string>

#include "api/transfer/folders/import_paths.h"
#include "cli/context.h"

namespace skein {

std::string problem_text(const FileProblem& problem);
std::string problem_json(const FileProblem& problem);

struct ImportOutput {
  bool dry_run = false;
  std::vector<std::string> problems{};  // as JSON
  std::string default_agent{};          // whose the threads are that name no agent
  std::string trust_command{};          // what reviews the definitions and records that came
};

void print_import(Context& context, const ImportTotals& totals, const ImportOutput& output);

}  // namespace skein
