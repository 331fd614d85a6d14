#include "core/path_inside.h"

#include <algorithm>

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

}  // namespace skein
