#include "store/jsonl/folder.h"

#include <unistd.h>

#include <atomic>
#include <utility>

#include "core/own_folder.h"
#include "core/try.h"

namespace skein::jsonl {
namespace {

constexpr std::string_view kThreadSuffix = ".jsonl";
constexpr const char* kOwnSubfolders[] = {"leases", "manifests", "torn", "tmp"};

}  // namespace

Folder::Folder(std::string root, StoreOptions options)
    : root_(std::move(root)),
      confined_(root_),
      options_(std::move(options)),
      flusher_(!options_.unsafe_no_flush) {}

Result<std::unique_ptr<Folder>> Folder::open(const std::string& root, StoreOptions options) {
  if (root.empty()) return fail(ErrorCode::kInvalid, "jsonl: must name a folder, got nothing");
  std::unique_ptr<Folder> folder(new Folder(root, std::move(options)));
  SKEIN_TRY(folder->prepare());
  return folder;
}

Result<void> Folder::prepare() {
  SKEIN_TRY(make_store_folder(root_, flusher_));
  SKEIN_TRY(make_own_folder(root_, flusher_));
  for (const char* name : kOwnSubfolders) SKEIN_TRY(make_folders(own_path(name), flusher_));
  SKEIN_ASSIGN(lock_file_, open_file(own_path("lock"), O_RDWR | O_CREAT));
  remove_leftovers();
  return {};
}

void Folder::notice(const Finding& finding) const {
  if (options_.notice) options_.notice(finding);
}

std::string Folder::own_path(std::string_view name) const {
  return root_ + "/" + std::string(kOwnFolderName) + "/" + std::string(name);
}

std::string Folder::own_path(std::string_view folder, ThreadId id) const {
  return own_path(folder) + "/" + id.str();
}

std::string Folder::temporary_path(ThreadId id) {
  static std::atomic<unsigned> counter{0};
  return own_path("tmp", id) + "-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

std::string Folder::threads_folder(std::string_view agent) const {
  return root_ + "/" + std::string(agent) + "/threads";
}

std::string Folder::thread_path(std::string_view agent, ThreadId id) const {
  return threads_folder(agent) + "/" + id.str() + std::string(kThreadSuffix);
}

Result<std::vector<std::string>> Folder::agents() const {
  SKEIN_ASSIGN(auto names, list_folder(root_));
  std::erase_if(names, [](const std::string& name) { return !check_agent_id(name); });
  return names;
}

Result<std::vector<ThreadId>> Folder::threads(const std::string& agent) const {
  SKEIN_ASSIGN(const auto names, list_folder(threads_folder(agent)));
  std::vector<ThreadId> ids;
  for (std::string_view name : names) {
    if (!name.ends_with(kThreadSuffix)) continue;
    name.remove_suffix(kThreadSuffix.size());
    if (const auto id = ThreadId::parse(name)) ids.push_back(*id);
  }
  return ids;
}

Result<void> Folder::make_agent(const std::string& agent) {
  const std::lock_guard guard(agents_mutex_);
  if (made_agents_.contains(agent)) return {};
  SKEIN_TRY(make_folders(threads_folder(agent), flusher_));
  // Another process may have made them and not have come to flush them yet.
  SKEIN_TRY(flusher_.folder(root_ + "/" + agent));
  SKEIN_TRY(flusher_.folder(root_));
  made_agents_.insert(agent);
  return {};
}

Result<FileLock> Folder::lock(std::uint64_t offset) const {
  return FileLock::acquire(lock_file_.get(), offset, LockMode::kExclusive);
}

Result<std::optional<FileLock>> Folder::try_lock(std::uint64_t offset) const {
  return FileLock::try_acquire(lock_file_.get(), offset, LockMode::kExclusive);
}

// What a process that died left behind: whoever writes a temporary file holds its thread's lock.
void Folder::remove_leftovers() {
  const auto names = list_folder(own_path("tmp"));
  if (!names) return;
  for (const std::string& name : *names) {
    const auto id = ThreadId::parse(std::string_view(name).substr(0, 12));
    if (!id) continue;
    if (const auto held = try_lock(id->bits()); held && *held) {
      (void)remove_file(own_path("tmp") + "/" + name);
    }
  }
}

}  // namespace skein::jsonl
