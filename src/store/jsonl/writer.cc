#include "store/jsonl/writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>

#include "core/try.h"

namespace skein::jsonl {
namespace {

constexpr std::size_t kCopyBytes = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kFollowPathEvery{20};

std::string sidecar_path(const Folder& folder, ThreadId id) {
  return folder.own_path("manifests", id);
}

Result<void> copy_bytes(const ThreadFile& from, std::uint64_t begin, std::uint64_t end,
                        const Fd& to, const std::string& to_path, std::uint64_t at) {
  std::string buffer;
  while (begin < end) {
    buffer.resize(std::min<std::uint64_t>(kCopyBytes, end - begin));
    SKEIN_ASSIGN(const auto got, read_at(from.fd, from.path, begin, buffer.data(), buffer.size()));
    if (got == 0) return fail(ErrorCode::kIo, from.path + " became shorter while it was copied");
    SKEIN_TRY(write_at(to, to_path, at, std::string_view(buffer).substr(0, got)));
    begin += got;
    at += got;
  }
  return {};
}

// Other programs append without our locks. What they append after the end was read must not be
// truncated, and not be missing in a copy.
Result<void> check_size(const ThreadFile& file, std::uint64_t expected) {
  SKEIN_ASSIGN(const auto now, stat_open(file.fd, file.path));
  if (now.size == expected) return {};
  return fail(ErrorCode::kConflict,
              file.path + ": another program appended to it while line 1 or a torn end was " +
                  "written; retry");
}

// The file that is open, unless another has its place. Whoever replaces or removes a file takes its
// name away, which the open file shows; only one that was moved elsewhere keeps a name, and for
// those the path is followed, not every time.
Result<std::optional<FileStamp>> look_at(WriterView& view) {
  const auto now = std::chrono::steady_clock::now();
  if (now - view.path_followed > kFollowPathEvery) {
    view.path_followed = now;
    return stat_file(view.file->path);
  }
  SKEIN_ASSIGN(const auto stamp, stat_open(view.file->fd, view.file->path));
  if (!stamp.has_name) return std::nullopt;
  return stamp;
}

}  // namespace

Result<bool> Writer::refresh(ThreadState& state) {
  WriterView& view = state.writer;
  if (view.file) {
    SKEIN_ASSIGN(const auto stamp, look_at(view));
    if (stamp && stamp->inode == view.file->inode && stamp->size >= view.tail.end.lines_end) {
      // Another process may have put a line of the same length where the torn one was.
      if (stamp->size != view.tail.size || view.tail.end.torn_bytes > 0) {
        SKEIN_ASSIGN(view.tail, extend_tail(*view.file, view.tail, stamp->size));
      }
      return true;
    }
  }
  return open(state);
}

Result<bool> Writer::open(ThreadState& state) {
  state.writer = WriterView{};
  SKEIN_ASSIGN(const auto agent, catalog_.locate(state.id));
  if (!agent) return false;
  SKEIN_ASSIGN(auto file, open_thread(folder_.thread_path(*agent, state.id), O_RDWR));
  if (!file) return false;
  WriterView view;
  view.agent = *agent;
  SKEIN_ASSIGN(view.head, read_head(*file, state.id));
  SKEIN_TRY(recover_head(state, *file, view.head));
  if (view.head.state == Head::State::kDamaged) {
    return tl::unexpected(damaged_head(state.id, view.head));
  }
  SKEIN_ASSIGN(const auto stamp, stat_open(file->fd, file->path));
  SKEIN_ASSIGN(view.tail, read_tail(*file, view.head.width, stamp.size));
  if (view.head.newline_missing) view.tail.end.newline_missing = true;
  view.keys_to = {1, view.head.width};
  view.file = std::make_shared<const ThreadFile>(std::move(*file));
  state.writer = std::move(view);
  return true;
}

Result<bool> Writer::refresh_head(ThreadState& state) {
  state.writer.path_followed = {};  // line 1 may be written by replacing the file
  SKEIN_ASSIGN(const bool found, refresh(state));
  if (!found) return false;
  SKEIN_ASSIGN(Head head, read_head(*state.writer.file, state.id));
  if (head.state == Head::State::kDamaged) return open(state);
  state.writer.head = std::move(head);
  return true;
}

// A sidecar is the whole of a line 1 that was being written in place. It counts only if line 1 is
// damaged and has its width still; otherwise the write was finished, or never began.
Result<void> Writer::recover_head(ThreadState& state, const ThreadFile& file, Head& head) {
  const std::string path = sidecar_path(folder_, state.id);
  SKEIN_ASSIGN(const auto line, read_file(path, std::size_t{1} << 20));
  if (!line) return {};
  if (head.state == Head::State::kDamaged && head.width == line->size()) {
    Head wanted = parse_head(*line, state.id);
    if (wanted.state == Head::State::kVerified && wanted.width == line->size()) {
      SKEIN_TRY(write_at(file.fd, file.path, 0, *line));
      SKEIN_TRY(folder_.flusher().data(file.fd, file.path));
      head = std::move(wanted);
      Finding finding;
      finding.thread = state.id;
      finding.what = "line 1 was half written";
      finding.repair = "written again from its sidecar";
      finding.repaired = true;
      folder_.notice(finding);
    }
  }
  SKEIN_TRY(remove_file(path));
  return {};
}

Result<void> Writer::mend_end(ThreadState& state) {
  WriterView& view = state.writer;
  FileEnd& end = view.tail.end;
  if (end.torn_bytes > 0) {
    std::string torn(std::min<std::uint64_t>(end.torn_bytes, std::size_t{64} << 20), '\0');
    SKEIN_ASSIGN(const auto got,
                 read_at(view.file->fd, view.file->path, end.lines_end, torn.data(), torn.size()));
    SKEIN_TRY(check_size(*view.file, end.lines_end + end.torn_bytes));
    const std::string kept = folder_.own_path("torn", state.id) + "-" +
                             std::to_string(end.lines_end) + "-" +
                             std::to_string(folder_.clock().now().ms());
    SKEIN_TRY(replace_file(kept, std::string_view(torn).substr(0, got), folder_.flusher()));
    SKEIN_TRY(truncate_file(view.file->fd, view.file->path, end.lines_end));
    SKEIN_TRY(folder_.flusher().data(view.file->fd, view.file->path));
    Finding finding;
    finding.thread = state.id;
    finding.what = "torn last line of " + std::to_string(end.torn_bytes) + " bytes";
    finding.repair = "removed, and kept as " + kept;
    finding.repaired = true;
    end.torn_bytes = 0;
    view.tail.size = end.lines_end;
    folder_.notice(finding);
  }
  if (end.newline_damaged) {
    SKEIN_TRY(write_at(view.file->fd, view.file->path, end.lines_end - 1, "\n"));
    SKEIN_TRY(folder_.flusher().data(view.file->fd, view.file->path));
    end.newline_damaged = false;
  }
  return {};
}

Result<void> Writer::append(ThreadState& state, std::string lines) {
  SKEIN_TRY(folder_.flusher().check());
  SKEIN_TRY(mend_end(state));
  WriterView& view = state.writer;
  const std::uint64_t at = view.tail.end.lines_end;
  if (view.tail.end.newline_missing) lines.insert(lines.begin(), '\n');
  if (auto written = write_at(view.file->fd, view.file->path, at, lines); !written) {
    if (!truncate_file(view.file->fd, view.file->path, at)) view.file.reset();
    return written;
  }
  if (auto flushed = folder_.flusher().data(view.file->fd, view.file->path); !flushed) {
    view.file.reset();
    return flushed;
  }
  view.tail.end.newline_missing = false;
  view.tail.end.lines_end = at + lines.size();
  view.tail.size = view.tail.end.lines_end;
  return {};
}

Result<void> Writer::write_head(ThreadState& state, Manifest manifest) {
  SKEIN_TRY(folder_.flusher().check());
  WriterView& view = state.writer;
  if (manifest.agent_id.empty()) manifest.agent_id = view.agent;
  std::string line;
  if (view.head.state == Head::State::kVerified && !view.head.stray_offset) {
    line = head_line(manifest, view.head.width);
  }
  if (!line.empty()) {
    SKEIN_TRY(overwrite_head(state, line));
  } else {
    line = head_line(manifest, 0);
    SKEIN_TRY(copy_with_head(state, line));
  }
  view.head = parse_head(line, state.id);
  catalog_.forget(state.id);
  return {};
}

Result<void> Writer::settle_head(ThreadState& state) {
  SKEIN_ASSIGN(const bool found, refresh_head(state));
  const WriterView& view = state.writer;
  if (!found || view.head.manifest.updated_at >= view.tail.last_time) return {};
  Manifest manifest = view.head.manifest;
  manifest.updated_at = view.tail.last_time;
  return write_head(state, std::move(manifest));
}

Result<void> Writer::move(ThreadState& state, const Manifest& manifest) {
  const std::string& from = state.writer.agent;
  const std::string& to = manifest.agent_id;
  const std::string path = folder_.thread_path(to, state.id);
  SKEIN_TRY(folder_.make_agent(to));
  SKEIN_ASSIGN(const auto other, stat_file(path));
  if (other) return fail(ErrorCode::kConflict, path + " exists already");
  SKEIN_TRY(write_head(state, manifest));
  if (::rename(state.writer.file->path.c_str(), path.c_str()) != 0) {
    return tl::unexpected(io_error("rename to", path, errno));
  }
  SKEIN_TRY(folder_.flusher().folder(folder_.threads_folder(to)));
  SKEIN_TRY(folder_.flusher().folder(folder_.threads_folder(from)));
  state.writer = WriterView{};
  catalog_.forget(state.id);
  return {};
}

Result<void> Writer::overwrite_head(ThreadState& state, const std::string& line) {
  const ThreadFile& file = *state.writer.file;
  const std::string sidecar = sidecar_path(folder_, state.id);
  SKEIN_TRY(replace_file(sidecar, line, folder_.flusher()));
  auto written = write_at(file.fd, file.path, 0, line);
  if (written) written = folder_.flusher().data(file.fd, file.path);
  if (!written) {
    // The sidecar stays: line 1 may be half written.
    state.writer.file.reset();
    return written;
  }
  SKEIN_TRY(remove_file(sidecar));
  return {};
}

Result<void> Writer::copy_with_head(ThreadState& state, const std::string& line) {
  SKEIN_TRY(mend_end(state));
  WriterView& view = state.writer;
  const std::string temporary = folder_.temporary_path(state.id);
  const std::string path = view.file->path;
  ThreadFile copy;
  copy.path = path;
  const auto write = [&]() -> Result<void> {
    SKEIN_ASSIGN(copy.fd, open_file(temporary, O_RDWR | O_CREAT | O_TRUNC));
    SKEIN_TRY(write_at(copy.fd, temporary, 0, line));
    SKEIN_TRY(copy_bytes(*view.file, view.head.width, view.tail.end.lines_end, copy.fd, temporary,
                         line.size()));
    SKEIN_TRY(folder_.flusher().data(copy.fd, temporary));
    SKEIN_TRY(check_size(*view.file, view.tail.end.lines_end));
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
      return tl::unexpected(io_error("rename to", path, errno));
    }
    return {};
  };
  if (auto written = write(); !written) {
    (void)remove_file(temporary);
    return written;
  }
  const auto flushed = folder_.flusher().folder(folder_.threads_folder(view.agent));
  SKEIN_ASSIGN(const auto stamp, stat_open(copy.fd, path));
  copy.inode = stamp.inode;
  if (view.head.newline_missing) view.tail.end.newline_missing = false;
  view.tail.end.lines_end += line.size() - view.head.width;
  view.tail.size = stamp.size;
  view.keys_to = {1, line.size()};
  view.keys.clear();
  view.file = std::make_shared<const ThreadFile>(std::move(copy));
  return flushed;
}

}  // namespace skein::jsonl
