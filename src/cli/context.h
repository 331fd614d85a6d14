// What a command gets to work with.
#pragma once

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

  // Bad configuration is wrong usage. Prints, once, which parts of the workspace's configuration
  // have no effect; refuses a workspace whose store is not trusted.
  tl::expected<Settings, Failure> settings() const;
  // The same for another workspace than that of the command line.
  tl::expected<Settings, Failure> settings_in(std::string workspace) const;
  // The same without notices, and with a store that is not trusted: for commands that review the
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
  tl::expected<Settings, Failure> checked(tl::expected<Settings, Failure> settings) const;

  const SettingsRequest request_;
  const bool json_;
  mutable bool notices_printed_ = false;
  Output out_;
  const Style style_;
};

}  // namespace skein

// As SKEIN_TRY and SKEIN_ASSIGN, for what fails with a Failure.
#define SKEIN_ASSIGN_OR_FAIL(declaration, ...) \
  SKEIN_ASSIGN_OR_FAIL_INNER(SKEIN_CONCAT(skein_outcome_, __LINE__), declaration, __VA_ARGS__)
#define SKEIN_ASSIGN_OR_FAIL_INNER(outcome, declaration, ...)                           \
  auto outcome = (__VA_ARGS__);                                                         \
  if (!outcome.has_value()) return tl::unexpected<Failure>(std::move(outcome).error()); \
  declaration = std::move(outcome).value()
