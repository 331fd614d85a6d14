#include "store/append_after_first.h"

#include <iterator>

namespace skein {

std::vector<Result<Appended>> append_after_first(Writes& in, std::span<const Append> appends) {
  // What expects nothing is not refused for what others wrote.
  if (appends.size() < 2 || !appends.front().expect_seq) return in.append(appends);
  auto answers = in.append(appends.first(1));
  if (!answers.front()) {
    return std::vector<Result<Appended>>(appends.size(), tl::unexpected(answers.front().error()));
  }
  auto rest = in.append(appends.subspan(1));
  std::move(rest.begin(), rest.end(), std::back_inserter(answers));
  return answers;
}

}  // namespace skein
