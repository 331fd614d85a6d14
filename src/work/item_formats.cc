#include "work/item_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/checksum.h"
#include "core/json_array.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/text.h"
#include "work/item_merge.h"
#include "work/item_texts.h"

namespace skein {
namespace {

// Collects the members of an object as fields of an item.
class EntryReader {
 public:
  // `levels`: so many items in each other's texts are taken out. Programs that wrap an item once
  // too often are known; a text that goes on and on is somebody's who wants to see it taken apart.
  explicit EntryReader(int levels = 4) : levels_(levels) {}

  // `needs_text` false: an id is enough.
  std::optional<WorkItem> read(RawJson object, bool needs_text = true) {
    JsonObjectReader reader;
    std::vector<JsonMember> members;
    if (!reader.read(object, members)) return std::nullopt;
    const std::string_view text_name = name_of_text(members);
    if (text_name.empty() && needs_text) return std::nullopt;
    for (const JsonMember& member : members) {
      if (member.name == text_name) {
        item_.text = json_to_string(member.value).value_or("");
      } else if (!take(member)) {
        keep(std::string(member.name), member.value);
      }
    }
    if (has_extra_) item_.extra = Json::trusted(extra_.str());
    if (fold_text(item_.text).empty()) {
      const bool is_named = !needs_text && text_name.empty() && !item_.id.empty();
      return is_named ? std::optional(std::move(item_)) : std::nullopt;
    }
    return unwrapped(std::move(item_));
  }

 private:
  // The item that the text is, if it is one as JSON; with what only the outer one has.
  WorkItem unwrapped(WorkItem outer) const {
    const std::string_view text = trim_json(outer.text);
    if (levels_ == 0 || !text.starts_with('{') || !validate_json(text, "item")) return outer;
    std::optional<WorkItem> inner = EntryReader(levels_ - 1).read(text);
    if (!inner) return outer;
    outer.text = inner->text;
    if (inner->id.empty()) inner->id = outer.id;
    if (!inner->created_at.is_set()) take_creation(*inner, outer);
    if (!outer.created_at.is_set()) take_creation(outer, *inner);
    outer.id = inner->id;
    return join(*inner, outer);
  }

  static void take_creation(WorkItem& item, const WorkItem& from) {
    item.created_at = from.created_at;
    item.created_at_written = from.created_at_written;
  }

  static std::string_view name_of_text(const std::vector<JsonMember>& members) {
    for (const std::string_view name : {"text", "note", "item"}) {
      for (const JsonMember& member : members) {
        if (member.name == name && json_to_string(member.value)) return name;
      }
    }
    return {};
  }

  void keep(const std::string& name, RawJson value) {
    extra_.add_json(name, value);
    has_extra_ = true;
  }

  // False, if Skein has no such field.
  bool take(const JsonMember& member) {
    if (member.name == "id") return take_id(member);
    if (member.name == "status") return take_status(member);
    if (member.name == "created_at")
      return take_time(member, item_.created_at, item_.created_at_written);
    if (member.name == "resolved_at")
      return take_time(member, item_.resolved_at, item_.resolved_at_written);
    if (member.name == "source_session") return take_text(member, item_.source_session);
    if (member.name == "resolved_by_session") return take_text(member, item_.resolved_by_session);
    if (member.name == "resolution_note") return take_text(member, item_.resolution_note);
    return false;
  }

  bool keep_imported(const JsonMember& member) {
    if (member.value != "null") keep("imported_" + std::string(member.name), member.value);
    return true;
  }

  bool take_id(const JsonMember& member) {
    auto id = json_to_string(member.value);
    if (!id || !check_item_id(*id)) return keep_imported(member);
    item_.id = *std::move(id);
    return true;
  }

  bool take_status(const JsonMember& member) {
    const auto status = json_to_string(member.value);
    if (status == "resolved") {
      item_.status = ItemStatus::kResolved;
      return true;
    }
    return status == "open" ? true : keep_imported(member);
  }

  bool take_time(const JsonMember& member, Timestamp& target, std::string& written) {
    const auto text = json_to_string(member.value);
    const auto time = text ? Timestamp::parse(*text) : Result<Timestamp>(Timestamp{});
    if (!time || !time->is_set()) return keep_imported(member);
    target = *time;
    if (*text != time->str()) written = *text;
    return true;
  }

  bool take_text(const JsonMember& member, std::optional<std::string>& target) {
    target = json_to_string(member.value);
    return target ? true : keep_imported(member);
  }

  const int levels_;
  WorkItem item_;
  JsonObject extra_;
  bool has_extra_ = false;
};

std::optional<WorkItem> read_string(const std::string& text) {
  const std::string_view trimmed = trim_json(text);
  if (trimmed.starts_with('{') && validate_json(trimmed, "item")) {
    if (auto item = EntryReader().read(trimmed)) return item;
  }
  if (fold_text(text).empty()) return std::nullopt;
  WorkItem item;
  item.text = std::string(without_stale_id(text));
  return item;
}

// What is known of the ids of a list.
struct Known {
  bool resolved = false;
  std::string folded;
};

std::string derived_id(const WorkItem& item, const std::unordered_map<std::string, Known>& known) {
  const std::string folded = fold_text(item.text);
  for (std::uint64_t salt = 0;; ++salt) {
    std::string id = fmt::format("t-{:08x}", checksum(folded, salt));
    const auto found = known.find(id);
    if (found == known.end()) return id;
    const bool same_item = found->second.folded == folded &&
                           found->second.resolved == (item.status == ItemStatus::kResolved);
    if (same_item) return id;
  }
}

void give_ids(std::vector<WorkItem>& items, std::vector<std::string>* given) {
  std::unordered_map<std::string, Known> known;
  bool all_have_ids = true;
  for (const WorkItem& item : items) all_have_ids = all_have_ids && !item.id.empty();
  if (all_have_ids) return;
  for (const WorkItem& item : items) {
    if (item.id.empty()) continue;
    Known& entry = known[item.id];
    entry.resolved = entry.resolved || item.status == ItemStatus::kResolved;
    entry.folded = fold_text(item.text);
  }
  for (WorkItem& item : items) {
    if (!item.id.empty()) continue;
    item.id = derived_id(item, known);
    known[item.id] = {item.status == ItemStatus::kResolved, fold_text(item.text)};
    if (given != nullptr) given->push_back(item.id);
  }
}

// Of n entries without a time the last gets `now`, and each before it a millisecond less: lists are
// sorted by time, and these keep their order.
void give_times(std::vector<WorkItem>& items, Timestamp now) {
  for (auto item = items.rbegin(); item != items.rend(); ++item) {
    if (item->created_at.is_set()) continue;
    item->created_at = now;
    const Timestamp before = Timestamp::from_ms(now.ms() - 1);
    if (now.is_set() && before.is_valid()) now = before;
  }
}

// What stands between the members of an item.
struct Layout {
  std::string_view before_first;
  std::string_view between;
  std::string_view colon;
};
constexpr Layout kOnOneLine{"", ",", ":"};
constexpr Layout kInFile{"\n    ", ",\n    ", ": "};

class ItemWriter {
 public:
  ItemWriter(std::string& out, const Layout& layout) : out_(out), layout_(layout) {}

  // All but the closing brace.
  void write(const WorkItem& item) {
    out_ += '{';
    add("id", std::string_view(item.id));
    add("text", std::string_view(item.text));
    add("status", std::string_view(to_string(item.status)));
    add("created_at", item.created_at, item.created_at_written);
    add("resolved_at", item.resolved_at, item.resolved_at_written);
    add("source_session", item.source_session);
    add("resolved_by_session", item.resolved_by_session);
    add("resolution_note", item.resolution_note);
    if (item.extra.empty()) return;
    JsonObjectReader reader;
    std::vector<JsonMember> members;
    reader.read(item.extra.text(), members);
    for (const JsonMember& member : members) {
      begin(member.name);
      append_json_on_one_line(out_, member.value);
    }
  }
  void add(std::string_view name, std::string_view text) {
    begin(name);
    append_json_string(out_, text);
  }

 private:
  void begin(std::string_view name) {
    out_ += out_.ends_with('{') ? layout_.before_first : layout_.between;
    append_json_string(out_, name);
    out_ += layout_.colon;
  }
  void add(std::string_view name, Timestamp time, const std::string& written) {
    if (!time.is_set()) return;
    const auto as_written =
        written.empty() ? Timestamp{} : Timestamp::parse(written).value_or(Timestamp{});
    add(name, std::string_view(as_written == time ? written : time.str()));
  }
  void add(std::string_view name, const std::optional<std::string>& text) {
    if (text) add(name, std::string_view(*text));
  }

  std::string& out_;
  const Layout& layout_;
};

constexpr std::string_view kIssueField = "linear_issue";

// Other programs may keep a field of that name in the file.
bool has_field(const Json& extra, std::string_view name) {
  if (extra.empty()) return false;
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  reader.read(extra.text(), members);
  return std::any_of(members.begin(), members.end(),
                     [name](const JsonMember& member) { return member.name == name; });
}

bool is_item_id_char(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

}  // namespace

const char* to_string(ItemStatus status) {
  return status == ItemStatus::kOpen ? "open" : "resolved";
}

Result<void> check_item_id(std::string_view id) {
  bool valid = id.starts_with("t-") && id.size() > 2 && id.size() <= limits::kMaxItemIdBytes;
  for (const char c : id) valid = valid && is_item_id_char(c);
  if (valid) return {};
  return fail(
      ErrorCode::kInvalid,
      "item id must be t- and 1 to 64 of [A-Za-z0-9_-], such as t-1a2b3c4d, got " + quote(id));
}

std::optional<WorkItem> read_item(RawJson entry) {
  if (entry.starts_with('"')) return read_string(unescape_json_string(entry));
  if (entry.starts_with('{')) return EntryReader().read(entry);
  return std::nullopt;
}

std::optional<WorkItem> read_item_change(RawJson entry) {
  if (auto item = read_item(entry)) {
    // A string that names an item without a text was taken for a text.
    const std::string_view text = trim_json(item->text);
    if (!entry.starts_with('"') || !text.starts_with('{') || !validate_json(text, "item"))
      return item;
    auto named = EntryReader().read(text, false);
    return named ? named : item;
  }
  return entry.starts_with('{') ? EntryReader().read(entry, false) : std::nullopt;
}

std::string unwrapped_text(const std::string& text) {
  const auto item = read_string(text);
  return item ? item->text : text;
}

ItemList read_items(RawJson array, Timestamp created_at, std::vector<std::string>* given_ids) {
  ItemList list;
  for (const RawJson entry : json_elements(array)) {
    auto item = read_item(entry);
    if (!item) {
      list.others.push_back(Json::trusted(std::string(entry)));
      continue;
    }
    list.items.push_back(*std::move(item));
  }
  give_times(list.items, created_at);
  give_ids(list.items, given_ids);
  join_equal_ids(list.items);
  return list;
}

std::string to_json(const WorkItem& item) {
  std::string out;
  ItemWriter writer(out, kOnOneLine);
  writer.write(item);
  if (!item.linear_issue.empty() && !has_field(item.extra, kIssueField)) {
    writer.add(kIssueField, std::string_view(item.linear_issue));
  }
  return out += '}';
}

std::string to_json(const ItemList& list) {
  std::string out = "[";
  const auto begin_entry = [&out] { out += out.size() > 1 ? ",\n  " : "\n  "; };
  for (const WorkItem& item : list.items) {
    begin_entry();
    ItemWriter(out, kInFile).write(item);
    out += "\n  }";
  }
  for (const Json& other : list.others) {
    begin_entry();
    append_json_on_one_line(out, other.text());
  }
  return out += out.size() > 1 ? "\n]" : "]";
}

}  // namespace skein
