#include "http/stream.h"

namespace skein::http {

Bytes share(std::string bytes) { return std::make_shared<const std::string>(std::move(bytes)); }

std::string sse_frame(std::string_view event, std::string_view data, std::string_view id) {
  std::string frame;
  frame.reserve(event.size() + data.size() + id.size() + 32);
  if (!id.empty()) frame.append("id: ").append(id).append("\n");
  if (!event.empty()) frame.append("event: ").append(event).append("\n");
  for (;;) {
    const std::size_t end = data.find('\n');
    frame.append("data: ").append(data.substr(0, end)).append("\n");
    if (end == std::string_view::npos) break;
    data.remove_prefix(end + 1);
  }
  frame += '\n';
  return frame;
}

}  // namespace skein::http
