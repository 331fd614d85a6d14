// Gives messages of the index their vectors.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "recall/index/index_file.h"
#include "recall/index/vectors_file.h"
#include "skein/embedder.h"
#include "skein/store.h"

namespace skein {

// Thread-safe.
class VectorFiller {
 public:
  // `folder` as RecallOptions::vectors_folder.
  VectorFiller(Store& store, IndexFile& file, Embedder& embedder, std::string folder)
      : store_(store), file_(file), embedder_(embedder), files_(store, std::move(folder)) {}

  // Embeds one batch, after the message `after`, which moves on; answers how many got vectors.
  // Nothing: there are no more without.
  Result<std::optional<std::uint64_t>> fill_some(const std::optional<std::string>& agent,
                                                 std::int64_t& after);
  // The newest messages of one thread, a batch at most.
  Result<std::uint64_t> fill_thread(ThreadId thread);
  Result<std::uint64_t> missing(const std::optional<std::string>& agent);

  // Makes the agents' files of vectors say what the index does, where something was removed or
  // somebody else wrote.
  Result<void> mend_files();

 private:
  struct Item {
    std::int64_t message = 0;
    std::int64_t agent = 0;
    ThreadId thread;
    Seq seq = 0;
    bool pair = false;  // with the message before it
    std::string text;
    std::string before;
    VectorEntry entry;  // what goes to the file
    std::string first;  // as bytes
    std::string second;
  };

  Result<std::vector<Item>> next_items(const std::optional<std::string>& agent,
                                       std::int64_t& after);
  static Result<std::vector<Item>> take_items(Query& query);
  Result<std::uint64_t> fill(std::vector<Item> items);
  Result<void> read_text(Item& item);
  Result<void> embed(std::vector<Item>& items);
  Result<std::uint64_t> keep(std::vector<Item>& items);

  Store& store_;
  IndexFile& file_;
  Embedder& embedder_;
  VectorsFiles files_;
};

// What a message means together with the one that it answers.
std::string paired_text(std::string_view before, std::string_view text);

}  // namespace skein
