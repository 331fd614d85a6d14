// Two stores under the same random work, and the first answer in which they differ.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/world.h"

namespace skein::test {

struct Difference {
  std::size_t step = 0;  // how many operations had gone before
  std::string expected;
  std::string found;
};

using MakeWorld = std::function<std::unique_ptr<World>()>;

std::optional<Difference> compare(const std::vector<Operation>& operations,
                                  const MakeWorld& expected, const MakeWorld& found);

// Leaves out what is not needed for the two to differ, in at most `attempts` runs.
std::vector<Operation> shrink(std::vector<Operation> operations, const MakeWorld& expected,
                              const MakeWorld& found, int attempts = 300);

// What the operations do on each, up to the difference, for people.
std::string narrate(const std::vector<Operation>& operations, const MakeWorld& expected,
                    const MakeWorld& found);

}  // namespace skein::test
