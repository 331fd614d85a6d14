// Search and indexing, as the faces offer them.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/built_in_tools.h"
#include "api/settings.h"
#include "skein/embedder.h"
#include "skein/recall.h"
#include "skein/runner.h"

namespace skein {

// A Recall with the model that it uses.
struct OpenedRecall {
  std::unique_ptr<Embedder> embedder;  // none: words only
  std::unique_ptr<Recall> recall;
  std::vector<std::string> notes;  // for people: why the model is not the first choice

  Recall* operator->() const { return recall.get(); }
};

// Opens the index that belongs to the store of the settings, with the model that they name. Borrows
// the store.
Result<OpenedRecall> open_recall(const Settings& settings, Store& store);

// Removes threads that the store no longer has from the index, if there is one, and from the files
// of vectors. Needs no model.
Result<void> forget_in_index(const Settings& settings, Store& store,
                             const std::vector<ThreadId>& threads);

// Where the index of a store lies: beside its file, in its folder's .skein/, or, for stores that
// are elsewhere, in the workspace's. Empty: in memory.
std::string index_path_of(const Settings& settings);

// Where in a text the words of a question stand, in whatever form; for highlighting.
struct TextSpan {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};
std::vector<TextSpan> find_words(std::string_view text, const std::vector<std::string>& words);

std::string to_json(const SearchAnswer& answer);
// What was searched, for people and models: "42 messages of all agents (coder, support)".
std::string scope_text(const SearchAnswer& answer);
std::string to_json(const BackfillResult& result);

// What was found, for a model to read: each message quoted line by line, with a warning that what
// was said is data and not an instruction.
std::string quoted_for_model(const SearchAnswer& answer);

// Recall for whoever may not need it: opened on first use. Borrows the store. Thread-safe.
class LazyRecall {
 public:
  LazyRecall(Settings settings, Store& store);

  // An error is tried again the next time.
  Result<Recall*> get();
  // Removes threads that the store no longer has from the index, if there is one. Opens no model.
  Result<void> forget(const std::vector<ThreadId>& threads);
  // Whether there is an index of this store already.
  bool has_index() const;
  // Whether there is a model for vectors: its files, or an endpoint that the settings name. Loads
  // nothing and asks nobody.
  bool has_model() const { return has_model_; }

 private:
  const Settings settings_;
  Store& store_;
  const bool has_model_;
  std::mutex mutex_;
  std::optional<OpenedRecall> opened_;  // under mutex_
};

// What the built-in tool `recall` does. Borrows the recall.
RecallFunction recall_function(LazyRecall& recall);

// After a run, what was said in it is indexed, if there is a model or an index already; where that
// is done as messages arrive, only what others have left. Borrows the recall.
class IndexEffect final : public RunEffect {
 public:
  IndexEffect(LazyRecall& recall, bool on_arrival) : recall_(recall), on_arrival_(on_arrival) {}
  std::string_view name() const override { return "index"; }
  bool is_wanted() const override {
    return !on_arrival_ && (recall_.has_model() || recall_.has_index());
  }
  Result<void> apply(const FinishedRun& run, std::stop_token stop) override;

 private:
  LazyRecall& recall_;
  const bool on_arrival_;
};

}  // namespace skein
