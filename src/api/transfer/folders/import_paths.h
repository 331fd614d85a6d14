// Imports whatever there is behind paths: threads, transcripts, and the folders of other programs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "api/settings.h"
#include "api/transfer/checkpoint_import.h"
#include "api/transfer/folders/folder_kind.h"
#include "api/transfer/folders/import_report.h"
#include "api/transfer/folders/source_folder.h"
#include "api/transfer/import.h"
#include "skein/store.h"

namespace skein {

// What there is behind a path, found before a store is opened.
struct ImportPlan {
  SourceFolder source;
  FolderKind kind{};
  bool is_folder = false;
  std::vector<std::filesystem::path> threads{};
  std::vector<FileProblem> left_out{};  // what looks like threads, and is not taken
  std::optional<std::filesystem::path> items{};
  bool has_checkpoints = false;
};

// kNotFound: a path has nothing that can be imported.
Result<std::vector<ImportPlan>> plan_import(const std::vector<std::string>& paths);

struct ImportTotals {
  ImportReport report;
  ImportSummary threads;
  CheckpointImportSummary checkpoints;
};

// Takes what each path has: definitions of agents, threads, usage, tasks and triggers; work items
// and working sessions; checkpoints. Definitions arrive without trust, and triggers and tasks
// unsigned. What is wrong with one file or entry is reported, and concerns nothing else. Doing it
// again takes only what is new. The sources are only read. kIo: the store takes no more.
Result<ImportTotals> import_planned(const std::vector<ImportPlan>& plans, Store& store,
                                    const Settings& settings, const ImportOptions& options);

}  // namespace skein
