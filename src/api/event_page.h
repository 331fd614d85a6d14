// A thread's events and messages, page by page.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "skein/store.h"

namespace skein {

namespace limits {
inline constexpr std::size_t kMaxEventPageBytes = std::size_t{8} << 20;  // and one event more
inline constexpr std::size_t kMaxEventPageReads = 20'000;  // events looked at for one page
}  // namespace limits

struct EventPageQuery {
  View view = View::kLog;
  Direction direction = Direction::kForward;
  Seq after = 0;  // kForward: only events after this one. kBackward: none up to it
  std::size_t limit = 100;
  // Messages only, in the form of ThreadMessage.
  bool messages = false;
  std::optional<Role> role{};  // of messages
  std::uint64_t offset = 0;    // of those that match, passed over first
  // EventPage::next of the page before, with the same direction and view; empty: the first page.
  std::string cursor{};
};

struct EventPage {
  std::vector<std::string> events;  // JSON, one object each
  std::string next;                 // empty: this was the last page
};

// A page may have fewer than the limit though more follow: it is bounded by bytes, and by what is
// looked at. With kPath all pages are of the path as it was at the first: what is appended
// meanwhile, wherever it continues from, changes none of them. kInvalid: a cursor that is none.
Result<EventPage> read_event_page(Store& store, const Manifest& thread,
                                  const EventPageQuery& query);

}  // namespace skein
