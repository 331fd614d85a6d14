#include "skein/workspace.h"

#include <utility>

#include "api/private_files.h"
#include "api/service.h"
#include "api/settings.h"
#include "api/summaries.h"
#include "api/threads.h"
#include "core/try.h"

namespace skein {

struct Workspace::Parts {
  Parts(Settings settings, std::unique_ptr<Store> opened, ServiceOptions options)
      : store(std::move(opened)), service(std::move(settings), *store, std::move(options)) {}

  std::unique_ptr<Store> store;
  Service service;
};

Workspace::Workspace(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Workspace::~Workspace() { parts_->service.runner().finish_effects(); }

Result<std::unique_ptr<Workspace>> Workspace::open(const std::string& folder,
                                                   WorkspaceOptions options) {
  SettingsRequest request;
  request.workspace = folder;
  if (!options.store.empty()) request.store = options.store;
  if (!options.config_file.empty()) request.config = options.config_file;
  SKEIN_ASSIGN(Settings settings, resolve_settings(request));
  if (options.log) {
    for (const std::string& notice : settings.notices) options.log(notice);
    if (const auto warning = exposure_warning(settings)) options.log(*warning);
  }
  SKEIN_ASSIGN(auto store, open_settled_store(settings, IfMissing::kCreate));
  ServiceOptions service;
  if (options.log) {
    service.log = [log = std::move(options.log)](std::string_view message, std::string_view) {
      log(message);
    };
  }
  std::unique_ptr<Workspace> workspace(new Workspace(
      std::make_unique<Parts>(std::move(settings), std::move(store), std::move(service))));
  SKEIN_TRY(workspace->runner().recover());
  return workspace;
}

Result<RunOutcome> Workspace::run(std::string_view agent_id, std::string_view text,
                                  std::string_view thread, const RunCallbacks& callbacks) {
  return runner().execute(
      run_request(std::string(agent_id), std::string(thread), std::string(text)), callbacks);
}

Result<SearchAnswer> Workspace::search(std::string_view query, const SearchOptions& options) {
  SKEIN_ASSIGN(Recall* const recall, parts_->service.recall());
  return recall->search(query, options);
}

Result<BackfillResult> Workspace::backfill(const BackfillOptions& options) {
  SKEIN_ASSIGN(Recall* const recall, parts_->service.recall());
  return recall->backfill(options);
}

Result<SummaryOutcome> Workspace::summarize(std::string_view thread, SummaryOptions options) {
  SKEIN_ASSIGN(const ThreadRef ref, ThreadRef::parse(thread));
  SKEIN_ASSIGN(const Manifest manifest, find_thread(store(), ref));
  return make_summary(store(), parts_->service.agents(), manifest, std::move(options));
}

Result<bool> Workspace::remove(std::string_view thread) {
  SKEIN_ASSIGN(const auto manifest, threads().get(thread));
  if (!manifest) return false;
  SKEIN_ASSIGN(const bool removed, threads().remove(thread));
  if (auto forgotten = parts_->service.forget_in_index({manifest->id}); !forgotten) {
    parts_->service.log("the index has thread " + manifest->id.str() +
                        " until the next backfill: " + forgotten.error().message);
  }
  return removed;
}

ThreadManager& Workspace::threads() { return parts_->service.threads(); }
Runner& Workspace::runner() { return parts_->service.runner(); }
Tasks& Workspace::tasks() { return parts_->service.tasks(); }
Triggers& Workspace::triggers() { return parts_->service.triggers(); }
Store& Workspace::store() { return *parts_->store; }

}  // namespace skein
