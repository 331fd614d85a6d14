// Tasks as the store keeps them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json_fields.h"
#include "skein/store.h"
#include "skein/tasks.h"

namespace skein {

inline constexpr std::string_view kTaskRecords = "tasks";

std::string task_json(const Task& task);
// kDamaged.
Result<Task> parse_task(const Record& record);

// [{"title","details"?,"done","taskId"?}]
std::string steps_json(const std::vector<TaskStep>& steps);
// The other way round; what is no such array has no steps.
std::vector<TaskStep> take_steps(JsonFields& fields);

// kInvalid names the field and its limit.
Result<void> check_task_text(std::string_view text);
Result<void> check_task_title(std::string_view title);
Result<void> check_task_note(std::string_view note);
Result<void> check_task_steps(const std::vector<TaskStep>& steps);

// Nothing, when there is none; what cannot be an id is none.
Result<std::optional<Record>> find_task(Store& store, std::string_view id);
// kNotFound.
Result<Record> get_task(Store& store, std::string_view id);

}  // namespace skein
