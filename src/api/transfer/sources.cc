#include "api/transfer/sources.h"

#include <algorithm>
#include <system_error>

#include "api/transfer/transcripts/recognise.h"
#include "skein/ids.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

bool is_thread_file(const fs::path& path) {
  std::error_code error;
  return path.extension() == ".jsonl" && ThreadId::parse(path.stem().string()).has_value() &&
         fs::is_regular_file(path, error);
}

void add_threads_in(const fs::path& folder, std::vector<fs::path>& files, std::error_code& error) {
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_thread_file(entry->path())) files.push_back(entry->path());
  }
}

// Those directly in the folder and in its threads/.
void add_agent(const fs::path& folder, std::vector<fs::path>& files, std::error_code& error) {
  add_threads_in(folder, files, error);
  std::error_code ignored;
  if (!error && fs::is_directory(folder / "threads", ignored)) {
    add_threads_in(folder / "threads", files, error);
  }
}

// Where programs keep their transcripts is hidden; nothing else that is hidden is looked into.
bool is_looked_into(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name == ".claude" || name == ".codex" || name == ".config" ||
         (!name.starts_with('.') && name != "node_modules");
}

void add_transcripts(const fs::path& folder, std::vector<fs::path>& files, std::error_code& error) {
  constexpr int kMaxDepth = 12;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(folder, options, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) {
      if (entry.depth() >= kMaxDepth || !is_looked_into(entry->path())) {
        entry.disable_recursion_pending();
      }
    } else if (is_transcript_name(entry->path()) && entry->is_regular_file(ignored)) {
      const FileKind kind = recognise(entry->path());
      if (kind == FileKind::kClaude || kind == FileKind::kCodex) files.push_back(entry->path());
    }
  }
}

}  // namespace

Result<std::vector<fs::path>> find_thread_files(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    return fail(ErrorCode::kNotFound, "there is no " + path.string());
  }
  if (!fs::is_directory(status)) return std::vector<fs::path>{path};

  std::vector<fs::path> files;
  add_agent(path, files, error);
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().filename() != "threads" && fs::is_directory(entry->path(), ignored)) {
      add_agent(entry->path(), files, error);
    }
  }
  if (!error) add_transcripts(path, files, error);
  if (error) {
    return fail(ErrorCode::kIo, path.string() + ": cannot be read: " + error.message());
  }
  if (files.empty()) return fail(ErrorCode::kNotFound, "there are no threads in " + path.string());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace skein
