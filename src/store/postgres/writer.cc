#include "store/postgres/writer.h"

#include <algorithm>
#include <utility>

#include "core/try.h"
#include "store/postgres/pool.h"
#include "store/postgres/schema.h"

namespace skein::postgres {
namespace {

// Transactions that got into each other's way are tried again this often.
constexpr int kMostCollisions = 50;

constexpr char kCommit[] = "COMMIT";
constexpr char kRollback[] = "ROLLBACK";
constexpr char kNotify[] = "SELECT pg_notify($1::text, '')";

// One proof is enough: the transaction is all or nothing.
Committed look_for_proof(const std::vector<Job*>& jobs, Loaded& loaded) {
  Committed sum = Committed::kUnknown;
  for (const Job* job : jobs) {
    const Committed one = job->committed(loaded);
    if (one == Committed::kYes) return one;
    if (one == Committed::kNo) sum = one;
  }
  return sum;
}

}  // namespace

Lane::Lane(const Settings& settings, std::function<void()> committed)
    : settings_(settings),
      committed_(std::move(committed)),
      channel_(feed_channel(settings)),
      group_({}, [this](GroupCommit::Batch& batch) { execute(batch); }) {}

Result<void> Lane::run(Job& job) {
  group_.submit(job);
  return std::move(job.outcome_);
}

void Lane::execute(GroupCommit::Batch& batch) {
  const auto requests = batch.gather();
  Jobs jobs;
  jobs.reserve(requests.size());
  for (GroupCommit::Request* request : requests) jobs.push_back(static_cast<Job*>(request));
  while (!jobs.empty()) jobs = settle(jobs);
  committed_();
}

Lane::Jobs Lane::settle(const Jobs& jobs) {
  Jobs again;
  const auto done = transact(jobs, again);
  if (!done && jobs.size() > 1 && failure_.waited_for_a_lock()) {
    // One of them wants what another program keeps locked; the others must not wait for it.
    for (Job* job : jobs) {
      const Jobs alone = settle({job});
      again.insert(again.end(), alone.begin(), alone.end());
    }
    return again;
  }
  for (Job* job : jobs) job->outcome_ = done;
  return done ? again : Jobs();
}

Result<void> Lane::transact(const Jobs& jobs, Jobs& again) {
  const Deadline deadline = std::chrono::steady_clock::now() + settings_.timeout;
  Backoff backoff;
  bool in_doubt = false;
  for (int collisions = 0;;) {
    failure_ = Failure{};
    auto done = attempt(jobs, again, in_doubt, deadline);
    if (done) return done;
    const bool collided = failure_.collided() && ++collisions < kMostCollisions;
    const bool worth_it = collided || failure_.passing() || in_doubt;
    if (worth_it && (collided || backoff.wait(deadline))) continue;
    if (in_doubt) done.error().message += "; whether the last write took effect is not known";
    return done;
  }
}

Result<void> Lane::connect() {
  if (connection_ && !connection_->usable()) connection_.reset();
  if (connection_) return {};
  auto opened = Connection::open(settings_);
  if (!opened) {
    failure_.lost = true;
    return tl::unexpected(std::move(opened.error()));
  }
  connection_ = std::move(*opened);
  return {};
}

Result<Loaded> Lane::load(const Jobs& jobs, bool may_move, Deadline deadline) {
  SKEIN_TRY(connect());
  Wanted wanted;
  for (Job* job : jobs) job->want(wanted);
  if (!may_move || !wanted.threads.empty()) wanted.move_no_heads();
  queue_loading(*connection_, settings_, wanted);
  const auto answers = connection_->exchange(deadline);
  if (answers) return take_loaded(wanted, *answers);
  failure_ = connection_->failure();
  roll_back(deadline);
  return tl::unexpected(answers.error());
}

Result<void> Lane::resolve(const Jobs& jobs, bool& in_doubt, bool& done, Deadline deadline) {
  SKEIN_ASSIGN(Loaded loaded, load(jobs, false, deadline));
  const Committed before = look_for_proof(jobs, loaded);
  done = before == Committed::kYes;
  // This commit has written, too, if only locks: when it is on the standby, so is the one before.
  if (done) return commit(in_doubt, deadline);
  roll_back(deadline);
  in_doubt = false;
  if (before == Committed::kNo) return {};
  return fail(ErrorCode::kIo,
              "the connection to PostgreSQL was lost during a commit, and others wrote since: "
              "whether it took effect is not known");
}

Result<void> Lane::attempt(const Jobs& jobs, Jobs& again, bool& in_doubt, Deadline deadline) {
  if (in_doubt) {
    bool done = false;
    SKEIN_TRY(resolve(jobs, in_doubt, done, deadline));
    if (done) return {};
  }
  for (bool may_move : {true, false}) {
    SKEIN_ASSIGN(Loaded loaded, load(jobs, may_move, deadline));
    again.clear();
    WriteBatch batch(*connection_, loaded);
    for (Job* job : jobs) {
      if (!job->apply(batch)) again.push_back(job);
    }
    if (loaded.as_foreseen() && batch.wrote()) {
      batch.flush();
      return commit(in_doubt, deadline);
    }
    // Some were refused after all: what was moved is taken back.
    roll_back(deadline);
    if (loaded.foreseen.empty()) return {};
  }
  return {};
}

Result<void> Lane::commit(bool& in_doubt, Deadline deadline) {
  connection_->queue(kCommit);
  // Only a hint, and in a transaction of its own: nobody waits for it, and it makes no commits wait
  // for each other.
  connection_->end_part();
  connection_->queue(kNotify, Arguments::of(std::string_view(channel_)));
  auto answers = connection_->exchange(deadline);
  if (!answers) {
    failure_ = connection_->failure();
    if (failure_.lost) in_doubt = true;
    roll_back(deadline);
    return tl::unexpected(std::move(answers.error()));
  }
  if (answers->back().command() != "COMMIT")
    return fail(ErrorCode::kIo, "PostgreSQL rolled the transaction back");
  if (!connection_->warning().empty()) {
    // Committed here, but perhaps not on the standby that it waits for: not an acknowledgement.
    in_doubt = true;
    return fail(ErrorCode::kIo,
                "PostgreSQL did not wait for its standby: " + connection_->warning());
  }
  in_doubt = false;
  return {};
}

void Lane::roll_back(Deadline deadline) {
  // A server that no longer takes writes is left: another may.
  if (failure_.passing()) connection_.reset();
  if (!connection_ || !connection_->usable()) return;
  connection_->queue(kRollback);
  // When that fails, the connection is of no use, and the server rolls back by itself.
  if (!connection_->exchange(deadline)) connection_.reset();
}

Writer::Writer(const Settings& settings, const std::function<void()>& committed)
    : lanes_{{settings, committed}, {settings, committed}} {}

Result<void> Writer::run(Job& job) {
  const std::uint64_t subject = job.subject.value_or(turn_.fetch_add(1, std::memory_order_relaxed));
  return lanes_[subject % kLanes].run(job);
}

}  // namespace skein::postgres
