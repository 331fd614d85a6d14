#include "runner/run_book.h"

#include <algorithm>
#include <array>

#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"
#include "runner/process.h"
#include "runner/run_codec.h"
#include "runner/run_records.h"
#include "runner/usage_record.h"
#include "store/find_record.h"
#include "store/record_access.h"

namespace skein {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kRuns = kRunCollection;
constexpr std::string_view kOpen = kOpenCollection;
constexpr std::string_view kStops = kStopCollection;

constexpr std::array<std::pair<OpenRun::State, const char*>, 4> kStates = {
    {{OpenRun::State::kPending, "pending"},
     {OpenRun::State::kRunning, "running"},
     {OpenRun::State::kQuestion, "question"},
     {OpenRun::State::kEffects, "effects"}}};

// Effects of a process whose end cannot be seen from here are taken up after this.
constexpr std::chrono::milliseconds kEffectsPromise = 10min;

// There is one at a time, and always under the same key: deletions leave a trace for each key.
std::string running_key(ThreadId thread) { return thread.str() + "/running"; }

std::optional<OpenRun> parse_open(const Record& record) {
  if (!validate_json(record.bytes, "open run")) return std::nullopt;
  JsonFields fields(record.bytes);
  OpenRun open;
  open.run_id = fields.take_string("runId").value_or("");
  const auto thread = thread_of_run(open.run_id);
  if (!thread) return std::nullopt;
  open.thread = *thread;
  const std::string state = fields.take_string("state").value_or("");
  for (const auto& [known, word] : kStates) {
    if (state == word) open.state = known;
  }
  open.token = static_cast<LeaseToken>(fields.take_int("token").value_or(0));
  open.process = fields.take_string("process").value_or("");
  open.until_ms = fields.take_int("untilMs").value_or(0);
  open.key = record.key;
  open.version = record.version;
  return open;
}

void fence_all(std::vector<RecordWrite>& writes, ThreadId thread, LeaseToken token) {
  for (RecordWrite& write : writes) write.fence = Fence{thread, token};
}

Result<Version> write_two(Store& store, const std::vector<RecordWrite>& writes) {
  SKEIN_ASSIGN(const auto versions, store.write(writes));
  return versions.back();
}

bool matches(const RunQuery& query, const Run& run) {
  return (!query.agent_id || *query.agent_id == run.agent_id) &&
         (!query.status || *query.status == run.status) &&
         (query.before.empty() || run.id < query.before);
}

bool is_newer(const Run& a, const Run& b) { return a.id > b.id; }

}  // namespace

bool is_open(const Run& run) { return !run.ended() || run.question || !run.effects.empty(); }

bool RunBook::is_gone(const OpenRun& open) const {
  return !is_ours(open) && process_is_gone(open.process, clock_);
}

bool RunBook::is_left(const OpenRun& open) const {
  return !is_ours(open) && (open.until_ms < clock_.now().ms() || is_gone(open));
}

Result<std::optional<Run>> RunBook::find(std::string_view run_id) const {
  SKEIN_ASSIGN(auto known, find_known(run_id));
  if (!known) return std::nullopt;
  return std::move(known->run);
}

Result<std::optional<KnownRun>> RunBook::find_known(std::string_view run_id) const {
  SKEIN_TRY(thread_of_run(run_id));
  SKEIN_ASSIGN(const auto record, find_record(store_, kRuns, run_key(run_id)));
  if (!record) return std::nullopt;
  SKEIN_ASSIGN(Run run, parse_run(record->bytes));
  const bool counts = !is_open(run) || record_counts(signer_.get(), kRuns, *record);
  return KnownRun{.run = std::move(run), .version = record->version, .counts = counts};
}

Result<std::optional<Run>> RunBook::find_to_close(std::string_view run_id) const {
  SKEIN_ASSIGN(auto known, find_known(run_id));
  if (!known) return std::nullopt;
  if (!known->counts) {
    known->run.question.reset();
    known->run.effects.clear();
  }
  return std::move(known->run);
}

Result<void> RunBook::check_signed(const std::vector<OpenRun>& open) const {
  for (const OpenRun& entry : open) {
    if (entry.counts || entry.state == OpenRun::State::kEffects) continue;
    Error error = inert(entry.run_id);
    error.message.insert(0, "thread " + entry.thread.str() + " takes no runs: its open ");
    return tl::unexpected(std::move(error));
  }
  return {};
}

Error RunBook::inert(std::string_view run_id) const {
  return record_is_inert(*signer_, "run " + std::string(run_id));
}

Result<void> RunBook::discard(Run run, const OpenRun& open) {
  if (!run.ended()) {
    run.status = RunStatus::kInterrupted;
    run.ended_at = clock_.now();
  }
  run.question.reset();
  run.effects.clear();
  run.error = Error{ErrorCode::kConflict, "a person stopped the run, which was not signed"};
  return close_unheld(run, open);
}

Result<std::vector<Run>> RunBook::list(const RunQuery& query) const {
  if (query.limit == 0 || query.limit > limits::kMaxPageSize) {
    return fail(ErrorCode::kInvalid, "limit must be 1 to " + std::to_string(limits::kMaxPageSize) +
                                         ", got " + std::to_string(query.limit));
  }
  std::vector<Run> found;
  const std::string prefix = query.thread ? query.thread->str() + "/" : "";
  SKEIN_TRY(scan_prefix(
      store_, kRuns, prefix,
      [&](const Record& record) {
        auto run = parse_run(record.bytes);
        if (!run || !matches(query, *run)) return true;
        found.push_back(std::move(*run));
        // Of one thread they come newest first. Of all, the newest so far are kept.
        if (query.thread) return found.size() < query.limit;
        if (found.size() >= 2 * query.limit) {
          std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(query.limit),
                           found.end(), is_newer);
          found.resize(query.limit);
        }
        return true;
      },
      Direction::kBackward));
  std::sort(found.begin(), found.end(), is_newer);
  if (found.size() > query.limit) found.resize(query.limit);
  return found;
}

Result<std::vector<OpenRun>> RunBook::open_of(ThreadId thread) const {
  return scan_open(thread.str() + "/");
}

Result<std::vector<OpenRun>> RunBook::all_open() const { return scan_open(""); }

Result<std::vector<OpenRun>> RunBook::scan_open(std::string_view prefix) const {
  std::vector<OpenRun> found;
  SKEIN_TRY(scan_prefix(store_, kOpen, prefix, [&](const Record& record) {
    auto open = parse_open(record);
    if (!open) return true;
    open->counts = record_counts(signer_.get(), kOpen, record);
    found.push_back(std::move(*open));
    return true;
  }));
  return found;
}

Result<std::optional<OpenRun>> RunBook::find_open(std::string_view run_id) const {
  SKEIN_ASSIGN(const ThreadId thread, thread_of_run(run_id));
  SKEIN_ASSIGN(const auto open, open_of(thread));
  for (const OpenRun& entry : open) {
    if (entry.run_id == run_id) return entry;
  }
  return std::nullopt;
}

Result<RecordWrite> RunBook::run_write(const Run& run, std::optional<Version> version) const {
  const RecordSigner* const signer = is_open(run) ? signer_.get() : nullptr;
  return put_signed(signer, kRuns, run_key(run.id), to_json(run), version);
}

Result<RecordWrite> RunBook::open_write(std::string key, std::string json,
                                        std::optional<Version> version) const {
  return put_signed(signer_.get(), kOpen, std::move(key), std::move(json), version);
}

std::string RunBook::open_json(const Run& run, OpenRun::State state, LeaseToken token,
                               std::chrono::milliseconds promise) const {
  JsonObject object;
  object.add("runId", run.id);
  for (const auto& [known, word] : kStates) {
    if (known == state) object.add("state", word);
  }
  if (token != 0) object.add("token", token);
  object.add("process", process_);
  object.add("untilMs", static_cast<std::uint64_t>((clock_.now().ms() + promise.count())));
  return object.str();
}

Result<Version> RunBook::put_pending(const Run& run, std::chrono::milliseconds promise) {
  SKEIN_ASSIGN(RecordWrite record, new_run_write(run));
  SKEIN_ASSIGN(RecordWrite entry,
               open_write(run_key(run.id), open_json(run, OpenRun::State::kPending, 0, promise),
                          Version{0}));
  return write_two(store_, {std::move(record), std::move(entry)});
}

Result<Version> RunBook::renew_pending(const Run& run, Version version,
                                       std::chrono::milliseconds promise) {
  SKEIN_ASSIGN(
      RecordWrite entry,
      open_write(run_key(run.id), open_json(run, OpenRun::State::kPending, 0, promise), version));
  return write_two(store_, {std::move(entry)});
}

// What an ended run leaves besides its record.
Result<void> RunBook::add_end_writes(const Run& run, std::vector<RecordWrite>& writes) const {
  if (run.question) {
    SKEIN_ASSIGN(RecordWrite entry,
                 open_write(run_key(run.id), open_json(run, OpenRun::State::kQuestion, 0, 0ms)));
    writes.push_back(std::move(entry));
    return {};
  }
  if (!run.effects.empty()) {
    SKEIN_ASSIGN(
        RecordWrite entry,
        open_write(run_key(run.id), open_json(run, OpenRun::State::kEffects, 0, kEffectsPromise)));
    writes.push_back(std::move(entry));
  }
  if (auto usage = usage_json({.at = run.ended_at,
                               .agent_id = run.agent_id,
                               .thread = run.thread,
                               .cost = {.usage = run.usage,
                                        .model = run.model,
                                        .duration_ms = run.duration_ms.value_or(0)}})) {
    writes.push_back(put_record(kUsageRecords, run.id, std::move(*usage)));
  }
  return {};
}

Result<void> RunBook::close_unheld(const Run& run, const OpenRun& open) {
  RecordWrite gone = delete_record(kOpen, open.key);
  gone.expect_version = open.version;
  SKEIN_ASSIGN(RecordWrite record, run_write(run));
  std::vector<RecordWrite> writes{std::move(record)};
  SKEIN_TRY(add_end_writes(run, writes));
  SKEIN_ASSIGN(const auto request, stop_request(run.id));
  if (request) writes.push_back(delete_record(kStops, request->key));
  // One batch cannot delete and write the same key.
  const auto same_key = [&](const RecordWrite& write) {
    return write.collection == kOpen && write.key == open.key;
  };
  if (const auto kept = std::find_if(writes.begin(), writes.end(), same_key);
      kept != writes.end()) {
    kept->expect_version = open.version;
  } else {
    writes.push_back(std::move(gone));
  }
  SKEIN_TRY(store_.write(writes));
  return {};
}

Result<void> RunBook::close_waiting(const Run& run) {
  constexpr int kAttempts = 100;
  for (int attempt = 1;; ++attempt) {
    SKEIN_ASSIGN(const auto open, find_open(run.id));
    if (!open || open->state != OpenRun::State::kPending) return {};
    auto closed = close_unheld(run, *open);
    if (closed || closed.error().code != ErrorCode::kConflict || attempt == kAttempts) {
      return closed;
    }
  }
}

Result<void> RunBook::claim_effects(const OpenRun& open) {
  Run run;
  run.id = open.run_id;
  SKEIN_ASSIGN(const RecordWrite claim,
               open_write(open.key, open_json(run, OpenRun::State::kEffects, 0, kEffectsPromise),
                          open.version));
  SKEIN_TRY(store_.write(std::span(&claim, 1)));
  return {};
}

Result<void> RunBook::effects_done(std::string_view run_id) {
  return write_again_on_conflict(store_, [&]() -> Result<std::vector<RecordWrite>> {
    std::vector<RecordWrite> writes{delete_record(kOpen, run_key(run_id))};
    SKEIN_ASSIGN(const auto record, find_record(store_, kRuns, run_key(run_id)));
    if (!record) return writes;
    SKEIN_ASSIGN(Run run, parse_run(record->bytes));
    run.effects.clear();
    SKEIN_ASSIGN(RecordWrite done, run_write(run, record->version));
    writes.push_back(std::move(done));
    return writes;
  });
}

Result<void> RunBook::forget(std::string_view run_id) {
  return write_again_on_conflict(store_, [&]() -> Result<std::vector<RecordWrite>> {
    SKEIN_TRY(thread_of_run(run_id));
    SKEIN_ASSIGN(const auto record, find_record(store_, kRuns, run_key(run_id)));
    if (!record) return fail(ErrorCode::kNotFound, "there is no run " + std::string(run_id));
    SKEIN_ASSIGN(const Run run, parse_run(record->bytes));
    if (!run.ended()) {
      return fail(ErrorCode::kBusy,
                  "run " + run.id + " is " + to_string(run.status) + ": cancel it first");
    }
    std::vector<RecordWrite> writes{delete_record(kRuns, run_key(run_id)),
                                    delete_record(kOpen, run_key(run_id))};
    writes.front().expect_version = record->version;
    return writes;
  });
}

Result<RecordWrite> RunBook::running_write(const Run& run, LeaseToken token) const {
  return open_write(running_key(run.thread),
                    open_json(run, OpenRun::State::kRunning, token, kEffectsPromise));
}

Result<void> RunBook::begin(Writes& store, const Run& run, LeaseToken token,
                            std::optional<Version> waiting) const {
  SKEIN_ASSIGN(RecordWrite record, waiting ? run_write(run) : new_run_write(run));
  SKEIN_ASSIGN(RecordWrite entry, running_write(run, token));
  std::vector<RecordWrite> writes{std::move(record), std::move(entry)};
  if (waiting) {
    writes.push_back(delete_record(kOpen, run_key(run.id)));
    writes.back().expect_version = *waiting;
  }
  fence_all(writes, run.thread, token);
  SKEIN_TRY(store.write(writes));
  return {};
}

Result<void> RunBook::begin_first(Writes& store, const Run& run, LeaseToken token) const {
  SKEIN_ASSIGN(RecordWrite record, new_run_write(run));
  SKEIN_ASSIGN(RecordWrite entry, running_write(run, token));
  std::vector<RecordWrite> writes{std::move(record), std::move(entry)};
  writes.back().expect_version = 0;
  fence_all(writes, run.thread, token);
  SKEIN_TRY(store.write(writes));
  return {};
}

Result<void> RunBook::take_back(Writes& store, const Run& run, LeaseToken token) const {
  std::vector<RecordWrite> writes{delete_record(kRuns, run_key(run.id)),
                                  delete_record(kOpen, running_key(run.thread))};
  fence_all(writes, run.thread, token);
  SKEIN_TRY(store.write(writes));
  return {};
}

Result<std::vector<RecordWrite>> RunBook::finish_writes(const Run& run, bool heard) const {
  SKEIN_ASSIGN(RecordWrite record, run_write(run));
  std::vector<RecordWrite> writes{std::move(record), delete_record(kOpen, running_key(run.thread))};
  SKEIN_TRY(add_end_writes(run, writes));
  writes.push_back(delete_record(kStops, run_key(run.id)));
  if (!heard) writes.back().expect_version = 0;
  return writes;
}

Result<void> RunBook::finish(Writes& store, const Run& run, LeaseToken token, bool heard) const {
  SKEIN_ASSIGN(std::vector<RecordWrite> writes, finish_writes(run, heard));
  fence_all(writes, run.thread, token);
  SKEIN_TRY(store.write(writes));
  return {};
}

Result<void> RunBook::finish_unfenced(const Run& run) {
  SKEIN_ASSIGN(const std::vector<RecordWrite> writes, finish_writes(run, true));
  SKEIN_TRY(store_.write(writes));
  return {};
}

Result<void> RunBook::put(Writes& store, const KnownRun& known, LeaseToken token) const {
  std::vector<RecordWrite> writes;
  if (known.counts) {
    SKEIN_ASSIGN(RecordWrite record, run_write(known.run, known.version));
    writes.push_back(std::move(record));
  } else {  // what nobody signed must not become signed by the way
    writes.push_back(put_record(kRuns, run_key(known.run.id), to_json(known.run), known.version));
  }
  fence_all(writes, known.run.thread, token);
  SKEIN_TRY(store.write(writes));
  return {};
}

Result<void> RunBook::forget_running(const OpenRun& open, LeaseToken token) {
  std::vector<RecordWrite> writes{delete_record(kOpen, open.key)};
  fence_all(writes, open.thread, token);
  SKEIN_TRY(store_.write(writes));
  return {};
}

}  // namespace skein
