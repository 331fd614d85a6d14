#include "work/item_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/quote.h"
#include "core/text.h"
#include "core/try.h"
#include "work/item_texts.h"

namespace skein {
namespace {

std::string fresh_id(const ItemList& list, IdSource& ids) {
  while (true) {
    std::string id = fmt::format("t-{:08x}", ids.next() & 0xFFFF'FFFFU);
    const bool taken = std::any_of(list.items.begin(), list.items.end(),
                                   [&id](const WorkItem& item) { return item.id == id; });
    if (!taken) return id;
  }
}

// `now`, or the next millisecond after `other`.
Timestamp after(Timestamp now, Timestamp other) {
  if (now > other) return now;
  const Timestamp next = Timestamp::from_ms(other.ms() + 1);
  return next.is_valid() ? next : now;
}

}  // namespace

Result<void> check_item_text(std::string_view what, std::string_view text) {
  const auto refuse = [&what](const std::string& rule) {
    return fail(ErrorCode::kInvalid, std::string(what) + " must " + rule);
  };
  if (const std::size_t count = count_characters(text); count > limits::kMaxItemTextChars) {
    return refuse(
        fmt::format("not exceed {} characters, got {}", limits::kMaxItemTextChars, count));
  }
  if (text.size() > limits::kMaxItemTextBytes) {
    return refuse(
        fmt::format("not exceed {} bytes, got {}", limits::kMaxItemTextBytes, text.size()));
  }
  if (!valid_utf8(text)) return refuse("be valid UTF-8, got " + quote(text));
  if (has_control_characters(text)) {
    return refuse("have no control characters but line feed and tab, got " + quote(text));
  }
  if (fold_text(text).empty()) return refuse("not be blank, got " + quote(text));
  return {};
}

WorkItem new_item(const ItemList& list, std::string text, Timestamp now, IdSource& ids) {
  WorkItem item;
  item.id = fresh_id(list, ids);
  item.text = std::move(text);
  item.created_at = now;
  const std::string folded = text_key(item.text);
  for (const WorkItem& other : list.items) {
    if (other.resolved_at.is_set() && other.resolved_at > item.created_at &&
        text_key(other.text) == folded) {
      item.created_at = after(item.created_at, other.resolved_at);
    }
  }
  return item;
}

Timestamp resolution_time(const ItemList& list, std::string_view text, Timestamp now) {
  const std::string folded = text_key(text);
  Timestamp time = now;
  for (const WorkItem& other : list.items) {
    if (other.status == ItemStatus::kOpen && other.created_at >= time &&
        text_key(other.text) == folded) {
      time = after(time, other.created_at);
    }
  }
  return time;
}

void resolve_in(const ItemList& list, WorkItem& item, Timestamp now,
                const std::optional<std::string>& session, std::optional<std::string> note) {
  item.status = ItemStatus::kResolved;
  item.resolved_at = resolution_time(list, item.text, now);
  item.resolved_at_written.clear();
  item.resolved_by_session = session;
  item.resolution_note = std::move(note);
}

Result<void> check_project(std::string_view project) {
  const bool valid = !project.empty() && project.size() <= limits::kMaxProjectBytes &&
                     valid_utf8(project) && !has_control_characters(project) &&
                     project.find_first_of("\n\t") == std::string_view::npos;
  if (valid) return {};
  return fail(
      ErrorCode::kInvalid,
      fmt::format("project must be 1 to {} bytes of UTF-8 without control characters, got {}",
                  limits::kMaxProjectBytes, quote(project)));
}

}  // namespace skein
