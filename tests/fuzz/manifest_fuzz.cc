// Manifests as they are stored, and patches that callers hand in.

#include <string>

#include "core/json.h"
#include "fuzz/support/check.h"
#include "skein/thread.h"
#include "store/checks.h"
#include "store/codec.h"

namespace {

using namespace skein;

std::string written(const Manifest& manifest) {
  std::string text;
  append_manifest_open(text, manifest);
  return text + "}";
}

void check_round_trip(const Manifest& manifest) {
  const std::string text = written(manifest);
  FUZZ_CHECK(validate_json(text, "manifest"));
  const auto again = read_manifest(text);
  FUZZ_CHECK(again.has_value());
  FUZZ_CHECK(written(*again) == text);
}

void check_stored(std::string_view text) {
  const auto manifest = read_manifest(text);
  if (manifest)
    check_round_trip(*manifest);
  else
    FUZZ_CHECK(manifest.error().code == ErrorCode::kDamaged &&
               valid_utf8(manifest.error().message));
}

void check_patch(std::string_view text, PatchFor purpose) {
  const auto patch = ManifestPatch::parse(text);
  if (!patch) {
    FUZZ_CHECK(patch.error().code == ErrorCode::kInvalid && valid_utf8(patch.error().message));
    return;
  }
  Manifest manifest;
  manifest.agent_id = "agent";
  manifest.title = "before";
  manifest.created_at = manifest.updated_at = Timestamp::from_ms(1'769'178'652'123);
  manifest.extra = Json::trusted("{\"channel\":\"telegram\"}");
  const std::string before = written(manifest);
  const auto after = patched(manifest, *patch, purpose);
  if (!after) {
    FUZZ_CHECK(after.error().code == ErrorCode::kInvalid && valid_utf8(after.error().message));
    return;
  }
  FUZZ_CHECK(after->agent_id == "agent" && !after->parent && !after->alias);
  check_round_trip(*after);
  const auto twice = patched(*after, *patch, purpose);
  FUZZ_CHECK(twice.has_value() && written(*twice) == written(*after));
  if (purpose == PatchFor::kCreate) return;
  const auto changed = apply_update(manifest, *patch, {});
  FUZZ_CHECK(changed.has_value() && written(manifest) == (*changed ? written(*after) : before));
  const auto again = apply_update(manifest, *patch, {});
  FUZZ_CHECK(again.has_value() && !*again);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = fuzz::as_text(data, size);
  switch (fuzz::take_choice(text) % 3) {
    case 0:
      check_stored(text);
      break;
    case 1:
      check_patch(text, PatchFor::kCreate);
      break;
    default:
      check_patch(text, PatchFor::kUpdate);
  }
  return 0;
}
