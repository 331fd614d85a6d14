#include "api/trust_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

#include "core/effective_user.h"
#include "core/file.h"
#include "core/file_lock.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"
#include "skein/json.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20;
constexpr std::int64_t kVersion = 1;

tl::unexpected<Error> wrong(const fs::path& file, std::string_view reason) {
  return fail(ErrorCode::kInvalid, fmt::format("trust file {}: {}", file.string(), reason));
}

// Only the user and root may decide what is trusted.
Result<std::size_t> checked_size(const fs::path& file, const Fd& fd) {
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) {
    return tl::unexpected(io_error("stat", file.string(), errno));
  }
  if (!S_ISREG(status.st_mode)) return wrong(file, "is not a regular file");
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    return wrong(file, fmt::format("belongs to user {}, not to user {} or root", status.st_uid,
                                   ::geteuid()));
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return wrong(file, fmt::format("can be written by others (mode {:04o}); run \"chmod 600 {}\"",
                                   status.st_mode & 07777U, file.string()));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > kMaxFileBytes)
    return wrong(file, fmt::format("has more than {} bytes", kMaxFileBytes));
  return size;
}

Result<TrustGrant> parse_grant(RawJson json) {
  JsonFields fields(json);
  TrustGrant grant;
  grant.digest = fields.take_string("digest").value_or("");
  grant.allows = fields.take_strings("allows").value_or(std::vector<std::string>{});
  grant.granted_at = fields.take_time("grantedAt").value_or(Timestamp{});
  if (grant.digest.size() != 64) return fail(ErrorCode::kInvalid, "a definition has no digest");
  return grant;
}

Result<TrustGrants> parse_grants(std::string_view text) {
  SKEIN_ASSIGN(const Json object, Json::parse_object(text));
  JsonFields fields(object.text());
  const auto version = fields.take_int("version");
  if (version != kVersion) {
    return fail(ErrorCode::kInvalid,
                fmt::format("has version {}; this program reads version {}",
                            version ? std::to_string(*version) : "none", kVersion));
  }
  TrustGrants grants;
  const auto workspaces = fields.take_object("workspaces");
  if (!workspaces) return fail(ErrorCode::kInvalid, "has no object \"workspaces\"");
  const JsonFields paths(*workspaces);
  for (const JsonFields::Field& workspace : paths.others()) {
    WorkspaceGrants& granted = grants[workspace.name];
    const JsonFields names(workspace.value);
    for (const JsonFields::Field& name : names.others()) {
      SKEIN_ASSIGN(granted[name.name], parse_grant(name.value));
    }
  }
  return grants;
}

std::string format_grants(const TrustGrants& grants) {
  JsonObject workspaces;
  for (const auto& [path, granted] : grants) {
    JsonObject names;
    for (const auto& [name, grant] : granted) {
      names.add_json(name, JsonObject()
                               .add("digest", grant.digest)
                               .add("allows", grant.allows)
                               .add("grantedAt", grant.granted_at.str())
                               .str());
    }
    workspaces.add_json(path, names.str());
  }
  return JsonObject()
             .add("version", static_cast<std::uint64_t>(kVersion))
             .add_json("workspaces", workspaces.str())
             .str() +
         "\n";
}

}  // namespace

Result<TrustGrants> read_trust_file(const fs::path& file) {
  const auto fd = open_file(file.string(), O_RDONLY);
  if (!fd) {
    if (fd.error().code == ErrorCode::kNotFound) return TrustGrants{};
    std::error_code error;
    if (fs::is_symlink(file, error)) {
      return wrong(file, "is a symbolic link; put the file itself there");
    }
    return tl::unexpected(fd.error());
  }
  SKEIN_ASSIGN(const std::size_t size, checked_size(file, *fd));
  std::string text(size, '\0');
  SKEIN_ASSIGN(const std::size_t got, read_at(*fd, file.string(), 0, text.data(), size));
  text.resize(got);
  auto grants = parse_grants(text);
  if (!grants) return wrong(file, grants.error().message);
  return grants;
}

namespace {

Result<void> make_public(const std::string& path, mode_t mode) {
  if (::chmod(path.c_str(), mode) == 0) return {};
  return tl::unexpected(io_error("set the mode of", path, errno));
}

}  // namespace

Result<void> change_trust_file(const fs::path& file, FolderOwner owner,
                               const std::function<void(TrustGrants&)>& change) {
  Flusher flusher;
  const std::string folder = file.parent_path().string();
  const bool is_system = owner == FolderOwner::kSystem;
  std::unique_ptr<EffectiveUser> root;
  if (is_system) {
    SKEIN_ASSIGN(root, EffectiveUser::become(0, 0));
  }
  SKEIN_TRY(make_folders(parent_folder(folder), flusher));
  SKEIN_ASSIGN(const bool made, make_folder(folder));
  if (made && is_system) SKEIN_TRY(make_public(folder, 0755));
  SKEIN_ASSIGN(const Fd lock_file, open_file(file.string() + ".lock", O_RDWR | O_CREAT, 0600));
  SKEIN_ASSIGN(const FileLock lock, FileLock::acquire(lock_file.get(), 0, LockMode::kExclusive));
  SKEIN_ASSIGN(TrustGrants grants, read_trust_file(file));
  change(grants);
  SKEIN_TRY(replace_file(file.string(), format_grants(grants), flusher));
  return is_system ? make_public(file.string(), 0644) : Result<void>();
}

}  // namespace skein
