#include "api/work/answers.h"

#include <fmt/format.h>

#include "api/work/links.h"
#include "core/json_array.h"
#include "core/json_object.h"
#include "core/try.h"

namespace skein {
namespace {

std::string performance(const Stopwatch& watch) {
  return fmt::format(R"({{"latency_ms":{:.3f}}})", watch.elapsed_ms());
}

std::string texts_json(const std::vector<std::string>& texts) {
  std::vector<std::string> values;
  for (const std::string& text : texts) values.push_back(Json::string(text).text());
  return json_array_of(values);
}

std::string values_json(const std::vector<Json>& values) {
  std::vector<std::string> texts;
  for (const Json& value : values) texts.push_back(value.text());
  return json_array_of(texts);
}

std::string vitality_json(const Vitality& vitality) {
  return fmt::format(R"({{"value":{:.3f},"state":"{}"}})", vitality.value, vitality.word);
}

void add_text(JsonObject& object, std::string_view name, const std::string& text) {
  if (!text.empty()) object.add(name, text);
}

std::string links_json(const ItemLinks& links, const std::optional<std::string>& session,
                       bool is_gone) {
  JsonObject object;
  if (session) object.add("session", *session);
  add_text(object, "thread", links.thread);
  if (is_gone) object.add("thread_is_gone", true);
  add_text(object, "run", links.run);
  add_text(object, "checkpoint", links.checkpoint);
  add_text(object, "commit", links.commit);
  return object.str();
}

// The item's own JSON with one more member.
std::string with_vitality(const ListedItem& listed) {
  std::string json = to_json(listed.item);
  json.pop_back();
  return json + R"(,"vitality":)" + vitality_json(listed.details->vitality) + "}";
}

std::string entries_json(const std::vector<ProjectState::Entry>& entries) {
  std::vector<std::string> values;
  for (const auto& [key, text] : entries) {
    values.push_back(JsonObject().add("key", key).add("text", text).str());
  }
  return json_array_of(values);
}

std::string state_json(const ProjectState& state) {
  return JsonObject()
      .add("project", state.project)
      .add_json("done", texts_json(state.done))
      .add_json("notes", entries_json(state.notes))
      .add_json("next", entries_json(state.next))
      .add("text", state.text)
      .str();
}

std::string session_json(const WorkSession& session) {
  JsonObject object;
  object.add("session_id", session.id).add("agent", session.agent);
  object.add("project", session.project).add("started_at", session.started_at.str());
  if (session.closed_at.is_set()) object.add("closed_at", session.closed_at.str());
  add_text(object, "branch", session.branch);
  add_text(object, "head", session.head);
  add_text(object, "summary", session.summary);
  if (!session.decisions.empty()) object.add_json("decisions", values_json(session.decisions));
  if (!session.learnings.empty()) object.add_json("learnings", values_json(session.learnings));
  return object.str();
}

std::string repository_json(const RepositoryNews& news) {
  std::vector<std::string> commits;
  for (const auto& [commit, subject] : news.commits) {
    commits.push_back(JsonObject().add("commit", commit).add("subject", subject).str());
  }
  JsonObject object;
  object.add("branch", news.branch);
  add_text(object, "head", news.head);
  object.add("changed_files", std::uint64_t{news.changed_files});
  object.add_json("commits_since", json_array_of(commits));
  return object.add("more_commits", news.more_commits).str();
}

std::string checkpoints_json(const std::vector<CheckpointEntry>& checkpoints) {
  std::vector<std::string> values;
  for (const CheckpointEntry& checkpoint : checkpoints) {
    JsonObject object;
    object.add("id", checkpoint.id).add("created_at", checkpoint.created_at.str());
    add_text(object, "title", checkpoint.title);
    add_text(object, "summary", checkpoint.summary);
    values.push_back(object.str());
  }
  return json_array_of(values);
}

}  // namespace

double Stopwatch::elapsed_ms() const {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_)
      .count();
}

std::string create_thread_answer(const WorkItem& item, const Stopwatch& watch) {
  return JsonObject()
      .add_json("thread", to_json(item))
      .add_json("performance", performance(watch))
      .str();
}

std::string list_threads_answer(const ItemListing& listing, const Stopwatch& watch) {
  std::vector<std::string> threads;
  for (const ListedItem& listed : listing.items) threads.push_back(to_json(listed.item));
  return JsonObject()
      .add_json("threads", json_array_of(threads))
      .add("total_open", std::uint64_t{listing.total_open})
      .add("total_resolved", std::uint64_t{listing.total_resolved})
      .add_json("performance", performance(watch))
      .str();
}

namespace {

// Items that a resolution note called duplicates.
void add_also_resolved(JsonObject& object, const std::vector<WorkItem>& also_resolved) {
  std::vector<std::string> also;
  for (const WorkItem& other : also_resolved) also.push_back(to_json(other));
  if (!also.empty()) object.add_json("also_resolved", json_array_of(also));
}

}  // namespace

std::string resolve_thread_answer(const WorkItem& item, const std::vector<WorkItem>& also_resolved,
                                  const Stopwatch& watch) {
  JsonObject object;
  object.add("success", true).add_json("resolved_thread", to_json(item));
  add_also_resolved(object, also_resolved);
  return object.add_json("performance", performance(watch)).str();
}

namespace {

// What is known of an item besides its own fields.
Result<void> add_details(JsonObject& object, Store& store, const ListedItem& listed) {
  const ItemDetails& details = *listed.details;
  const WorkItem& item = listed.item;
  SKEIN_ASSIGN(const bool opener_is_gone, thread_is_gone(store, details.opened_by.thread));
  SKEIN_ASSIGN(const bool closer_is_gone, thread_is_gone(store, details.closed_by.thread));
  object.add("project", details.project);
  object.add_json("vitality", vitality_json(details.vitality));
  object.add_json("opened_by", links_json(details.opened_by, item.source_session, opener_is_gone));
  if (item.status == ItemStatus::kResolved) {
    object.add_json("closed_by",
                    links_json(details.closed_by, item.resolved_by_session, closer_is_gone));
  }
  return {};
}

}  // namespace

Result<std::string> show_item_answer(Store& store, const ListedItem& listed) {
  JsonObject object;
  object.add_json("thread", to_json(listed.item));
  SKEIN_TRY(add_details(object, store, listed));
  return object.str();
}

Result<std::string> item_json(Store& store, const ListedItem& listed,
                              const std::vector<WorkItem>& also_resolved) {
  JsonObject details;
  SKEIN_TRY(add_details(details, store, listed));
  add_also_resolved(details, also_resolved);
  std::string json = to_json(listed.item);
  json.back() = ',';
  return json + details.str().substr(1);
}

std::string work_session_json(const WorkSession& session) { return session_json(session); }

std::string session_start_answer(const StartedSession& started, const Stopwatch& watch) {
  JsonObject object;
  object.add("session_id", started.session.id);
  object.add_json("session", session_json(started.session));
  std::vector<std::string> items;
  for (const ListedItem& listed : started.open_items) items.push_back(with_vitality(listed));
  object.add_json("open_threads", json_array_of(items));
  object.add("total_open", std::uint64_t{started.total_open});
  object.add("total_resolved", std::uint64_t{started.total_resolved});
  if (started.project_state) object.add_json("project_state", state_json(*started.project_state));
  if (started.repository) object.add_json("repository", repository_json(*started.repository));
  object.add_json("checkpoints", checkpoints_json(started.checkpoints));
  if (started.last) object.add_json("last_session", session_json(*started.last));
  std::vector<std::string> unclosed;
  for (const WorkSession& session : started.unclosed) unclosed.push_back(session_json(session));
  object.add_json("unclosed_sessions", json_array_of(unclosed));
  if (started.older_unclosed > 0) {
    object.add("older_unclosed_sessions", std::uint64_t{started.older_unclosed});
  }
  if (started.left_behind) {
    object.add_json("left_behind", JsonObject()
                                       .add("session_id", started.left_behind->session_id)
                                       .add("closed_at", started.left_behind->closed_at.str())
                                       .add("open", std::uint64_t{started.left_behind->open})
                                       .str());
  }
  object.add_json("warnings", texts_json(started.warnings));
  return object.add_json("performance", performance(watch)).str();
}

std::string session_close_answer(const ClosedSession& closed, const Stopwatch& watch) {
  JsonObject object;
  object.add("success", true).add_json("session", session_json(closed.session));
  std::vector<std::string> items;
  for (const WorkItem& item : closed.open_items) items.push_back(to_json(item));
  object.add_json("open_threads", json_array_of(items));
  object.add("created", std::uint64_t{closed.created});
  object.add("resolved", std::uint64_t{closed.resolved});
  object.add_json("warnings", texts_json(closed.warnings));
  return object.add_json("performance", performance(watch)).str();
}

std::string closed_sessions_answer(const std::vector<ClosedSession>& closed) {
  std::vector<std::string> sessions;
  for (const ClosedSession& one : closed) sessions.push_back(session_json(one.session));
  return JsonObject().add_json("closed", json_array_of(sessions)).str();
}

}  // namespace skein
