// One call of append, cut into what a transaction takes.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "skein/limits.h"
#include "skein/store.h"
#include "store/checks.h"
#include "store/row_codec.h"

namespace skein {

// One transaction takes no more of a call than this; the rest follows in further ones.
inline constexpr std::size_t kMostAppends = 1024;
inline constexpr std::size_t kMostAppendBytes = std::size_t{8} << 20;

// Appends that were checked and prepared, and the answers to all of them.
struct AppendPart {
  struct Item {
    const Append* append = nullptr;
    std::size_t answer = 0;
    PreparedEvent event;
  };

  // Takes as much from the front of `appends` as one transaction takes. `appends` is borrowed.
  AppendPart(Timestamp now, std::span<const Append> appends) {
    for (const Append& append : appends) {
      if (items.size() == kMostAppends || bytes >= kMostAppendBytes) break;
      if (auto checked = check_append(append); !checked) {
        answers.push_back(tl::unexpected(std::move(checked.error())));
        continue;
      }
      items.push_back({&append, answers.size(), prepare_event(append.event, now)});
      answers.emplace_back();
      bytes += items.back().event.body.size();
    }
  }

  std::vector<Item> items;
  std::size_t bytes = 0;
  std::vector<Result<Appended>> answers;  // one for each that was taken; refusals are in there
};

// Calls `run(part)` for part after part of the appends, and gathers their answers. What broke a
// rule keeps that answer when storage fails.
template <class Run>
std::vector<Result<Appended>> append_in_parts(Clock& clock, std::span<const Append> appends,
                                              const Run& run) {
  std::vector<Result<Appended>> answers;
  if (appends.size() > limits::kMaxBatch) {
    const Error error = too_many("appends", appends.size(), limits::kMaxBatch);
    answers.assign(appends.size(), tl::unexpected(error));
    return answers;
  }
  answers.reserve(appends.size());
  while (answers.size() < appends.size()) {
    AppendPart part(clock.now(), appends.subspan(answers.size()));
    const Result<void> done = part.items.empty() ? Result<void>() : run(part);
    for (Result<Appended>& answer : part.answers) {
      const bool broke_a_rule = !answer && answer.error().code == ErrorCode::kInvalid;
      if (done || broke_a_rule)
        answers.push_back(std::move(answer));
      else
        answers.push_back(tl::unexpected(done.error()));
    }
  }
  return answers;
}

}  // namespace skein
