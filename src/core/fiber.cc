#include "core/fiber.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cassert>
#include <new>
#include <utility>
#include <vector>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SKEIN_FIBERS_FOR_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#if __has_feature(thread_sanitizer)
#define SKEIN_FIBERS_FOR_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#endif

namespace skein {
namespace {

constexpr std::size_t kStackBytes = std::size_t{1} << 20;  // of which few are ever touched
constexpr std::size_t kKeptStacks = 16;

// Memory with a page before it that nobody may touch: a stack that grows too far ends the program
// there, and not in somebody else's memory.
class Stack {
 public:
  Stack() : guard_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {
    memory_ = ::mmap(nullptr, guard_ + kStackBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    ::mprotect(memory_, guard_, PROT_NONE);
  }
  ~Stack() {
    if (memory_ != nullptr) ::munmap(memory_, guard_ + kStackBytes);
  }
  Stack(Stack&& other) noexcept
      : guard_(other.guard_), memory_(std::exchange(other.memory_, nullptr)) {}
  Stack& operator=(Stack&& other) noexcept {
    std::swap(guard_, other.guard_);
    std::swap(memory_, other.memory_);
    return *this;
  }

  void* bottom() const { return static_cast<char*>(memory_) + guard_; }

 private:
  std::size_t guard_;
  void* memory_ = nullptr;
};

// Of each thread: those of fibers that are over, for the next ones.
thread_local std::vector<Stack> spare_stacks;
thread_local Fiber* running = nullptr;

Stack take_stack() {
  if (spare_stacks.empty()) return Stack();
  Stack stack = std::move(spare_stacks.back());
  spare_stacks.pop_back();
  return stack;
}

void give_back(Stack stack) {
  if (spare_stacks.size() < kKeptStacks) spare_stacks.push_back(std::move(stack));
}

// What sanitizers must be told of a change from one stack to another.
class Side {
 public:
#if defined(SKEIN_FIBERS_FOR_ASAN)
  void leave_for(const Side& other, bool for_good = false) {
    __sanitizer_start_switch_fiber(for_good ? nullptr : &fake_, other.bottom_, other.bytes_);
  }
  // `from` learns where its stack is.
  void arrive(Side& from) { __sanitizer_finish_switch_fiber(fake_, &from.bottom_, &from.bytes_); }
  void set_stack(const void* bottom, std::size_t bytes) {
    bottom_ = bottom;
    bytes_ = bytes;
  }

 private:
  void* fake_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
#elif defined(SKEIN_FIBERS_FOR_TSAN)
  ~Side() {
    if (own_) __tsan_destroy_fiber(fiber_);
  }
  void leave_for(const Side& other, bool /*for_good*/ = false) {
    if (!own_) fiber_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(other.fiber_, 0);
  }
  void arrive(Side& /*from*/) {}
  void set_stack(const void* /*bottom*/, std::size_t /*bytes*/) {
    fiber_ = __tsan_create_fiber(0);
    own_ = true;
  }

 private:
  void* fiber_ = nullptr;
  bool own_ = false;
#else
  void leave_for(const Side& /*other*/, bool /*for_good*/ = false) {}
  void arrive(Side& /*from*/) {}
  void set_stack(const void* /*bottom*/, std::size_t /*bytes*/) {}
#endif
};

}  // namespace

struct Fiber::Impl {
  explicit Impl(Work with) : work(std::move(with)) {}

  static void enter() {
    // Nothing with a destructor: nobody comes back to this frame when the work is done.
    Impl* const self = running->impl_.get();
    self->own.arrive(self->thread);
    self->work();
    self->work = nullptr;
    self->over = true;
    self->own.leave_for(self->thread, true);
    ::setcontext(&self->outside);
  }

  Work work;
  Stack stack = take_stack();
  ucontext_t inside{};
  ucontext_t outside{};
  Side own;
  Side thread;
  bool over = false;
  bool begun = false;
};

Fiber::Fiber(Work work) : impl_(std::make_unique<Impl>(std::move(work))) {
  Impl& impl = *impl_;
  ::getcontext(&impl.inside);
  impl.inside.uc_stack.ss_sp = impl.stack.bottom();
  impl.inside.uc_stack.ss_size = kStackBytes;
  impl.inside.uc_link = nullptr;
  impl.own.set_stack(impl.stack.bottom(), kStackBytes);
  ::makecontext(&impl.inside, &Impl::enter, 0);
}

Fiber::~Fiber() {
  assert(!impl_->begun || impl_->over);
  give_back(std::move(impl_->stack));
}

bool Fiber::is_over() const { return impl_->over; }
Fiber* Fiber::current() { return running; }

void Fiber::resume() {
  assert(running == nullptr && !impl_->over);
  running = this;
  impl_->begun = true;
  impl_->thread.leave_for(impl_->own);
  ::swapcontext(&impl_->outside, &impl_->inside);
  impl_->thread.arrive(impl_->own);
  running = nullptr;
}

void Fiber::pause() {
  assert(running == this);
  impl_->own.leave_for(impl_->thread);
  ::swapcontext(&impl_->inside, &impl_->outside);
  impl_->own.arrive(impl_->thread);
}

}  // namespace skein
