#include "core/sse_parser.h"

#include <charconv>

namespace skein {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

Result<bool> SseParser::feed(std::string_view bytes, const Sink& sink) {
  while (!bytes.empty()) {
    if (after_return_ && bytes.front() == '\n') bytes.remove_prefix(1);
    after_return_ = false;
    const std::size_t end = bytes.find_first_of("\r\n");
    line_.append(bytes.substr(0, end));
    if (line_.size() + data_.size() > max_event_bytes_) {
      return fail(ErrorCode::kIo, "an event of the stream is larger than " +
                                      std::to_string(max_event_bytes_) + " bytes");
    }
    if (end == std::string_view::npos) break;
    after_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (!end_line(sink)) return false;
  }
  return true;
}

bool SseParser::end_line(const Sink& sink) {
  std::string_view line = line_;
  if (first_line_ && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  first_line_ = false;
  bool go_on = true;
  if (line.empty()) {
    go_on = dispatch(sink);
  } else if (const std::size_t colon = line.find(':'); colon == std::string_view::npos) {
    take_field(line, {});
  } else {
    std::string_view value = line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    take_field(line.substr(0, colon), value);
  }
  line_.clear();
  return go_on;
}

void SseParser::take_field(std::string_view name, std::string_view value) {
  if (name == "data") {
    data_.append(value).push_back('\n');
  } else if (name == "event") {
    type_ = value;
  } else if (name == "id") {
    if (value.find('\0') == std::string_view::npos) id_ = value;
  } else if (name == "retry") {
    std::int64_t ms = 0;
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), ms);
    const bool whole = parsed.ec == std::errc() && parsed.ptr == value.data() + value.size();
    if (whole && !value.starts_with('-')) {
      retry_ = std::chrono::milliseconds(ms);
    }
  }
}

bool SseParser::dispatch(const Sink& sink) {
  last_id_ = id_;
  std::string type = std::move(type_);
  std::string data = std::move(data_);
  type_.clear();
  data_.clear();
  if (data.empty()) return true;
  data.pop_back();
  return sink({type.empty() ? "message" : std::move(type), std::move(data), last_id_});
}

}  // namespace skein
