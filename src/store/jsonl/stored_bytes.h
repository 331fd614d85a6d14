// Record bytes inside JSON text, and where they lie in a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/file.h"
#include "core/json.h"
#include "skein/ids.h"

namespace skein::jsonl {

enum class Encoding {
  kText,    // a JSON string
  kBase64,  // a JSON string of base64
  kObject,  // the bytes are a JSON object up to the slot's end; its closing brace follows elsewhere
  kWhole,   // the bytes themselves
};

// Where the current bytes of a record are.
struct Slot {
  Version version = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  Encoding encoding = Encoding::kText;
  bool deleted = false;
};

// Reads a record's bytes. kDamaged, if they do not decode.
Result<std::string> read_slot(const Fd& fd, const std::string& path, const Slot& slot);

// Appends `"text":"…"` or, for bytes that are not UTF-8, `"base64":"…"`.
void append_bytes_member(std::string& out, std::string_view bytes);

}  // namespace skein::jsonl
