// Another effective user for a while, for programs that root started.
#pragma once

#include <sys/types.h>

#include <memory>
#include <vector>

#include "skein/error.h"

namespace skein {

// While it lives, the whole process has the rights of another user and group. Those that nest end
// in reverse order. Programs started meanwhile can become root again: start only trusted ones.
class EffectiveUser {
 public:
  // Changes nothing in a process that root did not start, or that acts as that user already.
  // kIo: the process may not change its user or groups (no CAP_SETUID or CAP_SETGID, or an id that
  // its user namespace does not map); then it has the rights that it had before.
  static Result<std::unique_ptr<EffectiveUser>> become(uid_t user, gid_t group);
  // Aborts where the rights from before cannot be restored: the process must not go on with others.
  ~EffectiveUser();
  EffectiveUser(const EffectiveUser&) = delete;
  EffectiveUser& operator=(const EffectiveUser&) = delete;

 private:
  EffectiveUser();
  bool change(uid_t user, gid_t group);

  const uid_t user_before_;
  const gid_t group_before_;
  std::vector<gid_t> groups_before_;
  bool changed_ = false;
  bool groups_changed_ = false;
};

}  // namespace skein
