#include <fmt/format.h>
#include <sys/stat.h>

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
#include "core/json_array.h"
#include "core/json_object.h"
#include "core/try.h"

namespace skein {
namespace {

FolderOwner owner_of(bool system) { return system ? FolderOwner::kSystem : FolderOwner::kUser; }

Argument system_argument(bool& system) {
  return {.names = "--system",
          .help = "decide for services: write /etc/skein/trust.json instead of the user's own file",
          .set = into(system)};
}

Argument path_argument(std::optional<std::string>& path) {
  return {.names = "PATH",
          .value_name = "PATH",
          .help = "the workspace (default: the one of the current folder)",
          .set = into(path),
          .is_path = true};
}

// What a service finds in its environment, and its rights: root decides for it, without obeying the
// files of its workspace as root.
std::unique_ptr<EffectiveUser> act_as_service(const Context& context,
                                              const std::optional<std::string>& path) {
  ::setenv("CONFIGURATION_DIRECTORY", "/etc/skein", 0);
  ::setenv("STATE_DIRECTORY", "/var/lib/skein", 0);
  const char* variable = std::getenv("SKEIN_WORKSPACE");
  const std::string workspace =
      path ? *path : context.request().workspace.value_or(variable != nullptr ? variable : ".");
  struct stat folder{};
  if (::stat(workspace.c_str(), &folder) != 0) return nullptr;
  return std::make_unique<EffectiveUser>(folder.st_uid, folder.st_gid);
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
    const auto as_service = system_ ? act_as_service(context, path_) : nullptr;
    // A store that was just trusted may hold records that nobody signed: they are the second round.
    for (int round = 0;; ++round) {
      SKEIN_ASSIGN_OR_FAIL(const Settings settings, settings_of(context, path_));
      SKEIN_ASSIGN(const TrustReview review, review_trust(settings, owner_of(system_)));
      if (round > 0 && !review.needs_trust()) return kExitDone;
      const auto& digest = context.request().trust;
      const bool agreed = digest && *digest == review.digest();
      show(context, review);
      SKEIN_TRY(context.out().flush());
      if (print_ || !review.needs_trust()) return kExitDone;
      if (!agreed && !person_is_there()) return refused(review);
      if (!agreed) {
        std::cerr << "\n" << trust_summary(review);
        SKEIN_ASSIGN_OR_FAIL(const bool yes, ask("Trust them?", ""));
        if (!yes) return kExitRefused;
      }
      SKEIN_TRY(grant_trust(settings, review, owner_of(system_)));
    }
  }

 private:
  Outcome refused(const TrustReview& review) const {
    const std::string command = fmt::format("skein trust {}{}--trust={}", path_ ? *path_ + " " : "",
                                            system_ ? "--system " : "", review.digest());
    return tl::unexpected<Failure>(
        Error{ErrorCode::kInvalid,
              "nobody is there to ask: read the above, then run \"" + command + "\""});
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
    const auto as_service = system_ ? act_as_service(context, path_) : nullptr;
    SKEIN_ASSIGN_OR_FAIL(const auto decisions, decisions_of(context));
    Trust& trust = *decisions;
    SKEIN_ASSIGN(const bool found, name_ ? trust.revoke(*name_, owner_of(system_))
                                         : trust.revoke_all(owner_of(system_)));
    if (!found) {
      return tl::unexpected<Failure>(
          Error{ErrorCode::kNotFound, (name_ ? "no definition " + *name_ : std::string("nothing")) +
                                          " was trusted in " + trust.workspace()});
    }
    return kExitDone;
  }

 private:
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
