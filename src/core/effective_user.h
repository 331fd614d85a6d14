// Another effective user for a while, for programs that root started.
#pragma once

#include <sys/types.h>

#include <vector>

namespace skein {

// While it lives, the whole process has the rights of that user and group. Does nothing in a
// process that root did not start. Those that nest end in reverse order.
class EffectiveUser {
 public:
  EffectiveUser(uid_t user, gid_t group);
  // Root again, within the life of another one.
  static EffectiveUser root() { return {0, 0}; }
  ~EffectiveUser();
  EffectiveUser(const EffectiveUser&) = delete;
  EffectiveUser& operator=(const EffectiveUser&) = delete;

 private:
  static void become(uid_t user, gid_t group, const std::vector<gid_t>& groups);

  const uid_t user_before_;
  const gid_t group_before_;
  std::vector<gid_t> groups_before_;
};

}  // namespace skein
