#include "api/langgraph/saver.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"
#include "store/find_record.h"
#include "store/record_access.h"

namespace skein::langgraph {
namespace {

constexpr std::string_view kCheckpoints = "saver_checkpoints";
constexpr std::string_view kWrites = "saver_writes";

Result<void> check_id(std::string_view what, std::string_view id, bool may_be_empty = false) {
  if (id.empty() && !may_be_empty) {
    return fail(ErrorCode::kInvalid, std::string(what) + " must not be empty");
  }
  if (id.size() <= limits::kMaxSaverIdBytes) return {};
  return fail(ErrorCode::kInvalid, fmt::format("{} must be at most {} bytes, got {}", what,
                                               limits::kMaxSaverIdBytes, id.size()));
}

Result<void> check_name(const CheckpointName& name) {
  SKEIN_TRY(check_id("thread_id", name.thread));
  SKEIN_TRY(check_id("checkpoint_ns", name.space, true));
  return check_id("checkpoint_id", name.id);
}

std::string thread_prefix(std::string_view thread) { return key_part(thread) + '/'; }

std::string space_prefix(std::string_view thread, std::string_view space) {
  return thread_prefix(thread) + key_part(space) + '/';
}

std::string key_of(const CheckpointName& name) {
  return space_prefix(name.thread, name.space) + key_part(name.id);
}

// In rising order, negative ones first.
std::string write_key(const CheckpointName& name, const SavedWrite& write) {
  return key_of(name) + '/' + key_part(write.task) + '/' +
         fmt::format("{:012}", write.index + 1'000'000'000);
}

Result<SavedCheckpoint> parse_checkpoint(const Record& record) {
  JsonFields fields(record.bytes);
  SavedCheckpoint saved;
  saved.name.thread = fields.take_string("thread_id").value_or("");
  saved.name.space = fields.take_string("checkpoint_ns").value_or("");
  saved.name.id = fields.take_string("checkpoint_id").value_or("");
  saved.parent = fields.take_string("parent_checkpoint_id").value_or("");
  for (const JsonFields::Field& field : fields.others()) {
    if (field.name == "checkpoint") saved.checkpoint = field.value;
    if (field.name == "metadata") saved.metadata = field.value;
  }
  if (saved.name.id.empty() || saved.checkpoint.empty() || saved.metadata.empty()) {
    return fail(ErrorCode::kDamaged,
                "the record of checkpoint " + quote(record.key) + " is not what was written");
  }
  return saved;
}

bool matches(const SavedCheckpoint& saved, const SaverQuery& query) {
  if (query.thread && saved.name.thread != *query.thread) return false;
  if (query.space && saved.name.space != *query.space) return false;
  if (query.before && saved.name.id >= *query.before) return false;
  if (query.filter.empty()) return true;
  const JsonFields wanted(query.filter);
  const JsonFields there(saved.metadata);
  return std::all_of(wanted.others().begin(), wanted.others().end(), [&](const auto& member) {
    return std::any_of(there.others().begin(), there.others().end(), [&](const auto& other) {
      return other.name == member.name && same_json(Json::trusted(std::string(other.value)),
                                                    Json::trusted(std::string(member.value)));
    });
  });
}

}  // namespace

Result<void> Saver::put(const SavedCheckpoint& checkpoint) {
  SKEIN_TRY(check_name(checkpoint.name));
  SKEIN_TRY(check_id("parent_checkpoint_id", checkpoint.parent, true));
  JsonObject object;
  object.add("thread_id", checkpoint.name.thread)
      .add("checkpoint_ns", checkpoint.name.space)
      .add("checkpoint_id", checkpoint.name.id);
  if (!checkpoint.parent.empty()) object.add("parent_checkpoint_id", checkpoint.parent);
  object.add_json("checkpoint", checkpoint.checkpoint).add_json("metadata", checkpoint.metadata);
  SKEIN_TRY(store_.write(
      std::vector<RecordWrite>{put_record(kCheckpoints, key_of(checkpoint.name), object.str())}));
  return {};
}

Result<void> Saver::put_writes(const CheckpointName& name, const std::vector<SavedWrite>& writes) {
  SKEIN_TRY(check_name(name));
  for (const SavedWrite& write : writes) SKEIN_TRY(check_id("task_id", write.task));
  const bool special = std::all_of(writes.begin(), writes.end(),
                                   [](const SavedWrite& write) { return write.index < 0; });
  return write_again_on_conflict(store_, [&]() -> Result<std::vector<RecordWrite>> {
    std::vector<RecordWrite> records;
    for (const SavedWrite& write : writes) {
      std::string key = write_key(name, write);
      if (special) {
        records.push_back(put_record(kWrites, std::move(key), write.json));
        continue;
      }
      SKEIN_ASSIGN(const auto found, find_record(store_, kWrites, key));
      if (!found) records.push_back(put_record(kWrites, std::move(key), write.json, 0));
    }
    return records;
  });
}

Result<SavedTuple> Saver::tuple_of(const Record& record) {
  SavedTuple tuple;
  SKEIN_ASSIGN(tuple.saved, parse_checkpoint(record));
  SKEIN_TRY(scan_prefix(store_, kWrites, record.key + '/', [&](const Record& write) {
    tuple.writes.push_back(write.bytes);
    return true;
  }));
  return tuple;
}

Result<std::optional<SavedTuple>> Saver::get(const std::string& thread, const std::string& space,
                                             const std::optional<std::string>& id) {
  SKEIN_TRY(check_id("thread_id", thread));
  SKEIN_TRY(check_id("checkpoint_ns", space, true));
  std::optional<Record> found;
  if (id) {
    SKEIN_TRY(check_id("checkpoint_id", *id));
    SKEIN_ASSIGN(found, find_record(store_, kCheckpoints, key_of({thread, space, *id})));
  } else {
    SKEIN_TRY(scan_prefix(
        store_, kCheckpoints, space_prefix(thread, space),
        [&](const Record& record) {
          found = record;
          return false;
        },
        Direction::kBackward));
  }
  if (!found) return std::nullopt;
  SKEIN_ASSIGN(auto tuple, tuple_of(*found));
  return tuple;
}

Result<std::vector<SavedTuple>> Saver::list(const SaverQuery& query) {
  std::string prefix;
  if (query.thread) {
    SKEIN_TRY(check_id("thread_id", *query.thread));
    prefix = query.space ? space_prefix(*query.thread, *query.space) : thread_prefix(*query.thread);
  }
  // Within one thread and namespace they come in order; over several they are put in order.
  const bool in_order = query.thread && query.space;
  const std::size_t limit = std::min(query.limit, limits::kMaxSaverList);
  std::vector<std::pair<std::string, std::string>> found;  // ids, and the keys of their records
  Result<void> wrong;
  SKEIN_TRY(scan_prefix(
      store_, kCheckpoints, prefix,
      [&](const Record& record) {
        auto saved = parse_checkpoint(record);
        if (!saved) wrong = tl::unexpected(saved.error());
        if (saved && matches(*saved, query)) found.emplace_back(saved->name.id, record.key);
        return !in_order || found.size() < limit;
      },
      Direction::kBackward));
  SKEIN_TRY(wrong);
  std::sort(found.begin(), found.end(), std::greater<>());
  if (found.size() > limit) found.resize(limit);
  std::vector<SavedTuple> tuples;
  for (const auto& [id, key] : found) {
    SKEIN_ASSIGN(const auto record, find_record(store_, kCheckpoints, key));
    if (!record) continue;  // removed meanwhile
    SKEIN_ASSIGN(auto tuple, tuple_of(*record));
    tuples.push_back(std::move(tuple));
  }
  return tuples;
}

Result<void> Saver::remove(const std::string& thread) {
  SKEIN_TRY(check_id("thread_id", thread));
  for (const std::string_view collection : {kWrites, kCheckpoints}) {
    std::vector<RecordWrite> writes;
    SKEIN_TRY(scan_prefix(store_, collection, thread_prefix(thread), [&](const Record& record) {
      writes.push_back(delete_record(collection, record.key));
      return true;
    }));
    for (std::size_t i = 0; i < writes.size(); i += limits::kMaxSaverWrites) {
      const std::size_t count = std::min(limits::kMaxSaverWrites, writes.size() - i);
      SKEIN_TRY(store_.write(std::span(writes).subspan(i, count)));
    }
  }
  return {};
}

}  // namespace skein::langgraph
