// A machine with a workspace of its own, on a store that it may share with others.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "skein/work_items.h"
#include "skein/work_sessions.h"
#include "support/expect.h"
#include "support/manual_clock.h"
#include "support/temp_dir.h"
#include "work/item_file.h"

namespace skein::test {

class Machine {
 public:
  Machine(Store& store, Clock& clock, IdSource& ids, std::string name = "host")
      : store_(store),
        clock_(clock),
        ids_(ids),
        place_{.folder = folder_.path(), .project = "skein", .host = std::move(name)} {}

  WorkItems items() { return {store_, place_, clock_, ids_}; }
  WorkSessions sessions() { return {store_, place_, clock_, ids_}; }
  const WorkPlace& place() const { return place_; }
  std::filesystem::path file() const { return folder_.path() / ".gitmem" / "threads.json"; }

  void write(std::string_view content) const {
    std::filesystem::create_directories(file().parent_path());
    std::ofstream(file(), std::ios::binary) << content;
  }
  std::string read() const {
    std::ifstream stream(file(), std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return std::move(text).str();
  }
  ItemList list() const { return must(ItemFile(folder_.path()).read()); }

  // --- Where an error is a bug of the test ---
  WorkItem create(std::string text, bool allow_duplicate = false) {
    CreateItem request;
    request.text = std::move(text);
    request.allow_duplicate = allow_duplicate;
    return must(items().create(request));
  }
  Result<WorkItem> try_resolve(std::string id, std::string note = "") {
    ResolveItem request;
    request.id = std::move(id);
    if (!note.empty()) request.resolution_note = std::move(note);
    return items().resolve(request);
  }
  WorkItem resolve(std::string id, std::string note = "") {
    return must(try_resolve(std::move(id), std::move(note)));
  }
  StartedSession start(std::optional<std::string> project = std::nullopt) {
    StartSession request;
    request.agent = "tester";
    request.project = std::move(project);
    return must(sessions().start(request));
  }
  ClosedSession close(std::string_view payload = "{}") {
    return must(sessions().close(must(CloseSession::parse(payload))));
  }
  // The texts of the items that a list shows.
  std::vector<std::string> texts(ListItems request = {}) {
    std::vector<std::string> texts;
    for (const ListedItem& listed : must(items().list(request)).items) {
      texts.push_back(listed.item.text);
    }
    return texts;
  }

 private:
  TempDir folder_;
  Store& store_;
  Clock& clock_;
  IdSource& ids_;
  const WorkPlace place_;
};

}  // namespace skein::test
