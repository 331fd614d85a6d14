// Finds messages by the words that they have in common with a question. No index: it reads the
// newest messages before the question.
#pragma once

#include "skein/context.h"

namespace skein {

class WordFinder final : public MessageFinder {
 public:
  // Looks at messages on the path to `before`, which is not looked at itself. Borrows the store.
  WordFinder(Store& store, Seq before) : store_(store), before_(before) {}

  Result<std::vector<Seq>> find(ThreadId thread, std::string_view question,
                                std::size_t limit) override;

 private:
  Store& store_;
  const Seq before_;
};

}  // namespace skein
