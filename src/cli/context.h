// What a command gets to work with.
#pragma once

#include <functional>
#include <memory>

#include "api/settings.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/style.h"
#include "core/try.h"
#include "skein/store.h"
#include "skein/thread_manager.h"

namespace skein {

struct GlobalArguments {
  SettingsRequest settings;
  bool json = false;
};

std::vector<Argument> global_arguments(GlobalArguments& target);

// A store, and what manages the conversations in it.
struct OpenManager {
  std::unique_ptr<Store> store;
  std::unique_ptr<ThreadManager> manager;

  ThreadManager* operator->() const { return manager.get(); }
};

class Context {
 public:
  explicit Context(const GlobalArguments& global);

  bool json() const { return json_; }
  Output& out() { return out_; }
  const Style& style() const { return style_; }
  // What the command line asks of the settings.
  const SettingsRequest& request() const { return request_; }
  // How notices go to standard error; without it, as print_notice does.
  void set_notice(std::function<void(const std::string&)> notice) { notice_ = std::move(notice); }

  // What a command prints on standard error: which workspace it chose, when it makes one, which
  // parts of the workspace's configuration have no effect, and that files are open to others.
  // Commands that report these themselves print nothing.
  enum class Notices { kAll, kNewWorkspace, kNone };
  // Bad configuration is wrong usage. Refuses a workspace whose store is not trusted.
  tl::expected<Settings, Failure> settings(Notices notices = Notices::kAll) const;
  // The same where the workspace is looked for from another folder, unless one is named.
  tl::expected<Settings, Failure> settings_from(std::string start) const;
  // As the command line has it.
  const std::optional<std::string>& named_workspace() const { return request_.workspace; }
  // The same for another workspace than that of the command line.
  tl::expected<Settings, Failure> settings_in(std::string workspace) const;
  // The same without notices, without --trust, and with a store that is not trusted: for commands
  // that review the
  // configuration, or report what it lacks in their own way.
  tl::expected<Settings, Failure> unchecked_settings() const;
  tl::expected<Settings, Failure> unchecked_settings_in(std::string workspace) const;

  // How this program opens stores: what one mends in passing is told on standard error.
  static StoreOptions store_options();
  // Opens the store that the settings name.
  tl::expected<std::unique_ptr<Store>, Failure> open(IfMissing if_missing,
                                                     StoreOptions options = store_options());
  // The same, with the limits of the settings.
  tl::expected<OpenManager, Failure> open_manager(IfMissing if_missing);

 private:
  tl::expected<Settings, Failure> resolved(SettingsRequest request, Notices notices) const;
  tl::expected<Settings, Failure> checked(const SettingsRequest& request, Notices notices) const;
  void say(const std::string& message) const;

  const SettingsRequest request_;
  const bool json_;
  Output out_;
  const Style style_;
  std::function<void(const std::string&)> notice_;
  mutable bool warned_ = false;  // once is enough
};

}  // namespace skein

// As SKEIN_TRY and SKEIN_ASSIGN, for what fails with a Failure.
#define SKEIN_ASSIGN_OR_FAIL(declaration, ...) \
  SKEIN_ASSIGN_OR_FAIL_INNER(SKEIN_CONCAT(skein_outcome_, __LINE__), declaration, __VA_ARGS__)
#define SKEIN_ASSIGN_OR_FAIL_INNER(outcome, declaration, ...)                           \
  auto outcome = (__VA_ARGS__);                                                         \
  if (!outcome.has_value()) return tl::unexpected<Failure>(std::move(outcome).error()); \
  declaration = std::move(outcome).value()
