#include "recall/index/vectors_file.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>

#include "core/file.h"
#include "core/own_folder.h"
#include "core/try.h"
#include "recall/index/message_writer.h"

namespace skein {
namespace {

struct KnownFile {
  std::string agent;
  std::optional<std::int64_t> bytes;
};

Result<KnownFile> known_file(Database& db, std::int64_t agent) {
  SKEIN_ASSIGN(Query query, db.query("SELECT name, file_bytes FROM agents WHERE agent = ?"));
  query.bind(agent);
  SKEIN_ASSIGN(const bool row, query.step());
  if (!row) return fail(ErrorCode::kNotFound, "the index has no such agent");
  KnownFile known{std::string(query.bytes(0)), {}};
  if (!query.is_null(1)) known.bytes = query.integer(1);
  return known;
}

Result<std::int64_t> length_of(const std::string& path) {
  SKEIN_ASSIGN(const auto stamp, stat_file(path));
  return stamp ? static_cast<std::int64_t>(stamp->size) : 0;
}

Result<void> copy_foreign_lines(const std::string& path, LineAppender& out) {
  return each_vector_line(path, [&](const std::string& line) -> Result<bool> {
    if (!is_own_vector_line(line)) SKEIN_TRY(out.add(line + "\n"));
    return true;
  });
}

}  // namespace

// A thread at a time: its messages are counted in one go.
Result<void> VectorsFiles::copy_index_lines(Database& db, std::int64_t agent,
                                            std::string_view model, LineAppender& out) {
  SKEIN_ASSIGN(Query query,
               db.query("SELECT thread, seq, flags, time, first FROM messages JOIN vectors USING "
                        "(message) JOIN models USING (model) WHERE agent = ? AND name = ? "
                        "ORDER BY thread, seq"));
  query.bind(agent, model);
  std::vector<VectorEntry> entries;
  const auto write = [&]() -> Result<void> {
    if (entries.empty()) return {};
    std::map<Seq, VectorEntry*> by_seq;
    for (VectorEntry& entry : entries) by_seq[entry.seq] = &entry;
    SKEIN_TRY(counter_.count(entries.front().thread, by_seq));
    for (const VectorEntry& entry : entries) SKEIN_TRY(out.add(vector_line(entry, model)));
    entries.clear();
    return {};
  };
  for (;;) {
    SKEIN_ASSIGN(const bool row, query.step());
    if (!row) return write();
    const auto thread = ThreadId::from_bits(static_cast<std::uint64_t>(query.integer(0)));
    if (!entries.empty() && entries.front().thread != thread) SKEIN_TRY(write());
    VectorEntry& entry = entries.emplace_back();
    entry.thread = thread;
    entry.seq = static_cast<Seq>(query.integer(1));
    entry.role = (query.integer(2) & kAssistantFlag) != 0 ? Role::kAssistant : Role::kUser;
    entry.time = Timestamp{query.integer(3)};
    entry.vector = std::string(query.bytes(4));
  }
}

std::string VectorsFiles::path_of(std::string_view agent) const {
  return fmt::format("{}/{}/embeddings.jsonl", folder_, agent);
}

// Vectors can be made again. A store that Skein made is not for git anyway.
Result<void> VectorsFiles::keep_from_git(const std::string& path) const {
  std::error_code error;
  if (std::filesystem::exists(folder_ + "/.gitignore", error)) return {};
  Flusher unflushed(false);
  return ignore_in_git(parent_folder(path), "embeddings.jsonl*\n", unflushed);
}

Result<std::int64_t> VectorsFiles::append(IndexReading& reading, std::int64_t agent,
                                          const std::vector<VectorEntry*>& entries,
                                          std::string_view model) {
  SKEIN_ASSIGN(const KnownFile known, known_file(reading.db(), agent));
  const std::string path = path_of(known.agent);
  SKEIN_ASSIGN(std::int64_t length, length_of(path));
  if (length != known.bytes.value_or(0)) {
    SKEIN_ASSIGN(length, rewrite(reading, agent, path, model));
  }
  if (length == 0) SKEIN_TRY(keep_from_git(path));
  std::map<ThreadId, std::map<Seq, VectorEntry*>> by_thread;
  for (VectorEntry* entry : entries) by_thread[entry->thread][entry->seq] = entry;
  for (const auto& [thread, of_thread] : by_thread) SKEIN_TRY(counter_.count(thread, of_thread));
  std::string lines;
  for (const VectorEntry* entry : entries) lines += vector_line(*entry, model);
  SKEIN_ASSIGN(const Fd fd, open_file(path, O_WRONLY | O_APPEND | O_CREAT));
  SKEIN_TRY(write_append(fd, path, lines));
  return length + static_cast<std::int64_t>(lines.size());
}

Result<std::optional<std::int64_t>> VectorsFiles::mend(IndexReading& reading, std::int64_t agent,
                                                       std::string_view model) {
  SKEIN_ASSIGN(const KnownFile known, known_file(reading.db(), agent));
  if (!known.bytes) return std::nullopt;
  const std::string path = path_of(known.agent);
  SKEIN_ASSIGN(const std::int64_t length, length_of(path));
  SKEIN_ASSIGN(const auto format, index_number(reading.db(), kVectorsFormat));
  if (length == *known.bytes && format == kCurrentVectorsFormat) return std::nullopt;
  SKEIN_ASSIGN(const std::int64_t written, rewrite(reading, agent, path, model));
  return written;
}

Result<std::int64_t> VectorsFiles::rewrite(IndexReading& reading, std::int64_t agent,
                                           const std::string& path, std::string_view model) {
  std::error_code error;
  if (!std::filesystem::is_directory(parent_folder(path), error))
    return 0;             // gone with its threads
  counter_.start_over();  // a thread may have been made again under its id
  const std::string beside = path + ".new";
  {
    SKEIN_ASSIGN(const Fd fd, open_file(beside, O_WRONLY | O_APPEND | O_CREAT | O_TRUNC));
    LineAppender out(fd, beside);
    SKEIN_TRY(copy_foreign_lines(path, out));
    SKEIN_TRY(copy_index_lines(reading.db(), agent, model, out));
    SKEIN_TRY(out.flush());
    // The vectors of other programs cannot be made again.
    SKEIN_TRY(Flusher().data(fd, beside));
  }
  if (std::rename(beside.c_str(), path.c_str()) != 0) {
    return tl::unexpected(io_error("rename", beside, errno));
  }
  return length_of(path);
}

}  // namespace skein
