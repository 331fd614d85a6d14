// What the operations on work items and sessions answer, as JSON with the names of the tools
// create_thread, list_threads, resolve_thread, session_start and session_close, and as text.
#pragma once

#include <chrono>
#include <string>

#include "skein/work_items.h"
#include "skein/work_sessions.h"

namespace skein {

// Begins when it is made.
class Stopwatch {
 public:
  double elapsed_ms() const;

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

std::string create_thread_answer(const WorkItem& item, const Stopwatch& watch);
std::string list_threads_answer(const ItemListing& listing, const Stopwatch& watch);
std::string resolve_thread_answer(const WorkItem& item, const std::vector<WorkItem>& also_resolved,
                                  const Stopwatch& watch);
std::string session_start_answer(const StartedSession& started, const Stopwatch& watch);
std::string session_close_answer(const ClosedSession& closed, const Stopwatch& watch);
std::string closed_sessions_answer(const std::vector<ClosedSession>& closed);

// An item with its project, vitality and links. A link to a thread that was deleted says so.
Result<std::string> show_item_answer(Store& store, const ListedItem& listed);
// The same as one object: the item's own fields, and "project", "vitality", "opened_by",
// "closed_by"; "also_resolved", if other items were resolved with it.
Result<std::string> item_json(Store& store, const ListedItem& listed,
                              const std::vector<WorkItem>& also_resolved = {});
Result<std::string> show_item_text(Store& store, const ListedItem& listed);

std::string work_session_json(const WorkSession& session);

// The start of a session as a page of Markdown, short enough to put before a model: what is open is
// a line each, and what people wrote is cut where it goes on and on.
std::string session_start_text(const StartedSession& started);
// The same, with all that is stored as a quotation.
std::string session_start_for_model(const StartedSession& started);

}  // namespace skein
