// The backends that the contract is tested on, by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "skein/store.h"
#include "support/manual_clock.h"
#include "support/postgres_server.h"
#include "support/temp_dir.h"

namespace skein::test {

// Every name here runs the whole contract suite.
std::vector<std::string> backend_names();
// Those whose data outlives the process and may be opened by several at once.
std::vector<std::string> persistent_backend_names();

// One store with data of its own, opened with a clock and ids that the test controls. A store that
// cannot be opened ends the test program: no case may pass for want of a backend.
class Backend {
 public:
  explicit Backend(std::string name);

  const std::string& name() const { return name_; }
  std::string url() const;
  bool persistent() const { return name_ != "memory"; }
  const std::filesystem::path& folder() const { return folder_.path(); }

  Store& store() { return *store_; }
  ManualClock& clock() { return clock_; }

  // A further store on the same data, in this process. Persistent backends only.
  std::unique_ptr<Store> open_another(StoreOptions options = {});

  // Closes the store and opens the same data again; `memory:` has only the one life, and goes on.
  void reopen();

 private:
  std::unique_ptr<Store> open(StoreOptions options);

  std::string name_;
  TempDir folder_;
  std::unique_ptr<PostgresTables> tables_;
  ManualClock clock_;
  SeededIds ids_;
  std::unique_ptr<Store> store_;
};

}  // namespace skein::test
