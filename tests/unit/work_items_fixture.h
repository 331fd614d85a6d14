// A workspace's items over a store in memory.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "skein/work_items.h"
#include "support/machine.h"

namespace skein::test {

class WorkItemsTest : public testing::Test {
 protected:
  Result<WorkItem> try_create(std::string text) {
    CreateItem request;
    request.text = std::move(text);
    return machine_.items().create(request);
  }
  Result<WorkItem> resolve_text(std::string text) {
    ResolveItem request;
    request.text_match = std::move(text);
    return machine_.items().resolve(request);
  }
  ItemListing list(ListItems request = {}) { return must(machine_.items().list(request)); }

  ManualClock clock_;
  SeededIds ids_;
  std::unique_ptr<Store> store_ = must(open_store("memory:"));
  Machine machine_{*store_, clock_, ids_};
};

}  // namespace skein::test
