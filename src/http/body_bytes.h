// What the bodies of all requests under way take up.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace skein::http {

// Thread-safe; its charges are for one thread at a time.
class BodyBytes {
 public:
  std::size_t total() const { return *total_; }

  // What one body takes up, until this goes: also on another thread, and after everything else.
  class Charge {
   public:
    Charge() = default;
    explicit Charge(const BodyBytes& all) : total_(all.total_) {}
    ~Charge() {
      if (bytes_ > 0) *total_ -= bytes_;
    }
    Charge(Charge&& other) noexcept
        : total_(other.total_), bytes_(std::exchange(other.bytes_, 0)) {}
    Charge& operator=(Charge&& other) noexcept {
      std::swap(total_, other.total_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }

    void add(std::size_t bytes) {
      bytes_ += bytes;
      *total_ += bytes;
    }

   private:
    std::shared_ptr<std::atomic<std::size_t>> total_;
    std::size_t bytes_ = 0;
  };

 private:
  const std::shared_ptr<std::atomic<std::size_t>> total_ =
      std::make_shared<std::atomic<std::size_t>>(0);
};

}  // namespace skein::http
