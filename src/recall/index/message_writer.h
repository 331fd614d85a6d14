// Puts the messages of threads into the index.
#pragma once

#include <optional>
#include <unordered_map>

#include "recall/index/indexer.h"

namespace skein {

// Lives while one batch is written.
class MessageWriter {
 public:
  MessageWriter(Store& store, IndexWriting& writing, Names& names, Analyzer& analyzer,
                IndexCounts& counts)
      : store_(store), writing_(writing), names_(names), analyzer_(analyzer), counts_(counts) {}

  // Brings the thread up to date, or as far as the batch goes.
  Result<void> index(ThreadRow row);
  // The batch is as large as it should get.
  bool is_full() const { return events_ >= kMaxEvents || bytes_ >= kMaxBytes; }

 private:
  static constexpr std::uint64_t kMaxEvents = 4000;
  static constexpr std::size_t kMaxBytes = std::size_t{4} << 20;

  // False: its path turned, so that the whole must be compared.
  Result<bool> append_tail(ThreadRow& row);
  Result<void> compare(ThreadRow& row);
  static Result<bool> pass_over(ThreadRow& row, const Error& error);
  Result<std::unordered_map<Seq, std::uint32_t>> shared_with_parent(const ThreadRow& row);
  Result<void> add(const ThreadRow& row, const Event& event, const Message& message);
  Result<Language> usual_language(ThreadId thread);

  Store& store_;
  IndexWriting& writing_;
  Names& names_;
  Analyzer& analyzer_;
  IndexCounts& counts_;
  std::uint64_t events_ = 0;
  std::size_t bytes_ = 0;
  Language usual_ = Language::kEnglish;  // of the thread
  std::vector<TermId> occurrences_;
};

// The message that recall indexes, if the event is one: of a user or an assistant.
const Message* recalled_message(const Event& event);

// Who says a message, where its metadata tells: its "name", else its "speaker".
std::string speaker_of(const Event& event);

// A message's flags in the index.
inline constexpr std::int64_t kAssistantFlag = 1;
inline constexpr std::int64_t kAsksFlag = 2;
inline constexpr unsigned kLanguageShift = 2;

}  // namespace skein
