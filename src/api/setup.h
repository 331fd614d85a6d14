// Whether what Skein works with is there: programs, keys, models, room on the disk.
#pragma once

#include <string>
#include <vector>

#include "api/settings.h"

namespace skein {

struct SetupCheck {
  enum class State {
    kFine,
    kOff,      // not set up, and nobody said that it should be
    kProblem,  // what the settings ask for cannot work
  };

  std::string name;  // one word
  State state = State::kFine;
  std::string what;  // as it is, for people
  std::string next;  // what to do about it; empty: nothing
};

const char* to_string(SetupCheck::State state);

// Looks, and makes nothing that is not there. Asks no network but the address of `skein serve`, and
// an endpoint for embeddings where the settings name one.
std::vector<SetupCheck> check_setup(const Settings& settings);

}  // namespace skein
