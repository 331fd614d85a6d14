#include "store/jsonl/usage_file.h"

#include <cstdio>
#include <utility>

#include "core/json.h"
#include "core/try.h"
#include "store/codec.h"
#include "store/jsonl/line.h"

namespace skein::jsonl {
namespace {

constexpr std::string_view kKeyMember = R"("key":)";

std::string line_key(std::uint64_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "line-%012llu", static_cast<unsigned long long>(number));
  return text;
}

// How bytes begin on their line that cannot stand there themselves.
constexpr std::string_view kWrappedText = R"({"text":)";
constexpr std::string_view kWrappedBase64 = R"({"base64":)";

// Bytes that can stand on a line of their own, as other programs expect it.
bool is_plain_object(std::string_view bytes) {
  return bytes.starts_with('{') && bytes.ends_with('}') && !bytes.starts_with(kWrappedText) &&
         !bytes.starts_with(kWrappedBase64) &&
         bytes.find_first_of("\n\r") == std::string_view::npos &&
         validate_json(bytes, "").has_value();
}

// {…,"key":"…","rev":N,"crc":"…"}; other bytes as {"text":"…","key":…} or base64.
void append_usage_line(std::string& out, const UsageWrite& write) {
  const std::size_t start = out.size();
  if (is_plain_object(*write.bytes)) {
    out.append(*write.bytes, 0, write.bytes->size() - 1);
    if (write.bytes->find_first_not_of(" \t", 1) != write.bytes->size() - 1) out.push_back(',');
  } else {
    out.append("{");
    append_bytes_member(out, *write.bytes);
    out.push_back(',');
  }
  out.append(kKeyMember);
  append_json_string(out, write.key);
  out.append(R"(,"rev":)");
  append_json_number(out, write.version);
  close_line(out, start);
  out.push_back('\n');
}

}  // namespace

UsageFile::UsageFile(Folder& folder) : folder_(folder), file_(folder.root() + "/usage.jsonl") {}

void UsageFile::restart() {
  slots_.clear();
  extents_.clear();
  overtaken_.clear();
  lines_ = foreign_lines_ = damaged_lines_ = 0;
}

Result<void> UsageFile::follow() {
  return file_.follow(
      [this] { restart(); },
      [this](std::uint64_t offset, std::string_view text) { take_line(offset, text); });
}

void UsageFile::take_line(std::uint64_t offset, std::string_view text) {
  ++lines_;
  if (is_blank(text)) return;
  Slot slot;
  slot.offset = offset;
  slot.length = text.size();
  std::string key;
  const Frame frame = check_frame(text);
  const auto version = trailing_number(text, kManifestVersionField);
  const auto key_at = text.rfind(kKeyMember);
  if (frame == Frame::kVerified && version && key_at != std::string_view::npos) {
    const auto rev_at = text.rfind(R"(,"rev":)");
    const auto token = text.substr(key_at + kKeyMember.size(), rev_at - key_at - kKeyMember.size());
    key = unescape_json_string(token);
    slot.version = *version;
    // Up to the comma before "key", or the brace of an empty object.
    slot.encoding = Encoding::kObject;
    slot.length = key_at - (key_at > 0 && text[key_at - 1] == ',' ? 1 : 0);
    for (const std::string_view wrapped : {kWrappedText, kWrappedBase64}) {
      if (!text.starts_with(wrapped)) continue;
      slot.offset += wrapped.size();
      slot.length -= wrapped.size();
      slot.encoding = wrapped == kWrappedText ? Encoding::kText : Encoding::kBase64;
    }
  } else if (frame == Frame::kDamaged || !validate_json(text, "")) {
    ++damaged_lines_;
    return;
  } else {
    ++foreign_lines_;
    key = line_key(lines_);
    slot.version = 1;
    slot.encoding = Encoding::kWhole;
  }
  const LineExtent extent{offset, text.size(), slot.version};
  if (const auto [known, first] = extents_.emplace(key, extent); !first) {
    overtaken_.push_back(std::exchange(known->second, extent));
  }
  slots_[std::move(key)] = slot;
}

void UsageFile::drop(const std::string& key, Version version) {
  const auto slot = slots_.find(key);
  if (slot == slots_.end() || slot->second.version >= version) return;
  slots_.erase(slot);
}

bool UsageFile::has(const UsageWrite& write) const {
  const auto known = extents_.find(write.key);
  if (known == extents_.end()) return !write.bytes;
  return known->second.version >= write.version;
}

Result<void> UsageFile::apply(const std::vector<UsageWrite>& writes) {
  std::string lines;
  std::vector<LineExtent> blank;
  for (const UsageWrite& write : writes) {
    if (has(write)) continue;
    if (write.bytes) {
      append_usage_line(lines, write);
    } else if (const auto old = extents_.extract(write.key)) {
      blank.push_back(old.mapped());
      slots_.erase(write.key);
    }
  }
  if (!lines.empty()) SKEIN_TRY(file_.append(std::move(lines), folder_.flusher()));
  SKEIN_TRY(follow());
  blank.insert(blank.end(), overtaken_.begin(), overtaken_.end());
  for (const LineExtent& line : blank) {
    SKEIN_TRY(write_at(file_.fd(), file_.path(), line.offset, std::string(line.length, ' ')));
  }
  overtaken_.clear();
  return blank.empty() ? Result<void>() : folder_.flusher().data(file_.fd(), file_.path());
}

}  // namespace skein::jsonl
