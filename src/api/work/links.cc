#include "api/work/links.h"

#include "core/try.h"

namespace skein {

Result<bool> thread_is_gone(Store& store, const std::string& thread) {
  if (thread.empty()) return false;
  const auto ref = ThreadRef::parse(thread);
  if (!ref) return false;
  SKEIN_ASSIGN(const auto manifest, store.get(*ref));
  return !manifest.has_value();
}

}  // namespace skein
