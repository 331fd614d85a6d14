#include "api/transfer/checkpoint_import.h"

#include <algorithm>

#include "api/checkpoints.h"
#include "core/file.h"
#include "core/try.h"
#include "skein/limits.h"
#include "work/checkpoint_folder.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

struct Source {
  fs::path folder;
  bool older = false;
};

std::vector<Source> sources_in(const fs::path& folder) {
  const fs::path threads = folder / "workspace" / "threads";
  std::vector<Source> candidates = {{threads, false},
                                    {folder / "workspace" / "checkpoints", true},
                                    {folder, folder.filename() == "checkpoints"}};
  for (const fs::path& shelf : {threads, folder}) {
    const auto months = archived_months(shelf.string());
    if (!months) continue;
    for (const std::string& month : *months)
      candidates.push_back({shelf / "archive" / month, false});
  }
  std::vector<Source> found;
  for (const Source& candidate : candidates) {
    const auto names = list_folder(candidate.folder.string());
    if (!names) continue;
    const bool any = std::any_of(names->begin(), names->end(), [&](const std::string& name) {
      return name.ends_with(".json") && (candidate.older || name.starts_with("T-"));
    });
    if (any) found.push_back(candidate);
  }
  return found;
}

class Importer {
 public:
  Importer(const Settings& settings, const ImportOptions& options)
      : target_(settings.workspace.string() + "/workspace/threads"), options_(options) {}

  Result<CheckpointImportSummary> run(const std::vector<Source>& sources) {
    for (const Source& source : sources) {
      SKEIN_ASSIGN(const auto names, list_folder(source.folder.string()));
      for (const std::string& name : names) {
        if (!name.ends_with(".json") || name.starts_with('.')) continue;
        if (!source.older && is_of_another_kind(name)) continue;
        SKEIN_TRY(import_file(source, name));
      }
    }
    return summary_;
  }

 private:
  Result<void> import_file(const Source& source, const std::string& name) {
    const fs::path path = source.folder / name;
    const std::string id = name.substr(0, name.size() - 5);
    SKEIN_ASSIGN(const auto stamp, stat_file(path.string()));
    const Timestamp written{stamp ? stamp->mtime_ns / 1'000'000 * 1000 : 0};
    auto text = read_file(path.string(), limits::kMaxCheckpointBytes);
    if (text && !*text) return {};  // a link, or gone
    auto file =
        text ? contents(source, id, std::move(**text), written) : tl::unexpected(text.error());
    if (!file) {
      ++summary_.unreadable;
      tell(path, file.error().message);
      return {};
    }
    return put(path, target_ + "/" + file->name, file->bytes);
  }

  struct File {
    std::string name;
    std::string bytes;
  };

  Result<File> contents(const Source& source, const std::string& id, std::string text,
                        Timestamp written) {
    if (options_.redactor != nullptr && Json::parse_object(text)) {
      summary_.redacted += options_.redactor->redact_json(text);
    }
    if (!source.older) {
      SKEIN_TRY(parse_checkpoint(text));
      return File{id + ".json", std::move(text)};
    }
    SKEIN_ASSIGN(Checkpoint checkpoint, parse_older_checkpoint(text, id, written));
    checkpoint.id = checkpoint_id(checkpoint.created_at, id);
    return File{checkpoint.id + ".json", to_json(checkpoint)};
  }

  Result<void> put(const fs::path& from, const std::string& path, const std::string& bytes) {
    SKEIN_ASSIGN(const auto there, read_file(path, limits::kMaxCheckpointBytes));
    if (there) {
      ++(*there == bytes ? summary_.present : summary_.conflicts);
      if (*there != bytes) tell(from, "is there with another content; left as it is");
      return {};
    }
    if (!options_.dry_run) {
      SKEIN_TRY(make_folders(target_, flusher_));
      SKEIN_ASSIGN(const bool made, create_file(path, bytes, flusher_));
      if (!made) return put(from, path, bytes);
    }
    ++summary_.imported;
    return {};
  }

  void tell(const fs::path& path, const std::string& message) const {
    if (options_.problem) options_.problem({path, 0, message});
  }

  const std::string target_;
  const ImportOptions& options_;
  Flusher flusher_;
  CheckpointImportSummary summary_;
};

}  // namespace

CheckpointImportSummary& CheckpointImportSummary::operator+=(const CheckpointImportSummary& other) {
  imported += other.imported;
  present += other.present;
  conflicts += other.conflicts;
  unreadable += other.unreadable;
  redacted += other.redacted;
  return *this;
}

bool holds_checkpoints(const fs::path& folder) { return !sources_in(folder).empty(); }

Result<CheckpointImportSummary> import_checkpoints(const Settings& settings, const fs::path& folder,
                                                   const ImportOptions& options) {
  SKEIN_ASSIGN(const auto summary, Importer(settings, options).run(sources_in(folder)));
  if (summary.imported > 0 && !options.dry_run) {
    SKEIN_TRY(workspace_checkpoints(settings).rebuild_index());
  }
  return summary;
}

}  // namespace skein
