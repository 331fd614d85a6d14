#include "thread/path.h"

namespace skein {

Result<void> read_messages(Store& store, ThreadId thread, const MessageQuery& query,
                           const EventSink& sink) {
  if (query.limit == 0) return {};
  ReadRange range;
  range.direction = query.direction;
  range.view = View::kPath;
  range.head = query.head;
  std::uint64_t passed_over = 0;
  std::uint64_t delivered = 0;
  return store.read(thread, range, [&](Event& event) {
    const Message* message = std::get_if<Message>(&event.payload);
    if (message == nullptr || (query.role && message->role != *query.role)) return true;
    if (passed_over < query.offset) {
      ++passed_over;
      return true;
    }
    return sink(event) && ++delivered < query.limit;
  });
}

}  // namespace skein
