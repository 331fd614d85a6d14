// What a closing session says of its items.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "skein/work_sessions.h"
#include "work/item_formats.h"
#include "work/item_merge.h"
#include "work/item_view.h"

namespace skein {

class Payload {
 public:
  // Borrows the store and the source of ids.
  Payload(Store& store, const CloseSession& request, const WorkSession& session, Timestamp now,
          IdSource& ids);

  Result<void> check() const;

  // Brings it into the list. What an entry leaves open is settled the first time; after that it is
  // the same items again.
  void apply(ItemList& list, const ProjectOf& project_of);

  const std::vector<WorkItem>& items() const { return items_; }
  // The ids of those that were there before.
  const std::vector<std::string>& mentioned() const { return mentioned_; }
  // What is to be told of entries that were left out, or taken for a known item.
  const std::vector<std::string>& warnings() const { return warnings_; }
  std::size_t created() const { return created_; }

 private:
  void settle(WorkItem& item, ItemList& list, const ProjectOf& project_of);
  void settle_all(ItemList& list, const ProjectOf& project_of);
  // The open item of the project that says the same, or nearly; or null.
  const WorkItem* known_as(const WorkItem& item, const ItemList& list, const ProjectOf& project_of);
  void name(WorkItem& item, const ItemList& list, const ProjectOf& project_of);
  void take_known(WorkItem& item, const WorkItem& known);

  Store& store_;
  const std::string session_;
  const std::string project_;
  const Timestamp now_;
  IdSource& ids_;
  std::vector<WorkItem> items_;  // in the order of the payload
  std::vector<std::string> mentioned_;
  std::vector<std::string> warnings_;
  std::optional<OpenWordings> open_;  // of the list that was settled with, once one is asked for
  std::unordered_set<std::string> new_ids_;
  bool settled_ = false;
  std::size_t created_ = 0;
};

}  // namespace skein
