#include "core/path_inside.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <deque>

#include "core/quote.h"

namespace skein {
namespace fs = std::filesystem;

bool is_inside(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

Result<std::string> resolve_inside(const std::string& folder, std::string_view relative) {
  const fs::path path(relative);
  if (path.empty() || path.is_absolute() ||
      std::find(path.begin(), path.end(), "..") != path.end()) {
    return fail(ErrorCode::kInvalid, "must be a relative path without \"..\" to a file inside " +
                                         quote(folder, 200) + ", not " + quote(relative, 200));
  }
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  const fs::path target = error ? fs::path() : fs::canonical(root / path, error);
  if (error) {
    return fail(ErrorCode::kNotFound, "names " + quote((fs::path(folder) / path).string(), 200) +
                                          ", which cannot be read: " + error.message());
  }
  if (is_inside(target, root)) return target.string();
  return fail(ErrorCode::kInvalid, "names " + quote((fs::path(folder) / path).string(), 200) +
                                       ", a link that leads out of " + quote(folder, 200));
}

bool differs_between_processes(const fs::path& path) {
  constexpr int kMostLinks = 40;  // as the kernel follows
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  std::deque<fs::path> rest(whole.begin(), whole.end());
  fs::path done = "/";
  for (int links = 0; !rest.empty() && links <= kMostLinks;) {
    const fs::path name = rest.front();
    rest.pop_front();
    done = name == ".." ? done.parent_path() : done / name;
    struct statfs status{};
    if (::statfs(done.c_str(), &status) == 0 && status.f_type == PROC_SUPER_MAGIC) return true;
    const fs::path target = fs::read_symlink(done, error);
    if (error) continue;
    ++links;
    rest.insert(rest.begin(), target.begin(), target.end());
    done = done.parent_path();
  }
  return false;
}

}  // namespace skein
