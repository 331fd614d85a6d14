#include "store/line.h"

#include "core/checksum.h"
#include "core/json.h"
#include "store/codec.h"

namespace skein {
namespace {

constexpr std::string_view kFrameOpen = R"(,"crc":")";
constexpr std::string_view kFrameClose = "\"}";
constexpr std::size_t kDigits = 8;
constexpr std::size_t kFixedBytes = kFrameOpen.size() + kFrameClose.size();
static_assert(kFixedBytes + kDigits == kFrameBytes);

// So many of the fixed bytes may be damaged, and the line still passes for one of ours.
constexpr std::size_t kTolerated = 2;

// Both are of the same size.
std::size_t matching(std::string_view a, std::string_view b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] == b[i] ? 1 : 0;
  return count;
}

void append_hex(std::string& out, std::uint32_t value) {
  constexpr char kHex[] = "0123456789abcdef";
  for (int shift = 28; shift >= 0; shift -= 4) out.push_back(kHex[value >> shift & 15]);
}

// Whether these kFrameBytes are the frame of what has that checksum.
bool is_frame_of(std::uint32_t sum, std::string_view frame) {
  if (!frame.starts_with(kFrameOpen) || !frame.ends_with(kFrameClose)) return false;
  std::string expected;
  append_hex(expected, sum);
  return frame.substr(kFrameOpen.size(), kDigits) == expected;
}

}  // namespace

void close_line(std::string& out, std::size_t start) {
  // Inside a string they are escaped: here they can only be space between tokens, kept as it came.
  for (const char feed : {'\n', '\r'}) {
    for (auto at = out.find(feed, start); at != std::string::npos; at = out.find(feed, at)) {
      out[at] = ' ';
    }
  }
  const std::uint32_t crc = checksum(std::string_view(out).substr(start));
  out.append(kFrameOpen);
  append_hex(out, crc);
  out.append(kFrameClose);
}

void append_event_line(std::string& out, const Event& event, Seq seq) {
  const std::size_t start = out.size();
  append_event_open(out, event);
  out.append(R"(,"seq":)");
  append_json_number(out, seq);
  if (!event.key.empty()) {
    out.append(R"(,"key":)");
    append_json_string(out, event.key);
  }
  if (event.tokens) {
    out.append(R"(,"tokenCount":)");
    append_json_number(out, std::uint64_t{*event.tokens});
  }
  close_line(out, start);
  out.push_back('\n');
}

bool frame_verifies_at(std::string_view text, std::size_t end) {
  if (end > text.size() || end < kFrameBytes) return false;
  const auto before = text.substr(0, end - kFrameBytes);
  return is_frame_of(checksum(before), text.substr(before.size(), kFrameBytes));
}

Frame check_frame(std::string_view line) {
  if (line.size() < kFrameBytes) return Frame::kNone;
  if (frame_verifies_at(line, line.size())) return Frame::kVerified;
  const auto frame = line.substr(line.size() - kFrameBytes);
  const std::size_t same = matching(frame.substr(0, kFrameOpen.size()), kFrameOpen) +
                           matching(frame.substr(kFrameOpen.size() + kDigits), kFrameClose);
  return same + kTolerated >= kFixedBytes ? Frame::kDamaged : Frame::kNone;
}

std::size_t verified_prefix(std::string_view line) {
  // A line may hold very many places that look like the end of one.
  RunningChecksum sum;
  std::size_t summed = 0;
  for (std::size_t at = line.find(kFrameOpen); at != std::string_view::npos;
       at = line.find(kFrameOpen, at + 1)) {
    const std::size_t end = at + kFrameBytes;
    if (end >= line.size()) return 0;
    sum.add(line.substr(summed, at - summed));
    summed = at;
    if (is_frame_of(sum.value(), line.substr(at, kFrameBytes))) return end;
  }
  return 0;
}

}  // namespace skein
