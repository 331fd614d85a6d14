#include "api/transfer/folders/task_import.h"

#include <fmt/format.h>

#include <set>

#include "api/transfer/folders/record_batch.h"
#include "api/transfer/line_file.h"
#include "core/json_array.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/sha256.h"
#include "core/text.h"
#include "core/try.h"
#include "skein/tasks.h"

namespace skein {
namespace {

constexpr std::string_view kKind = "tasks";
constexpr const char* kOpenFile = "tasks/tasks.json";
constexpr const char* kEndedFile = "tasks/history.jsonl";
constexpr std::size_t kMaxFileBytes = std::size_t{64} << 20;

std::uint64_t bits_of(std::string_view text) {
  return std::stoull(sha256_hex(text).substr(0, 15), nullptr, 16);
}

std::string resources_text(RawJson resources) {
  std::string text;
  for (const RawJson element : json_elements(resources)) {
    JsonFields resource(element);
    const std::string label = resource.take_string("label").value_or("");
    text += "\n- " + (label.empty() ? "" : label + ": ");
    text += resource.take_string("value").value_or("");
  }
  return text.empty() ? "" : "\n\nResources:" + text;
}

// With what a task of Skein has no field for. A title that is too long stands in full in the text.
std::string text_of(JsonFields& fields, const std::string& title) {
  std::string text = fields.take_string("description").value_or("");
  if (text.empty() || title.size() > limits::kMaxTaskTitleBytes) {
    text = title + (text.empty() ? "" : "\n\n" + text);
  }
  return text + resources_text(fields.take("resources", json_to_array).value_or("[]"));
}

}  // namespace

void TaskImport::refuse(const std::string& file, std::uint64_t line, std::string message) const {
  import_.fail(kKind, "not valid", import_.source.at(file), line, std::move(message));
}

// A task of the user's belongs to the agent that made it, else to the default one.
std::string TaskImport::agent_of(const std::string& owner, JsonFields& fields) const {
  const std::string maker = fields.take_string("createdBy").value_or(std::string(kUserOwner));
  if (owner != kUserOwner) return owner;
  return maker == kUserOwner ? import_.settings.default_agent : maker;
}

// Many tasks may have been made at one time (a date), and few bits tell those apart. The same
// tasks get the same ids at each import, whichever file they are in by then.
void TaskImport::give_ids() {
  std::map<std::string_view, SourceTask*> ordered;
  for (SourceTask& task : tasks_) ordered[task.source_id] = &task;
  std::set<std::string> taken;
  for (const auto& [source_id, task] : ordered) {
    for (std::uint64_t bits = bits_of(task->agent_id + "\n" + task->source_id);; ++bits) {
      task->id =
          fmt::format("task-{:011x}{:05x}", task->created_at.ms() & 0xFFFFFFFFFFF, bits & 0xFFFFF);
      if (taken.insert(task->id).second) break;
    }
    if (!task->has_thread) task->thread = ThreadId::from_bits(bits_of("thread of " + task->id));
    ids_[task->source_id] = task->id;
  }
}

void TaskImport::read_one(std::string_view json, const std::string& file, std::uint64_t line) {
  JsonFields fields(json);
  const std::string id = fields.take_string("id").value_or("");
  const auto created = fields.take_time("createdAt");
  if (id.empty() || !created) {
    return refuse(file, line, "a task needs \"id\" and a valid \"createdAt\"");
  }
  if (ids_.contains(id)) {
    return refuse(file, line,
                  "duplicate task id " + quote(id) +
                      (line == 0 ? "" : " (line " + std::to_string(line) + ")") + "; remove one");
  }
  SourceTask task;
  task.owner = fields.take_string("owner").value_or(std::string(kUserOwner));
  task.agent_id = agent_of(task.owner, fields);
  if (auto valid = check_agent_id(task.agent_id); !valid) {
    return refuse(file, line, "task " + id + ": its owner: " + valid.error().message);
  }
  task.source_id = id;
  const std::string title = fields.take_string("title").value_or("");
  task.text = text_of(fields, title);
  task.title = beginning(title, limits::kMaxTaskTitleBytes);
  if (fold_text(task.text).empty() || task.text.size() > limits::kMaxTaskTextBytes ||
      has_control_characters(task.text) || has_control_characters(task.title)) {
    return refuse(file, line,
                  "task " + id + ": its text is blank, too long, or has control characters");
  }
  task.steps = fields.take("steps", json_to_array).value_or("[]");
  task.parent = fields.take_string("parentTaskId").value_or("");
  task.created_at = *created;
  task.updated_at = fields.take_time("updatedAt").value_or(*created);
  task.status = fields.take_string("status").value_or("active");
  const auto thread = ThreadId::parse(fields.take_string("threadId").value_or(""));
  task.has_thread = thread.has_value();
  if (thread) task.thread = *thread;
  ids_[id] = {};
  tasks_.push_back(std::move(task));
}

void TaskImport::read() {
  const auto text = import_.source.read_json(kOpenFile, kMaxFileBytes);
  if (!text) {
    import_.fail(kKind, kUnreadable, import_.source.at(kOpenFile), 0, text.error().message);
  }
  if (text && *text) {
    JsonFields fields(**text);
    const auto list = fields.take("tasks", json_to_array);
    if (!list) refuse(kOpenFile, 0, "must be an object with the array \"tasks\"");
    for (const RawJson task : json_elements(list.value_or("[]"))) read_one(task, kOpenFile, 0);
  }
  read_history();
  give_ids();
}

void TaskImport::read_history() {
  const auto path = import_.source.resolve_file(kEndedFile);
  if (path && !*path) return;
  auto file = path ? LineFile::open(**path) : tl::unexpected(path.error());
  if (!file) {
    return import_.fail(kKind, kUnreadable, import_.source.at(kEndedFile), 0, file.error().message);
  }
  LineBuffer::Line line;
  while (file->next(line).value_or(false)) {
    const auto object = line.too_long ? fail(ErrorCode::kInvalid, "the line is too long")
                                      : Json::parse_object(line.text);
    if (object) {
      read_one(object->text(), kEndedFile, line.number);
    } else {
      import_.fail(kKind, kUnreadable, import_.source.at(kEndedFile), line.number,
                   object.error().message);
    }
  }
}

std::string TaskImport::steps_json(const SourceTask& source) const {
  std::vector<std::string> steps;
  for (const RawJson element : json_elements(source.steps)) {
    if (steps.size() == limits::kMaxTaskSteps) break;
    JsonFields fields(element);
    const std::string title = fields.take_string("title").value_or("");
    std::string details = fields.take_string("details").value_or("");
    if (title.size() > limits::kMaxTaskStepTitleBytes) details = title + "\n\n" + details;
    JsonObject step;
    step.add("title", fold_text(title).empty()
                          ? fmt::format("step {}", steps.size() + 1)
                          : std::string(beginning(title, limits::kMaxTaskStepTitleBytes)));
    if (!details.empty()) step.add("details", beginning(details, limits::kMaxTaskStepDetailsBytes));
    step.add("done", fields.take_bool("done").value_or(false));
    const auto part = ids_.find(fields.take_string("taskId").value_or(""));
    if (part != ids_.end()) step.add("taskId", part->second);
    steps.push_back(step.str());
  }
  return json_array_of(steps);
}

std::string TaskImport::record_json(const SourceTask& source) const {
  JsonObject object;
  object.add("id", source.id).add("agentId", source.agent_id);
  object.add("threadId", source.thread.str()).add("owner", source.owner);
  if (!source.title.empty()) object.add("title", source.title);
  object.add("text", source.text);
  if (source.steps != "[]") object.add_json("steps", steps_json(source));
  if (const auto parent = ids_.find(source.parent); parent != ids_.end()) {
    object.add("parentTaskId", parent->second);
  }
  object.add("createdAt", source.created_at.str()).add("updatedAt", source.updated_at.str());
  if (source.status == "done") object.add("doneAt", source.updated_at.str());
  if (source.status == "canceled") object.add("cancelledAt", source.updated_at.str());
  return object.str();
}

Result<void> TaskImport::make_thread(const SourceTask& source) {
  if (source.has_thread || import_.options.dry_run) return {};
  SKEIN_ASSIGN(const auto there, import_.store.get(source.thread));
  if (there) return {};
  NewThread thread;
  thread.id = source.thread;
  thread.agent_id = source.agent_id;
  thread.fields.task_id(source.id);
  thread.fields.set("createdAt", source.created_at.str());
  thread.fields.set("updatedAt", source.created_at.str());
  std::string title = source.title;
  if (import_.options.redactor != nullptr) import_.options.redactor->redact_text(title);
  if (!title.empty()) thread.fields.title(title);
  SKEIN_TRY(import_.store.create(thread));
  return {};
}

Result<void> TaskImport::store() {
  SKEIN_ASSIGN(RecordBatch records,
               RecordBatch::open(import_.store, kKind, import_.options.dry_run));
  for (const SourceTask& source : tasks_) {
    if (records.has(source.id)) {
      import_.report.there(kKind);
      continue;
    }
    SKEIN_TRY(make_thread(source));
    std::string bytes = record_json(source);
    import_.report.redacted(import_.redact(bytes));
    SKEIN_TRY(records.add(source.id, std::move(bytes)));
    import_.report.taken(kKind);
  }
  return records.flush();
}

}  // namespace skein
