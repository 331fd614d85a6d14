#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <unordered_set>

#include "core/try.h"
#include "store/checks.h"
#include "store/codec.h"
#include "store/jsonl/line.h"
#include "store/jsonl/store_impl.h"

namespace skein::jsonl {
namespace {

constexpr std::size_t kWriteBytes = std::size_t{1} << 20;

Error id_taken(ThreadId id) {
  return {ErrorCode::kConflict, "thread " + id.str() + " exists already"};
}

Result<void> check_alias_is_free(Catalog& catalog, const Manifest& manifest) {
  if (!manifest.alias) return {};
  SKEIN_ASSIGN(const auto other, catalog.find_alias(*manifest.alias));
  if (other) return tl::unexpected(alias_taken(*manifest.alias));
  return {};
}

}  // namespace

// A thread's file before it has its name.
struct JsonlStore::NewFile {
  Fd fd;
  std::string path;
  Manifest manifest;
  std::uint64_t size = 0;
  std::string pending;                   // lines that are not written yet
  std::unordered_set<std::string> keys;  // of the events that were copied

  Result<void> add(std::string_view bytes) {
    pending.append(bytes);
    return pending.size() < kWriteBytes ? Result<void>() : write_pending();
  }
  Result<void> write_pending() {
    SKEIN_TRY(write_at(fd, path, size, pending));
    size += pending.size();
    pending.clear();
    return {};
  }
};

// Copies the lines as they are: their positions are the same in the copy, and so are their
// checksums.
Result<void> JsonlStore::copy_parent(const NewThread& request, NewFile& file) {
  SKEIN_ASSIGN(const auto parent, catalog_.find(request.from->thread));
  if (!parent) return tl::unexpected(unknown_thread(request.from->thread));
  if (!parent->problem.empty()) return fail(ErrorCode::kDamaged, parent->problem);
  SKEIN_TRY(check_fork(request, parent->manifest));
  const std::string path = folder_->thread_path(parent->agent, parent->manifest.id);
  SKEIN_ASSIGN(const auto source, open_thread(path, O_RDONLY));
  if (!source) return tl::unexpected(unknown_thread(request.from->thread));
  SKEIN_ASSIGN(const auto stamp, stat_open(source->fd, path));
  SKEIN_ASSIGN(const Head head, read_head(*source, parent->manifest.id));
  LineWalker walker(*source, {1, head.width}, stamp.size);
  EventReader reader;
  Event event;
  Line line;
  while (file.manifest.last_seq < request.from->seq) {
    SKEIN_ASSIGN(const bool more, walker.next(line));
    if (!more) break;
    file.manifest.last_seq = line.seq;
    SKEIN_TRY(file.add(line.text));
    SKEIN_TRY(file.add("\n"));
    const bool own = line.kind == Line::Kind::kVerified;
    if (!own && line.kind != Line::Kind::kForeign) continue;
    if (!reader.read_padded(line.text, own ? EventSource::kLine : EventSource::kForeign, event)) {
      continue;
    }
    if (event.timestamp.is_set()) {
      file.manifest.updated_at = std::max(file.manifest.updated_at, event.timestamp);
    }
    if (!event.key.empty()) file.keys.insert(event.key);
  }
  return {};
}

// Gives the file its name, unless the id or the alias is taken.
Result<void> JsonlStore::publish_file(const NewThread& request, ThreadId id, NewFile& file) {
  const std::string path = folder_->thread_path(request.agent_id, id);
  {
    const std::lock_guard guard(names_mutex_);
    SKEIN_ASSIGN(const FileLock lock, folder_->lock(kNamesLock));
    SKEIN_ASSIGN(const auto taken, catalog_.locate(id));
    if (taken) return tl::unexpected(id_taken(id));
    SKEIN_TRY(check_alias_is_free(catalog_, file.manifest));
    if (::link(file.path.c_str(), path.c_str()) != 0) {
      if (errno == EEXIST) return tl::unexpected(id_taken(id));
      return tl::unexpected(io_error("make", path, errno));
    }
  }
  if (auto flushed = folder_->flusher().folder(folder_->threads_folder(request.agent_id));
      !flushed) {
    (void)remove_file(path);
    return flushed;
  }
  return {};
}

Result<Manifest> JsonlStore::create_as(const NewThread& request, ThreadId id) {
  const std::shared_ptr<ThreadState> state = threads_.get(id);
  SKEIN_ASSIGN(const ThreadLock lock, ThreadLock::acquire(*folder_, *state));
  SKEIN_ASSIGN(const auto taken, catalog_.locate(id));
  if (taken) return tl::unexpected(id_taken(id));
  // Left by a thread of the same id that is gone.
  SKEIN_TRY(remove_file(folder_->own_path("manifests", id)));
  SKEIN_TRY(remove_file(folder_->own_path("leases", id)));
  NewFile file;
  SKEIN_ASSIGN(file.manifest, make_manifest(request, id, folder_->clock().now()));
  SKEIN_TRY(check_alias_is_free(catalog_, file.manifest));
  SKEIN_ASSIGN(const Version before, records_.buried_version(id));
  file.manifest.version = before + 1;
  file.path = folder_->temporary_path(id);
  SKEIN_TRY(folder_->make_agent(request.agent_id));
  const auto write = [&]() -> Result<void> {
    SKEIN_ASSIGN(file.fd, open_file(file.path, O_RDWR | O_CREAT | O_TRUNC));
    // Line 1 is written last, when the latest event is known; its width does not depend on that.
    const std::uint64_t width = head_line(file.manifest, 0).size();
    file.size = width;
    if (request.from) SKEIN_TRY(copy_parent(request, file));
    SKEIN_TRY(
        check_initial_events(request, id, file.manifest.last_seq,
                             [&](const std::string& key) { return file.keys.contains(key); }));
    for (Event event : request.events) {
      if (!event.timestamp.is_set()) event.timestamp = folder_->clock().now();
      file.manifest.updated_at = std::max(file.manifest.updated_at, event.timestamp);
      std::string line;
      append_event_line(line, event, ++file.manifest.last_seq);
      SKEIN_TRY(file.add(line));
    }
    SKEIN_TRY(file.write_pending());
    SKEIN_TRY(write_at(file.fd, file.path, 0, head_line(file.manifest, width)));
    SKEIN_TRY(folder_->flusher().data(file.fd, file.path));
    return publish_file(request, id, file);
  };
  const auto written = write();
  (void)remove_file(file.path);
  if (!written) return tl::unexpected(written.error());
  commits_.add(1);
  feed_.created(id, file.manifest.version);
  if (file.manifest.last_seq > 0) feed_.appended(id, 1, file.manifest.last_seq);
  return file.manifest;
}

Result<Manifest> JsonlStore::create(const NewThread& request) {
  SKEIN_TRY(check_new_thread(request));
  SKEIN_TRY(folder_->flusher().check());
  if (request.id) return create_as(request, *request.id);
  while (true) {
    const ThreadId id = ThreadId::from_bits(folder_->ids().next());
    SKEIN_ASSIGN(const auto taken, catalog_.locate(id));
    if (!taken) return create_as(request, id);
  }
}

}  // namespace skein::jsonl
