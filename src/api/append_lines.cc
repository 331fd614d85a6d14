#include "api/append_lines.h"

#include <algorithm>
#include <utility>

#include "core/try.h"
#include "skein/limits.h"

namespace skein {
namespace {

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t\r") == std::string::npos;
}

}  // namespace

Result<Append> append_of(ThreadId thread, std::string_view json, std::optional<LeaseToken> fence) {
  SKEIN_ASSIGN(Event event, parse_event(json));
  Append append{.thread = thread, .event = std::move(event), .fence = fence, .expect_seq = {}};
  if (append.event.seq > 0) append.expect_seq = append.event.seq;
  append.event.seq = 0;
  return append;
}

std::vector<LineResult> append_lines(ThreadManager& manager, ThreadId thread,
                                     std::span<const EventLine> lines,
                                     std::optional<LeaseToken> fence) {
  std::vector<LineResult> results;
  std::vector<Append> appends;
  std::vector<std::size_t> waiting;  // the results that the appends will fill
  const auto append_waiting = [&] {
    auto appended = manager.append(thread, std::exchange(appends, {}));
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      results[waiting[i]].result = std::move(appended[i]);
    }
    waiting.clear();
  };

  results.reserve(lines.size());
  for (const EventLine& line : lines) {
    if (is_blank(line.text)) continue;
    results.push_back({line.number, Appended{}});
    auto append = append_of(thread, line.text, fence);
    if (!append) {
      results.back().result = tl::unexpected<Error>(std::move(append).error());
      continue;
    }
    appends.push_back(*std::move(append));
    waiting.push_back(results.size() - 1);
    if (appends.size() == limits::kMaxBatch) append_waiting();
  }
  if (!appends.empty()) append_waiting();
  return results;
}

}  // namespace skein
