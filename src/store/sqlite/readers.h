// Connections for reading, shared by the threads of this process.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/sqlite.h"
#include "core/try.h"

namespace skein::sqlite {

// Thread-safe. Connections are made when they are needed, up to a bound; then callers wait.
class Readers {
 public:
  explicit Readers(std::string path) : path_(std::move(path)) {}

  // Calls `action` with a connection, inside one snapshot of the file. Nothing of the caller's may
  // run in there: a snapshot that stays open keeps the write-ahead log from being cleared.
  template <class T>
  Result<T> with(const std::function<Result<T>(Database&)>& action) {
    SKEIN_ASSIGN(std::unique_ptr<Database> database, take());
    auto begun = begin(*database);
    Result<T> answer = begun ? action(*database) : tl::unexpected(begun.error());
    if (begun) end(*database);
    give_back(std::move(database));
    return answer;
  }

 private:
  static constexpr std::size_t kMost = 8;

  Result<std::unique_ptr<Database>> take();
  void give_back(std::unique_ptr<Database> database);
  static Result<void> begin(Database& database);
  static void end(Database& database);

  const std::string path_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Database>> idle_;  // under mutex_
  std::size_t made_ = 0;                         // under mutex_
};

}  // namespace skein::sqlite
