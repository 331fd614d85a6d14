// What a context needs to know of a thread besides the messages that it shows: derived data, kept
// in the collection context_index and brought up to date by whoever reads it.
//
// It is never wrong: events are never changed, so it can only be behind, and what it is behind is
// read. That it is of this thread, and not of one that had its id before, is known from the
// manifest's version, or else from the change feed; where neither can tell, it is made anew.
#pragma once

#include <map>
#include <vector>

#include "skein/store.h"
#include "thread/event_cost.h"
#include "thread/index_format.h"
#include "thread/seq_set.h"

namespace skein {

inline constexpr std::string_view kIndexCollection = "context_index";

class ThreadIndex {
 public:
  // kUse: reads only the events since the stored index, which is written again when there are many.
  // kIgnore: reads all. A failure to write is no error. kNotFound: no such thread. kDamaged, from
  // here or later: what is stored cannot be used. Borrows the store.
  enum class Stored { kUse, kIgnore };
  static Result<ThreadIndex> load(Store& store, ThreadId thread, Stored stored = Stored::kUse);

  const Manifest& manifest() const { return manifest_; }
  const IndexHead& head() const { return head_; }
  Seq last() const { return head_.events; }

  // Events of the thread, as Store::read delivers them. Those of a short thread were read when it
  // was loaded, and are not read again.
  Result<void> read(const ReadRange& range, const EventSink& sink) const;

  // The tokens of the events in the range, as counted when they were indexed.
  Result<EventCost> cost(const SeqRange& range);
  // The last user message in the set; 0: there is none.
  Result<Seq> newest_user(const SeqSet& set);

 private:
  using Chunk = std::vector<IndexedEvent>;

  ThreadIndex(Store& store, Manifest manifest) : store_(store), manifest_(std::move(manifest)) {}

  Result<void> find_stored();
  Result<void> take_cursor();
  Result<bool> is_of_this_thread(const IndexHead& head);
  Result<void> catch_up();
  Result<void> add(const Event& event);
  void keep(Event& event);
  Result<Seq> base_of_unreadable(Seq seq);
  Result<void> write();
  Result<void> add_leftovers(std::vector<RecordWrite>& writes);
  Result<const Chunk*> chunk(std::size_t number);

  Store& store_;
  Manifest manifest_;
  IndexHead head_;
  std::optional<Version> stored_version_;  // of the stored head; 0: there is none
  Seq stored_ = 0;                         // events of the stored chunks
  bool refresh_ = false;                   // the stored head should be written again
  std::vector<IndexedEvent> tail_;         // the events after those
  bool keeps_ = false;                     // all events, in:
  std::vector<Event> kept_;
  std::size_t kept_bytes_ = 0;
  std::map<std::size_t, Chunk> loaded_;
};

// Removes what is stored.
Result<void> forget_index(Store& store, ThreadId thread);

}  // namespace skein
