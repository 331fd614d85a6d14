#include "store/line.h"

#include "core/checksum.h"
#include "core/json.h"
#include "store/codec.h"

namespace skein {
namespace {

constexpr std::string_view kFrameOpen = R"(,"crc":")";
constexpr std::string_view kFrameClose = "\"}";
constexpr std::size_t kDigits = 8;
constexpr std::size_t kFrameBytes = kFrameOpen.size() + kDigits + kFrameClose.size();

void append_hex(std::string& out, std::uint32_t value) {
  constexpr char kHex[] = "0123456789abcdef";
  for (int shift = 28; shift >= 0; shift -= 4) out.push_back(kHex[value >> shift & 15]);
}

}  // namespace

void close_line(std::string& out, std::size_t start) {
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

Frame check_frame(std::string_view line) {
  if (line.size() < kFrameBytes) return Frame::kNone;
  const std::string_view frame = line.substr(line.size() - kFrameBytes);
  if (!frame.starts_with(kFrameOpen) || !frame.ends_with(kFrameClose)) return Frame::kNone;
  std::string expected;
  append_hex(expected, checksum(line.substr(0, line.size() - kFrameBytes)));
  const bool same = frame.substr(kFrameOpen.size(), kDigits) == expected;
  return same ? Frame::kVerified : Frame::kDamaged;
}

}  // namespace skein
