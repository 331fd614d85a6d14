// How much of what is asked for an item of LangGraph's store has in it.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "core/json.h"
#include "recall/text/words.h"

namespace skein::langgraph {

// The words of a question, to be looked for in values. Not thread-safe.
class ItemWords {
 public:
  explicit ItemWords(std::string_view question);

  // The share of them that the texts and numbers in a value (valid JSON) have, from 0 to 1; names
  // of members do not count.
  double share_in(RawJson value);

 private:
  WordSplitter splitter_;
  std::set<std::string, std::less<>> words_;
  std::set<std::string_view> found_;  // of words_
};

}  // namespace skein::langgraph
