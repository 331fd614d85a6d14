// Lists of work items from anywhere: what is read is written so that it reads as the same, merging
// a list with itself changes nothing, and no entry gets lost.

#include "core/json_array.h"
#include "core/text.h"
#include "fuzz/support/check.h"
#include "skein/work_sessions.h"
#include "work/item_formats.h"
#include "work/item_merge.h"
#include "work/item_view.h"

namespace {

using namespace skein;

void check_list(std::string_view array) {
  const ItemList list = read_items(array, Timestamp::from_ms(1'769'178'652'123));
  FUZZ_CHECK(list.items.size() + list.others.size() <= json_elements(array).size());
  for (const WorkItem& item : list.items) {
    FUZZ_CHECK(check_item_id(item.id).has_value());
    FUZZ_CHECK(item.created_at.is_set());
    FUZZ_CHECK(!fold_text(item.text).empty());
    FUZZ_CHECK(validate_json(to_json(item), "item", kMaxDocumentDepth).has_value());
  }
  const std::string written = to_json(list);
  FUZZ_CHECK(validate_json(written, "list", kMaxDocumentDepth + 1).has_value());
  const ItemList again = read_items(written, Timestamp{0});
  FUZZ_CHECK(to_json(again) == written);

  const ItemList merged = merge(list, list);
  FUZZ_CHECK(merged.items.size() == list.items.size());
  FUZZ_CHECK(merge(merged, list) == merged);
  FUZZ_CHECK(shown_items(merged.items).size() <= merged.items.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  const std::string folded = fold_text(text);
  FUZZ_CHECK(fold_text(folded) == folded || !valid_utf8(text));
  for (const std::string& word : words_of(folded)) FUZZ_CHECK(!word.empty());
  (void)has_control_characters(text);
  (void)parse_project_state(text);
  (void)CloseSession::parse(text);
  if (validate_json(text, "list") && trim_json(text).starts_with('[')) check_list(text);
  return 0;
}
