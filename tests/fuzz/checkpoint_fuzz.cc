// Checkpoints, what hooks are told, and settings that hooks are put into.

#include <string>

#include "core/json.h"
#include "fuzz/support/check.h"
#include "skein/checkpoints.h"
#include "work/checkpoint_cache.h"
#include "work/checkpoint_folder.h"
#include "work/hook_event.h"
#include "work/hook_install.h"

namespace {

using namespace skein;

void check_checkpoint(const Checkpoint& checkpoint) {
  const std::string text = to_json(checkpoint);
  FUZZ_CHECK(validate_json(text, "checkpoint"));
  const auto again = parse_checkpoint(text);
  // What an older one lacks may keep its newer form from being one.
  if (checkpoint.older) return;
  FUZZ_CHECK(again.has_value());
  FUZZ_CHECK(to_json(*again) == text);
}

void check_slug(std::string_view text) {
  const std::string slug = checkpoint_slug(text);
  FUZZ_CHECK(!slug.empty() && slug.size() <= 48);
  FUZZ_CHECK(valid_utf8(slug));
  for (const char c : slug) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    FUZZ_CHECK(plain || static_cast<unsigned char>(c) >= 0x80);
  }
  FUZZ_CHECK(!slug.starts_with('-') && !slug.ends_with('-'));
}

void check_settings(std::string_view text) {
  const auto once = with_hooks(text, "skein");
  if (!once) return;
  FUZZ_CHECK(Json::parse_object(*once).has_value());
  const auto twice = with_hooks(*once, "skein");
  FUZZ_CHECK(twice.has_value() && *twice == *once);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto checkpoint = parse_checkpoint(text)) check_checkpoint(*checkpoint);
  if (auto older = parse_older_checkpoint(text, "name", Timestamp::from_ms(0))) {
    older->older = true;
    check_checkpoint(*older);
  }
  if (const auto event = parse_hook_event(text)) judge_tool(*event);
  check_slug(text);
  check_settings(text);
  decode_cache(text);
  return 0;
}
