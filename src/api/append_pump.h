// Turns waiting appends into batches: one call of the store, one flush, for all that came
// meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "skein/store.h"

namespace skein {

namespace limits {
inline constexpr std::size_t kMaxPumpedAppends = 8192;                  // that wait
inline constexpr std::size_t kMaxPumpedBytes = std::size_t{128} << 20;  // of these, about
}  // namespace limits

// As ThreadManager::append: threads that take no messages refuse, unless a fence is given. Appends
// to one thread happen in the order of the calls. Thread-safe. Borrows the store.
class AppendPump {
 public:
  // On the pump's thread, in the order of the appends; must not block.
  using Done = std::function<void(std::vector<Result<Appended>> results)>;

  explicit AppendPump(Store& store);
  // What waits is still written.
  ~AppendPump();
  AppendPump(const AppendPump&) = delete;
  AppendPump& operator=(const AppendPump&) = delete;

  // Never waits. `appends` may be for different threads; expect_version is the pump's own. kBusy:
  // too many wait already, and `done` is not called.
  Result<void> submit(std::vector<Append> appends, Done done);

  struct Figures {
    std::size_t waiting = 0;
    std::uint64_t batches = 0;
    std::uint64_t appends = 0;
  };
  Figures figures() const;
  // Told the size of each batch; set before the first append.
  void on_batch(std::function<void(std::size_t appends)> told);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skein
