// The backend's parts, put together. The methods are in files by topic.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "skein/store.h"
#include "store/commit_counter.h"
#include "store/jsonl/catalog.h"
#include "store/jsonl/feed.h"
#include "store/jsonl/folder.h"
#include "store/jsonl/records.h"
#include "store/jsonl/thread_state.h"
#include "store/jsonl/writer.h"
#include "store/lease.h"

namespace skein::jsonl {

class JsonlStore final : public Store {
 public:
  explicit JsonlStore(std::unique_ptr<Folder> folder);

  Result<Manifest> create(const NewThread& request) override;
  Result<std::optional<Manifest>> get(const ThreadRef& ref) override;
  Result<ThreadPage> list(const ListQuery& query) override;
  Result<Manifest> update(ThreadId id, const ManifestPatch& patch,
                          const UpdateOptions& options) override;
  Result<bool> remove(ThreadId id, const UpdateOptions& options) override;
  std::vector<Result<Appended>> append(std::span<const Append> appends) override;
  Result<void> together(const std::function<void(Writes&)>& work) override {
    work(*this);
    return {};
  }
  Result<void> read(ThreadId id, const ReadRange& range, const EventSink& sink) override;
  Result<ChangeBatch> changes(std::string_view cursor, std::size_t limit,
                              std::chrono::milliseconds wait) override;
  Result<Lease> lease(ThreadId id, std::string_view holder, std::chrono::milliseconds ttl,
                      std::optional<LeaseToken> token) override;
  Result<std::vector<Version>> write(std::span<const RecordWrite> writes) override;
  Result<std::vector<Record>> scan(const ScanRange& range) override;
  Result<CheckSummary> check(const CheckOptions& options,
                             const std::function<void(const Finding&)>& sink) override;
  CommitSizes commit_sizes() const override { return commits_.sizes(); }

  // Brings what is to be there at the start: records, and a feed that can be followed.
  Result<void> start();

 private:
  friend class Committer;  // append.cc
  friend class Checker;    // check.cc

  // create.cc
  Result<Manifest> create_as(const NewThread& request, ThreadId id);
  struct NewFile;
  Result<void> copy_parent(const NewThread& request, NewFile& file);
  Result<void> publish_file(const NewThread& request, ThreadId id, NewFile& file);

  // append.cc
  void append_to_thread(ThreadId id, AppendRequest& request);

  // read.cc
  static Result<void> read_forward(LineWalker walker, SeqSpan span, std::uint64_t& left,
                                   const EventSink& sink, bool& stopped);
  Result<void> read_backward(ThreadState& state, const ThreadFile& file, Mark begin,
                             const Tail& tail, SeqSpan span, std::uint64_t& left,
                             const EventSink& sink, bool& stopped);
  Result<Mark> mark_for(ThreadState& state, const ThreadFile& file, Mark begin, Seq seq,
                        const Tail& tail);
  Result<std::vector<Branch>> branches_of(ThreadState& state, const ThreadFile& file, Mark begin,
                                          std::uint64_t size);

  // leases.cc
  bool lease_is_damaged(ThreadId id);
  Result<LeaseState> read_lease(ThreadId id);
  Result<void> write_lease(ThreadId id, const LeaseState& lease);

  // changes.cc
  Result<void> reconcile();
  Result<void> reconcile_thread(ThreadId id);
  Result<void> reconcile_if_due(bool urgent);

  std::unique_ptr<Folder> folder_;
  Catalog catalog_;
  ThreadCache threads_;
  Writer writer_;
  Records records_;
  Feed feed_;
  CommitCounter commits_;

  std::mutex names_mutex_;  // before the lock of the names

  std::mutex reconcile_mutex_;                            // one at a time
  std::chrono::steady_clock::time_point next_reconcile_;  // by reconcile_mutex_
};

}  // namespace skein::jsonl
