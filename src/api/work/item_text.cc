#include <fmt/format.h>

#include "api/work/answers.h"
#include "api/work/links.h"
#include "core/try.h"
#include "work/item_texts.h"

namespace skein {
namespace {

// What opened or closed an item, a line each.
Result<std::string> links_text(Store& store, const ItemLinks& links,
                               const std::optional<std::string>& session) {
  std::string out;
  const auto add = [&out](std::string_view kind, const std::string& target) {
    if (!target.empty()) out += fmt::format("  {:<11} {}\n", kind, target);
  };
  SKEIN_ASSIGN(const bool is_gone, thread_is_gone(store, links.thread));
  add("session", session.value_or(""));
  add("thread", links.thread.empty() || !is_gone ? links.thread : links.thread + " (deleted)");
  add("run", links.run);
  add("checkpoint", links.checkpoint);
  add("commit", links.commit);
  return out;
}

}  // namespace

Result<std::string> show_item_text(Store& store, const ListedItem& listed) {
  const WorkItem& item = listed.item;
  const ItemDetails& details = *listed.details;
  std::string out = fmt::format("{}  {}\n{}\n", item.id, to_string(item.status), item.text);
  for (const std::string& note : notes_of(item)) out += fmt::format("also          {}\n", note);
  out += fmt::format("project       {}\n", details.project);
  if (!item.linear_issue.empty()) out += fmt::format("issue         {}\n", item.linear_issue);
  out += fmt::format("vitality      {:.2f} {}\n", details.vitality.value, details.vitality.word);
  out += fmt::format("opened        {}\n", item.created_at.str());
  SKEIN_ASSIGN(const std::string opener, links_text(store, details.opened_by, item.source_session));
  out += opener;
  if (item.status == ItemStatus::kOpen) return out;
  out += fmt::format("closed        {}\n",
                     item.resolved_at.is_set() ? item.resolved_at.str() : "(not known when)");
  SKEIN_ASSIGN(const std::string closer,
               links_text(store, details.closed_by, item.resolved_by_session));
  out += closer;
  if (item.resolution_note) out += fmt::format("  {:<11} {}\n", "note", *item.resolution_note);
  return out;
}

}  // namespace skein
