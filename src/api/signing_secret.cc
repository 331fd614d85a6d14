#include "api/signing_secret.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "api/user_folders.h"
#include "core/file.h"
#include "core/own_folder.h"
#include "core/path_inside.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kSecretDigits = 2 * kSecretBytes;
// Containers and sandboxes often have no home folder that can be written.
constexpr std::string_view kServiceFolder =
    ". Skein keeps the secret that signs records outside the workspace: set STATE_DIRECTORY to a "
    "folder named \"skein\" that this user can write, such as /var/lib/skein";

// With all links followed as far as the path exists.
fs::path real_path(const fs::path& path) {
  std::error_code error;
  fs::path found = fs::weakly_canonical(path, error);
  return error ? path.lexically_normal() : found;
}

tl::unexpected<Error> refused(const fs::path& path, std::string_view why) {
  return fail(ErrorCode::kInvalid,
              fmt::format("the signing secret {} is refused: {}", quote(path.string()), why));
}

// What somebody else could have put there, or could read, proves nothing.
Result<void> check_owner(const fs::path& file, const fs::path& part, mode_t denied,
                         std::string_view mode) {
  struct stat st{};
  if (::lstat(part.c_str(), &st) != 0) {
    return tl::unexpected(io_error("stat", part.string(), errno));
  }
  if (S_ISLNK(st.st_mode)) {
    return refused(file, fmt::format("{} is a symbolic link; remove it", part.string()));
  }
  if (st.st_uid != ::geteuid() && st.st_uid != 0) {
    return refused(file, fmt::format("{} belongs to user {}, not to this user ({}); run skein as "
                                     "that user",
                                     part.string(), st.st_uid, ::geteuid()));
  }
  if ((st.st_mode & denied) != 0) {
    return refused(file, fmt::format("other users can access it (mode {:04o}); run chmod {} {}",
                                     st.st_mode & 07777U, mode, part.string()));
  }
  return {};
}

Result<std::string> random_secret() {
  std::array<unsigned char, kSecretBytes> bytes{};
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::getrandom(bytes.data() + filled, bytes.size() - filled, 0);
    if (got < 0 && errno != EINTR) {
      return tl::unexpected(io_error("read random bytes for", "the signing secret", errno));
    }
    if (got > 0) filled += static_cast<std::size_t>(got);
  }
  std::string digits;
  for (const unsigned char byte : bytes) digits += fmt::format("{:02x}", byte);
  return digits;
}

class SecretFile final : public SigningSecret {
 public:
  SecretFile(fs::path folder, fs::path workspace)
      : folder_(std::move(folder)), file_(folder_ / "secret"), workspace_(std::move(workspace)) {}

  Result<std::optional<std::string>> find() const override {
    SKEIN_TRY(check_place());
    struct stat st{};
    if (::lstat(file_.c_str(), &st) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
      return std::optional<std::string>();
    }
    SKEIN_TRY(check_folder());
    SKEIN_TRY(check_owner(file_, file_, S_IRWXG | S_IRWXO, "600"));
    SKEIN_ASSIGN(auto text, read_file(file_.string(), 2 * kSecretDigits));
    if (!text) return std::optional<std::string>();
    while (text->ends_with('\n')) text->pop_back();
    const bool is_hex = text->find_first_not_of("0123456789abcdef") == std::string::npos;
    if (text->size() != kSecretDigits || !is_hex) {
      return refused(file_, fmt::format("it must be {} hex digits; restore it from a backup, or "
                                        "delete it and sign all records again with \"skein trust\"",
                                        kSecretDigits));
    }
    return text;
  }

  Result<std::string> find_or_make() const override {
    SKEIN_ASSIGN(auto found, find());
    if (!found) {
      SKEIN_TRY(make());
      SKEIN_ASSIGN(found, find());  // ours, or that of a process that was faster
    }
    if (!found) return refused(file_, "it was removed while it was made");
    return std::move(*found);
  }

 private:
  // A workspace that brings its own secret would sign its own records.
  Result<void> check_place() const {
    if (!is_inside(real_path(folder_), workspace_)) return {};
    return refused(file_, fmt::format("it lies inside the workspace {}; {}", workspace_.string(),
                                      how_to_separate()));
  }

  std::string how_to_separate() const {
    if (workspace_ == workspace_.root_path()) {
      return "name another workspace with --workspace or SKEIN_WORKSPACE";
    }
    // Neither HOME nor XDG_CONFIG_HOME moves the secret of a service.
    const auto of_service = secret_folder(FolderOwner::kSystem);
    if (of_service && *of_service == folder_) {
      return fmt::format(
          "move the workspace to {}, as docs/server.md describes under \"Upgrade from 0.1\"",
          (folder_ / "workspace").string());
    }
    return "set XDG_CONFIG_HOME to a folder outside it";
  }

  // Its group may write the folder, as a umask of 0002 leaves it: a file that a member of the group
  // puts there belongs to that member, and is refused for that.
  Result<void> check_folder() const { return check_owner(file_, folder_, S_IWOTH, "o-w"); }

  Result<void> make() const {
    Flusher flusher;
    SKEIN_TRY(writable(make_folders(folder_.parent_path().string(), flusher)));
    if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) {
      return writable(tl::unexpected(io_error("make the folder", folder_.string(), errno)));
    }
    SKEIN_TRY(check_folder());
    SKEIN_ASSIGN(const std::string secret, random_secret());
    const auto created = create_file(file_.string(), secret + "\n", flusher);
    return created ? Result<void>() : writable(tl::unexpected(created.error()));
  }

  static Result<void> writable(Result<void> made) {
    if (!made) made.error().message += kServiceFolder;
    return made;
  }

  const fs::path folder_;
  const fs::path file_;
  const fs::path workspace_;  // canonical
};

// A user without a folder for settings has no secret, and can make none.
class NoSecret final : public SigningSecret {
 public:
  explicit NoSecret(Error why) : why_(std::move(why)) { why_.message += kServiceFolder; }
  Result<std::optional<std::string>> find() const override { return tl::unexpected(why_); }
  Result<std::string> find_or_make() const override { return tl::unexpected(why_); }

 private:
  Error why_;
};

// The path of a store in files; empty for other stores.
fs::path path_of_store(std::string_view url) {
  const auto path = store_path(url);
  return path ? fs::absolute(fs::path(*path)) : fs::path();
}

// A service's workspace lies in its state folder. Whoever maintains it by hand has other variables
// than the service, and must use the same secret.
FolderOwner owner_of(const fs::path& workspace) {
  return is_inside(workspace, "/var/lib/skein") ? FolderOwner::kSystem : FolderOwner::kUser;
}

}  // namespace

std::unique_ptr<const SigningSecret> secret_in(fs::path folder, fs::path workspace) {
  return std::make_unique<SecretFile>(std::move(folder), std::move(workspace));
}

std::shared_ptr<const RecordSigner> signer_of_store(const Settings& settings,
                                                    std::string_view store_url,
                                                    std::optional<FolderOwner> owner) {
  const fs::path path = path_of_store(store_url);
  if (path.empty()) return nullptr;
  const fs::path workspace = real_path(settings.workspace);
  fs::path named = settings.workspace.lexically_normal();
  if (!named.has_filename()) named = named.parent_path();  // a slash at its end
  // Each counts: a link out of the workspace, and a store that its configuration names, came with
  // it.
  const bool inside = (settings.store_from_workspace && store_url == settings.store_url) ||
                      is_inside(real_path(path), workspace) ||
                      is_inside(path.lexically_normal(), workspace) ||
                      is_inside(path.lexically_normal(), named);
  if (!inside) return nullptr;
  auto folder = secret_folder(owner.value_or(owner_of(workspace)));
  std::unique_ptr<const SigningSecret> secret =
      folder ? secret_in(std::move(*folder), workspace)
             : std::unique_ptr<const SigningSecret>(
                   std::make_unique<NoSecret>(std::move(folder.error())));
  return std::make_shared<RecordSigner>(std::move(secret), workspace.string());
}

std::optional<fs::path> workspace_of_store(const Settings& settings, std::string_view store_url) {
  if (signer_of_store(settings, store_url) != nullptr) return settings.workspace;
  const fs::path store = path_of_store(store_url);
  if (store.empty()) return std::nullopt;
  const char* home = std::getenv("HOME");
  const fs::path real_home = home != nullptr ? real_path(home) : fs::path("/");
  std::error_code error;
  for (fs::path path = real_path(store); path != path.root_path(); path = path.parent_path()) {
    const fs::path folder = path.filename() == kOwnFolderName ? path.parent_path() : path;
    if (is_inside(real_home, folder)) break;
    if (fs::is_directory(folder / kOwnFolderName, error) || fs::exists(folder / ".git", error)) {
      return folder;
    }
  }
  return std::nullopt;
}

std::shared_ptr<const RecordSigner> workspace_signer(const Settings& settings) {
  return signer_of_store(settings, settings.store_url);
}

}  // namespace skein
