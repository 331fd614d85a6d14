#include <algorithm>

#include "core/json.h"
#include "core/try.h"
#include "store/jsonl/line.h"
#include "store/jsonl/records.h"

namespace skein::jsonl {
namespace {

// The journal is written anew when it is this large and no more than a quarter of it is in use.
constexpr std::uint64_t kCompactBytes = std::uint64_t{4} << 20;

std::string removal(ThreadId id, Version version) {
  return R"({"removed":")" + id.str() + R"(","rev":)" + std::to_string(version);
}

}  // namespace

Result<void> Records::bury(ThreadId id, Version version) {
  SKEIN_TRY(folder_.flusher().check());
  const std::lock_guard writing(write_mutex_);
  SKEIN_ASSIGN(const FileLock lock, folder_.lock(kRecordsLock));
  const std::lock_guard guard(state_mutex_);
  SKEIN_TRY(follow());
  SKEIN_TRY(mend());
  SKEIN_TRY(complete_usage());
  SKEIN_TRY(append_line(removal(id, version)));
  return follow();
}

Result<std::map<ThreadId, Version>> Records::buried() {
  const std::lock_guard guard(state_mutex_);
  SKEIN_TRY(follow());
  return buried_;
}

Result<Version> Records::buried_version(ThreadId id) {
  const std::lock_guard guard(state_mutex_);
  SKEIN_TRY(follow());
  const auto known = buried_.find(id);
  return known == buried_.end() ? 0 : known->second;
}

std::vector<RecordChange> Records::changes_since(Version version) const {
  std::vector<RecordChange> changes;
  for (const auto& [collection, slots] : collections_) {
    for (const auto& [key, slot] : slots) {
      if (slot.version > version) changes.push_back({collection, key, slot.version, slot.deleted});
    }
  }
  for (const auto& [key, slot] : usage_.slots()) {
    const auto journal = collections_.find(std::string(kUsageCollection));
    const bool known = journal != collections_.end() && journal->second.contains(key);
    if (!known && slot.version > version) {
      changes.push_back({std::string(kUsageCollection), key, slot.version, false});
    }
  }
  std::sort(changes.begin(), changes.end(),
            [](const RecordChange& a, const RecordChange& b) { return a.version < b.version; });
  return changes;
}

Result<void> Records::changes_after(
    Version version, const std::function<void(const std::vector<RecordChange>&)>& locked) {
  const std::lock_guard writing(write_mutex_);
  SKEIN_ASSIGN(const FileLock lock, folder_.lock(kRecordsLock));
  const std::lock_guard guard(state_mutex_);
  SKEIN_TRY(follow());
  locked(changes_since(version));
  return {};
}

Result<Version> Records::last_version() {
  const std::lock_guard guard(state_mutex_);
  SKEIN_TRY(follow());
  return last_version_;
}

// Writes the records anew that are current, and what must not be forgotten: the last version and
// the threads that were removed.
Result<void> Records::compact_if_worthwhile() {
  if (journal_.size() < kCompactBytes || journal_.size() / 4 < live_bytes_) return {};
  std::string bytes = R"({"version":)";
  append_json_number(bytes, last_version_);
  close_line(bytes, 0);
  bytes.push_back('\n');
  const auto add_line = [&bytes](std::string line) {
    close_line(line, 0);
    bytes.append(line).push_back('\n');
  };
  for (const auto& [id, version] : buried_) add_line(removal(id, version));
  for (const auto& [collection, slots] : collections_) {
    for (const auto& [key, slot] : slots) {
      if (collection == kUsageCollection && !slot.deleted) continue;
      std::string line = "{";
      append_json_string(line, collection + "/" + key);
      line.append(R"(:{"version":)");
      append_json_number(line, slot.version);
      if (slot.deleted) {
        line.append(R"(,"deleted":true})");
      } else {
        line.push_back(',');
        SKEIN_ASSIGN(const std::string value, read_slot(journal_.fd(), journal_.path(), slot));
        append_bytes_member(line, value);
        line.push_back('}');
      }
      add_line(std::move(line));
    }
  }
  SKEIN_TRY(replace_file(journal_.path(), bytes, folder_.flusher()));
  return follow();
}

Result<std::uint64_t> Records::check(bool repair, const std::function<void(const Finding&)>& sink) {
  const std::lock_guard writing(write_mutex_);
  SKEIN_ASSIGN(const FileLock lock, folder_.lock(kRecordsLock));
  const std::lock_guard guard(state_mutex_);
  SKEIN_TRY(follow());
  const auto report = [&sink](Health health, std::string what, std::string help, bool repaired) {
    Finding finding;
    finding.health = health;
    finding.what = std::move(what);
    finding.repair = std::move(help);
    finding.repaired = repaired;
    sink(finding);
  };
  if (damaged_lines_ > 0) {
    report(Health::kBroken, std::to_string(damaged_lines_) + " damaged lines in " + journal_.path(),
           "restore the file from a copy", false);
  }
  if (usage_.damaged_lines() > 0) {
    report(Health::kBroken,
           std::to_string(usage_.damaged_lines()) + " damaged lines in usage.jsonl",
           "restore the file from a copy", false);
  }
  if (usage_.foreign_lines() > 0) {
    report(Health::kUnverifiable,
           std::to_string(usage_.foreign_lines()) +
               " lines of usage.jsonl were written by other programs",
           "", false);
  }
  if (journal_.torn_bytes() > 0) {
    const std::string what = "torn last line in " + journal_.path();
    if (repair) SKEIN_TRY(mend());
    report(Health::kBroken, what, "remove it; it is kept under .skein/torn", repair);
  }
  std::uint64_t count = usage_.slots().size();
  for (const auto& [collection, slots] : collections_) {
    if (collection == kUsageCollection) continue;
    count += static_cast<std::uint64_t>(std::count_if(
        slots.begin(), slots.end(), [](const auto& entry) { return !entry.second.deleted; }));
  }
  return count;
}

}  // namespace skein::jsonl
