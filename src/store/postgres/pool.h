// Connections for reading, shared by the threads of this process.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/try.h"
#include "store/postgres/connection.h"

namespace skein::postgres {

// How long to wait before the next attempt to reach a server: longer every time, up to a bound.
class Backoff {
 public:
  // False: the deadline leaves no room for another attempt.
  bool wait(Deadline deadline);

 private:
  std::chrono::milliseconds next_{20};
};

// Thread-safe. Connections are made when they are needed, up to a bound; then callers wait.
class Pool {
 public:
  explicit Pool(const Settings& settings) : settings_(settings) {}

  // Calls `action` with a connection. Nothing of the caller's may run in there. What fails because
  // the server went away is done again, on another connection, until the time is up; so `action`
  // only reads.
  template <class T>
  Result<T> with(const std::function<Result<T>(Connection&, Deadline)>& action) {
    const Deadline deadline = std::chrono::steady_clock::now() + settings_.timeout;
    Backoff backoff;
    for (;;) {
      bool passing = true;
      auto answer = attempt<T>(action, deadline, passing);
      if (answer || !passing || !backoff.wait(deadline)) return answer;
    }
  }

  // A connection that was made elsewhere.
  void add(std::unique_ptr<Connection> connection);

 private:
  static constexpr std::size_t kMost = 8;

  template <class T>
  Result<T> attempt(const std::function<Result<T>(Connection&, Deadline)>& action,
                    Deadline deadline, bool& passing) {
    SKEIN_ASSIGN(std::unique_ptr<Connection> connection, take(deadline));
    Result<T> answer = action(*connection, deadline);
    passing = connection->failure().passing();
    give_back(std::move(connection));
    return answer;
  }

  Result<std::unique_ptr<Connection>> take(Deadline deadline);
  void give_back(std::unique_ptr<Connection> connection);

  const Settings& settings_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Connection>> idle_;  // under mutex_
  std::size_t made_ = 0;                           // under mutex_: idle or in use
};

}  // namespace skein::postgres
