#include "core/fibers.h"

#include <cassert>
#include <new>
#include <utility>

namespace skein {
namespace {

// Whose fibers run on this thread just now, or are settled.
thread_local Fibers* at_work = nullptr;

}  // namespace

Fibers::~Fibers() { assert(all_.empty()); }

Fibers* Fibers::current() { return Fiber::current() == nullptr ? nullptr : at_work; }

void Fibers::pause(Work look) {
  Fiber& self = *Fiber::current();
  Work& own = at_work->all_.at(&self).look;
  own = std::move(look);
  self.pause();
  own = nullptr;
}

bool Fibers::is_own_thread() const { return at_work == this; }

template <class Change>
void Fibers::change(Change change) {
  {
    const std::lock_guard lock(mutex_);
    change();
  }
  // Otherwise the thread looks by itself before it sleeps.
  if (!is_own_thread()) hooks_.wake();
}

void Fibers::go_on(Fiber& fiber) {
  change([&] { ready_.push_back(&fiber); });
}

void Fibers::do_last(Work work) {
  change([&] { last_.push_back(std::move(work)); });
}

bool Fibers::start(Work work, Work then) {
  Fiber* begun = nullptr;
  try {
    auto fiber = std::make_unique<Fiber>(std::move(work));
    begun = fiber.get();
    all_.emplace(begun, Member{std::move(fiber), std::move(then), {}});
  } catch (const std::bad_alloc&) {
    return false;
  }
  run(*begun);
  return true;
}

void Fibers::run(Fiber& fiber) {
  Fibers* const before = std::exchange(at_work, this);
  fiber.resume();
  at_work = before;
  if (!fiber.is_over()) return;
  const auto member = all_.extract(&fiber);
  member.mapped().then();
}

bool Fibers::settle() {
  std::vector<Fiber*> ready;
  std::vector<Work> last;
  {
    const std::lock_guard lock(mutex_);
    ready.swap(ready_);
    if (ready.empty()) last.swap(last_);
  }
  for (Fiber* fiber : ready) run(*fiber);
  do_now(last);
  return !ready.empty() || !last.empty();
}

void Fibers::do_now(std::span<const Work> all) {
  Fibers* const before = std::exchange(at_work, this);
  for (const Work& work : all) work();
  at_work = before;
}

void Fibers::tick() {
  for (const auto& [fiber, member] : all_) {
    if (member.look) do_now({&member.look, 1});
  }
}

}  // namespace skein
