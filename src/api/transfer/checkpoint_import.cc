#include "api/transfer/checkpoint_import.h"

#include <algorithm>

#include "api/checkpoints.h"
#include "api/transfer/folders/source_folder.h"
#include "core/file.h"
#include "core/quote.h"
#include "core/try.h"
#include "skein/limits.h"
#include "work/checkpoint_folder.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

struct Source {
  std::string folder;  // from the one that is imported
  bool older = false;
};

// A link that leads out of the folder counts, so that it is reported.
bool holds(const SourceFolder& folder, const Source& source) {
  if (!folder.resolve(source.folder)) return true;
  const auto names = folder.names(source.folder);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name.ends_with(".json") && (source.older || name.starts_with("T-"));
  });
}

std::vector<Source> sources_in(const SourceFolder& folder) {
  std::vector<Source> candidates = {{"workspace/threads", false}};
  for (const std::string archive : {"workspace/threads/archive", "archive"}) {
    for (const std::string& month : folder.names(archive)) {
      candidates.push_back({archive + "/" + month, false});
    }
  }
  candidates.push_back({"workspace/checkpoints", true});
  candidates.push_back({".", folder.path().filename() == "checkpoints"});
  std::erase_if(candidates, [&](const Source& source) { return !holds(folder, source); });
  return candidates;
}

class Importer {
 public:
  Importer(const Settings& settings, const SourceFolder& folder, const ImportOptions& options)
      : folder_(folder),
        target_(settings.workspace.string() + "/workspace/threads"),
        in_place_(is_same_folder(settings.workspace, folder.path())),
        options_(options) {}

  Result<CheckpointImportSummary> run(const std::vector<Source>& sources) {
    for (const Source& source : sources) {
      if (const auto inside = folder_.resolve(source.folder); !inside) {
        tell_unreadable(folder_.at(source.folder), inside.error().message);
        continue;
      }
      for (const std::string& name : folder_.names(source.folder)) {
        if (!name.ends_with(".json") || name.starts_with('.')) continue;
        if (!source.older && is_of_another_kind(name)) {
          ++summary_.sidecars;
        } else {
          SKEIN_TRY(import_file(source, name));
        }
      }
    }
    return summary_;
  }

 private:
  Result<void> import_file(const Source& source, const std::string& name) {
    const std::string relative = source.folder == "." ? name : source.folder + "/" + name;
    const fs::path path = folder_.at(relative);
    const std::string id = name.substr(0, name.size() - 5);
    SKEIN_ASSIGN(const auto stamp, stat_file(path.string()));
    const Timestamp written{stamp ? stamp->mtime_ns / 1'000'000 * 1000 : 0};
    auto text = folder_.read(relative, limits::kMaxCheckpointBytes);
    if (text && !*text) text = fail(ErrorCode::kInvalid, "is a link that leads nowhere");
    auto file =
        text ? contents(source, id, std::move(**text), written) : tl::unexpected(text.error());
    if (!file) {
      tell_unreadable(path, file.error().message);
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
    if (in_place_) {
      ++summary_.present;
      return {};
    }
    SKEIN_ASSIGN(bool there, compare(from, path, bytes));
    if (there) return {};
    if (!options_.dry_run) {
      SKEIN_TRY(make_folders(target_, flusher_));
      SKEIN_ASSIGN(const bool made, create_file(path, bytes, flusher_));
      if (!made) {  // another program was faster
        SKEIN_ASSIGN(there, compare(from, path, bytes));
        if (!there) {
          tell_unreadable(from,
                          "another program changes " + quote(path) + " during the import; retry");
        }
        return {};
      }
    }
    ++summary_.imported;
    return {};
  }

  // Counts the checkpoint if there is something of its name. False: there is nothing.
  Result<bool> compare(const fs::path& from, const std::string& path, const std::string& bytes) {
    SKEIN_ASSIGN(const auto there, read_file(path, limits::kMaxCheckpointBytes));
    if (there) {
      ++(*there == bytes ? summary_.present : summary_.conflicts);
      if (*there != bytes) tell(from, "is there with another content; left as it is");
      return true;
    }
    std::error_code none;
    const fs::file_type type = fs::symlink_status(path, none).type();
    if (type == fs::file_type::not_found || type == fs::file_type::regular) return false;
    tell_unreadable(from, quote(path) + " is in its place and is not a regular file; move it away");
    return true;
  }

  void tell_unreadable(const fs::path& path, const std::string& message) {
    ++summary_.unreadable;
    tell(path, message);
  }

  void tell(const fs::path& path, const std::string& message) const {
    if (options_.problem) options_.problem({path, 0, message});
  }

  static bool is_same_folder(const fs::path& a, const fs::path& b) {
    std::error_code error;
    return fs::equivalent(a, b, error);
  }

  const SourceFolder& folder_;
  const std::string target_;
  const bool in_place_;
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
  sidecars += other.sidecars;
  return *this;
}

bool holds_checkpoints(const fs::path& folder) { return !sources_in(SourceFolder(folder)).empty(); }

Result<CheckpointImportSummary> import_checkpoints(const Settings& settings, const fs::path& folder,
                                                   const ImportOptions& options) {
  const SourceFolder source(folder);
  SKEIN_ASSIGN(const auto summary, Importer(settings, source, options).run(sources_in(source)));
  if (summary.imported > 0 && !options.dry_run) {
    SKEIN_TRY(workspace_checkpoints(settings).rebuild_index());
  }
  return summary;
}

}  // namespace skein
