// A store of each backend, with an index beside it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "contract/contract.h"
#include "skein/recall.h"
#include "skein/threads.h"
#include "support/word_embedder.h"

namespace skein::test {

class RecallContract : public StoreContract {
 protected:
  std::string index_path() const {
    return backend_.persistent() ? (backend_.folder() / "recall.db").string() : "";
  }

  std::unique_ptr<Recall> open_recall(Embedder* embedder = nullptr) {
    RecallOptions options;
    options.index_path = index_path();
    options.embedder = embedder;
    options.clock = &clock();
    if (GetParam() == "jsonl") options.vectors_folder = backend_.url().substr(6);
    return must(Recall::open(store(), options));
  }

  Recall& recall() {
    if (!recall_) recall_ = open_recall();
    return *recall_;
  }

  Manifest thread_with(const std::vector<std::string>& texts, const std::string& agent = "agent") {
    std::vector<Event> events;
    for (const std::string& text : texts) {
      events.push_back(message(text, events.size() % 2 == 0 ? Role::kUser : Role::kAssistant));
    }
    return create_thread(store(), agent, std::move(events));
  }

  BackfillResult backfill(const std::optional<std::string>& agent = {}) {
    return must(recall().backfill({.agent_id = agent}));
  }

  static SearchOptions of_agent(const std::string& agent = "agent") {
    SearchOptions options;
    options.agents = std::vector{agent};
    return options;
  }

  SearchAnswer search(std::string_view query) { return search(query, of_agent()); }
  SearchAnswer search(std::string_view query, const SearchOptions& options) {
    return must(recall().search(query, options));
  }

  // The texts that matched, best first.
  static std::vector<std::string> matches(const SearchAnswer& answer) {
    std::vector<std::string> texts;
    for (const SearchResult& result : answer.results) {
      for (const SearchMessage& message : result.messages) {
        if (message.match) texts.push_back(message.text);
      }
    }
    return texts;
  }
  std::vector<std::string> found(std::string_view query) { return matches(search(query)); }

  std::unique_ptr<Recall> recall_;
};

#define SKEIN_RECALL_ON_EVERY_BACKEND(Suite) \
  class Suite : public RecallContract {};    \
  INSTANTIATE_TEST_SUITE_P(, Suite, testing::ValuesIn(backend_names()), backend_of)

}  // namespace skein::test
