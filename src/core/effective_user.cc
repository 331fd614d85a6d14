#include "core/effective_user.h"

#include <grp.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "core/file.h"
#include "core/try.h"

namespace skein {
namespace {

bool was_started_by_root() { return ::getuid() == 0; }

Result<std::vector<gid_t>> groups_of_process() {
  const int count = ::getgroups(0, nullptr);
  std::vector<gid_t> groups(count > 0 ? static_cast<std::size_t>(count) : 0);
  const int got = count < 0 ? count : ::getgroups(count, groups.data());
  if (got < 0) return tl::unexpected(io_error("read", "the groups of this process", errno));
  groups.resize(static_cast<std::size_t>(got));
  return groups;
}

}  // namespace

Result<std::unique_ptr<EffectiveUser>> EffectiveUser::become(uid_t user, gid_t group) {
  std::unique_ptr<EffectiveUser> acting(new EffectiveUser);
  if (!was_started_by_root() || (::geteuid() == user && ::getegid() == group)) return acting;
  SKEIN_ASSIGN(acting->groups_before_, groups_of_process());
  if (acting->change(user, group)) return acting;
  return tl::unexpected(io_error("act as user", std::to_string(user), errno));
}

EffectiveUser::EffectiveUser() : user_before_(::geteuid()), group_before_(::getegid()) {}

// Groups can be changed by root alone. They are first: where that is denied, nothing has changed.
bool EffectiveUser::change(uid_t user, gid_t group) {
  changed_ = true;
  if (::seteuid(0) != 0 || ::setgroups(1, &group) != 0) return false;
  groups_changed_ = true;
  return ::setegid(group) == 0 && ::seteuid(user) == 0;
}

EffectiveUser::~EffectiveUser() {
  if (!changed_) return;
  const bool restored =
      ::seteuid(0) == 0 && ::setegid(group_before_) == 0 &&
      (!groups_changed_ || ::setgroups(groups_before_.size(), groups_before_.data()) == 0) &&
      ::seteuid(user_before_) == 0;
  if (!restored) std::abort();
}

}  // namespace skein
