// Imports transcripts into a store in memory, and tells what became of them.
#pragma once

#include <gtest/gtest.h>

#include "api/transfer/import.h"
#include "api/transfer/sources.h"
#include "support/expect.h"
#include "support/git_sandbox.h"
#include "support/temp_dir.h"

namespace skein::test {

// "role text", "call name", "narration text", each with "<base" where it does not follow the one
// before.
inline std::string shape(const Event& event) {
  std::string text;
  if (const auto* message = std::get_if<Message>(&event.payload)) {
    text = std::string(to_string(message->role)) + " " + message->text;
  } else if (const auto* use = std::get_if<ToolUse>(&event.payload)) {
    text = "call " + use->name;
  } else if (const auto* said = std::get_if<AssistantText>(&event.payload)) {
    text = "narration " + said->text;
  }
  if (event.base) text += " <" + std::to_string(*event.base);
  return text;
}

class Transcripts : public testing::Test {
 protected:
  std::filesystem::path put(const std::string& name, const std::string& text) {
    const auto path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    put_file(path, text);
    return path;
  }

  ImportSummary import(const std::filesystem::path& path, ImportOptions options = {}) {
    options.problem = [&](const FileProblem& problem) { problems_.push_back(problem.message); };
    return must(import_threads(*store_, must(find_thread_files(path)), options));
  }

  std::vector<Manifest> threads() {
    ListQuery query;
    query.order = ListOrder::kCreatedOldestFirst;
    return must(store_->list(query)).threads;
  }
  Manifest thread(const std::string& ref) {
    return *must(store_->get(must(ThreadRef::parse(ref))));
  }

  std::vector<Event> events(ThreadId id, View view = View::kLog) {
    std::vector<Event> all;
    must(store_->read(id, {.view = view}, [&](Event& event) {
      all.push_back(event);
      return true;
    }));
    return all;
  }
  std::vector<std::string> shapes(ThreadId id, View view = View::kLog) {
    std::vector<std::string> all;
    for (const Event& event : events(id, view)) all.push_back(shape(event));
    return all;
  }

  TempDir folder_;
  std::unique_ptr<Store> store_ = must(open_store("memory:"));
  std::vector<std::string> problems_;
};

}  // namespace skein::test
