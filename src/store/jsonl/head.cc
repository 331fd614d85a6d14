#include "store/jsonl/head.h"

#include <algorithm>

#include "core/checksum.h"
#include "core/json.h"
#include "core/try.h"
#include "skein/limits.h"
#include "store/codec.h"
#include "store/jsonl/line.h"

namespace skein::jsonl {
namespace {

constexpr std::string_view kVersionMember = R"(,"rev":)";
constexpr std::size_t kLeastSpaces = 2;
// What a new line keeps free, for a title and a session to come.
constexpr std::size_t kRoom = 224;
constexpr std::size_t kRounding = 128;
constexpr std::size_t kFirstRead = 2048;
constexpr std::size_t kLongestHead = std::size_t{1} << 20;
static_assert(kLongestHead > 2 * limits::kMaxManifestBytes);

// Our own line, without what the store added at its end.
Result<Manifest> own_manifest(std::string_view json) {
  const auto at = json.rfind(kVersionMember);
  const auto version = trailing_number(json, kManifestVersionField);
  if (at == std::string_view::npos || !version) {
    return fail(ErrorCode::kDamaged, "line 1 has no version");
  }
  SKEIN_ASSIGN(Manifest manifest, read_manifest(std::string(json.substr(0, at)) + "}"));
  manifest.version = *version;
  return manifest;
}

// The version of a line without a checksum must differ whenever the line does. It begins above what
// we wrote last, which programs that keep unknown fields hand on.
Result<Manifest> foreign_manifest(std::string_view json) {
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  if (!validate_json(json, "line 1") || !reader.read(json, members)) {
    return fail(ErrorCode::kDamaged, "line 1 is not a JSON object");
  }
  std::int64_t claimed = 0;
  bool has_version = false;
  bool has_crc = false;
  for (const JsonMember& member : members) {
    if (member.name == kManifestVersionField) {
      const auto number = json_to_int(member.value);
      has_version = number && *number > 0;
      if (has_version) claimed = *number;
    } else if (member.name == kChecksumField) {
      const auto text = json_to_string(member.value);
      has_crc = text && text->size() == 8;
    }
  }
  std::vector<std::string_view> ours;
  if (has_version && has_crc) ours = {kManifestVersionField, kChecksumField};
  SKEIN_ASSIGN(Manifest manifest, read_manifest(json, ours, AgentField::kOptional));
  manifest.version = (ours.empty() ? 0 : static_cast<Version>(claimed)) + 1 + checksum(json);
  return manifest;
}

void take(Head& head, Result<Manifest> manifest, Head::State state, ThreadId id) {
  if (!manifest) {
    head.state = Head::State::kDamaged;
    head.problem = manifest.error().message;
    return;
  }
  head.state = state;
  head.manifest = std::move(*manifest);
  head.manifest.id = id;
}

// Whether a line of ours may end with the byte before `width`, though one byte of its spaces or its
// newline is damaged.
bool ends_at(std::string_view bytes, std::size_t after, std::size_t width, Head& head) {
  const std::string_view spaces = bytes.substr(after, width - 1 - after);
  const auto first = spaces.find_first_not_of(' ');
  const bool follows_event = bytes.substr(width, 2) == "{\"";
  if (first == std::string_view::npos) {
    if (bytes[width - 1] == '\n') return width == bytes.size() || bytes[width] != ' ';
    if (width < bytes.size() && !follows_event) return false;
    head.stray_offset = width - 1;
    head.stray_wanted = '\n';
    return true;
  }
  if (bytes[width - 1] != '\n' || spaces.find_first_not_of(' ', first + 1) != spaces.npos) {
    return false;
  }
  head.stray_offset = after + first;
  head.stray_wanted = ' ';
  return true;
}

// Finds the end of a line whose object ends at `after`: its width is a multiple of kRounding, or
// another program laid hand on it.
void find_end(std::string_view bytes, std::size_t after, Head& head) {
  const std::size_t least = after + kLeastSpaces + 1;
  for (std::size_t width = (least + kRounding - 1) / kRounding * kRounding; width <= bytes.size();
       width += kRounding) {
    if (ends_at(bytes, after, width, head)) {
      head.width = width;
      head.newline_missing = false;
      return;
    }
  }
}

}  // namespace

std::string head_line(const Manifest& manifest, std::uint64_t width) {
  std::string line;
  append_manifest_open(line, manifest);
  line.append(kVersionMember);
  append_json_number(line, manifest.version);
  close_line(line, 0);
  const std::size_t least = line.size() + kLeastSpaces + 1;
  if (width == 0) width = (least + kRoom + kRounding - 1) / kRounding * kRounding;
  if (width < least) return {};
  line.resize(width - 1, ' ');
  line.push_back('\n');
  return line;
}

Head parse_head(std::string_view bytes, ThreadId id) {
  Head head;
  const auto newline = bytes.find('\n');
  std::string_view line = bytes.substr(0, newline);
  head.width = newline == std::string_view::npos ? bytes.size() : newline + 1;
  head.newline_missing = newline == std::string_view::npos;
  line = without_cr(line);
  const auto text_end = line.find_last_not_of(' ');
  const std::string_view text =
      line.substr(0, text_end == std::string_view::npos ? 0 : text_end + 1);

  std::size_t own_end = check_frame(text) == Frame::kVerified ? text.size() : 0;
  if (own_end == 0) own_end = verified_prefix(line);
  if (own_end > 0) {
    find_end(bytes, own_end, head);
    take(head, own_manifest(text.substr(0, own_end)), Head::State::kVerified, id);
    return head;
  }
  if (line.size() - text.size() >= kLeastSpaces || check_frame(text) == Frame::kDamaged) {
    // A program that rewrote our line leaves no spaces, and may leave our members as they were.
    if (line.size() > text.size() || !validate_json(text, "")) {
      head.problem = "line 1 does not match its checksum";
      return head;
    }
  }
  if (text.empty()) {
    head.problem = bytes.empty() ? "the file is empty" : "line 1 is blank";
    return head;
  }
  take(head, foreign_manifest(text), Head::State::kForeign, id);
  return head;
}

Result<Head> read_head(const ThreadFile& file, ThreadId id) {
  std::string bytes;
  for (std::size_t wanted = kFirstRead; wanted <= kLongestHead; wanted *= 8) {
    const std::size_t have = bytes.size();
    bytes.resize(wanted);
    SKEIN_ASSIGN(const auto got,
                 read_at(file.fd, file.path, have, bytes.data() + have, wanted - have));
    bytes.resize(have + got);
    if (bytes.size() < wanted || bytes.find('\n') != std::string::npos) {
      return parse_head(bytes, id);
    }
  }
  Head head;
  head.problem = "line 1 is longer than a manifest may be";
  head.width = bytes.size();
  return head;
}

Error damaged_head(ThreadId id, const Head& head) {
  return {ErrorCode::kDamaged, "thread " + id.str() + ": " + head.problem};
}

}  // namespace skein::jsonl
