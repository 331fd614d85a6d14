// Takes tasks of a Nova workspace; they arrive unsigned.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/transfer/folders/folder_import.h"
#include "core/json_fields.h"
#include "skein/clock.h"
#include "skein/ids.h"

namespace skein {

// From tasks/tasks.json (those that are open) and tasks/history.jsonl (those that ended). First all
// are read, so that their threads can be bound to them when they are taken; then they are stored.
class TaskImport {
 public:
  explicit TaskImport(const FolderImport& import) : import_(import) {}

  // What cannot be read is reported.
  void read();
  // Ids here, by the ids there: what "taskId" of a thread becomes.
  const std::map<std::string, std::string>& ids() const { return ids_; }
  // Stores those that are not there yet, with a thread for each that has none.
  Result<void> store();

 private:
  struct SourceTask {
    std::string source_id;
    std::string id;  // here; given when all are read
    std::string agent_id;
    std::string owner;  // the agent, or "user"
    ThreadId thread;
    bool has_thread = false;
    std::string title;
    std::string text;
    std::string steps;   // a JSON array; their tasks by the ids there
    std::string parent;  // by its id there; empty: none
    Timestamp created_at;
    Timestamp updated_at;
    std::string status;
  };

  void read_history();
  void read_one(std::string_view json, const std::string& file, std::uint64_t line);
  void refuse(const std::string& file, std::uint64_t line, std::string message) const;
  std::string agent_of(const std::string& owner, JsonFields& fields) const;
  void give_ids();
  std::string steps_json(const SourceTask& source) const;
  std::string record_json(const SourceTask& source) const;
  Result<void> make_thread(const SourceTask& source);

  const FolderImport& import_;
  std::vector<SourceTask> tasks_;
  std::map<std::string, std::string> ids_;
};

}  // namespace skein
