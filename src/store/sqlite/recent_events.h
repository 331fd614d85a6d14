// The last events of a thread, in memory.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "skein/store.h"
#include "store/checks.h"
#include "store/sqlite/event_row.h"

namespace skein::sqlite {

// A few of them, and bounded in bytes: the oldest go when more come. A value; not thread-safe.
class RecentEvents {
 public:
  // A copy, so that it can be used whatever happens to the thread. Its body is followed by
  // JsonObjectReader::kPadding bytes.
  struct Kept {
    explicit Kept(const EventRow& original);
    EventRow row;
    std::string bytes;
  };
  using Rows = std::vector<std::shared_ptr<const Kept>>;

  // Of rows one after the other, up to the last of the thread, in the order of the direction, and
  // all branches of the thread. Nothing: there are too many, or some could not be read.
  static std::optional<RecentEvents> of(std::span<const EventRow> rows, Direction direction,
                                        std::vector<Branch> branches);

  // False: there are too many branches by now, and this is to be forgotten.
  bool add(std::shared_ptr<const Kept> event, std::optional<Seq> base);

  // What the range asks for, in its order. False: some of it is not here.
  bool read(const ReadRange& range, Rows& out) const;

  Seq last() const { return first_ + rows_.size() - 1; }
  std::size_t size() const { return rows_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  void push(std::shared_ptr<const Kept> event);

  Seq first_ = 1;
  Rows rows_;
  std::vector<Branch> branches_;
  std::size_t bytes_ = 0;
};

}  // namespace skein::sqlite
