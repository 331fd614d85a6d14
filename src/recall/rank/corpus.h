// The messages of an agent, in memory, as the ranking sees them: no text, but what it is found by.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "recall/rank/term_list.h"
#include "recall/rank/vector_rows.h"
#include "recall/text/language.h"
#include "skein/clock.h"
#include "skein/event.h"
#include "skein/ids.h"

namespace skein {

using SpeakerId = std::uint32_t;  // 0: nobody was named

struct CorpusMessage {
  std::int64_t id = 0;  // in the index; higher than that of all that were added before
  ThreadId thread;
  Seq seq = 0;
  Timestamp time;
  std::uint32_t words = 0;
  Role role = Role::kUser;
  bool asks = false;
  Language language = Language::kUnknown;
  SpeakerId speaker = 0;
  std::string_view terms;  // pack_terms
};

// A message's place in the arrays below.
using Place = std::uint32_t;
inline constexpr Place kNowhere = 0xFFFFFFFF;

// Not thread-safe: add and remove alone, or read by any number of threads.
class Corpus {
 public:
  // --- What there is ---
  std::size_t size() const { return ids_.size(); }  // places, those of removed messages included
  std::size_t messages() const { return messages_; }
  bool alive(Place place) const { return flags_[place] & kAlive; }
  ThreadId thread(Place place) const { return ThreadId::from_bits(threads_[thread_[place]].bits); }
  std::uint32_t thread_number(Place place) const { return thread_[place]; }
  std::size_t threads() const { return threads_.size(); }
  ThreadId thread_of_number(std::uint32_t number) const {
    return ThreadId::from_bits(threads_[number].bits);
  }
  Seq seq(Place place) const { return seq_[place]; }
  Timestamp time(Place place) const { return Timestamp{time_[place]}; }
  std::uint32_t words(Place place) const { return words_[place]; }
  bool asks(Place place) const { return flags_[place] & kAsks; }
  Role role(Place place) const {
    return flags_[place] & kAssistant ? Role::kAssistant : Role::kUser;
  }
  SpeakerId speaker(Place place) const { return speaker_[place]; }
  Place before(Place place) const { return before_[place]; }  // in its thread
  Place after(Place place) const { return after_[place]; }
  double average_words() const;
  std::size_t messages_in(Language language) const {
    return by_language_[static_cast<std::size_t>(language)];
  }
  std::int64_t id(Place place) const { return ids_[place]; }
  std::int64_t last_id() const { return ids_.empty() ? 0 : ids_.back(); }
  std::optional<Place> find(std::int64_t id) const;
  // The newest message of a thread, from which before() leads to the others; kNowhere if unknown.
  Place last_of(ThreadId thread) const;

  // How many messages have the term; removed ones may count.
  std::size_t frequency(TermId term) const;
  // Calls `each(place, count)` in order of places, removed messages included; counts end at 255.
  template <class Each>
  void each_with(TermId term, Each each) const;

  // --- Changing it ---
  // Room for so many messages in all, without more than that.
  void reserve(std::size_t messages);
  // False: the message's bytes make no sense, and it was not added.
  bool add(const CorpusMessage& message);
  void remove(Place place);
  // After the first messages were added, and before anything is looked up.
  void build();

  // Vectors of the messages, and of each with the one before it.
  VectorRows first;
  VectorRows second;

 private:
  static constexpr std::uint8_t kAlive = 1;
  static constexpr std::uint8_t kAsks = 2;
  static constexpr std::uint8_t kAssistant = 4;
  static constexpr std::uint8_t kLanguageShift = 3;

  struct Thread {
    std::uint64_t bits = 0;
    Place last = kNowhere;
  };
  // A place and a count in 32 bits.
  static constexpr unsigned kCountBits = 8;
  static std::uint32_t pack(Place place, std::uint32_t count) {
    return place << kCountBits | std::min(count, 255U);
  }

  // Where the numbers of terms are high and terms are few: of one agent of many, or in an index
  // that was tampered with. Takes no memory for the numbers between.
  template <class EachMessage>
  void build_sparse(const EachMessage& each_message);
  // All at once: an index that was tampered with can have the messages of a thread in any order.
  void link_all();
  void link(Place place);
  std::span<const std::uint32_t> built(TermId term) const;
  void fold_recent();

  // One entry for each place:
  std::vector<std::int64_t> ids_;
  std::vector<std::int64_t> time_;
  std::vector<std::uint32_t> seq_;
  std::vector<std::uint32_t> thread_;
  std::vector<std::uint32_t> speaker_;
  std::vector<Place> before_;
  std::vector<Place> after_;
  std::vector<std::uint16_t> words_;
  std::vector<std::uint8_t> flags_;

  std::vector<Thread> threads_;
  std::unordered_map<std::uint64_t, std::uint32_t> thread_numbers_;
  std::array<std::size_t, kLanguages> by_language_{};
  std::size_t messages_ = 0;
  std::uint64_t all_words_ = 0;

  // Postings: those of built_terms_[i] begin at starts_[i]. What was added since is in recent_.
  bool is_built_ = false;
  std::string waiting_;  // the terms of messages before build()
  TermId highest_waiting_ = 0;
  std::size_t terms_waiting_ = 0;
  bool in_order_ = true;  // the messages of each thread, before build()
  std::vector<TermId> built_terms_;
  std::vector<std::uint32_t> starts_;
  std::vector<std::uint32_t> postings_;
  std::unordered_map<TermId, std::vector<std::uint32_t>> recent_;
  std::size_t recent_size_ = 0;
};

inline constexpr std::size_t kMaxCorpusMessages = std::size_t{1} << 24;

template <class Each>
void Corpus::each_with(TermId term, Each each) const {
  for (const std::uint32_t posting : built(term)) each(posting >> kCountBits, posting & 0xFF);
  if (const auto found = recent_.find(term); found != recent_.end()) {
    for (const std::uint32_t posting : found->second) each(posting >> kCountBits, posting & 0xFF);
  }
}

}  // namespace skein
