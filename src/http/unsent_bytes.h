// What answers take up that clients have not taken yet.
#pragma once

#include <cstddef>
#include <unordered_map>

#include "http/stream.h"

namespace skein::http {

// Bytes that many readers share count once. For one thread.
class UnsentBytes {
 public:
  void add(const Bytes& bytes) {
    if (bytes->size() <= kSmall || readers_[bytes.get()]++ == 0) total_ += bytes->size();
  }
  void remove(const Bytes& bytes) {
    if (bytes->size() > kSmall) {
      const auto found = readers_.find(bytes.get());
      if (--found->second > 0) return;
      readers_.erase(found);
    }
    total_ -= bytes->size();
  }
  std::size_t total() const { return total_; }

 private:
  static constexpr std::size_t kSmall = 4096;  // not worth a look whether it is shared
  std::unordered_map<const std::string*, std::size_t> readers_;
  std::size_t total_ = 0;
};

}  // namespace skein::http
