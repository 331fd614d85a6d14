// Work that can stop in the middle and go on later, with a stack of its own.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace skein {

// Made, resumed and destroyed on one thread. Whatever it holds while it is paused, it holds: a
// mutex, for example, that the next one on the same thread would wait for without end.
class Fiber {
 public:
  using Work = std::function<void()>;  // must not throw

  explicit Fiber(Work work);
  // It has to be over, or never to have begun.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Returns when it pauses, or is over. Not from inside a fiber.
  void resume();
  bool is_over() const;

  // The one that the caller is inside of; null: none.
  static Fiber* current();
  // From inside of it.
  void pause();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skein
