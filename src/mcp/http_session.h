// What the versions until 2025-11-25 keep of a client between its requests over HTTP. A session is
// transport: it says which requests belong together, never who somebody is.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "mcp/outbox.h"
#include "mcp/peer.h"
#include "skein/ids.h"

namespace skein::mcp {

// The messages of one answer, or those that belong to none. The newest are kept, so that a reader
// whose connection broke can go on where it was. Thread-safe.
class KeptStream {
 public:
  // `number` is its place in the session; ids of events are "<number>-<n>".
  explicit KeptStream(std::uint64_t number) : number_(number) {}

  // A first event without data: from then on a reader can come again.
  void prime();
  void send(std::string_view message);
  // Nothing will follow.
  void finish();
  bool finished() const;
  bool has_reader() const;

  // Puts what came after event `after` into the outbox, and what will come. Whoever read before
  // gets no more.
  void attach(std::shared_ptr<Outbox> outbox, std::uint64_t after);
  // Lets the reader go, as if the connection had broken.
  void cut();

 private:
  std::string next_id_under_lock();
  void put_under_lock(std::string frame);

  const std::uint64_t number_;
  mutable std::mutex mutex_;
  std::deque<std::pair<std::uint64_t, std::string>> kept_;  // under mutex_, as all below
  std::size_t bytes_ = 0;
  std::uint64_t last_ = 0;  // event
  bool finished_ = false;
  std::shared_ptr<Outbox> live_;
};

// Thread-safe.
class Session {
 public:
  using Steady = std::chrono::steady_clock;

  Session(std::string id, std::string key);
  ~Session() { end(); }

  const std::string& id() const { return id_; }
  // The key that it began with, which all its requests must come with.
  const std::string& key() const { return key_; }
  Peer& peer() { return peer_; }
  // Messages that belong to no request.
  KeptStream& general() { return *general_; }

  // One more answer that is a stream. The oldest that are finished are forgotten beyond a limit.
  std::shared_ptr<KeptStream> new_stream();
  // Where an event id leads: its stream, and its number in it. Nothing: it is not ours, or too old.
  std::optional<std::pair<std::shared_ptr<KeptStream>, std::uint64_t>> find(std::string_view event);

  // A request under way; nothing: its id is taken.
  std::optional<std::stop_source> open(const Json& id);
  void close(const Json& id);
  void cancel(const Json& id);

  void touch();
  Steady::time_point touched() const;
  void end();

 private:
  const std::string id_;
  const std::string key_;
  std::shared_ptr<KeptStream> general_ = std::make_shared<KeptStream>(0);

  mutable std::mutex mutex_;
  std::uint64_t next_stream_ = 1;  // under mutex_, as all below
  std::map<std::uint64_t, std::shared_ptr<KeptStream>> streams_;
  std::map<std::string, std::stop_source> open_;
  Steady::time_point touched_ = Steady::now();

  Peer peer_;  // the first to go: it sends to the general stream
};

// All sessions of one server. Thread-safe.
class Sessions {
 public:
  explicit Sessions(IdSource& ids) : ids_(ids) {}

  // Beyond limits::kMaxSessions the one that was used longest ago goes.
  std::shared_ptr<Session> make(const std::string& key);
  // Nothing, if there is none of that id for that key.
  std::shared_ptr<Session> find(const std::string& id, const std::string& key);
  // False: there is none.
  bool end(const std::string& id, const std::string& key);
  void end_all();

 private:
  IdSource& ids_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Session>> sessions_;  // under mutex_
};

}  // namespace skein::mcp
