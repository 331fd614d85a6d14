// A store in front of another, for tests that change or watch some of it.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "skein/store.h"

namespace skein::test {

// Passes everything on. Override what is to be different.
class PassingStore : public Store {
 public:
  explicit PassingStore(Store& inner) : inner_(inner) {}

  Result<Manifest> create(const NewThread& thread) override { return inner_.create(thread); }
  Result<std::optional<Manifest>> get(const ThreadRef& ref) override { return inner_.get(ref); }
  Result<ThreadPage> list(const ListQuery& query) override { return inner_.list(query); }
  Result<Manifest> update(ThreadId id, const ManifestPatch& patch,
                          const UpdateOptions& options) override {
    return inner_.update(id, patch, options);
  }
  Result<bool> remove(ThreadId id, const UpdateOptions& options) override {
    return inner_.remove(id, options);
  }
  std::vector<Result<Appended>> append(std::span<const Append> appends) override {
    return inner_.append(appends);
  }
  // Each write passes here, so that whoever watches sees it.
  Result<void> together(const std::function<void(Writes&)>& work) override {
    work(*this);
    return {};
  }
  Result<void> read(ThreadId id, const ReadRange& range, const EventSink& sink) override {
    return inner_.read(id, range, sink);
  }
  Result<ChangeBatch> changes(std::string_view cursor, std::size_t limit,
                              std::chrono::milliseconds wait) override {
    return inner_.changes(cursor, limit, wait);
  }
  Result<Lease> lease(ThreadId id, std::string_view holder, std::chrono::milliseconds ttl,
                      std::optional<LeaseToken> token) override {
    return inner_.lease(id, holder, ttl, token);
  }
  Result<std::vector<Version>> write(std::span<const RecordWrite> writes) override {
    return inner_.write(writes);
  }
  Result<std::vector<Record>> scan(const ScanRange& range) override { return inner_.scan(range); }
  Result<CheckSummary> check(const CheckOptions& options,
                             const std::function<void(const Finding&)>& sink) override {
    return inner_.check(options, sink);
  }
  CommitSizes commit_sizes() const override { return inner_.commit_sizes(); }

 protected:
  Store& inner_;
};

}  // namespace skein::test
