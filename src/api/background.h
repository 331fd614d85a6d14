// What goes on while a workspace is served, without anybody asking for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <thread>

#include "api/service.h"

namespace skein {

// Indexes messages as they arrive, runs what triggers say, and closes what dead processes left
// open, until it goes. Each has a thread of its own, and an error of one of them is logged and
// tried again. Thread-safe. Borrows the service.
class Background {
 public:
  explicit Background(Service& service);
  // Ends all of it, and waits for that.
  void stop();

  // Messages that are not indexed yet; nothing, until the index is open.
  std::optional<std::uint64_t> index_lag();

 private:
  void index(const std::stop_token& stop);
  void run_triggers(const std::stop_token& stop);
  void recover(const std::stop_token& stop);
  void log_unsigned();

  Service& service_;
  std::atomic<Recall*> recall_{nullptr};
  std::jthread indexer_;
  std::jthread triggers_;
  std::jthread recovery_;
};

}  // namespace skein
