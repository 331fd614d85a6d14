#include "store/postgres/leases.h"

#include <string>

#include "core/try.h"
#include "store/checks.h"
#include "store/lease.h"
#include "store/run_job.h"

namespace skein::postgres {
namespace {

constexpr char kStore[] =
    "UPDATE skein.threads SET token = $2, holder = $3, expires = $4, boot = $5 WHERE id = $1";

// What the server's clock said when the row was locked. It outlives reboots of any machine.
class ServerClock final : public Clock {
 public:
  explicit ServerClock(std::int64_t ms) : ms_(ms) {}
  Timestamp now() override { return Timestamp::from_ms(ms_); }
  std::int64_t boot_ms() override { return ms_; }
  std::string boot_id() override { return "server"; }

 private:
  const std::int64_t ms_;
};

// The first attempt chooses; those after it must come to the same token.
class KeptIds final : public IdSource {
 public:
  KeptIds(IdSource& source, std::optional<std::uint64_t>& kept) : source_(source), kept_(kept) {}
  std::uint64_t next() override {
    if (!kept_) kept_ = source_.next();
    return *kept_;
  }

 private:
  IdSource& source_;
  std::optional<std::uint64_t>& kept_;
};

class LeaseJob : public Job {
 public:
  LeaseJob(const StoreOptions& options, ThreadId id, std::string_view holder,
           std::chrono::milliseconds ttl, std::optional<LeaseToken> token)
      : options_(options), id_(id), holder_(holder), ttl_(ttl), token_(token) {
    subject = id.bits();
  }

  void want(Wanted& wanted) override { wanted.threads.insert(id_); }

  bool apply(WriteBatch& batch) override {
    Head* head = batch.loaded.head(id_);
    if (head == nullptr) {
      answer = tl::unexpected(unknown_thread(id_));
      return true;
    }
    ServerClock server(batch.loaded.server_ms);
    const bool own_clock = options_.clock != &system_clock();
    KeptIds ids(*options_.ids, chosen_);
    answer = change_lease(head->lease, id_, holder_, ttl_, token_,
                          own_clock ? *options_.clock : server, ids);
    if (!answer) return true;
    stored_ = head->lease.token;
    batch.queue(kStore,
                Arguments::of(id_.bits(), head->lease.token, std::string_view(head->lease.holder),
                              head->lease.expires_boot_ms, std::string_view(head->lease.boot_id)));
    return true;
  }

  Committed committed(Loaded& loaded) const override {
    const Head* head = loaded.head(id_);
    if (!stored_ || head == nullptr) return Committed::kUnknown;
    // Renewed twice is renewed once, so that a renewal may always be done again.
    if (token_ && *stored_ == *token_) return Committed::kNo;
    return head->lease.token == *stored_ ? Committed::kYes : Committed::kNo;
  }

  Result<Lease> answer;

 private:
  const StoreOptions& options_;
  const ThreadId id_;
  const std::string_view holder_;
  const std::chrono::milliseconds ttl_;
  const std::optional<LeaseToken> token_;
  std::optional<std::uint64_t> chosen_;
  std::optional<LeaseToken> stored_;
};

}  // namespace

Result<Lease> lease_thread(Writer& writer, const StoreOptions& options, ThreadId id,
                           std::string_view holder, std::chrono::milliseconds ttl,
                           std::optional<LeaseToken> token) {
  SKEIN_TRY(check_lease(holder, ttl, token));
  return run_job<LeaseJob>(writer, options, id, holder, ttl, token);
}

}  // namespace skein::postgres
