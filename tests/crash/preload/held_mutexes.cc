// Preloaded into a program: a fiber that lets others go on while it holds a mutex ends it. Whoever
// goes on then may wait for that mutex, and so would the thread that both of them share.

#include <dlfcn.h>
#include <pthread.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>

namespace {

thread_local int held = 0;

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

int counted(int result, int change) {
  if (result == 0) held += change;
  return result;
}

}  // namespace

#define SKEIN_COUNTED(name, type, change)                     \
  extern "C" int name(type* lock) {                           \
    static const auto original = real<int (*)(type*)>(#name); \
    return counted(original(lock), change);                   \
  }

SKEIN_COUNTED(pthread_mutex_lock, pthread_mutex_t, 1)
SKEIN_COUNTED(pthread_mutex_trylock, pthread_mutex_t, 1)
SKEIN_COUNTED(pthread_mutex_unlock, pthread_mutex_t, -1)
SKEIN_COUNTED(pthread_rwlock_rdlock, pthread_rwlock_t, 1)
SKEIN_COUNTED(pthread_rwlock_tryrdlock, pthread_rwlock_t, 1)
SKEIN_COUNTED(pthread_rwlock_wrlock, pthread_rwlock_t, 1)
SKEIN_COUNTED(pthread_rwlock_trywrlock, pthread_rwlock_t, 1)
SKEIN_COUNTED(pthread_rwlock_unlock, pthread_rwlock_t, -1)

extern "C" int swapcontext(ucontext_t* from, const ucontext_t* to) {
  static const auto original = real<int (*)(ucontext_t*, const ucontext_t*)>("swapcontext");
  if (held != 0) {
    std::fprintf(stderr, "a fiber holds %d mutexes while others go on\n", held);
    std::abort();
  }
  return original(from, to);
}
