#include "cli/context.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "api/private_files.h"
#include "api/trust_review.h"
#include "cli/arguments.h"
#include "core/find_program.h"

namespace skein {
namespace {

void tell(const Finding& finding) {
  std::string place;
  if (finding.thread) place = fmt::format("thread {}: ", finding.thread->str());
  if (finding.seq > 0) place += fmt::format("event {}: ", finding.seq);
  print_notice(fmt::format("{}{}{}", place, finding.what, finding.repaired ? " (repaired)" : ""));
}

}  // namespace

Failure::Failure(Error what) : error(std::move(what)), exit_code(kExitRefused) {
  switch (error.code) {
    case ErrorCode::kNotFound:
      exit_code = kExitNotFound;
      break;
    case ErrorCode::kConflict:
    case ErrorCode::kBusy:
    case ErrorCode::kFenced:
      exit_code = kExitConflict;
      break;
    case ErrorCode::kInvalid:
    case ErrorCode::kDamaged:
    case ErrorCode::kIo:
      break;
  }
}

tl::unexpected<Failure> wrong_usage(std::string message) {
  return tl::unexpected<Failure>(
      Failure(Error{ErrorCode::kInvalid, std::move(message)}, kExitUsage));
}

std::vector<Argument> global_arguments(GlobalArguments& target) {
  return {
      {.names = "--store",
       .value_name = "URL",
       .help = "sqlite:FILE, jsonl:DIR, postgres://… or memory: (SKEIN_STORE; "
               "default sqlite:WORKSPACE/.skein/skein.db)",
       .set = into(target.settings.store)},
      {.names = "--workspace",
       .value_name = "DIR",
       .help = "the folder that this is about (SKEIN_WORKSPACE; default in a git repository: the "
               "nearest folder up to its root that has .skein/, .gitmem/ or workspace/threads/, "
               "else the root, in a linked worktree that of the main checkout; elsewhere: the "
               "nearest folder below $HOME that has .skein/, else .; never $HOME)",
       .set = into(target.settings.workspace),
       .is_path = true},
      {.names = "--start-dir",
       .value_name = "DIR",
       .help = "where to look for the workspace when none is named (default .)",
       .set = into(target.settings.start),
       .is_path = true},
      {.names = "--config",
       .value_name = "FILE",
       .help = "settings as JSON: store, defaultAgent, embedder, project, maxActiveThreads, "
               "knowledgeRepos, agents, server, redact (default WORKSPACE/.skein/config.json)",
       .set = into(target.settings.config),
       .is_path = true},
      {.names = "--trust",
       .value_name = "DIGEST",
       .help = "trust the workspace's definitions if they have exactly this digest (SKEIN_TRUST; "
               "skein trust --print shows it)",
       .set = into(target.settings.trust)},
      {.names = "--json", .help = "answer, and fail, in JSON", .set = into(target.json)},
  };
}

Context::Context(const GlobalArguments& global)
    : request_(global.settings),
      json_(global.json),
      out_(STDOUT_FILENO),
      style_(style_for(STDOUT_FILENO, system_clock().now())) {}

tl::expected<Settings, Failure> Context::resolved(SettingsRequest request, Notices notices) const {
  if (notices != Notices::kNone) {
    request.made = [this](const std::filesystem::path& workspace) {
      say(fmt::format("new workspace {} (--workspace or SKEIN_WORKSPACE names another)",
                      workspace.string()));
    };
  }
  auto settings = resolve_settings(request);
  if (!settings) {
    const int code = settings.error().code == ErrorCode::kInvalid ? kExitUsage : kExitRefused;
    return tl::unexpected<Failure>(Failure(std::move(settings).error(), code));
  }
  settings->program = own_program_file();
  return std::move(settings).value();
}

tl::expected<Settings, Failure> Context::unchecked_settings() const {
  return resolved(request_, Notices::kNone);
}

tl::expected<Settings, Failure> Context::unchecked_settings_in(std::string workspace) const {
  SettingsRequest request = request_;
  request.workspace = std::move(workspace);
  return resolved(std::move(request), Notices::kNone);
}

tl::expected<Settings, Failure> Context::checked(const SettingsRequest& request,
                                                 Notices notices) const {
  auto settings = resolved(request, notices);
  if (!settings) return settings;
  // A digest that the caller agreed to may trust members of the configuration: read it again.
  SKEIN_ASSIGN(const bool granted, grant_by_digest(*settings, request.trust));
  if (granted) settings = resolved(request, notices);
  if (!settings) return settings;
  SKEIN_TRY(check_store_trust(*settings));
  if (notices != Notices::kAll || std::exchange(warned_, true)) return settings;
  for (const std::string& notice : settings->notices) say(notice);
  if (const auto warning = exposure_warning(*settings)) say(*warning);
  return settings;
}

void Context::say(const std::string& message) const {
  notice_ ? notice_(message) : print_notice(printable(message));
}

tl::expected<Settings, Failure> Context::settings(Notices notices) const {
  return checked(request_, notices);
}

tl::expected<Settings, Failure> Context::settings_in(std::string workspace) const {
  SettingsRequest request = request_;
  request.workspace = std::move(workspace);
  return checked(request, Notices::kNone);
}

tl::expected<Settings, Failure> Context::settings_from(std::string start) const {
  SettingsRequest request = request_;
  request.workspace.reset();
  request.start = std::move(start);
  return checked(request, Notices::kNewWorkspace);
}

StoreOptions Context::store_options() { return {.notice = tell}; }

tl::expected<std::unique_ptr<Store>, Failure> Context::open(IfMissing if_missing,
                                                            StoreOptions options) {
  SKEIN_ASSIGN_OR_FAIL(const Settings settled, settings());
  const auto warning = commit_warning(settled.store_url);
  auto store = open_settled_store(settled, if_missing, std::move(options));
  if (store && warning) say(*warning);
  if (store) return std::move(store).value();
  Failure failure(std::move(store).error());
  // What open_store finds wrong with a URL is the caller's mistake.
  if (failure.error.code == ErrorCode::kInvalid) failure.exit_code = kExitUsage;
  return tl::unexpected<Failure>(std::move(failure));
}

tl::expected<OpenManager, Failure> Context::open_manager(IfMissing if_missing) {
  SKEIN_ASSIGN_OR_FAIL(Settings settled, settings());
  OpenManager opened;
  SKEIN_ASSIGN_OR_FAIL(opened.store, open(if_missing));
  opened.manager = std::make_unique<ThreadManager>(
      *opened.store, ThreadManagerOptions{.active_limits = std::move(settled.active_limits)});
  return opened;
}

}  // namespace skein
