#include "support/comparison.h"

#include <algorithm>

namespace skein::test {

std::optional<Difference> compare(const std::vector<Operation>& operations,
                                  const MakeWorld& expected, const MakeWorld& found) {
  const std::unique_ptr<World> left = expected();
  const std::unique_ptr<World> right = found();
  for (std::size_t step = 0; step < operations.size(); ++step) {
    std::string wanted = left->perform(operations[step]);
    std::string got = right->perform(operations[step]);
    if (wanted != got) return Difference{step, std::move(wanted), std::move(got)};
  }
  return std::nullopt;
}

std::vector<Operation> shrink(std::vector<Operation> operations, const MakeWorld& expected,
                              const MakeWorld& found, int attempts) {
  const auto still_differs = [&](std::vector<Operation>& candidate) {
    const std::optional<Difference> difference = compare(candidate, expected, found);
    if (difference) candidate.resize(difference->step + 1);
    return difference.has_value();
  };
  for (std::size_t chunk = operations.size() / 2; chunk > 0; chunk /= 2) {
    for (std::size_t at = 0; at < operations.size() && attempts > 0;) {
      const std::size_t end = std::min(at + chunk, operations.size());
      std::vector<Operation> candidate(operations.begin(),
                                       operations.begin() + static_cast<std::ptrdiff_t>(at));
      candidate.insert(candidate.end(), operations.begin() + static_cast<std::ptrdiff_t>(end),
                       operations.end());
      --attempts;
      if (still_differs(candidate)) {
        operations = std::move(candidate);
      } else {
        at += chunk;
      }
    }
  }
  return operations;
}

std::string narrate(const std::vector<Operation>& operations, const MakeWorld& expected,
                    const MakeWorld& found) {
  const std::unique_ptr<World> left = expected();
  const std::unique_ptr<World> right = found();
  std::string text;
  for (const Operation& operation : operations) {
    const std::string wanted = left->perform(operation);
    const std::string got = right->perform(operation);
    text += wanted == got ? "both: " + wanted + "\n"
                          : "expected: " + wanted + "\nfound:    " + got + "\n";
  }
  return text;
}

}  // namespace skein::test
