// What a transaction writes, gathered so that many rows go in one statement.
#pragma once

#include <map>
#include <set>
#include <string_view>

#include "store/postgres/connection.h"
#include "store/postgres/loading.h"
#include "store/postgres/rows.h"

namespace skein::postgres {

// An event that a transaction puts at the end of a thread.
struct AddedEvent {
  ThreadId thread;
  Seq seq = 0;
  std::int64_t g = 0;  // 0: the server chooses
  const PreparedEvent* event = nullptr;
};

// Queues on the connection, and waits for nothing. Where heads move on together with their events
// it queues nothing by itself.
class WriteBatch {
 public:
  // By its mark a transaction knows its events again.
  WriteBatch(Connection& connection, Loaded& found, std::int64_t own_mark)
      : loaded(found), mark(own_mark), connection_(connection) {}

  Loaded& loaded;
  const std::int64_t mark;

  // Puts the event at the end of its thread and moves the head on. The caller has checked
  // everything. `event` is borrowed.
  void add_event(Head& head, const PreparedEvent& event);
  // A line of the feed that is not an event; returns its place.
  std::int64_t add_change(Change change);
  // The line of the feed at `g` tells of what is no longer so.
  void overtake(std::int64_t g) { overtaken_.add(g); }
  // So does the one that tells of the record's deletion, if there is one.
  void overtake_deletion(const RecordName& name);
  // `bytes` is borrowed. `exists`: whether there is such a record. If another transaction made it
  // meanwhile, this one fails.
  void put_record(const RecordName& name, Version version, std::string_view bytes, bool exists);

  // Everything else: after what was gathered so far.
  void queue(std::string_view sql, const Arguments& arguments);
  // What was gathered goes to the connection.
  void flush();
  // The same where heads move on together with their events (Loaded::grown), as a transaction of
  // its own. Whether it went through, its answers say; or it fails because it did not.
  void queue_growth(const Entering& entering);
  static bool grew(const std::vector<Answer>& answers);
  static bool changed_since(const Failure& failure);

  // Whether anything was written at all.
  bool wrote() const { return wrote_; }

 private:
  static constexpr std::size_t kFlushBytes = std::size_t{4} << 20;

  Arguments events_as_columns() const;  // and the mark
  void flush_events();
  void flush_branches();
  void flush_heads();
  void flush_changes();
  void flush_overtaken();
  void flush_records();
  void queue_records(const char* sql, bool exists);

  using Type = Column::Type;
  Connection& connection_;
  bool wrote_ = false;
  std::size_t bytes_ = 0;

  std::vector<AddedEvent> events_;
  struct {
    Column id{Type::kBigint}, seq{Type::kBigint}, base{Type::kBigint};
  } branches_;
  std::set<ThreadId> moved_;  // whose heads moved on
  struct {
    Column g{Type::kBigint}, kind{Type::kBigint}, thread{Type::kBigint}, collection{Type::kText},
        key{Type::kBytes}, crc{Type::kBigint};
  } changes_;
  Column overtaken_{Type::kBigint};
  struct {
    Column collection{Type::kText}, key{Type::kBytes};
  } undeleted_;
  // In the order of their names: whoever inserts the same ones waits, but never in a circle.
  struct Put {
    Version version = 0;
    std::string_view bytes{};
    bool exists = false;
  };
  std::map<RecordName, Put> records_;
};

}  // namespace skein::postgres
