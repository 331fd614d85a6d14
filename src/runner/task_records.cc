#include "runner/task_records.h"

#include <utility>

#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/text.h"
#include "core/try.h"
#include "store/find_record.h"

namespace skein {
namespace {

enum class Empty { kRefused, kAllowed };

Result<void> check_words(const std::string& what, std::string_view text, std::size_t limit,
                         Empty empty) {
  const bool blank = text.find_first_not_of(" \t\r\n") == std::string_view::npos;
  if (valid_utf8(text) && !has_control_characters(text) && text.size() <= limit &&
      (!blank || empty == Empty::kAllowed)) {
    return {};
  }
  return fail(ErrorCode::kInvalid, "the " + what + " of a task must be UTF-8 of " +
                                       (empty == Empty::kAllowed ? "0" : "1") + " to " +
                                       std::to_string(limit) + " bytes" +
                                       (empty == Empty::kAllowed ? "" : " and not blank") +
                                       ", got " + quote(text));
}

}  // namespace

std::string steps_json(const std::vector<TaskStep>& steps) {
  std::vector<std::string> all;
  for (const TaskStep& step : steps) {
    JsonObject object;
    object.add("title", step.title);
    if (!step.details.empty()) object.add("details", step.details);
    object.add("done", step.done);
    if (!step.task_id.empty()) object.add("taskId", step.task_id);
    all.push_back(object.str());
  }
  return json_array_of(all);
}

std::vector<TaskStep> take_steps(JsonFields& fields) {
  std::vector<TaskStep> steps;
  const auto array = fields.take("steps", json_to_array);
  for (const RawJson element : json_elements(array.value_or("[]"))) {
    JsonFields members(element);
    TaskStep& step = steps.emplace_back();
    step.title = members.take_string("title").value_or("");
    step.details = members.take_string("details").value_or("");
    step.done = members.take_bool("done").value_or(false);
    step.task_id = members.take_string("taskId").value_or("");
  }
  return steps;
}

std::string task_json(const Task& task) {
  JsonObject object;
  object.add("id", task.id).add("agentId", task.agent_id).add("threadId", task.thread.str());
  object.add("owner", task.owner);
  if (!task.title.empty()) object.add("title", task.title);
  object.add("text", task.text);
  if (!task.steps.empty()) object.add_json("steps", steps_json(task.steps));
  if (!task.parent_id.empty()) object.add("parentTaskId", task.parent_id);
  object.add("createdAt", task.created_at.str()).add("updatedAt", task.updated_at.str());
  if (task.done_at.is_set()) object.add("doneAt", task.done_at.str());
  if (task.cancelled_at.is_set()) object.add("cancelledAt", task.cancelled_at.str());
  if (!task.note.empty()) object.add("note", task.note);
  return object.str();
}

Result<Task> parse_task(const Record& record) {
  const auto damaged = [&](std::string_view field) {
    return fail(ErrorCode::kDamaged,
                "task " + quote(record.key) + ": its record has no valid " + std::string(field));
  };
  if (!validate_json(record.bytes, "task")) return damaged("JSON");
  JsonFields fields(record.bytes);
  Task task;
  task.id = record.key;
  task.agent_id = fields.take_string("agentId").value_or("");
  if (!check_agent_id(task.agent_id)) return damaged("\"agentId\"");
  const auto thread = ThreadId::parse(fields.take_string("threadId").value_or(""));
  if (!thread) return damaged("\"threadId\"");
  task.thread = *thread;
  // Version 0.1 knew no owner: the agent was it.
  task.owner = fields.take_string("owner").value_or(task.agent_id);
  task.title = fields.take_string("title").value_or("");
  task.text = fields.take_string("text").value_or("");
  task.steps = take_steps(fields);
  task.parent_id = fields.take_string("parentTaskId").value_or("");
  task.created_at = fields.take_time("createdAt").value_or(Timestamp{});
  const auto updated_at = fields.take_time("updatedAt");
  task.done_by_run = !updated_at;  // version 0.1 wrote none
  task.updated_at = updated_at.value_or(task.created_at);
  task.done_at = fields.take_time("doneAt").value_or(Timestamp{});
  task.cancelled_at = fields.take_time("cancelledAt").value_or(Timestamp{});
  task.note = fields.take_string("note").value_or("");
  return task;
}

Result<void> check_task_text(std::string_view text) {
  return check_words("text", text, limits::kMaxTaskTextBytes, Empty::kRefused);
}

Result<void> check_task_title(std::string_view title) {
  return check_words("title", title, limits::kMaxTaskTitleBytes, Empty::kAllowed);
}

Result<void> check_task_note(std::string_view note) {
  return check_words("note", note, limits::kMaxTaskNoteBytes, Empty::kAllowed);
}

Result<void> check_task_steps(const std::vector<TaskStep>& steps) {
  if (steps.size() > limits::kMaxTaskSteps) {
    return fail(ErrorCode::kInvalid, "a task has at most " + std::to_string(limits::kMaxTaskSteps) +
                                         " steps, got " + std::to_string(steps.size()));
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string place = "step " + std::to_string(i + 1);
    SKEIN_TRY(check_words("title of " + place, steps[i].title, limits::kMaxTaskStepTitleBytes,
                          Empty::kRefused));
    SKEIN_TRY(check_words("details of " + place, steps[i].details, limits::kMaxTaskStepDetailsBytes,
                          Empty::kAllowed));
    SKEIN_TRY(check_words("taskId of " + place, steps[i].task_id, 64, Empty::kAllowed));
  }
  return {};
}

Result<std::optional<Record>> find_task(Store& store, std::string_view id) {
  if (!id.starts_with("task-") || id.size() > 64 || !valid_utf8(id) || has_control_characters(id)) {
    return std::optional<Record>();
  }
  return find_record(store, kTaskRecords, id);
}

Result<Record> get_task(Store& store, std::string_view id) {
  SKEIN_ASSIGN(auto record, find_task(store, id));
  if (!record) return fail(ErrorCode::kNotFound, "there is no task " + quote(id));
  return std::move(*record);
}

}  // namespace skein
