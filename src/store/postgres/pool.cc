#include "store/postgres/pool.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace skein::postgres {

bool Backoff::wait(Deadline deadline) {
  constexpr std::chrono::milliseconds kLongest{500};
  if (std::chrono::steady_clock::now() + next_ >= deadline) return false;
  std::this_thread::sleep_for(next_);
  next_ = std::min(next_ * 2, kLongest);
  return true;
}

void Pool::add(std::unique_ptr<Connection> connection) {
  const std::lock_guard lock(mutex_);
  ++made_;
  idle_.push_back(std::move(connection));
}

Result<std::unique_ptr<Connection>> Pool::take(Deadline deadline) {
  {
    std::unique_lock lock(mutex_);
    if (!returned_.wait_until(lock, deadline, [&] { return !idle_.empty() || made_ < kMost; }))
      return fail(ErrorCode::kIo, "all connections to PostgreSQL are in use");
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
    ++made_;
  }
  auto opened = Connection::open(settings_);
  if (!opened) {
    const std::lock_guard lock(mutex_);
    --made_;
    returned_.notify_one();
  }
  return opened;
}

void Pool::give_back(std::unique_ptr<Connection> connection) {
  if (!connection->usable()) connection.reset();  // closed outside of the lock
  const std::lock_guard lock(mutex_);
  if (connection)
    idle_.push_back(std::move(connection));
  else
    --made_;
  returned_.notify_one();
}

}  // namespace skein::postgres
