#include "store/sqlite/together.h"

#include "core/try.h"
#include "store/sqlite/appends.h"
#include "store/sqlite/leases.h"
#include "store/sqlite/records.h"
#include "store/sqlite/threads.h"

namespace skein::sqlite {
namespace {

// Has jobs done at once, inside a transaction.
class AtOnce final : public JobRunner {
 public:
  explicit AtOnce(WriteContext& context) : context_(context) {}

  Result<void> run(Job& job) override {
    // The transaction is lost with the first of them.
    if (failure) failure = job.apply(context_);
    return failure;
  }

  Result<void> failure;

 private:
  WriteContext& context_;
};

class InTransaction final : public Writes {
 public:
  InTransaction(JobRunner& runner, const StoreOptions& options)
      : runner_(runner), options_(options) {}

  Result<Manifest> create(const NewThread& thread) override {
    return create_thread(runner_, options_, thread);
  }
  Result<Manifest> update(ThreadId id, const ManifestPatch& patch,
                          const UpdateOptions& options) override {
    return update_thread(runner_, options_, id, patch, options);
  }
  Result<bool> remove(ThreadId id, const UpdateOptions& options) override {
    return remove_thread(runner_, id, options);
  }
  std::vector<Result<Appended>> append(std::span<const Append> appends) override {
    return append_events(runner_, options_, appends);
  }
  Result<Lease> lease(ThreadId id, std::string_view holder, std::chrono::milliseconds ttl,
                      std::optional<LeaseToken> token) override {
    return lease_thread(runner_, options_, id, holder, ttl, token);
  }
  Result<std::vector<Version>> write(std::span<const RecordWrite> writes) override {
    return write_records(runner_, writes);
  }

 private:
  JobRunner& runner_;
  const StoreOptions& options_;
};

class TogetherJob final : public Job {
 public:
  TogetherJob(const StoreOptions& options, const std::function<void(Writes&)>& work)
      : options_(options), work_(work) {}

  Result<void> apply(WriteContext& context) override {
    AtOnce runner(context);
    InTransaction writes(runner, options_);
    work_(writes);
    return runner.failure;
  }

 private:
  const StoreOptions& options_;
  const std::function<void(Writes&)>& work_;
};

}  // namespace

Result<void> write_together(Writer& writer, const StoreOptions& options,
                            const std::function<void(Writes&)>& work) {
  TogetherJob job(options, work);
  return writer.run(job);
}

}  // namespace skein::sqlite
