#include "api/append_pump.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include "core/gathering.h"
#include "core/try.h"
#include "skein/limits.h"
#include "thread/status.h"

namespace skein {
namespace {

// Whoever comes so many times too late competes with something that never rests.
constexpr int kMostAttempts = 100;
// No manifest has it: an append that expects it is refused, unless its key is known.
constexpr Version kNoVersion = ~Version{0};
constexpr std::size_t kMostKnownThreads = 10'000;
constexpr std::size_t kNobodyWaits = ~std::size_t{0};
constexpr std::size_t kMaxBatchBytes = std::size_t{16} << 20;

std::size_t size_of(const Event& event) {
  std::size_t bytes = 256 + event.metadata.text().size() + event.extra.text().size();
  if (const auto* message = std::get_if<Message>(&event.payload)) bytes += message->text.size();
  if (const auto* use = std::get_if<ToolUse>(&event.payload)) bytes += use->input.text().size();
  if (const auto* said = std::get_if<AssistantText>(&event.payload)) bytes += said->text.size();
  return bytes;
}

}  // namespace

class AppendPump::Impl {
 public:
  explicit Impl(Store& store) : store_(store), thread_([this] { work(); }) {}

  ~Impl() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    came_.notify_all();
  }

  Result<void> submit(std::vector<Append> appends, Done done) {
    Job job{std::move(appends), std::move(done)};
    for (const Append& append : job.appends) job.bytes += size_of(append.event);
    const std::lock_guard lock(mutex_);
    const bool too_many = waiting_ + job.appends.size() > limits::kMaxPumpedAppends;
    if (waiting_ > 0 && (too_many || bytes_ + job.bytes > limits::kMaxPumpedBytes)) {
      return fail(ErrorCode::kBusy, "too many appends wait: " + std::to_string(waiting_));
    }
    waiting_ += job.appends.size();
    queued_ += job.appends.size();
    bytes_ += job.bytes;
    queue_.push_back(std::move(job));
    if (queued_ >= wanted_) came_.notify_one();
    return {};
  }

  Figures figures() const {
    const std::lock_guard lock(mutex_);
    return {waiting_, batches_, appends_};
  }

  std::function<void(std::size_t)> told;  // set before the first append

 private:
  struct Job {
    std::vector<Append> appends;
    Done done;
    std::size_t bytes = 0;
  };
  // What a thread was like when it was last looked at.
  struct Known {
    Version version = 0;
    Result<void> takes;
  };
  // One append of a batch on its way to its answer.
  struct Open {
    std::size_t index = 0;
    std::optional<Version> looked_at{};  // the version that a conflict was answered for
  };

  std::vector<Job> take() {
    std::unique_lock lock(mutex_);
    const auto enough = [this] { return stopping_ || queued_ >= wanted_; };
    wanted_ = 1;
    came_.wait(lock, enough);
    wanted_ = gathering_.expected();
    const auto until = gathering_.until(Gathering::Clock::now());
    for (std::size_t seen = 0; queued_ > seen && Gathering::Clock::now() < until && !enough();) {
      seen = queued_;
      came_.wait_for(lock, gathering_.patience(), enough);
      gathering_.note_waiting(queued_ > seen);
    }
    wanted_ = kNobodyWaits;
    std::vector<Job> jobs;
    std::size_t count = 0;
    std::size_t bytes = 0;
    while (!queue_.empty() &&
           (jobs.empty() || (count < limits::kMaxBatch && bytes < kMaxBatchBytes))) {
      count += queue_.front().appends.size();
      bytes += queue_.front().bytes;
      queued_ -= queue_.front().appends.size();
      jobs.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
    return jobs;
  }

  void work() {
    for (;;) {
      std::vector<Job> jobs = take();
      if (jobs.empty()) return;
      std::vector<Append> appends;
      std::size_t bytes = 0;
      for (Job& job : jobs) {
        bytes += job.bytes;
        std::move(job.appends.begin(), job.appends.end(), std::back_inserter(appends));
      }
      if (told) told(appends.size());
      const auto start = Gathering::Clock::now();
      std::vector<Result<Appended>> answers = append_all(appends);
      {
        const std::lock_guard lock(mutex_);
        gathering_.note(appends.size(), queued_, Gathering::Clock::now() - start);
        waiting_ -= appends.size();
        bytes_ -= bytes;
        ++batches_;
        appends_ += appends.size();
      }
      answer(jobs, std::move(answers));
    }
  }

  // The jobs have lost their appends to the batch, but not their number.
  static void answer(std::vector<Job>& jobs, std::vector<Result<Appended>> answers) {
    auto next = answers.begin();
    for (Job& job : jobs) {
      const auto end = next + static_cast<std::ptrdiff_t>(job.appends.size());
      job.done({std::make_move_iterator(next), std::make_move_iterator(end)});
      next = end;
    }
  }

  std::vector<Result<Appended>> append_all(std::vector<Append>& appends) {
    std::vector<Result<Appended>> answers(appends.size());
    std::vector<Open> open(appends.size());
    for (std::size_t i = 0; i < appends.size(); ++i) open[i].index = i;
    for (int attempt = 0; attempt < kMostAttempts && !open.empty(); ++attempt) {
      open = attempt_all(appends, std::move(open), answers);
    }
    return answers;
  }

  // Answers what it can, and gives back those whose thread has changed since it was looked at.
  std::vector<Open> attempt_all(std::vector<Append>& appends, std::vector<Open> open,
                                std::vector<Result<Appended>>& answers) {
    std::vector<Append> batch;
    std::vector<Open> sent;
    std::vector<std::shared_ptr<const Known>> known;
    for (Open& one : open) {
      Append& append = appends[one.index];
      if (!append.fence) {
        auto found = look_at(append.thread, one.looked_at);
        if (!found) {
          answers[one.index] = tl::unexpected(std::move(found).error());
          continue;
        }
        // A conflict that was not about the version is the caller's.
        if (one.looked_at == (*found)->version) continue;
        one.looked_at = (*found)->version;
        append.expect_version = (*found)->takes ? (*found)->version : kNoVersion;
        known.push_back(*found);
      } else {
        known.push_back(nullptr);
      }
      batch.push_back(append);
      sent.push_back(one);
    }
    return send(batch, sent, known, answers);
  }

  std::vector<Open> send(const std::vector<Append>& batch, const std::vector<Open>& sent,
                         const std::vector<std::shared_ptr<const Known>>& known,
                         std::vector<Result<Appended>>& answers) {
    std::vector<Open> again;
    auto results = store_.append(batch);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const bool conflicts =
          !results[i] && known[i] != nullptr && results[i].error().code == ErrorCode::kConflict;
      const bool refused = conflicts && !known[i]->takes;
      answers[sent[i].index] =
          refused ? tl::unexpected(known[i]->takes.error()) : std::move(results[i]);
      // Also of a refusal: what the thread was known to be may be long ago.
      if (conflicts) again.push_back(sent[i]);
    }
    return again;
  }

  // As it was last seen, or, once that was in vain, as it is.
  Result<std::shared_ptr<const Known>> look_at(ThreadId thread,
                                               const std::optional<Version>& in_vain) {
    const auto found = known_.find(thread);
    if (found != known_.end() && in_vain != found->second->version) return found->second;
    SKEIN_ASSIGN(const auto manifest, store_.get(thread));
    if (!manifest) {
      known_.erase(thread);
      return fail(ErrorCode::kNotFound, "there is no thread " + thread.str());
    }
    if (known_.size() >= kMostKnownThreads) known_.clear();
    auto now = std::make_shared<Known>(Known{manifest->version, check_takes_messages(*manifest)});
    known_.insert_or_assign(thread, now);
    return now;
  }

  Store& store_;
  std::unordered_map<ThreadId, std::shared_ptr<const Known>> known_;  // the pump's thread's own

  mutable std::mutex mutex_;  // protects all below
  std::condition_variable came_;
  std::deque<Job> queue_;
  std::size_t waiting_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t batches_ = 0;
  std::uint64_t appends_ = 0;
  std::size_t queued_ = 0;             // appends in queue_
  std::size_t wanted_ = kNobodyWaits;  // so many in queue_ that the pump's thread goes on
  Gathering gathering_;
  bool stopping_ = false;

  std::jthread thread_;  // the constructor's
};

AppendPump::AppendPump(Store& store) : impl_(std::make_unique<Impl>(store)) {}
AppendPump::~AppendPump() = default;

Result<void> AppendPump::submit(std::vector<Append> appends, Done done) {
  return impl_->submit(std::move(appends), std::move(done));
}

AppendPump::Figures AppendPump::figures() const { return impl_->figures(); }

void AppendPump::on_batch(std::function<void(std::size_t)> told) { impl_->told = std::move(told); }

}  // namespace skein
