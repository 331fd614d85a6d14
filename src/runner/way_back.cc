#include "runner/way_back.h"

#include <algorithm>

#include "core/try.h"
#include "runner/run_codec.h"
#include "thread/return_to.h"

namespace skein {

Result<std::optional<WayBack>> find_way_back(Store& store, ThreadId thread, Seq first,
                                             std::span<const std::string> run_ids) {
  WayBack back{.to = first - 1, .last = first};
  bool alone = true;
  ReadRange range;
  range.from = first;
  SKEIN_TRY(store.read(thread, range, [&](Event& event) {
    const bool theirs = std::find(run_ids.begin(), run_ids.end(), run_of(event)) != run_ids.end();
    if (back.gone) {
      alone = !theirs;
    } else if (theirs) {
      back.last = event.seq;
    } else {
      alone = back.gone = same_event(event, return_to(back.to));
    }
    return alone;
  }));
  if (!alone) return std::nullopt;
  return back;
}

Append going_back(ThreadId thread, const WayBack& back, LeaseToken token) {
  Append append;
  append.thread = thread;
  append.event = return_to(back.to);
  append.expect_seq = back.last + 1;
  append.fence = token;
  return append;
}

}  // namespace skein
