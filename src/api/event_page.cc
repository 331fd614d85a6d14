#include "api/event_page.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "core/quote.h"
#include "core/try.h"
#include "thread/messages.h"

namespace skein {
namespace {

// Where a page begins.
struct Place {
  Seq head = kLastSeq;
  Seq from = 0;  // 0: at the beginning of the direction
  std::uint64_t offset = 0;
};

// Three numbers: head (0: the last event, whatever it is), from, offset.
Result<Place> parse_place(std::string_view cursor) {
  std::array<std::uint64_t, 3> numbers{};
  const char* at = cursor.data();
  const char* const end = cursor.data() + cursor.size();
  bool whole = true;
  for (std::size_t i = 0; i < numbers.size() && whole; ++i) {
    const auto [stop, error] = std::from_chars(at, end, numbers[i]);
    const bool last = i + 1 == numbers.size();
    whole = error == std::errc() && (last ? stop == end : stop != end && *stop == '-');
    at = last ? stop : stop + 1;
  }
  const auto [head, from, offset] = numbers;
  const std::string again = fmt::format("{}-{}-{}", head, from, offset);
  if (!whole || again != cursor || from == 0) {
    return fail(ErrorCode::kInvalid, "cursor must be \"next\" of a page, got " + quote(cursor));
  }
  return Place{head == 0 ? kLastSeq : head, from, offset};
}

Result<Place> first_place(const Manifest& thread, const EventPageQuery& query) {
  if (!query.cursor.empty()) return parse_place(query.cursor);
  Place place;
  place.offset = query.offset;
  if (query.view == View::kPath) place.head = thread.last_seq;
  if (query.direction == Direction::kForward) place.from = query.after + 1;
  return place;
}

// The event as the page has it; empty: it is not wanted.
std::string shown(const Manifest& thread, const EventPageQuery& query, Event& event) {
  if (!query.messages) return to_json(event);
  const auto* message = std::get_if<Message>(&event.payload);
  if (message == nullptr || (query.role && message->role != *query.role)) return {};
  return to_json(to_thread_message(thread.id, std::move(event)));
}

}  // namespace

Result<EventPage> read_event_page(Store& store, const Manifest& thread,
                                  const EventPageQuery& query) {
  if (query.after == kLastSeq) return EventPage{};
  SKEIN_ASSIGN(Place place, first_place(thread, query));
  if (place.head == 0) return EventPage{};  // the path of a thread without events
  EventPage page;
  std::size_t bytes = 0;
  std::size_t looked_at = 0;
  ReadRange range{
      .from = place.from, .direction = query.direction, .view = query.view, .head = place.head};
  SKEIN_TRY(store.read(thread.id, range, [&](Event& event) {
    if (query.direction == Direction::kBackward && event.seq <= query.after) return false;
    const bool full = page.events.size() == query.limit || bytes >= limits::kMaxEventPageBytes ||
                      looked_at == limits::kMaxEventPageReads;
    if (full) {
      const Seq head = place.head == kLastSeq ? 0 : place.head;
      page.next = fmt::format("{}-{}-{}", head, event.seq, place.offset);
      return false;
    }
    ++looked_at;
    std::string json = shown(thread, query, event);
    if (json.empty()) return true;
    if (place.offset > 0) {
      --place.offset;
      return true;
    }
    bytes += json.size();
    page.events.push_back(std::move(json));
    return true;
  }));
  return page;
}

}  // namespace skein
