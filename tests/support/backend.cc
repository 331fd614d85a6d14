#include "support/backend.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace skein::test {

std::vector<std::string> backend_names() { return {"memory", "jsonl", "sqlite", "postgres"}; }

std::vector<std::string> persistent_backend_names() {
  std::vector<std::string> names = backend_names();
  std::erase(names, "memory");
  return names;
}

Backend::Backend(std::string name)
    : name_(std::move(name)),
      tables_(name_ == "postgres" ? std::make_unique<PostgresTables>() : nullptr),
      store_(open({})) {}

std::string Backend::url() const {
  if (tables_) return tables_->url();
  return name_ == "memory" ? "memory:" : name_ + ":" + (folder_.path() / "store").string();
}

std::unique_ptr<Store> Backend::open_another(StoreOptions options) {
  return open(std::move(options));
}

void Backend::reopen() {
  if (!persistent()) return;
  store_.reset();
  store_ = open({});
}

std::unique_ptr<Store> Backend::open(StoreOptions options) {
  options.clock = &clock_;
  if (options.ids == nullptr) options.ids = &ids_;
  Result<std::unique_ptr<Store>> store = open_store(url(), std::move(options));
  if (!store.has_value()) {
    std::fprintf(stderr, "cannot open %s: %s\n", url().c_str(), store.error().message.c_str());
    std::exit(2);
  }
  return std::move(*store);
}

}  // namespace skein::test
