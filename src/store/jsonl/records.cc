#include "store/jsonl/records.h"

#include <algorithm>

#include "core/json.h"
#include "core/quote.h"
#include "core/try.h"
#include "store/checks.h"
#include "store/codec.h"
#include "store/jsonl/line.h"

namespace skein::jsonl {
namespace {

constexpr std::string_view kRemovedMember = "removed";
constexpr std::string_view kVersionMember = "version";

void append_write(std::string& line, const RecordWrite& write, Version version) {
  if (line.size() > 1) line.push_back(',');
  append_json_string(line, write.collection + "/" + write.key);
  line.append(R"(:{"version":)");
  append_json_number(line, version);
  line.push_back(',');
  if (write.bytes) {
    append_bytes_member(line, *write.bytes);
  } else {
    line.append(R"("deleted":true)");
  }
  line.push_back('}');
}

}  // namespace

Records::Records(Folder& folder)
    : folder_(folder), journal_(folder.own_path("records.jsonl")), usage_(folder) {}

Result<void> Records::start() {
  const std::lock_guard writing(write_mutex_);
  SKEIN_ASSIGN(const FileLock lock, folder_.lock(kRecordsLock));
  const std::lock_guard guard(state_mutex_);
  SKEIN_TRY(follow());
  return complete_usage();
}

Result<void> Records::follow() {
  SKEIN_TRY(usage_.follow());
  return journal_.follow(
      [this] { restart(); },
      [this](std::uint64_t offset, std::string_view text) { take_line(offset, text); });
}

void Records::restart() {
  collections_.clear();
  buried_.clear();
  unapplied_usage_.clear();
  live_bytes_ = damaged_lines_ = 0;
}

void Records::take_line(std::uint64_t offset, std::string_view text) {
  if (is_blank(text)) return;
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  if (check_frame(text) != Frame::kVerified || !reader.read_padded(text, members)) {
    ++damaged_lines_;
    return;
  }
  unapplied_usage_.clear();
  for (const JsonMember& member : members) {
    if (member.name == kRemovedMember) {
      const auto id = ThreadId::parse(json_to_string(member.value).value_or(""));
      if (id) buried_[*id] = trailing_number(text, kManifestVersionField).value_or(0);
    } else if (member.name == kVersionMember) {
      const auto version = json_to_int(member.value).value_or(0);
      last_version_ = std::max(last_version_, static_cast<Version>(version));
    } else if (member.name != kManifestVersionField) {
      take_record(offset, text, member.name, member.value);
    }
  }
}

void Records::take_record(std::uint64_t offset, std::string_view line, std::string_view name,
                          RawJson value) {
  const auto slash = name.find('/');
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  if (slash == std::string_view::npos || !reader.read_padded(value, members)) return;
  Slot slot;
  for (const JsonMember& member : members) {
    if (member.name == kVersionMember) {
      slot.version = static_cast<Version>(json_to_int(member.value).value_or(0));
    } else if (member.name == "deleted") {
      slot.deleted = true;
    } else if (member.name == "text" || member.name == "base64") {
      slot.encoding = member.name == "text" ? Encoding::kText : Encoding::kBase64;
      slot.offset = offset + static_cast<std::uint64_t>(member.value.data() - line.data());
      slot.length = member.value.size();
    }
  }
  const std::string collection(name.substr(0, slash));
  const std::string key(name.substr(slash + 1));
  last_version_ = std::max(last_version_, slot.version);
  if (collection == kUsageCollection) {
    usage_.drop(key, slot.version);
    unapplied_usage_[key] = slot;
  }
  Slot& known = collections_[collection][key];
  live_bytes_ -= known.length;
  live_bytes_ += slot.length;
  known = slot;
}

// For usage, what counts is its own file; of the journal only whether a record was deleted.
const Slot* Records::find(const std::string& collection, const std::string& key) const {
  if (collection == kUsageCollection) {
    const auto slot = usage_.slots().find(key);
    return slot == usage_.slots().end() ? nullptr : &slot->second;
  }
  const auto records = collections_.find(collection);
  if (records == collections_.end()) return nullptr;
  const auto slot = records->second.find(key);
  return slot == records->second.end() || slot->second.deleted ? nullptr : &slot->second;
}

Result<void> Records::check_expected(const RecordWrite& write) const {
  const Slot* slot = find(write.collection, write.key);
  return check_version("record " + quote(write.key) + " of " + write.collection,
                       write.expect_version, slot == nullptr ? 0 : slot->version);
}

// Takes away the rest of a batch whose writer died; it was not acknowledged.
Result<void> Records::mend() {
  if (journal_.torn_bytes() == 0) return {};
  Finding finding;
  finding.what =
      "torn last line of " + std::to_string(journal_.torn_bytes()) + " bytes in " + journal_.path();
  std::string torn(std::min<std::uint64_t>(journal_.torn_bytes(), std::size_t{64} << 20), '\0');
  SKEIN_ASSIGN(const auto got,
               read_at(journal_.fd(), journal_.path(), journal_.size() - journal_.torn_bytes(),
                       torn.data(), torn.size()));
  const std::string kept =
      folder_.own_path("torn") + "/records-" + std::to_string(folder_.clock().now().ms());
  SKEIN_TRY(replace_file(kept, std::string_view(torn).substr(0, got), folder_.flusher()));
  SKEIN_TRY(journal_.append("", folder_.flusher()));
  finding.repair = "removed, and kept as " + kept;
  finding.repaired = true;
  folder_.notice(finding);
  return follow();
}

bool Records::usage_behind() const {
  return std::any_of(unapplied_usage_.begin(), unapplied_usage_.end(), [this](const auto& entry) {
    UsageWrite write;
    write.key = entry.first;
    write.version = entry.second.version;
    if (!entry.second.deleted) write.bytes.emplace();
    return !usage_.has(write);
  });
}

Result<void> Records::complete_usage() {
  std::vector<UsageWrite> writes;
  for (const auto& [key, slot] : unapplied_usage_) {
    UsageWrite write;
    write.key = key;
    write.version = slot.version;
    if (!slot.deleted) {
      SKEIN_ASSIGN(write.bytes, read_slot(journal_.fd(), journal_.path(), slot));
    }
    if (!usage_.has(write)) writes.push_back(std::move(write));
  }
  if (!writes.empty()) SKEIN_TRY(usage_.apply(writes));
  unapplied_usage_.clear();
  return {};
}

// Completes the line and makes it durable.
Result<void> Records::append_line(std::string line) {
  close_line(line, 0);
  line.push_back('\n');
  return journal_.append(std::move(line), folder_.flusher());
}

Result<std::vector<Version>> Records::write(std::span<const RecordWrite> writes,
                                            const Allow& allowed, const Publish& published) {
  SKEIN_TRY(folder_.flusher().check());
  const std::lock_guard writing(write_mutex_);
  SKEIN_ASSIGN(const FileLock lock, folder_.lock(kRecordsLock));
  const std::lock_guard guard(state_mutex_);
  SKEIN_TRY(follow());
  SKEIN_TRY(mend());
  SKEIN_TRY(complete_usage());
  for (const RecordWrite& write : writes) {
    SKEIN_TRY(allowed(write));
    SKEIN_TRY(check_expected(write));
  }
  std::vector<Version> versions;
  std::vector<RecordChange> changes;
  std::string line = "{";
  Version version = last_version_;
  for (const RecordWrite& write : writes) {
    if (!write.bytes && find(write.collection, write.key) == nullptr) {
      versions.push_back(0);
      continue;
    }
    append_write(line, write, ++version);
    versions.push_back(write.bytes ? version : 0);
    changes.push_back({write.collection, write.key, version, !write.bytes});
  }
  if (changes.empty()) return versions;
  SKEIN_TRY(append_line(std::move(line)));
  SKEIN_TRY(follow());
  SKEIN_TRY(complete_usage());
  published(changes);
  if (const auto compacted = compact_if_worthwhile(); !compacted) {
    // What was written is durable in either journal.
    Finding finding;
    finding.what = "the journal of records could not be compacted: " + compacted.error().message;
    finding.repair = "it is tried again; nothing is lost";
    folder_.notice(finding);
  }
  return versions;
}

Result<std::vector<Record>> Records::scan(const ScanRange& range) {
  bool behind = false;
  {
    const std::lock_guard guard(state_mutex_);
    SKEIN_TRY(follow());
    behind = range.collection == kUsageCollection && usage_behind();
  }
  if (behind) SKEIN_TRY(start());
  const std::lock_guard guard(state_mutex_);
  std::vector<Record> found;
  const bool usage = range.collection == kUsageCollection;
  const auto collection = collections_.find(range.collection);
  if (!usage && collection == collections_.end()) return found;
  const std::map<std::string, Slot>& slots = usage ? usage_.slots() : collection->second;
  const auto first = slots.lower_bound(range.from);
  const auto last = range.to.empty() ? slots.end() : slots.lower_bound(range.to);
  if (!range.to.empty() && range.to <= range.from) return found;
  const auto take = [&](const auto& entry) -> Result<void> {
    if (entry.second.deleted) return {};
    SKEIN_ASSIGN(std::string bytes, usage
                                        ? usage_.read(entry.second)
                                        : read_slot(journal_.fd(), journal_.path(), entry.second));
    found.push_back({entry.first, std::move(bytes), entry.second.version});
    return {};
  };
  if (range.direction == Direction::kForward) {
    for (auto at = first; at != last && found.size() < range.limit; ++at) SKEIN_TRY(take(*at));
  } else {
    for (auto at = last; at != first && found.size() < range.limit;) SKEIN_TRY(take(*--at));
  }
  return found;
}

}  // namespace skein::jsonl
