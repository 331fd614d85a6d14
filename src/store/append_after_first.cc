#include "store/append_after_first.h"

#include <iterator>

#include "skein/limits.h"
#include "store/checks.h"

namespace skein {

std::vector<Result<Appended>> append_after_first(Writes& in, std::span<const Append> appends) {
  // What expects nothing is not refused for what others wrote.
  if (appends.size() < 2 || !appends.front().expect_seq) return in.append(appends);
  const auto refuse = [&](const Error& error) {
    return std::vector<Result<Appended>>(appends.size(), tl::unexpected(error));
  };
  if (appends.size() > limits::kMaxBatch) {
    return refuse(too_many("appends", appends.size(), limits::kMaxBatch));
  }
  for (const Append& append : appends) {
    if (const auto checked = check_append(append); !checked) return refuse(checked.error());
  }
  auto answers = in.append(appends.first(1));
  if (!answers.front()) return refuse(answers.front().error());
  auto rest = in.append(appends.subspan(1));
  std::move(rest.begin(), rest.end(), std::back_inserter(answers));
  return answers;
}

}  // namespace skein
