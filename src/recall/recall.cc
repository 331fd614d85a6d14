#include "skein/recall.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "core/file.h"
#include "core/pause.h"
#include "core/processor_time.h"
#include "core/try.h"
#include "recall/index/indexer.h"
#include "recall/index/orphan_lines.h"
#include "recall/index/vector_filler.h"
#include "recall/pending.h"
#include "recall/searcher.h"

namespace skein {

class Recall::Impl {
 public:
  Impl(Store& store, RecallOptions options, std::unique_ptr<IndexFile> file)
      : store_(store),
        options_(std::move(options)),
        file_(std::move(file)),
        indexer_(store, *file_),
        searcher_(store, *file_, options_.embedder,
                  options_.clock != nullptr ? *options_.clock : system_clock()) {
    if (options_.embedder == nullptr) return;
    vectors_missing_ = true;  // until it was looked for them
    filler_.emplace(store, *file_, *options_.embedder, options_.vectors_folder);
    model_ = options_.embedder->model();
  }

  Result<SearchAnswer> search(std::string_view query, const SearchOptions& options) {
    return searcher_.search(query, options);
  }

  Result<BackfillResult> backfill(const BackfillOptions& options) {
    if (options.agent_id) SKEIN_TRY(check_agent_id(*options.agent_id));
    if (options.rebuild) SKEIN_TRY(file_->clear());
    Work work{.agent = options.agent_id, .progress = options.progress, .stop = options.stop};
    SKEIN_TRY(indexer_.follow_feed({}, work.counts));
    SKEIN_TRY(indexer_.look_through(options.agent_id, work.counts, options.stop));
    SKEIN_TRY(do_all(work));
    if (work.counts.removed > 0) SKEIN_TRY(sweep());
    if (filler_) SKEIN_TRY(filler_->mend_files());
    SKEIN_ASSIGN(
        const std::uint64_t orphans,
        remove_orphan_lines(store_, *file_, options_.vectors_folder, {.agent = options.agent_id}));
    work.counts.removed += orphans;
    return result_of(work);
  }

  Result<FollowResult> index_new(const FollowOptions& options) {
    Work work{.agent = {}, .progress = {}, .stop = options.stop};
    FollowResult result;
    SKEIN_TRY(indexer_.follow_feed(options.wait, work.counts));
    SKEIN_TRY(index_words(work));
    SKEIN_TRY(remove_orphan_lines(store_, *file_, options_.vectors_folder,
                                  {.threads = std::move(work.counts.gone)}));
    result.changes = work.counts.changes;
    result.events = work.counts.events;
    if (result.events > 0) vectors_missing_ = filler_.has_value();
    if (options.vectors && vectors_missing_ && !work.stop.stop_requested()) {
      std::int64_t after = embedded_until_;
      const ProcessorTime before = processor_time();
      SKEIN_ASSIGN(const auto kept, filler_->fill_some({}, after));
      result.vectors_took = (processor_time() - before).worked;
      // What was tried and had no text any more is not tried again.
      embedded_until_ = after;
      vectors_missing_ = kept.has_value();
      result.embedded = kept.value_or(0);
    }
    result.more = vectors_missing_;
    if (result.changes == 0 && !result.more) file_->release_memory();
    return result;
  }

  Result<BackfillResult> index_thread(ThreadId thread, const std::stop_token& stop) {
    BackfillResult result;
    IndexCounts counts;
    for (bool more = true; more && !stop.stop_requested();) {
      SKEIN_ASSIGN(more, indexer_.index_thread(thread, counts));
    }
    result.embedded = counts.added;
    result.cleaned = counts.removed;
    result.stopped = stop.stop_requested();
    if (!filler_ || result.stopped) return result;
    SKEIN_ASSIGN(result.embedded, filler_->fill_thread(thread));
    return result;
  }

  Result<void> forget_threads(const std::vector<ThreadId>& threads) {
    IndexCounts counts;
    SKEIN_TRY(indexer_.forget_threads(threads, counts));
    SKEIN_TRY(remove_orphan_lines(
        store_, *file_, options_.vectors_folder,
        {.threads = std::unordered_set<ThreadId>(threads.begin(), threads.end())}));
    return {};
  }

  Result<RecallStatus> status(const std::optional<std::string>& agent) {
    RecallStatus status;
    status.model = model_;
    SKEIN_ASSIGN(IndexReading reading, file_->read());
    const auto count = [&](const char* sql) -> Result<std::uint64_t> {
      SKEIN_ASSIGN(Query query, reading.db().query(sql));
      query.bind(agent);
      SKEIN_ASSIGN(const bool row, query.step());
      return row ? static_cast<std::uint64_t>(query.integer(0)) : 0;
    };
    SKEIN_ASSIGN(
        status.messages,
        count("SELECT CAST(total(messages) AS INTEGER) FROM agents WHERE ?1 IS NULL OR name = ?1"));
    SKEIN_ASSIGN(status.threads, count("SELECT count(*) FROM threads JOIN agents USING (agent) "
                                       "WHERE state <> 2 AND (?1 IS NULL OR name = ?1)"));
    if (!file_->path().empty()) {
      SKEIN_ASSIGN(const auto stamp, stat_file(file_->path()));
      status.bytes = stamp ? stamp->size : 0;
    }
    if (model_.empty()) return status;
    SKEIN_ASSIGN(Query query,
                 reading.db().query("SELECT count(*) FROM vectors JOIN models m USING (model) JOIN "
                                    "messages USING (message) JOIN agents a USING (agent) "
                                    "WHERE m.name = ?1 AND (?2 IS NULL OR a.name = ?2)"));
    query.bind(std::string_view(model_), agent);
    SKEIN_ASSIGN(const bool row, query.step());
    if (row) status.with_vectors = static_cast<std::uint64_t>(query.integer(0));
    return status;
  }

  Result<std::uint64_t> lag() {
    SKEIN_ASSIGN(const Pending pending, count_pending(store_, *file_, std::nullopt));
    return pending.count;
  }

  const std::string& model() const { return model_; }

 private:
  struct Work {
    std::optional<std::string> agent;
    std::function<void(const BackfillProgress&)> progress;
    std::stop_token stop;
    IndexCounts counts{};
    std::uint64_t embedded = 0;
    std::int64_t after = 0;  // messages up to this one have been embedded
  };

  Result<void> do_all(Work& work) {
    SKEIN_TRY(index_words(work));
    return filler_ ? embed_all(work) : Result<void>();
  }

  Result<void> index_words(Work& work) {
    std::uint64_t total = 0;
    if (work.progress) {
      SKEIN_ASSIGN(total, behind(work.agent));
    }
    for (bool more = true; more && !work.stop.stop_requested();) {
      SKEIN_ASSIGN(more, indexer_.index_some(work.agent, work.counts));
      if (!work.progress) continue;
      total = std::max(total, work.counts.events);
      work.progress({work.counts.events, total, false});
    }
    return {};
  }

  Result<void> embed_all(Work& work) {
    std::uint64_t total = 0;
    if (work.progress) {
      SKEIN_ASSIGN(total, filler_->missing(work.agent));
    }
    while (!work.stop.stop_requested()) {
      SKEIN_ASSIGN(const auto kept, filler_->fill_some(work.agent, work.after));
      if (!kept) break;
      work.embedded += *kept;
      if (work.progress) work.progress({work.embedded, std::max(total, work.embedded), true});
    }
    return {};
  }

  Result<std::uint64_t> behind(const std::optional<std::string>& agent) {
    SKEIN_ASSIGN(IndexReading reading, file_->read());
    std::optional<std::int64_t> number;
    if (agent) {
      SKEIN_ASSIGN(number, find_name(reading.db(), kAgentNames, *agent));
      if (!number) return 0;
    }
    return events_behind(reading.db(), number);
  }

  Result<void> sweep() {
    SKEIN_ASSIGN(IndexWriting writing, file_->write());
    SKEIN_TRY(sweep_names(writing));
    return writing.commit();
  }

  BackfillResult result_of(const Work& work) const {
    return {.embedded = filler_ ? work.embedded : work.counts.added,
            .cleaned = work.counts.removed,
            .stopped = work.stop.stop_requested()};
  }

  Store& store_;
  const RecallOptions options_;
  std::string model_;
  std::unique_ptr<IndexFile> file_;
  Indexer indexer_;
  Searcher searcher_;
  std::optional<VectorFiller> filler_;
  // By index_new:
  std::atomic<std::int64_t> embedded_until_ = 0;
  std::atomic<bool> vectors_missing_ = false;
};

Recall::Recall(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Recall::~Recall() = default;

Result<std::unique_ptr<Recall>> Recall::open(Store& store, RecallOptions options) {
  SKEIN_ASSIGN(auto file, IndexFile::open(options.index_path));
  return std::unique_ptr<Recall>(
      new Recall(std::make_unique<Impl>(store, std::move(options), std::move(file))));
}

Result<SearchAnswer> Recall::search(std::string_view query, const SearchOptions& options) {
  return impl_->search(query, options);
}
Result<BackfillResult> Recall::backfill(const BackfillOptions& options) {
  return impl_->backfill(options);
}
Result<FollowResult> Recall::index_new(const FollowOptions& options) {
  return impl_->index_new(options);
}
Result<BackfillResult> Recall::index_thread(ThreadId thread, std::stop_token stop) {
  return impl_->index_thread(thread, stop);
}
Result<void> Recall::forget_threads(const std::vector<ThreadId>& threads) {
  return impl_->forget_threads(threads);
}
Result<std::uint64_t> Recall::lag() { return impl_->lag(); }

Result<RecallStatus> Recall::status(const std::optional<std::string>& agent_id) {
  return impl_->status(agent_id);
}
const std::string& Recall::model() const { return impl_->model(); }

namespace {

using SteadyClock = std::chrono::steady_clock;

// Whether others want the processors, or did a moment ago. Of one thread.
class Crowd {
 public:
  bool is_there() {
    const auto now = SteadyClock::now();
    if (now - looked_ >= kLookEvery) look(now);
    return now < gone_;
  }

 private:
  static constexpr std::chrono::milliseconds kLookEvery{200};
  static constexpr std::chrono::seconds kPasses{3};

  void look(SteadyClock::time_point now) {
    const ProcessorTime time = processor_time();
    const ProcessorTime took = time - before_;
    const auto passed = now - looked_;
    // Where processors are few, even one that is free for a moment is wanted again at once.
    const unsigned rest = std::max(2U, std::thread::hardware_concurrency()) - 1;
    const bool wanted =
        took.others > passed * rest / 4 ||
        took.waited > std::max<SteadyClock::duration>(took.worked / 2, passed / 100);
    if (wanted) gone_ = now + kPasses;
    before_ = time;
    looked_ = now;
  }

  ProcessorTime before_ = processor_time();
  SteadyClock::time_point looked_ = SteadyClock::now();
  SteadyClock::time_point gone_{};
};

}  // namespace

class RecallFollower::Impl {
 public:
  Impl(Recall& recall, std::function<void(const Error&)> notice)
      : recall_(recall),
        notice_(std::move(notice)),
        thread_([this](const std::stop_token& stop) { run(stop); }) {}

 private:
  // How long an end may have to wait, and how long a failure is given to pass.
  static constexpr std::chrono::milliseconds kWait{250};
  static constexpr std::chrono::seconds kPause{5};
  // Between rounds: many messages cost less together.
  static constexpr std::chrono::milliseconds kGather{50};
  static constexpr std::chrono::milliseconds kGatherInCrowd{1000};
  // While others want the processors, it rests so many times as long as a batch of vectors took.
  static constexpr int kRest = 100;
  static constexpr std::chrono::seconds kLongestRest{30};

  void run(const std::stop_token& stop) {
    Crowd crowd;
    while (!stop.stop_requested()) {
      if (auto done = round(crowd.is_there(), stop); !done) {
        if (notice_) notice_(done.error());
        pause_for(kPause, stop);
      }
    }
  }

  Result<void> round(bool crowded, const std::stop_token& stop) {
    const bool rests = crowded && SteadyClock::now() < rest_until_;
    FollowOptions options{.wait = kWait, .vectors = !rests, .stop = stop};
    if (more_ && !rests) options.wait = {};
    SKEIN_ASSIGN(const FollowResult done, recall_.index_new(options));
    more_ = done.more;
    if (done.embedded > 0) {
      rest_until_ = SteadyClock::now() +
                    std::min<SteadyClock::duration>(kRest * done.vectors_took, kLongestRest);
    }
    if (done.changes > 0) pause_for(crowded ? kGatherInCrowd : kGather, stop);
    return {};
  }

  Recall& recall_;
  const std::function<void(const Error&)> notice_;
  SteadyClock::time_point rest_until_{};  // as long as it is crowded
  bool more_ = false;                     // vectors are missing
  std::jthread thread_;                   // last: it uses the others
};

RecallFollower::RecallFollower(Recall& recall, std::function<void(const Error&)> notice)
    : impl_(std::make_unique<Impl>(recall, std::move(notice))) {}
RecallFollower::~RecallFollower() = default;

}  // namespace skein
