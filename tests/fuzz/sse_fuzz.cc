// Streams of events: however they are cut into pieces, they hold the same events, within the limit.

#include <algorithm>

#include "core/sse_parser.h"
#include "fuzz/support/check.h"

namespace {

constexpr std::size_t kLimit = 64;

// All that came out of it, and whether it came to its end.
std::string parse(std::string_view stream, std::size_t piece) {
  skein::SseParser parser(kLimit);
  std::string told;
  const auto sink = [&](const skein::SseEvent& event) {
    FUZZ_CHECK(event.data.size() <= kLimit);
    FUZZ_CHECK(!event.type.empty());
    told.append(event.type).append("|").append(event.data).append("|").append(event.id) += '\0';
    return true;
  };
  while (!stream.empty()) {
    const auto fed = parser.feed(stream.substr(0, piece), sink);
    if (!fed) return told + "refused";
    FUZZ_CHECK(*fed);
    stream.remove_prefix(std::min(piece, stream.size()));
  }
  return told + (parser.retry() ? std::to_string(parser.retry()->count()) : "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = skein::fuzz::as_text(data, size);
  const std::size_t piece = skein::fuzz::take_choice(text) % 16U + 1;
  FUZZ_CHECK(parse(text, piece) == parse(text, std::max<std::size_t>(text.size(), 1)));
  return 0;
}
