#include "work/item_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/json.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/text.h"
#include "core/try.h"
#include "skein/limits.h"
#include "store/find_record.h"
#include "store/record_access.h"

namespace skein {
namespace {

constexpr const char* kNotes = "work_items";           // key: <id>/<project>
constexpr const char* kLinked = "work_items_by_link";  // key: <kind>/<target>/<id>/<project>
constexpr double kDayUs = 86'400e6;
constexpr double kHalfLifeUs = 7 * kDayUs;
constexpr double kEmergingUs = 3 * kDayUs;

struct NamedLink {
  std::string_view kind;
  std::string ItemLinks::* target;
};
constexpr std::array<NamedLink, 4> kLinks = {{{"thread", &ItemLinks::thread},
                                              {"run", &ItemLinks::run},
                                              {"checkpoint", &ItemLinks::checkpoint},
                                              {"commit", &ItemLinks::commit}}};

double heat_at(const ItemNotes& notes, Timestamp now) {
  if (!notes.touched_at.is_set()) return 0;
  const double age_us = std::max(0.0, static_cast<double>(now.us - notes.touched_at.us));
  return notes.heat * std::exp2(-age_us / kHalfLifeUs);
}

std::string links_json(const ItemLinks& links) {
  JsonObject object;
  for (const NamedLink& link : kLinks) {
    if (const std::string& target = links.*link.target; !target.empty()) {
      object.add(link.kind, target);
    }
  }
  return object.str();
}

ItemLinks parse_links(RawJson json) {
  ItemLinks links;
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  reader.read(json, members);
  for (const JsonMember& member : members) {
    for (const NamedLink& link : kLinks) {
      if (member.name == link.kind) {
        links.*link.target = json_to_string(member.value).value_or("");
      }
    }
  }
  return links;
}

std::string notes_json(const ItemNotes& notes) {
  JsonObject object;
  object.add("id", notes.id).add("project", notes.project);
  if (!notes.opened_by.empty()) object.add_json("opened_by", links_json(notes.opened_by));
  if (!notes.closed_by.empty()) object.add_json("closed_by", links_json(notes.closed_by));
  if (!notes.linear_issue.empty()) object.add("linear_issue", notes.linear_issue);
  std::string heat;
  append_json_number(heat, notes.heat);
  object.add_json("heat", heat).add("touched_at", notes.touched_at.str());
  return object.add("touches", notes.touches).str();
}

Result<ItemNotes> parse_notes(const Record& record) {
  SKEIN_TRY(validate_json(record.bytes, "what is noted of " + record.key));
  ItemNotes notes;
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  reader.read(record.bytes, members);
  for (const JsonMember& member : members) {
    if (member.name == "id") notes.id = json_to_string(member.value).value_or("");
    if (member.name == "project") notes.project = json_to_string(member.value).value_or("");
    if (member.name == "opened_by") notes.opened_by = parse_links(member.value);
    if (member.name == "closed_by") notes.closed_by = parse_links(member.value);
    if (member.name == "linear_issue") {
      notes.linear_issue = json_to_string(member.value).value_or("");
    }
    if (member.name == "heat") notes.heat = json_to_double(member.value).value_or(0);
    if (member.name == "touches") {
      notes.touches = static_cast<std::uint64_t>(json_to_int(member.value).value_or(0));
    }
    if (member.name == "touched_at") {
      notes.touched_at =
          Timestamp::parse(json_to_string(member.value).value_or("")).value_or(Timestamp{0});
    }
  }
  return notes;
}

std::string notes_key(const std::string& id, const std::string& project) {
  return id + "/" + project;
}

void add_link_writes(const ItemNotes& notes, std::vector<RecordWrite>& writes) {
  for (const ItemLinks* links : {&notes.opened_by, &notes.closed_by}) {
    for (const NamedLink& link : kLinks) {
      const std::string& target = links->*link.target;
      if (target.empty()) continue;
      std::string key(link.kind);
      key.append("/").append(target).append("/").append(notes_key(notes.id, notes.project));
      // What opened an item may have closed it, too; a batch names each record once.
      const bool named =
          std::any_of(writes.begin(), writes.end(), [&key](const RecordWrite& write) {
            return write.collection == kLinked && write.key == key;
          });
      if (!named) writes.push_back(put_record(kLinked, std::move(key), "{}"));
    }
  }
}

// The notes as they are, changed.
Result<std::vector<RecordWrite>> changed_notes(Store& store, const std::string& project,
                                               std::span<const std::string> ids,
                                               const std::function<void(ItemNotes&)>& change) {
  std::vector<RecordWrite> writes;
  for (const std::string& id : ids) {
    const std::string key = notes_key(id, project);
    SKEIN_ASSIGN(const auto record, find_record(store, kNotes, key));
    ItemNotes notes;
    notes.id = id;
    notes.project = project;
    if (record) {
      SKEIN_ASSIGN(notes, parse_notes(*record));
    }
    change(notes);
    const Version version = record ? record->version : 0;
    std::string bytes = notes_json(notes);
    if (!record || record->bytes != bytes) {
      writes.push_back(put_record(kNotes, key, std::move(bytes), version));
      add_link_writes(notes, writes);
    }
  }
  return writes;
}

Result<std::set<std::string>> linked_by(Store& store, std::string_view kind,
                                        const std::string& target) {
  std::set<std::string> ids;
  const std::string prefix = std::string(kind) + "/" + target + "/";
  SKEIN_TRY(scan_prefix(store, kLinked, prefix, [&](const Record& record) {
    const std::string_view rest = std::string_view(record.key).substr(prefix.size());
    ids.emplace(rest.substr(0, rest.find('/')));
    return true;
  }));
  return ids;
}

}  // namespace

void touch(ItemNotes& notes, Timestamp now) {
  notes.heat = heat_at(notes, now) + 1;
  notes.touched_at = std::max(notes.touched_at, now);
  ++notes.touches;
}

Vitality vitality_of(const WorkItem& item, const ItemNotes* notes, Timestamp now) {
  ItemNotes created;
  touch(created, item.created_at);
  if (notes == nullptr || notes->touches == 0) notes = &created;
  Vitality vitality;
  vitality.value = 1 - std::exp2(-heat_at(*notes, now));
  if (static_cast<double>(now.us - item.created_at.us) < kEmergingUs && notes->touches <= 2) {
    vitality.word = "emerging";
  } else if (vitality.value >= 0.4) {
    vitality.word = "active";
  } else if (vitality.value >= 0.15) {
    vitality.word = "cooling";
  }
  return vitality;
}

Result<void> check_links(const ItemLinks& links) {
  for (const NamedLink& link : kLinks) {
    const std::string& target = links.*link.target;
    const bool valid = target.size() <= limits::kMaxLinkBytes && valid_utf8(target) &&
                       target.find('/') == std::string::npos &&
                       target.find('\n') == std::string::npos &&
                       target.find('\t') == std::string::npos && !has_control_characters(target);
    if (!valid) {
      return fail(ErrorCode::kInvalid,
                  "a link to a " + std::string(link.kind) + " must be at most " +
                      std::to_string(limits::kMaxLinkBytes) +
                      " bytes of UTF-8 without / and control characters, got " + quote(target));
    }
  }
  return {};
}

Result<void> check_issue(const std::string& issue) {
  const bool valid = issue.size() <= limits::kMaxLinkBytes && valid_utf8(issue) &&
                     issue.find_first_of("\n\t") == std::string::npos &&
                     !has_control_characters(issue);
  if (valid) return {};
  return fail(ErrorCode::kInvalid, fmt::format("linear_issue must be at most {} bytes of UTF-8 "
                                               "without control characters, got {}",
                                               limits::kMaxLinkBytes, quote(issue)));
}

Result<NotesById> read_notes(Store& store, std::span<const WorkItem> items) {
  NotesById notes;
  Result<void> parsed;
  const auto take = [&](const Record& record) {
    auto one = parse_notes(record);
    if (one) {
      notes[one->id].push_back(*std::move(one));
    } else {
      parsed = tl::unexpected(std::move(one).error());
    }
    return parsed.has_value();
  };
  // Many are read together with what lies between them.
  constexpr std::size_t kMany = 200;
  if (items.size() > kMany) {
    SKEIN_TRY(scan_prefix(store, kNotes, "t-", take));
  } else {
    for (const WorkItem& item : items) {
      SKEIN_TRY(scan_prefix(store, kNotes, item.id + "/", take));
    }
  }
  SKEIN_TRY(parsed);
  return notes;
}

std::string issue_in(const NotesById& notes, const std::string& id) {
  const auto found = notes.find(id);
  if (found == notes.end()) return {};
  for (const ItemNotes& one : found->second) {
    if (!one.linear_issue.empty()) return one.linear_issue;
  }
  return {};
}

void add_issues(Store& store, std::span<WorkItem> items) {
  const auto notes = read_notes(store, items);
  if (!notes) return;
  for (WorkItem& item : items) item.linear_issue = issue_in(*notes, item.id);
}

Result<void> change_notes(Store& store, const std::string& project, std::vector<std::string> ids,
                          const std::function<void(ItemNotes&)>& change) {
  constexpr std::size_t kTogether = 1000;
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  for (std::size_t first = 0; first < ids.size(); first += kTogether) {
    const auto part = std::span(ids).subspan(first, std::min(kTogether, ids.size() - first));
    SKEIN_TRY(write_again_on_conflict(store,
                                      [&] { return changed_notes(store, project, part, change); }));
  }
  return {};
}

Result<std::vector<std::string>> linked_items(Store& store, const ItemLinks& links) {
  SKEIN_TRY(check_links(links));
  std::optional<std::set<std::string>> ids;
  for (const NamedLink& link : kLinks) {
    if ((links.*link.target).empty()) continue;
    SKEIN_ASSIGN(std::set<std::string> found, linked_by(store, link.kind, links.*link.target));
    if (ids) {
      std::erase_if(*ids, [&found](const std::string& id) { return !found.contains(id); });
    } else {
      ids = std::move(found);
    }
  }
  if (!ids) return std::vector<std::string>{};
  return std::vector<std::string>(ids->begin(), ids->end());
}

}  // namespace skein
