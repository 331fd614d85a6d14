// What the parts of a runner share.
#pragma once

#include "runner/effects.h"
#include "runner/run_book.h"
#include "runner/turns.h"
#include "skein/runner.h"

namespace skein {

struct RunnerParts {
  Store& store;
  AgentSource& agents;
  Clock& clock;
  const RunnerOptions& options;
  RunBook& book;
  Turns& turns;
  Effects& effects;

  void log(std::string_view text) const {
    if (options.log) options.log(text);
  }
};

}  // namespace skein
