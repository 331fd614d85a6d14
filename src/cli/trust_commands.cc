#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>

#include "api/trust_review.h"
#include "cli/arguments.h"
#include "cli/ask_for_trust.h"
#include "cli/context.h"
#include "cli/dialogue.h"
#include "cli/trust_summary.h"
#include "core/effective_user.h"
#include "core/file.h"
#include "core/json_array.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace {

FolderOwner owner_of(bool system) { return system ? FolderOwner::kSystem : FolderOwner::kUser; }

Argument system_argument(bool& system) {
  return {.names = "--system",
          .help = "write /etc/skein/trust.json (system services) instead of the user's own file",
          .set = into(system)};
}

Argument path_argument(std::optional<std::string>& path) {
  return {.names = "PATH",
          .value_name = "PATH",
          .help = "the workspace (default: the one of the current folder)",
          .set = into(path),
          .is_path = true};
}

// A folder of root's is read as root: nobody else may be able to put another one in its place.
Result<void> check_only_root_moves(const std::filesystem::path& folder) {
  for (std::filesystem::path above = folder; above != above.parent_path();) {
    above = above.parent_path();
    struct stat st{};
    if (::stat(above.c_str(), &st) != 0) return tl::unexpected(io_error("stat", above, errno));
    const bool others_write = (st.st_mode & 022U) != 0 && (st.st_mode & S_ISVTX) == 0;
    if (st.st_uid == 0 && !others_write) continue;
    return fail(ErrorCode::kInvalid,
                fmt::format("{} belongs to root and lies in {}, where others can replace it; move "
                            "it, or give it to its service",
                            printable(folder.string()), printable(above.string())));
  }
  return {};
}

// What a service finds in its environment, and its rights: root decides for it, without obeying the
// files of its workspace as root. From here on `path` is the folder whose owner that is, whatever
// links led to it. kNotFound: there is no such folder.
Result<std::unique_ptr<EffectiveUser>> act_as_service(const Context& context,
                                                      std::optional<std::string>& path) {
  ::setenv("CONFIGURATION_DIRECTORY", "/etc/skein", 0);
  ::setenv("STATE_DIRECTORY", "/var/lib/skein", 0);
  const char* variable = std::getenv("SKEIN_WORKSPACE");
  if (!path) path = context.request().workspace;
  if (!path && variable != nullptr && *variable != '\0') path = variable;
  const std::string workspace = path.value_or(".");
  const Fd folder(::open(workspace.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat owner{};
  if (!folder.is_open() || ::fstat(folder.get(), &owner) != 0) {
    Error failed = io_error("open", workspace, errno);
    if (errno == ENOENT || errno == ENOTDIR) failed.code = ErrorCode::kNotFound;
    return tl::unexpected(std::move(failed));
  }
  std::error_code error;
  const auto opened =
      std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", folder.get()), error);
  if (error) return fail(ErrorCode::kIo, "cannot resolve " + workspace + ": " + error.message());
  if (path) path = opened.string();
  if (owner.st_uid == 0 && ::geteuid() == 0) SKEIN_TRY(check_only_root_moves(opened));
  auto acting = EffectiveUser::become(owner.st_uid, owner.st_gid);
  if (acting) return acting;
  return fail(acting.error().code,
              fmt::format("{}, the owner of {}; run \"skein trust\" as that user",
                          acting.error().message, printable(workspace)));
}

tl::expected<Settings, Failure> settings_of(Context& context,
                                            const std::optional<std::string>& path) {
  return path ? context.unchecked_settings_in(*path) : context.unchecked_settings();
}

class Review : public Command {
 public:
  CommandInfo info() const override {
    return {
        .name = "trust",
        .summary = "review what a workspace's definitions may do, and trust them",
        .examples =
            "  skein trust\n"
            "  skein trust ~/src/somebodys-project\n"
            "  skein trust --print\n"
            "  skein trust --trust=DIGEST\n"
            "  skein trust list\n"
            "  skein trust revoke\n",
        .details =
            "A workspace is data until you trust it: its agents, MCP servers, triggers and tasks "
            "are inactive, and its\nconfiguration names no store and no model. This command "
            "shows every program, address, variable, file and\nschedule that the workspace "
            "would use, with what changed since you last agreed, and asks. Trust covers\n"
            "exactly these bytes in this folder: a definition that changes is inactive until "
            "you trust it again. What a\nprogram loads by itself is not covered. Definitions "
            "made with \"skein agent\" and \"skein config\" are trusted\nas they are made."};
  }

  std::vector<Argument> arguments() override {
    return {path_argument(path_),
            {.names = "--print",
             .help = "show the definitions and their digest, and change nothing",
             .set = into(print_)},
            system_argument(system_)};
  }

  Outcome run(Context& context) override {
    std::unique_ptr<EffectiveUser> as_service;
    if (system_) {
      SKEIN_ASSIGN(as_service, act_as_service(context, path_));
    }
    // A store that was just trusted may hold records that nobody signed: they are the second round.
    for (int round = 0;; ++round) {
      SKEIN_ASSIGN_OR_FAIL(const Settings settings, settings_of(context, path_));
      SKEIN_ASSIGN(const TrustReview review, review_trust(settings, owner_of(system_)));
      if (round > 0 && !review.needs_trust()) return kExitDone;
      const auto& digest = context.request().trust;
      const bool agreed = digest && *digest == review.digest();
      show(context, review);
      SKEIN_TRY(context.out().flush());
      if (digest && !agreed && round == 0) return mismatched(context, review);
      if (print_ || !review.needs_trust()) return kExitDone;
      if (!agreed && !person_is_there()) {
        return refused("standard input is not a terminal", context, review);
      }
      if (!agreed) {
        std::cerr << "\n" << trust_summary(review);
        SKEIN_ASSIGN_OR_FAIL(const bool yes, ask("Trust them?", ""));
        if (!yes) return kExitRefused;
      }
      SKEIN_TRY(grant_trust(settings, review, owner_of(system_)));
    }
  }

 private:
  Outcome mismatched(const Context& context, const TrustReview& review) const {
    const std::string found =
        fmt::format("--trust is {}, and {} has the digest {}", quote(*context.request().trust),
                    review.workspace, review.digest());
    if (review.needs_trust()) return refused(found, context, review);
    return tl::unexpected<Failure>(
        Error{ErrorCode::kInvalid, found + "; nothing in it needs trust, and nothing changed"});
  }

  // With everything that chose the workspace and the store: it is to review the same.
  Outcome refused(std::string_view why, const Context& context, const TrustReview& review) const {
    const SettingsRequest& request = context.request();
    std::string command = "skein";
    const auto add = [&](std::string_view option, const std::optional<std::string>& value) {
      if (value) command += fmt::format(" {} {}", option, shell_quoted(*value));
    };
    add("--store", request.store);
    if (!path_) add("--workspace", request.workspace);
    add("--start-dir", request.start);
    add("--config", request.config);
    command += " trust";
    if (path_) command += " " + shell_quoted(*path_);
    if (system_) command += " --system";
    return tl::unexpected<Failure>(
        Error{ErrorCode::kInvalid, fmt::format("{}: read the above, then run \"{} --trust={}\"",
                                               why, command, review.digest())});
  }

  void show(Context& context, const TrustReview& review) const {
    if (context.json()) {
      context.out().write(to_json(review) + "\n");
      return;
    }
    const std::string text = to_text(review);
    std::string out = review.workspace + "\n";
    out += text.empty()
               ? fmt::format("nothing needs trust ({} trusted)\n", review.definitions.size())
               : "\n" + text;
    if (print_) out += fmt::format("\ndigest {}\n", review.digest());
    context.out().write(visible(out));
  }

  std::optional<std::string> path_;
  bool print_ = false;
  bool system_ = false;
};

class List : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "list",
            .summary = "list the workspaces that have trusted definitions",
            .examples =
                "  skein trust list\n"
                "  skein trust list --json\n"};
  }
  std::vector<Argument> arguments() override { return {system_argument(system_)}; }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN(const auto folder, config_folder(owner_of(system_)));
    SKEIN_ASSIGN(const TrustGrants grants, read_trust_file(folder / "trust.json"));
    std::string text;
    for (const auto& [workspace, granted] : grants) {
      if (!context.json()) text += workspace + "\n";
      for (const auto& [name, grant] : granted) {
        text += context.json() ? JsonObject()
                                         .add("workspace", workspace)
                                         .add("name", name)
                                         .add("digest", grant.digest)
                                         .add("grantedAt", grant.granted_at.str())
                                         .add("allows", grant.allows)
                                         .str() +
                                     "\n"
                               : fmt::format("  {:<28}{}\n", name, grant.granted_at.str());
      }
    }
    if (text.empty() && !context.json()) text = "no workspace has trusted definitions\n";
    context.out().write(context.json() ? text : visible(text));
    return kExitDone;
  }

 private:
  bool system_ = false;
};

class Revoke : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "revoke",
            .summary = "withdraw trust from a workspace, or from one of its definitions",
            .examples =
                "  skein trust revoke\n"
                "  skein trust revoke ~/src/somebodys-project\n"
                "  skein trust revoke --definition agent:helper\n",
            .details =
                "Takes effect at once, also in a server that is running. Exit code 3: nothing was "
                "trusted."};
  }
  std::vector<Argument> arguments() override {
    return {path_argument(path_),
            {.names = "--definition",
             .value_name = "NAME",
             .help = "only this one, such as agent:helper (default: all)",
             .set = into(name_)},
            system_argument(system_)};
  }

  Outcome run(Context& context) override {
    std::unique_ptr<EffectiveUser> as_service;
    if (system_) {
      auto acting = act_as_service(context, path_);
      // Of a folder that is gone nothing is read.
      const bool gone = !acting && acting.error().code == ErrorCode::kNotFound && path_;
      if (!acting && !gone) return tl::unexpected<Failure>(std::move(acting).error());
      if (acting) as_service = std::move(*acting);
    }
    SKEIN_ASSIGN_OR_FAIL(const auto decisions, decisions_of(context));
    Trust& trust = *decisions;
    SKEIN_ASSIGN(const bool found, name_ ? trust.revoke(*name_, owner_of(system_))
                                         : trust.revoke_all(owner_of(system_)));
    const std::string others = trusted_by_others(trust);
    if (!found) {
      const std::string what = name_ ? "no definition " + *name_ : std::string("nothing");
      return tl::unexpected<Failure>(
          Error{ErrorCode::kNotFound, what + " was trusted in " + trust.workspace() +
                                          (others.empty() ? "" : "; but " + others)});
    }
    if (!others.empty()) print_notice(others);
    return kExitDone;
  }

 private:
  // What the administrator still trusts, and how to withdraw that; empty: nothing. The user's own
  // decision is withdrawn by now: what fails here is no reason to say otherwise.
  std::string trusted_by_others(Trust& trust) const {
    if (system_) return "";
    const auto grants = trust.all(FolderOwner::kSystem);
    if (!grants) return "the decisions of the administrator are unknown: " + grants.error().message;
    if (name_ ? !grants->contains(*name_) : grants->empty()) return "";
    const auto folder = config_folder(FolderOwner::kSystem);
    if (!folder) return folder.error().message;
    return fmt::format("{} still trusts {}; run \"skein trust revoke --system\" as root",
                       (*folder / "trust.json").string(), name_ ? *name_ : trust.workspace());
  }

  // A folder that is gone, or whose configuration is broken, can be revoked by its path.
  tl::expected<std::shared_ptr<Trust>, Failure> decisions_of(Context& context) const {
    if (path_) {
      std::error_code error;
      return Trust::of_recorded_path(
          std::filesystem::weakly_canonical(std::filesystem::absolute(*path_), error).string());
    }
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.unchecked_settings());
    return settings.trust;
  }

  std::optional<std::string> path_;
  std::optional<std::string> name_;
  bool system_ = false;
};

}  // namespace

CommandGroup trust_commands() {
  CommandGroup group{"trust", "decide what a workspace's definitions may do", {}};
  group.alone = std::make_unique<Review>();
  group.commands.push_back(std::make_unique<List>());
  group.commands.push_back(std::make_unique<Revoke>());
  return group;
}

}  // namespace skein
