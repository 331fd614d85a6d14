// Work items: what is still open when a working session ends, and is there when the next begins.
//
// The items of a workspace are in its file .gitmem/threads.json, which other programs read and
// write too; unknown fields and entries in it are kept. Closing a working session
// (skein/work_sessions.h) copies them into the store, and starting one on another machine merges
// them from there. What the file has no field for (project, links, vitality) is kept in the store.
//
// The file is replaced as a whole, under a lock and durably: a reader finds the old list or the new
// one at any time, and what a call acknowledged is in it. A file that cannot be read as a list is
// left as it is, a copy is kept beside it, and every operation on it is kDamaged and says so.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/clock.h"
#include "skein/error.h"
#include "skein/ids.h"
#include "skein/json.h"
#include "skein/store.h"

namespace skein {

enum class ItemStatus { kOpen, kResolved };

struct WorkItem {
  std::string id;    // "t-" and 8 hex digits; those of other programs may have 1 to 64 of
                     // [A-Za-z0-9_-] instead
  std::string text;  // what is open
  ItemStatus status = ItemStatus::kOpen;
  Timestamp created_at;
  Timestamp resolved_at;  // unset: open, or it is not known when
  // The two times as another program wrote them, where that is not the form of Timestamp::str().
  // They are passed on as they are.
  std::string created_at_written;
  std::string resolved_at_written;
  std::optional<std::string> source_session;
  std::optional<std::string> resolved_by_session;
  std::optional<std::string> resolution_note;
  // An object with the fields that Skein does not know, as they came; or absent. Its "notes" are
  // other texts that came with the same id, or that said nearly the same.
  Json extra;
  // The issue that it is about, such as PROJ-123, or empty. It is kept in the store, not in the
  // file, and is set in what WorkItems and WorkSessions answer.
  std::string linear_issue;

  friend bool operator==(const WorkItem&, const WorkItem&) = default;
};

// What an item has to do with. Each is at most limits::kMaxLinkBytes of UTF-8 without "/" and
// control characters; empty: none.
struct ItemLinks {
  std::string thread;
  std::string run;
  std::string checkpoint;
  std::string commit;

  bool empty() const {
    return thread.empty() && run.empty() && checkpoint.empty() && commit.empty();
  }
  friend bool operator==(const ItemLinks&, const ItemLinks&) = default;
};

// How alive an item is: recent and often touched, against long untouched. A touch is its creation,
// its being named when a session closes, and a link to it; looking at it is none. The heat of an
// item is the sum of its touches, each of which halves every 7 days, and its vitality is 1 -
// 2^-heat: 0.5 when new, 0.29 after a week without a touch.
struct Vitality {
  double value = 0;  // 0 to 1
  // "emerging": younger than 3 days and touched at most twice. Otherwise "active" from 0.4 on,
  // "cooling" from 0.15 on, and "dormant" below.
  const char* word = "dormant";
};

// Where work happens.
struct WorkPlace {
  std::filesystem::path folder;  // the workspace
  std::string project;           // of whatever says no other
  std::string host;              // the machine; with the folder it tells one place from another
  // Whose branch and commits count: a linked worktree of the workspace; empty: the workspace.
  std::filesystem::path checkout = {};

  const std::filesystem::path& checked_out() const { return checkout.empty() ? folder : checkout; }
};

struct CreateItem {
  std::string text;
  std::optional<std::string> project;
  // None: the newest open one of the workspace, if any. kNotFound: it is neither a working session
  // nor one that the hooks of the workspace saw.
  std::optional<std::string> session_id;
  bool session_may_be_unknown = false;  // an unknown one is noted as it is
  bool allow_duplicate = false;
  // At most limits::kMaxLinkBytes of UTF-8 without control characters. It counts as an issue key of
  // the text when near-duplicates are looked for. Empty: none.
  std::string linear_issue;
  ItemLinks opened_by;  // without a commit: the one that is checked out in the workspace
};

struct ListItems {
  std::optional<ItemStatus> status;  // none: open
  bool include_resolved = false;     // also what was resolved in the last 14 days
  std::optional<std::string> project;
  // Without a project: only those of the session's, which is the newest open one of the workspace
  // if none is named. Where no session is open, all.
  bool of_session = false;
  std::optional<std::string> session_id;  // both as in CreateItem
  bool session_may_be_unknown = false;
  ItemLinks linked_to;        // only items that link to all of these
  bool with_details = false;  // fill in ListedItem::details
};

struct ItemDetails {
  std::string project;
  Vitality vitality;
  ItemLinks opened_by;
  ItemLinks closed_by;
};

struct ListedItem {
  WorkItem item;
  std::optional<ItemDetails> details;
};

// Items with the same text that are open, or were resolved by the same deed, are shown once, by the
// oldest of them. Those that begin with "PROJECT STATE:" are not shown and not counted.
struct ItemListing {
  std::vector<ListedItem> items;       // the oldest first
  std::size_t total_open = 0;          // of the project, else of the whole workspace, whatever else
  std::size_t total_resolved = 0;      // was asked for
  std::optional<std::string> project;  // whose items these are; none: of the whole workspace
};

struct ResolveItem {
  // Exactly one of the two. An id names an item of any project. A text is looked for in the open
  // items of a list, without regard to case; it must be in one of them only, or be the whole text
  // of only one. "#3" is the third open item of that list.
  std::optional<std::string> id;
  std::optional<std::string> text_match;
  // Whose list that is, as in ListItems: of the project, else of all projects, else of the
  // session's.
  std::optional<std::string> project;
  bool all_projects = false;
  std::optional<std::string> resolution_note;
  std::optional<std::string> session_id;  // both as in CreateItem
  bool session_may_be_unknown = false;
  ItemLinks closed_by;
};

// Thread-safe, as the store is. Borrows its arguments.
class WorkItems {
 public:
  WorkItems(Store& store, WorkPlace place, Clock& clock, IdSource& ids)
      : store_(store), place_(std::move(place)), clock_(clock), ids_(ids) {}

  // kConflict: an open item of the project says nearly the same; the message quotes it.
  Result<WorkItem> create(const CreateItem& request);

  Result<ItemListing> list(const ListItems& request);

  // An item that is resolved already stays as it is, and is no error. Open items with the same text
  // are resolved along with it. An item that is not in the workspace is taken from the last closed
  // sessions of the project. A note that says "duplicate of t-…" resolves that item as well, which
  // is added to `also_resolved`. kNotFound; kInvalid for a text that is blank or in several items,
  // which are named.
  Result<WorkItem> resolve(const ResolveItem& request,
                           std::vector<WorkItem>* also_resolved = nullptr);

  // Also items that are not shown in lists. kNotFound.
  Result<ListedItem> show(std::string_view id);

  // Merges a list in any of the known formats, such as the threads.json of another workspace, into
  // this one; answers how many items are new. A text without an id that nearly repeats an open item
  // of the project becomes a note of that. Doing it again changes nothing. `dry_run`: only
  // answers.
  Result<std::size_t> import(std::string_view json, const std::optional<std::string>& project,
                             bool dry_run = false);

 private:
  Store& store_;
  const WorkPlace place_;
  Clock& clock_;
  IdSource& ids_;
};

const char* to_string(ItemStatus status);

// One JSON object with the fields of the file, on one line, and the issue, if it is set.
std::string to_json(const WorkItem& item);

// "t-" and 1 to 64 of [A-Za-z0-9_-].
Result<void> check_item_id(std::string_view id);
// Whether the text is a position in a list, such as "#3".
bool is_item_position(std::string_view text);
// UTF-8 without control characters, 1 to limits::kMaxProjectBytes.
Result<void> check_project(std::string_view project);

}  // namespace skein
