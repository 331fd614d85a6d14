#include "store/jsonl/stored_bytes.h"

#include "core/base64.h"
#include "core/try.h"

namespace skein::jsonl {

Result<std::string> read_slot(const Fd& fd, const std::string& path, const Slot& slot) {
  std::string raw(slot.length, '\0');
  SKEIN_ASSIGN(const auto got, read_at(fd, path, slot.offset, raw.data(), raw.size()));
  if (got != raw.size()) return fail(ErrorCode::kDamaged, path + " is shorter than it was");
  switch (slot.encoding) {
    case Encoding::kWhole:
      return raw;
    case Encoding::kObject:
      raw.push_back('}');
      return raw;
    case Encoding::kText:
      return unescape_json_string(raw);
    case Encoding::kBase64:
      break;
  }
  if (raw.size() >= 2) {
    if (auto bytes = decode_base64(std::string_view(raw).substr(1, raw.size() - 2))) {
      return std::move(*bytes);
    }
  }
  return fail(ErrorCode::kDamaged, path + " has a record that is not base64");
}

void append_bytes_member(std::string& out, std::string_view bytes) {
  if (valid_utf8(bytes)) {
    out.append(R"("text":)");
    append_json_string(out, bytes);
    return;
  }
  out.append(R"("base64":")");
  append_base64(out, bytes);
  out.push_back('"');
}

}  // namespace skein::jsonl
