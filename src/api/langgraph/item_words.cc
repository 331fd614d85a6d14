#include "api/langgraph/item_words.h"

#include "core/json_array.h"
#include "core/json_fields.h"

namespace skein::langgraph {
namespace {

// What a value says, without the names of its members.
void add_texts(RawJson value, std::string& out) {
  if (value.starts_with('{')) {
    for (const JsonFields fields(value); const auto& field : fields.others()) {
      add_texts(field.value, out);
    }
  } else if (value.starts_with('[')) {
    for (const RawJson element : json_elements(value)) add_texts(element, out);
  } else {
    out += json_to_string(value).value_or(std::string(value));
    out += '\n';
  }
}

}  // namespace

ItemWords::ItemWords(std::string_view question) {
  for (const Word& word : splitter_.split(question)) {
    // Its parts are there as well.
    if (word.kind != WordKind::kCompound) words_.emplace(word.text);
  }
}

double ItemWords::share_in(RawJson value) {
  if (words_.empty()) return 0;
  std::string text;
  add_texts(value, text);
  found_.clear();
  for (const Word& word : splitter_.split(text)) {
    if (const auto wanted = words_.find(word.text); wanted != words_.end()) found_.insert(*wanted);
  }
  return static_cast<double>(found_.size()) / static_cast<double>(words_.size());
}

}  // namespace skein::langgraph
