#include "api/transfer/folders/import_paths.h"

#include "api/transfer/folders/agent_import.h"
#include "api/transfer/folders/folder_kind.h"
#include "api/transfer/folders/no_counterpart.h"
#include "api/transfer/folders/session_import.h"
#include "api/transfer/folders/task_import.h"
#include "api/transfer/folders/trigger_import.h"
#include "api/transfer/folders/usage_import.h"
#include "api/transfer/items.h"
#include "api/transfer/sources.h"
#include "api/work/place.h"
#include "core/path_inside.h"
#include "core/try.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kThreads = "threads";
constexpr std::string_view kEvents = "events";
constexpr std::string_view kItems = "work items";
constexpr std::string_view kCheckpoints = "checkpoints";

Result<ImportPlan> plan_path(const std::string& path) {
  ImportPlan plan{.source = SourceFolder(path)};
  std::error_code error;
  plan.is_folder = fs::is_directory(path, error);
  plan.items = find_item_file(path);
  if (plan.items && *plan.items == fs::path(path)) return plan;  // the list itself
  if (plan.is_folder) {
    plan.kind = kind_of_folder(plan.source);
    plan.has_checkpoints = holds_checkpoints(path);
  }
  auto found = find_thread_files(
      path, [&](FileProblem problem) { plan.left_out.push_back(std::move(problem)); });
  const bool anything = plan.items || plan.has_checkpoints || plan.kind.any() ||
                        !plan.left_out.empty() || plan.source.has("usage.jsonl");
  if (!found && (!anything || found.error().code != ErrorCode::kNotFound)) {
    return tl::unexpected(found.error());
  }
  if (found) plan.threads = std::move(*found);
  return plan;
}

class PathImport {
 public:
  PathImport(const ImportPlan& plan, Store& store, const Settings& settings,
             const ImportOptions& options, ImportTotals& totals)
      : plan_(plan),
        store_(store),
        settings_(settings),
        totals_(totals),
        options_(options),
        import_{plan.source, settings, store, options_, totals.report} {}

  Result<void> run() {
    ImportReport& report = totals_.report;
    if (plan_.kind.any()) {
      report.source(plan_.source.path().string() + ": " + plan_.kind.text());
    }
    if (plan_.kind.nova) SKEIN_TRY(import_agents(import_));
    TaskImport tasks(import_);
    if (plan_.kind.nova) tasks.read();
    options_.task_ids = &tasks.ids();
    SKEIN_TRY(take_threads());
    if (plan_.is_folder && !is_the_store()) SKEIN_TRY(import_usage(import_));
    if (plan_.kind.nova) {
      SKEIN_TRY(tasks.store());
      SKEIN_TRY(import_triggers(import_));
    }
    take_items();
    if (plan_.kind.gitmem) SKEIN_TRY(import_sessions(import_, *plan_.kind.gitmem));
    SKEIN_TRY(take_checkpoints());
    if (plan_.kind.nova) count_nova_rest(import_);
    if (plan_.kind.gitmem) count_gitmem_rest(import_, *plan_.kind.gitmem);
    if (plan_.kind.hq) count_hq_rest(import_);
    return {};
  }

 private:
  Result<void> take_threads() {
    ImportReport& report = totals_.report;
    for (const FileProblem& problem : plan_.left_out) {
      report.left_out(kThreads, "no regular thread file", LeftOut::kFailed);
      if (options_.problem) options_.problem(problem);
    }
    report.found(kThreads, plan_.left_out.size());
    SKEIN_ASSIGN(const ImportSummary summary, import_threads(store_, plan_.threads, options_));
    totals_.threads += summary;
    report.found(kThreads, summary.found);
    report.taken(kThreads, summary.imported + summary.extended);
    report.there(kThreads, summary.present);
    report.left_out(kThreads, "other events in the store", LeftOut::kConflict, summary.conflicts);
    report.left_out(kThreads, kUnreadable, LeftOut::kFailed, summary.failed);
    report.left_out(kThreads, "empty", LeftOut::kExpected, summary.empty);
    report.found(kEvents, summary.found_events);
    report.taken(kEvents, summary.imported_events + summary.new_events);
    report.there(kEvents, summary.present_events);
    report.left_out(kEvents, kUnreadable, LeftOut::kFailed, summary.unreadable);
    report.left_out(kEvents, "of threads that were not taken", LeftOut::kExpected,
                    summary.refused_events);
    report.redacted(summary.redacted);
    return {};
  }

  // The usage of a `jsonl:` folder is in it already.
  bool is_the_store() const {
    constexpr std::string_view kScheme = "jsonl:";
    std::error_code error;
    return settings_.store_url.starts_with(kScheme) &&
           fs::equivalent(settings_.store_url.substr(kScheme.size()), plan_.source.path(), error);
  }

  void take_items() {
    if (!plan_.items) return;
    // A list that was named itself may lie anywhere.
    std::error_code error;
    const fs::path root = fs::canonical(plan_.source.path(), error);
    const fs::path file = fs::canonical(*plan_.items, error);
    if (plan_.is_folder && (error || !is_inside(file, root))) {
      import_.fail(kItems, kUnreadable, *plan_.items, 0, "is a link that leads out of the folder");
      return;
    }
    WorkItems items(store_, work_place(settings_), system_clock(), random_ids());
    const auto imported =
        import_items(items, settings_.workspace, file, options_.redactor, options_.dry_run);
    if (!imported) {
      import_.fail(kItems, kUnreadable, *plan_.items, 0, imported.error().message);
      return;
    }
    totals_.report.found(kItems, imported->found);
    totals_.report.taken(kItems, imported->added);
    totals_.report.there(kItems, imported->known);
    totals_.report.left_out(kItems, "same id as another; merged", LeftOut::kExpected,
                            imported->merged);
    totals_.report.left_out(kItems, "no item; kept in the list as it is", LeftOut::kExpected,
                            imported->others);
    if (imported->added > 0) totals_.report.redacted(imported->redacted);
  }

  Result<void> take_checkpoints() {
    if (!plan_.has_checkpoints) return {};
    SKEIN_ASSIGN(const CheckpointImportSummary summary,
                 import_checkpoints(settings_, plan_.source.path(), options_));
    totals_.checkpoints += summary;
    ImportReport& report = totals_.report;
    report.taken(kCheckpoints, summary.imported);
    report.there(kCheckpoints, summary.present);
    report.left_out(kCheckpoints, "another content is there", LeftOut::kConflict,
                    summary.conflicts);
    report.left_out(kCheckpoints, "no checkpoint", LeftOut::kFailed, summary.unreadable);
    report.left_out("changesets and pointers", "no counterpart", LeftOut::kExpected,
                    summary.sidecars);
    report.redacted(summary.redacted);
    return {};
  }

  const ImportPlan& plan_;
  Store& store_;
  const Settings& settings_;
  ImportTotals& totals_;
  ImportOptions options_;
  const FolderImport import_;
};

}  // namespace

Result<std::vector<ImportPlan>> plan_import(const std::vector<std::string>& paths) {
  std::vector<ImportPlan> plans;
  for (const std::string& path : paths) {
    SKEIN_ASSIGN(ImportPlan plan, plan_path(path));
    plans.push_back(std::move(plan));
  }
  return plans;
}

Result<ImportTotals> import_planned(const std::vector<ImportPlan>& plans, Store& store,
                                    const Settings& settings, const ImportOptions& options) {
  ImportTotals totals;
  for (const ImportPlan& plan : plans) {
    SKEIN_TRY(PathImport(plan, store, settings, options, totals).run());
  }
  return totals;
}

}  // namespace skein
