#include "api/transfer/folders/source_folder.h"

#include <algorithm>

#include "core/file.h"
#include "core/json.h"
#include "core/path_inside.h"
#include "core/try.h"

namespace skein {
namespace fs = std::filesystem;

Result<std::optional<std::string>> SourceFolder::resolve(std::string_view relative) const {
  auto resolved = resolve_inside(path_.string(), relative);
  if (resolved) return std::optional(std::move(*resolved));
  if (resolved.error().code == ErrorCode::kNotFound) return std::optional<std::string>();
  return fail(resolved.error().code, at(relative).string() + ": " + resolved.error().message);
}

Result<std::optional<std::string>> SourceFolder::resolve_file(std::string_view relative) const {
  SKEIN_ASSIGN(auto path, resolve(relative));
  std::error_code error;
  if (path && !fs::is_regular_file(*path, error)) {
    return fail(ErrorCode::kInvalid, at(relative).string() + ": is no regular file");
  }
  return path;
}

bool SourceFolder::has(std::string_view relative) const {
  std::error_code error;
  return fs::exists(fs::symlink_status(at(relative), error));
}

Result<std::optional<std::string>> SourceFolder::read(std::string_view relative,
                                                      std::size_t limit) const {
  SKEIN_ASSIGN(const auto path, resolve(relative));
  if (!path) return std::optional<std::string>();
  SKEIN_ASSIGN(auto text, read_file(*path, limit));
  if (!text) return fail(ErrorCode::kInvalid, at(relative).string() + ": is no regular file");
  return std::optional(std::move(*text));
}

Result<std::optional<std::string>> SourceFolder::read_json(std::string_view relative,
                                                           std::size_t limit) const {
  SKEIN_ASSIGN(auto text, read(relative, limit));
  if (text) SKEIN_TRY(validate_json(*text, at(relative).string(), kMaxDocumentDepth + 1));
  return text;
}

std::vector<std::string> SourceFolder::names(std::string_view relative) const {
  const auto path = resolve(relative);
  if (!path || !*path) return {};
  auto names = list_folder(**path);
  if (!names) return {};
  std::erase_if(*names, [](const std::string& name) { return name.starts_with('.'); });
  return std::move(*names);
}

bool SourceFolder::is_folder(std::string_view relative) const {
  const auto path = resolve(relative);
  std::error_code error;
  return path && *path && fs::is_directory(**path, error);
}

}  // namespace skein
