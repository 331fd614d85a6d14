#include "api/transfer/transcripts/json_lines.h"

#include <fmt/format.h>

#include "core/json.h"
#include "core/try.h"
#include "skein/limits.h"

namespace skein {
namespace {

// Of "\uXXXX" at the place; nothing if it is none.
std::optional<unsigned> escaped_unit(std::string_view json, std::size_t at) {
  if (at + 6 > json.size() || json[at] != '\\' || json[at + 1] != 'u') return std::nullopt;
  unsigned unit = 0;
  for (const char c : json.substr(at + 2, 4)) {
    const unsigned digit = c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
                           : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10)
                           : c >= 'A' && c <= 'F' ? static_cast<unsigned>(c - 'A' + 10)
                                                  : 16;
    if (digit == 16) return std::nullopt;
    unit = unit * 16 + digit;
  }
  return unit;
}

bool is_high(unsigned unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low(unsigned unit) { return unit >= 0xDC00 && unit < 0xE000; }

}  // namespace

std::string with_whole_surrogates(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t at = 0; at < json.size();) {
    const auto unit = json[at] == '\\' ? escaped_unit(json, at) : std::nullopt;
    std::size_t length = json[at] == '\\' ? 2 : 1;
    if (unit) length = 6;
    if (unit && is_high(*unit)) {
      const auto second = escaped_unit(json, at + 6);
      if (second && is_low(*second)) {
        length = 12;
      } else {
        out += "\\ufffd";
        at += length;
        continue;
      }
    } else if (unit && is_low(*unit)) {
      out += "\\ufffd";
      at += length;
      continue;
    }
    out += json.substr(at, length);
    at += length;
  }
  return out;
}

JsonLines::JsonLines(std::filesystem::path path, LineFile file, const TranscriptListener* listener)
    : path_(std::move(path)), file_(std::move(file)), listener_(listener) {}

Result<JsonLines> JsonLines::open(const std::filesystem::path& path,
                                  const TranscriptListener* listener) {
  SKEIN_ASSIGN(LineFile file, LineFile::open(path));
  return JsonLines(path, std::move(file), listener);
}

void JsonLines::tell(std::uint64_t line, std::string message) const {
  if (listener_ != nullptr) listener_->problem({path_, line, std::move(message)});
}

Result<bool> JsonLines::next(Line& line) {
  LineBuffer::Line raw;
  while (true) {
    SKEIN_ASSIGN(const bool more, file_.next(raw));
    if (!more) return false;
    line.number = raw.number;
    line.object = raw.text;
    if (raw.too_long) {
      tell(raw.number,
           fmt::format("longer than the limit of {} bytes", 2 * limits::kMaxEventBytes));
      continue;
    }
    auto valid = validate_json(raw.text, "line", kMaxDocumentDepth);
    if (!valid) {
      mended_ = with_whole_surrogates(raw.text);
      line.object = mended_;
      if (!validate_json(mended_, "line", kMaxDocumentDepth)) {
        const char* cut = raw.complete ? "" : " (the line was cut off)";
        tell(raw.number, valid.error().message + cut);
        continue;
      }
    }
    if (line.object.starts_with('{')) return true;
    tell(raw.number, "is no JSON object");
  }
}

}  // namespace skein
