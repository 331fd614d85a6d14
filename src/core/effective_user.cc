#include "core/effective_user.h"

#include <grp.h>
#include <unistd.h>

#include <cstdlib>

namespace skein {
namespace {

bool was_started_by_root() { return ::getuid() == 0; }

std::vector<gid_t> groups_of_process() {
  std::vector<gid_t> groups(static_cast<std::size_t>(::getgroups(0, nullptr)));
  groups.resize(
      static_cast<std::size_t>(::getgroups(static_cast<int>(groups.size()), groups.data())));
  return groups;
}

}  // namespace

EffectiveUser::EffectiveUser(uid_t user, gid_t group)
    : user_before_(::geteuid()), group_before_(::getegid()), groups_before_(groups_of_process()) {
  if (was_started_by_root()) become(user, group, {group});
}

EffectiveUser::~EffectiveUser() {
  if (was_started_by_root()) become(user_before_, group_before_, groups_before_);
}

// Groups can be changed by root alone. A process that cannot give up its rights must not go on.
void EffectiveUser::become(uid_t user, gid_t group, const std::vector<gid_t>& groups) {
  if (::seteuid(0) != 0 || ::setegid(group) != 0 ||
      ::setgroups(groups.size(), groups.data()) != 0 || ::seteuid(user) != 0) {
    std::abort();
  }
}

}  // namespace skein
