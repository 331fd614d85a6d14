// The events that a context has room for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "skein/store.h"
#include "thread/event_cost.h"
#include "thread/seq_set.h"
#include "thread/thread_index.h"

namespace skein {

struct Chosen {
  Event event;
  EventCost cost;
  std::string why;
};

// Chooses events of one thread, as long as they fit. A tool's call and response are chosen together
// or not at all.
class Window {
 public:
  // On the path that runs back from the last event of the index, which is borrowed.
  explicit Window(const ThreadIndex& index) : index_(index) {}

  // Takes the event whatever it costs.
  Result<void> take(Seq seq, const std::string& why);
  // Takes the event and its other half if they fit into `budget`; answers what they cost, 0 if they
  // do not fit or are there already.
  Result<std::uint64_t> take_if_fits(Seq seq, std::uint64_t budget, const std::string& why);

  // Takes the newest of the events in the set until one does not fit into `budget`. False: some are
  // left.
  Result<bool> take_newest(const SeqSet& seqs, std::uint64_t budget, const std::string& why);
  // Gives back what take_newest took, and what it found out on the way.
  void forget_newest();

  const std::map<Seq, Chosen>& chosen() const { return chosen_; }
  std::uint64_t tokens() const { return tokens_; }
  SeqSet seqs() const;
  // Events that take_newest came across and no model is shown.
  const std::vector<Seq>& not_for_models() const { return not_for_models_; }

 private:
  struct Candidates;

  Result<Event> read_one(Seq seq);
  Result<Candidates> read_newest(const SeqSet& seqs, std::uint64_t budget);
  Result<void> find_halves(Candidates& candidates);
  void put(Event event, const EventCost& cost, const std::string& why);

  const ThreadIndex& index_;
  std::map<Seq, Chosen> chosen_;
  std::uint64_t tokens_ = 0;
  std::vector<Seq> newest_;
  std::vector<Seq> not_for_models_;
};

}  // namespace skein
