// A store under random work, and what it answered, in words that are the same on every backend.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "skein/store.h"
#include "support/backend.h"

namespace skein::test {

enum class Deed {
  kCreate,
  kFork,
  kGet,
  kList,
  kNextPage,
  kUpdate,
  kRemove,
  kAppend,
  kRead,
  kLease,
  kWrite,
  kTogether,
  kScan,
  kFeed,
  kCheck,
  kAdvance,
  kReboot,
  kReopen,
};

// All details follow from the seed, so that operations can be left out of a sequence and the others
// still mean the same.
struct Operation {
  Deed deed = Deed::kGet;
  std::uint64_t seed = 0;
};

std::vector<Operation> random_operations(std::uint64_t seed, std::size_t count);

// Puts a store in front of another, to break it.
using Wrap = std::function<std::unique_ptr<Store>(Store&)>;

class World {
 public:
  // `feed_in_order`: whether the feed is compared as a whole, or for each thread and record alone.
  World(std::string backend, bool feed_in_order, Wrap wrap = {});

  // What was asked, and what was answered: "append … → seq 3". Versions and lease tokens, which
  // every store chooses as it likes, appear as the order in which they were first seen.
  std::string perform(const Operation& operation);

 private:
  class Dice;

  std::string create(Dice& dice);
  std::string fork(Dice& dice);
  std::string get(Dice& dice);
  std::string list(Dice& dice);
  std::string next_page();
  std::string update(Dice& dice, Writes& in);
  std::string remove(Dice& dice);
  std::string append(Dice& dice, Writes& in);
  std::string read(Dice& dice);
  std::string lease(Dice& dice, Writes& in);
  std::string write(Dice& dice, Writes& in);
  std::string together(Dice& dice);
  std::string scan(Dice& dice);
  std::string feed(Dice& dice);
  std::string check();
  std::string advance(Dice& dice);
  std::string reopen(bool reboot);

  Store& store() { return wrapped_ ? *wrapped_ : backend_.store(); }
  std::string make(const NewThread& thread, const std::string& what);
  Event random_event(Dice& dice, ThreadId thread);
  LeaseToken random_token(Dice& dice, ThreadId thread);
  Version random_version(Dice& dice, const std::string& object);

  std::string tell(const Manifest& manifest);
  std::string tell(const ThreadPage& page);
  std::string tell_version(const std::string& object, Version version);
  std::string tell_token(LeaseToken token);
  std::string tell_changes(const std::vector<Change>& changes) const;

  Backend backend_;
  const bool feed_in_order_;
  const Wrap wrap_;
  std::unique_ptr<Store> wrapped_;

  struct Known {
    std::map<ThreadId, Seq> last_seq;                      // as last seen
    std::map<std::string, std::vector<Version>> versions;  // by object, in the order of appearance
    std::map<ThreadId, std::vector<LeaseToken>> tokens;
    std::vector<LeaseToken> all_tokens;
    std::map<ThreadId, Event> keyed;  // the latest of each thread that has a key
  };
  Known known_;
  ListQuery page_query_;
  std::vector<std::string> cursors_{""};  // of the feed
};

}  // namespace skein::test
