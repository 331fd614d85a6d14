#include "work/checkpoint_cache.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "core/text.h"
#include "core/try.h"
#include "work/checkpoint_extra.h"

namespace skein {
namespace {

// A cache of few checkpoints that is larger was not made by Skein.
constexpr std::size_t kMostCacheBytes = std::size_t{1} << 30;
constexpr std::size_t kFewestCacheBytes = std::size_t{16} << 20;
constexpr std::size_t kEachBytes = std::size_t{1} << 20;

// A file may change again within the tick of the clock that its time is measured in.
constexpr std::int64_t kClockTickNs = 100'000'000;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string all_text(const Checkpoint& checkpoint) {
  std::string text = checkpoint.id + "\n" + checkpoint.title + "\n" + checkpoint.summary;
  const auto add = [&text](const std::string& more) { text.append("\n").append(more); };
  const auto add_all = [&](const std::vector<std::string>& more) {
    for (const std::string& each : more) add(each);
  };
  add_all(checkpoint.tags);
  add_all(checkpoint.files_touched);
  if (checkpoint.next_steps) add_all(*checkpoint.next_steps);
  if (checkpoint.worker) {
    add(checkpoint.worker->id);
    add(checkpoint.worker->skill.value_or(""));
  }
  if (checkpoint.git) {
    add(checkpoint.git->branch.value_or(""));
    add(checkpoint.git->current_commit.value_or(""));
    if (checkpoint.git->commits_made) add_all(*checkpoint.git->commits_made);
  }
  for (const ExtraField& field : extra_fields(checkpoint.extra)) {
    add(field.name);
    add_all(field.texts);
  }
  return text;
}

CheckpointEntry entry_of(const Checkpoint& checkpoint) {
  CheckpointEntry entry;
  entry.id = checkpoint.id;
  entry.older = checkpoint.older;
  entry.archive = checkpoint.archive;
  entry.type = checkpoint.type;
  entry.other_type = checkpoint.other_type;
  entry.created_at = checkpoint.created_at;
  entry.title = checkpoint.title;
  entry.summary = checkpoint.summary;
  entry.tags = checkpoint.tags;
  if (checkpoint.worker) {
    entry.worker = checkpoint.worker->id;
    if (checkpoint.worker->skill) entry.worker += "/" + *checkpoint.worker->skill;
    if (checkpoint.worker->state) entry.worker_state = to_string(*checkpoint.worker->state);
  }
  if (checkpoint.git) {
    entry.branch = checkpoint.git->branch.value_or("");
    entry.commit = checkpoint.git->current_commit.value_or("");
  }
  entry.next_steps = checkpoint.next_steps ? checkpoint.next_steps->size() : 0;
  return entry;
}

// Nothing, if the file went away meanwhile.
std::optional<IndexedCheckpoint> read_checkpoint(const CheckpointFolder& folder,
                                                 const CheckpointFolder::File& file) {
  IndexedCheckpoint indexed;
  indexed.file = file;
  indexed.entry.id = file.id;
  indexed.entry.older = file.older;
  indexed.entry.archive = file.archive;
  if (now_ns() - file.stamp.mtime_ns < kClockTickNs) indexed.file.stamp = {};
  const auto checkpoint = folder.load(file);
  if (checkpoint) {
    indexed.entry = entry_of(*checkpoint);
    indexed.words = searchable(all_text(*checkpoint));
  } else if (checkpoint.error().code == ErrorCode::kNotFound) {
    return std::nullopt;
  } else {
    indexed.problem = checkpoint.error().message;
  }
  return indexed;
}

std::string key_of(const CheckpointFolder::File& file) {
  return (file.older ? "o" : "t" + file.archive + "/") + file.id;
}

}  // namespace

std::string searchable(std::string_view text) {
  std::string out;
  for (const std::string& word : words_of(fold_text(text))) out.append(" ").append(word);
  return out;
}

Result<std::vector<IndexedCheckpoint>> index_checkpoints(CheckpointFolder& folder) {
  const std::string path = folder.beside("checkpoints.cache");
  SKEIN_ASSIGN(const auto files, folder.files());
  std::vector<IndexedCheckpoint> known;
  const std::size_t most = std::min(kMostCacheBytes, kFewestCacheBytes + files.size() * kEachBytes);
  if (const auto bytes = read_file(path, most); bytes && *bytes) {
    known = decode_cache(**bytes);
  }
  std::unordered_map<std::string, const CheckpointFolder::File*> unknown;
  for (const CheckpointFolder::File& file : files) unknown.emplace(key_of(file), &file);

  // What is kept stays in its order, so that there is nothing to sort where nothing changed.
  const std::size_t before = known.size();
  std::erase_if(known, [&unknown](const IndexedCheckpoint& checkpoint) {
    const auto found = unknown.find(key_of(checkpoint.file));
    if (found == unknown.end() || found->second->stamp != checkpoint.file.stamp) return true;
    unknown.erase(found);
    return false;
  });
  if (known.size() == before && unknown.empty()) return known;

  for (const auto& [key, file] : unknown) {
    if (auto checkpoint = read_checkpoint(folder, *file)) known.push_back(std::move(*checkpoint));
  }
  std::sort(known.begin(), known.end(), [](const auto& a, const auto& b) {
    if (a.entry.created_at != b.entry.created_at) return a.entry.created_at > b.entry.created_at;
    return a.entry.id > b.entry.id;
  });
  if (folder.prepare_beside()) {
    Flusher unflushed(false);
    (void)replace_file(path, encode_cache(known), unflushed);
  }
  return known;
}

}  // namespace skein
