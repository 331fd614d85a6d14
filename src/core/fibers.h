// All fibers of one thread: who can go on, and what the others wait for.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/fiber.h"

namespace skein {

// Many pieces of work take turns on one thread: whoever has to wait for a flush lets the others go
// on, and when nobody can, the thread flushes for all of them. No change of threads on the way.
//
// What fibers wait for has to know them (core/group_commit.h); everything else that blocks, blocks
// the whole thread.
class Fibers {
 public:
  using Work = std::function<void()>;  // must not throw

  struct Hooks {
    std::function<void()> wake;           // the thread is to look again; from any thread
    std::function<void(Work)> elsewhere;  // does the work on some other thread
  };
  explicit Fibers(Hooks hooks) : hooks_(std::move(hooks)) {}
  // All of them have to be over.
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  // --- On the thread, outside of fibers ---
  // Begins at once, and returns when it waits or is over. `then` follows on the thread, outside of
  // any fiber. False: there is no memory for it, and nothing was begun.
  [[nodiscard]] bool start(Work work, Work then);
  // Lets go on who can; if nobody can, does what they wait for. False: there was nothing to do.
  bool settle();
  // Time has passed: those who wait look whether they still want to. Several times a second.
  void tick();
  // That are not over.
  std::size_t size() const { return all_.size(); }

  // --- Inside of a fiber ---
  // Those of this thread; null: the caller is not inside of one.
  static Fibers* current();
  // Until somebody calls go_on() with it, once for each time. `look` is called meanwhile with each
  // tick(), outside of the fiber; it must not start others.
  static void pause(Work look = {});

  // --- Any thread ---
  void go_on(Fiber& fiber);
  // On the thread, once nobody can go on.
  void do_last(Work work);
  void do_elsewhere(Work work) { hooks_.elsewhere(std::move(work)); }

 private:
  struct Member {
    std::unique_ptr<Fiber> fiber;
    Work then;
    Work look;  // while it waits
  };

  void run(Fiber& fiber);
  void do_now(std::span<const Work> all);
  bool is_own_thread() const;
  template <class Change>
  void change(Change change);

  const Hooks hooks_;
  // The thread's own:
  std::unordered_map<Fiber*, Member> all_;

  std::mutex mutex_;  // protects the next two
  std::vector<Fiber*> ready_;
  std::vector<Work> last_;
};

}  // namespace skein
