// Server-sent events, taken from a stream as its bytes come.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "skein/error.h"

namespace skein {

struct SseEvent {
  std::string type;  // "message", unless the stream says another
  std::string data;
  std::string id;  // the last one that the stream gave, with this event or before
};

// By the rules of the HTML standard: any line ends, comments and unknown fields are skipped, an
// event without data is none, and one that the stream's end cut off is dropped. Not thread-safe.
class SseParser {
 public:
  explicit SseParser(std::size_t max_event_bytes) : max_event_bytes_(max_event_bytes) {}

  // False stops the feeding; what is left of the bytes is dropped.
  using Sink = std::function<bool(const SseEvent& event)>;

  // True: wants more. False: the sink wanted no more. kIo: an event beyond the limit.
  Result<bool> feed(std::string_view bytes, const Sink& sink);

  // As of the last event that ended, with or without data.
  const std::string& last_id() const { return last_id_; }
  // How long to wait before reconnecting, if the stream said so.
  const std::optional<std::chrono::milliseconds>& retry() const { return retry_; }

 private:
  bool end_line(const Sink& sink);
  bool dispatch(const Sink& sink);
  void take_field(std::string_view name, std::string_view value);

  const std::size_t max_event_bytes_;
  std::string line_;
  bool first_line_ = true;
  bool after_return_ = false;  // a line feed would belong to the line end before
  std::string type_;
  std::string data_;
  std::string id_;
  std::string last_id_;
  std::optional<std::chrono::milliseconds> retry_;
};

}  // namespace skein
