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
// Commits that fail with an internal error are tried again this often.
constexpr int kMostInternalErrors = 3;

constexpr char kNotKnown[] = "; whether the last write took effect is not known";

constexpr char kCommit[] = "COMMIT";
constexpr char kRollback[] = "ROLLBACK";
constexpr char kNotify[] = "SELECT pg_notify($1::text, '')";
// 1: nobody does. Others who look at the same time count as somebody, too.
constexpr char kNobodyListens[] =
    "SELECT pg_try_advisory_xact_lock($1::bigint::int, 0)::int::bigint";
constexpr std::chrono::milliseconds kLookEvery{50};

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

Lane::Lane(const Settings& settings, std::function<void(std::size_t jobs)> committed)
    : settings_(settings),
      committed_(std::move(committed)),
      channel_(feed_channel(settings)),
      listener_class_(listener_lock_class(settings)),
      entering_(settings),
      mark_(static_cast<std::int64_t>(random_ids().next() >> 1)),
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
  if (!done) return {};
  if (again.size() < jobs.size()) committed_(jobs.size() - again.size());
  return again;
}

Result<void> Lane::transact(const Jobs& jobs, Jobs& again) {
  const Deadline deadline = std::chrono::steady_clock::now() + settings_.timeout;
  Backoff backoff;
  bool in_doubt = false;
  for (int collisions = 0, internal_errors = 0;;) {
    failure_ = Failure{};
    auto done = attempt(jobs, again, in_doubt, deadline);
    if (done) return done;
    if (failure_.internal_error() && !failure_.lost && ++internal_errors > kMostInternalErrors)
      return give_up(jobs, in_doubt, deadline, std::move(done.error()));
    const bool collided = failure_.collided() && ++collisions < kMostCollisions;
    const bool worth_it = collided || failure_.passing() || in_doubt;
    if (worth_it && (collided || backoff.wait(deadline))) continue;
    if (in_doubt) done.error().message += kNotKnown;
    return done;
  }
}

Result<void> Lane::give_up(const Jobs& jobs, bool& in_doubt, Deadline deadline, Error error) {
  bool took_effect = false;
  if (in_doubt) {
    auto resolved = resolve(jobs, in_doubt, took_effect, deadline);
    if (!resolved) error = std::move(resolved.error());
  }
  if (in_doubt) error.message += kNotKnown;
  if (in_doubt || !took_effect) return tl::unexpected(std::move(error));
  return {};
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
  listened_ = true;
  looked_ = false;
  auto entered = entering_.open(*connection_, std::chrono::steady_clock::now() + settings_.timeout);
  if (!entered) failure_ = connection_->failure();
  return entered;
}

Result<Loaded> Lane::load(const Jobs& jobs, bool may_move, Deadline deadline) {
  SKEIN_TRY(connect());
  Wanted wanted;
  for (Job* job : jobs) job->want(wanted);
  if (!may_move || !wanted.threads.empty()) wanted.move_no_heads();
  queue_loading(*connection_, entering_, wanted);
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
  return fail(
      ErrorCode::kIo,
      "PostgreSQL gave no clear answer to a commit, and others wrote since: whether it took "
      "effect is not known");
}

Result<void> Lane::attempt(const Jobs& jobs, Jobs& again, bool& in_doubt, Deadline deadline) {
  if (in_doubt) {
    bool done = false;
    SKEIN_TRY(resolve(jobs, in_doubt, done, deadline));
    if (done) return {};
  }
  if (const auto done = append_from_memory(jobs, in_doubt, deadline)) return *done;
  for (bool may_move : {true, false}) {
    SKEIN_ASSIGN(Loaded loaded, load(jobs, may_move, deadline));
    again.clear();
    WriteBatch batch(*connection_, loaded, ++mark_);
    for (Job* job : jobs) {
      if (!job->apply(batch)) again.push_back(job);
    }
    if (loaded.as_foreseen() && batch.wrote()) {
      batch.flush();
      SKEIN_TRY(commit(in_doubt, deadline));
      known_.remember(loaded);
      return {};
    }
    // Some were refused after all: what was moved is taken back.
    roll_back(deadline);
    if (loaded.foreseen.empty()) return {};
  }
  return {};
}

std::optional<Result<void>> Lane::append_from_memory(const Jobs& jobs, bool& in_doubt,
                                                     Deadline deadline) {
  Wanted wanted;
  for (Job* job : jobs) job->want(wanted);
  std::optional<Loaded> loaded = known_.recall(wanted);
  if (!loaded) return std::nullopt;
  if (auto connected = connect(); !connected) return connected;
  WriteBatch batch(*connection_, *loaded, ++mark_);
  for (Job* job : jobs) job->apply(batch);
  // Whoever was refused may have been refused for what is no longer so.
  if (!loaded->as_foreseen()) return std::nullopt;
  batch.queue_growth(entering_);
  const auto answers = finish(in_doubt, deadline);
  if (answers && WriteBatch::grew(*answers)) {
    known_.remember(*loaded);
    return Result<void>();
  }
  if (!answers) {
    if (failure_.passing()) connection_.reset();
    if (!WriteBatch::changed_since(failure_) && !failure_.collided())
      return Result<void>(tl::unexpected(answers.error()));
  }
  known_.doubt(wanted);
  failure_ = Failure{};
  return std::nullopt;
}

Result<void> Lane::commit(bool& in_doubt, Deadline deadline) {
  connection_->queue(kCommit);
  const auto answers = finish(in_doubt, deadline);
  if (!answers) {
    roll_back(deadline);
    return tl::unexpected(answers.error());
  }
  if (answers->back().command() != "COMMIT")
    return fail(ErrorCode::kIo, "PostgreSQL rolled the transaction back");
  return {};
}

Result<std::vector<Answer>> Lane::finish(bool& in_doubt, Deadline deadline) {
  queue_hints();
  auto answers = connection_->exchange(deadline);
  if (!answers) {
    failure_ = connection_->failure();
    if (failure_.in_doubt()) {
      in_doubt = true;
      connection_.reset();  // the session may be in any state
    }
    return tl::unexpected(std::move(answers.error()));
  }
  if (!connection_->warning().empty()) {
    // Committed here, but perhaps not on the standby that it waits for: not an acknowledgement.
    in_doubt = true;
    return fail(ErrorCode::kIo,
                "PostgreSQL did not wait for its standby: " + connection_->warning());
  }
  in_doubt = false;
  return answers;
}

void Lane::queue_hints() {
  if (looked_ && !connection_->late().empty()) {
    listened_ = connection_->late().back().integer(0, 0) == 0;
    looked_ = false;
  }
  const auto now = std::chrono::steady_clock::now();
  const bool looks = now >= look_again_;
  if (listened_ || looks) {  // somebody may have come since
    connection_->end_part();
    connection_->queue(kNotify, Arguments::of(std::string_view(channel_)));
  }
  if (!looks) return;
  connection_->end_part();
  connection_->queue(kNobodyListens, Arguments::of(listener_class_));
  looked_ = true;
  look_again_ = now + kLookEvery;
}

void Lane::roll_back(Deadline deadline) {
  // A server that no longer takes writes is left: another may.
  if (failure_.passing()) connection_.reset();
  if (!connection_ || !connection_->usable()) return;
  connection_->queue(kRollback);
  // When that fails, the connection is of no use, and the server rolls back by itself.
  if (!connection_->exchange(deadline)) connection_.reset();
}

Writer::Writer(const Settings& settings, const std::function<void(std::size_t jobs)>& committed)
    : lanes_{{settings, committed}, {settings, committed}} {}

Result<void> Writer::run(Job& job) {
  const std::uint64_t subject = job.subject.value_or(turn_.fetch_add(1, std::memory_order_relaxed));
  return lanes_[subject % kLanes].run(job);
}

}  // namespace skein::postgres
