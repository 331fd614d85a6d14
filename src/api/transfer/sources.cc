#include "api/transfer/sources.h"

#include <algorithm>
#include <set>
#include <system_error>

#include "api/transfer/transcripts/recognise.h"
#include "core/path_inside.h"
#include "core/try.h"
#include "skein/ids.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

// Where programs keep their transcripts is hidden; nothing else that is hidden is looked into.
bool is_looked_into(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name == ".claude" || name == ".codex" || name == ".config" ||
         (!name.starts_with('.') && name != "node_modules");
}

class Finder {
 public:
  Finder(const fs::path& root, const std::function<void(FileProblem)>& left_out)
      : root_(root), left_out_(left_out) {
    std::error_code ignored;
    canonical_ = fs::canonical(root, ignored);
  }

  // An error: the folder itself cannot be read.
  std::error_code run() {
    std::error_code error;
    fs::directory_iterator(root_, error);
    if (error) return error;
    add_agent(root_);
    add_agents_in(root_);
    if (is_folder(root_ / "agents") && stays_inside(root_ / "agents")) {
      add_agents_in(root_ / "agents");
    }
    add_transcripts();
    return {};
  }

  std::vector<fs::path> take() {
    std::sort(files_.begin(), files_.end());
    return std::move(files_);
  }

 private:
  // Once for each path.
  void leave_out(const fs::path& path, std::string message) {
    if (told_.insert(path).second && left_out_) left_out_({path, 0, std::move(message)});
  }

  // What the folder has, as far as it can be read.
  void for_each_in(const fs::path& folder, const std::function<void(const fs::path&)>& look) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      look(entry->path());
    }
    if (error) leave_out(folder, "cannot be read: " + error.message());
  }

  // Whether the entry may be looked at: what a link leads to lies in the folder, too.
  bool stays_inside(const fs::path& path) {
    std::error_code error;
    if (!fs::is_symlink(fs::symlink_status(path, error))) return true;
    const fs::path target = fs::canonical(path, error);
    if (!error && is_inside(target, canonical_)) return true;
    leave_out(path, "is a link that leads out of the folder; left out");
    return false;
  }

  static bool is_folder(const fs::path& path) {
    std::error_code error;
    return fs::is_directory(path, error);
  }

  // Only in a folder called threads every file of that kind is meant to be a thread.
  void add_threads_in(const fs::path& folder, bool all_are_threads) {
    for_each_in(folder, [&](const fs::path& path) {
      std::error_code ignored;
      if (path.extension() != ".jsonl") return;
      const bool named = ThreadId::parse(path.stem().string()).has_value();
      if ((!named && !all_are_threads) || !stays_inside(path)) return;
      if (!fs::is_regular_file(path, ignored)) return;
      if (named) {
        files_.push_back(path);
      } else if (!is_transcript_name(path)) {
        leave_out(path, "its name is no thread id (12 hex digits); left out");
      }
    });
  }

  // The threads directly in the folder and in its threads/.
  void add_agent(const fs::path& folder) {
    add_threads_in(folder, false);
    const fs::path threads = folder / "threads";
    if (is_folder(threads) && stays_inside(threads)) add_threads_in(threads, true);
  }

  void add_agents_in(const fs::path& folder) {
    for_each_in(folder, [&](const fs::path& path) {
      if (path.filename() != "threads" && is_folder(path) && stays_inside(path)) add_agent(path);
    });
  }

  void add_transcripts() {
    constexpr int kMaxDepth = 12;
    const auto options = fs::directory_options::skip_permission_denied;
    std::error_code error;
    for (fs::recursive_directory_iterator entry(root_, options, error), end; !error && entry != end;
         entry.increment(error)) {
      std::error_code ignored;
      if (entry->is_directory(ignored)) {
        if (entry.depth() >= kMaxDepth || !is_looked_into(entry->path())) {
          entry.disable_recursion_pending();
        }
      } else if (is_transcript_name(entry->path()) && entry->is_regular_file(ignored) &&
                 stays_inside(entry->path())) {
        const FileKind kind = recognise(entry->path());
        if (kind == FileKind::kClaude || kind == FileKind::kCodex) files_.push_back(entry->path());
      }
    }
    if (error) leave_out(root_, "cannot be read in full: " + error.message());
  }

  const fs::path root_;
  const std::function<void(FileProblem)>& left_out_;
  fs::path canonical_;
  std::vector<fs::path> files_;
  std::set<fs::path> told_;
};

}  // namespace

Result<std::vector<fs::path>> find_thread_files(const fs::path& path,
                                                const std::function<void(FileProblem)>& left_out) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    return fail(ErrorCode::kNotFound, "there is no " + path.string());
  }
  if (!fs::is_directory(status) && !fs::is_regular_file(status)) {
    return fail(ErrorCode::kInvalid, path.string() + ": is neither a regular file nor a folder");
  }
  if (!fs::is_directory(status)) return std::vector<fs::path>{path};

  Finder finder(path, left_out);
  if (error = finder.run(); error) {
    return fail(ErrorCode::kIo, path.string() + ": cannot be read: " + error.message());
  }
  std::vector<fs::path> files = finder.take();
  if (files.empty()) return fail(ErrorCode::kNotFound, "there are no threads in " + path.string());
  return files;
}

}  // namespace skein
