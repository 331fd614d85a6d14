#include "api/transfer/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "api/transfer/carry.h"
#include "api/transfer/redact_events.h"
#include "api/transfer/thread_file.h"
#include "api/transfer/transcripts/transcript_import.h"
#include "core/try.h"
#include "skein/engine.h"

namespace skein {
namespace {

// What is read, compared and written at once.
constexpr std::size_t kBatchEvents = 1000;
constexpr std::size_t kBatchBytes = 4 << 20;

class Importer {
 public:
  Importer(Store& store, const ImportOptions& options) : store_(store), options_(options) {}

  Result<void> import_file(const std::filesystem::path& path);
  const ImportSummary& summary() const { return summary_; }

 private:
  // One thread of a file, from its manifest to its last event.
  struct Source {
    const std::filesystem::path& path;
    ThreadFile& file;
    Manifest manifest;
    std::size_t redacted = 0;
    std::uint64_t read = 0;     // events of the thread, so far
    std::uint64_t written = 0;  // of those
    std::uint64_t same = 0;     // of those, as they are in the store
  };

  // The thread that the file is at, and what became of its events.
  Result<void> take_thread(Source& source);

  Result<void> import_thread(Source& source);
  Result<void> create(Source& source);
  Result<void> extend(Source& source, const Manifest& stored);
  // Appends all that is left of the source; answers how many events that were.
  Result<std::uint64_t> append_rest(Source& source, Seq last, std::vector<Event> batch);
  // Up to a batch of events; none at the end.
  Result<std::vector<Event>> next_batch(Source& source);
  Result<std::vector<Event>> stored_batch(ThreadId id, Seq from, std::size_t count);
  // Tells of an error that concerns this thread or file alone; passes others on.
  Result<void> tell(const std::filesystem::path& path, const Error& error);
  void adjust_pins(Source& source);
  void drop_foreign_session(Source& source) const;
  // The id here of the task that the source names; null: none, or one that is not known.
  const std::string* task_of(const Source& source) const;
  Result<void> bind_stored(const Source& source, const Manifest& stored);

  Store& store_;
  const ImportOptions& options_;
  ImportSummary summary_;
};

Result<std::vector<Event>> Importer::next_batch(Source& source) {
  std::vector<Event> events;
  std::size_t bytes = 0;
  while (events.size() < kBatchEvents && bytes < kBatchBytes) {
    Event event;
    SKEIN_ASSIGN(const bool more, source.file.next_event(event));
    if (!more) break;
    if (options_.redactor != nullptr) source.redacted += redact(event, *options_.redactor);
    bytes += to_json(event).size();
    events.push_back(std::move(event));
    ++source.read;
  }
  return events;
}

Result<std::vector<Event>> Importer::stored_batch(ThreadId id, Seq from, std::size_t count) {
  std::vector<Event> events;
  SKEIN_TRY(store_.read(id, ReadRange{.from = from, .limit = count}, [&](Event& event) {
    events.push_back(std::move(event));
    return true;
  }));
  return events;
}

Result<std::uint64_t> Importer::append_rest(Source& source, Seq last, std::vector<Event> batch) {
  std::uint64_t count = 0;
  while (!batch.empty()) {
    count += batch.size();
    if (!options_.dry_run) {
      std::vector<Append> appends;
      for (Event& event : batch) {
        // The expected position refuses everything if somebody else writes to the thread meanwhile.
        appends.push_back({source.manifest.id, std::move(event), std::nullopt, ++last});
      }
      for (auto& result : store_.append(appends)) SKEIN_TRY(std::move(result));
    }
    source.written += batch.size();
    SKEIN_ASSIGN(batch, next_batch(source));
  }
  return count;
}

Result<void> Importer::create(Source& source) {
  SKEIN_ASSIGN(NewThread thread, new_thread_of(source.manifest));
  SKEIN_ASSIGN(thread.events, next_batch(source));
  const std::size_t first = thread.events.size();
  if (!options_.dry_run) SKEIN_TRY(store_.create(thread));
  source.written = first;
  SKEIN_ASSIGN(std::vector<Event> batch, next_batch(source));
  SKEIN_ASSIGN(const std::uint64_t rest, append_rest(source, first, std::move(batch)));
  ++summary_.imported;
  summary_.imported_events += first + rest;
  summary_.redacted += source.redacted;
  return {};
}

Result<void> Importer::extend(Source& source, const Manifest& stored) {
  if (stored.agent_id != source.manifest.agent_id) {
    return fail(ErrorCode::kConflict,
                fmt::format("thread {} belongs to agent {} in the store, not {}", stored.id.str(),
                            stored.agent_id, source.manifest.agent_id));
  }
  Seq last = 0;
  while (true) {
    source.redacted = 0;
    SKEIN_ASSIGN(std::vector<Event> batch, next_batch(source));
    SKEIN_ASSIGN(const auto there, stored_batch(stored.id, last + 1, batch.size()));
    for (std::size_t i = 0; i < std::min(batch.size(), there.size()); ++i) {
      if (same_event(batch[i], there[i])) continue;
      return fail(ErrorCode::kConflict,
                  fmt::format("thread {} has another event {} in the store; left as it is",
                              stored.id.str(), there[i].seq));
    }
    last += there.size();
    source.same += std::min(batch.size(), there.size());
    if (batch.empty()) {
      ++summary_.present;
      return {};
    }
    if (there.size() == batch.size()) continue;

    batch.erase(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(there.size()));
    SKEIN_ASSIGN(const std::uint64_t added, append_rest(source, last, std::move(batch)));
    ++summary_.extended;
    summary_.new_events += added;
    summary_.redacted += source.redacted;
    return {};
  }
}

// Which lines are no events is known only at the end of the thread, and the pins are needed before.
void Importer::adjust_pins(Source& source) {
  if (source.manifest.pins.empty()) return;
  auto file = ThreadFile::open(source.path, [](const FileProblem&) {});
  if (!file) return;
  Manifest manifest;
  Event event;
  while ((*file)->next_thread(manifest).value_or(false)) {
    if (manifest.id != source.manifest.id) continue;
    while ((*file)->next_event(event).value_or(false)) {
    }
    for (Seq& pin : source.manifest.pins) pin = (*file)->position_of(pin);
    std::erase(source.manifest.pins, Seq{0});
    return;
  }
}

// A session id ends up in the arguments of the program that resumes it.
void Importer::drop_foreign_session(Source& source) const {
  std::optional<std::string>& session = source.manifest.session_id;
  if (!session || is_engine_session_id(*session)) return;
  if (options_.problem) options_.problem({source.path, 0, not_a_session(*session)});
  session.reset();
}

const std::string* Importer::task_of(const Source& source) const {
  const std::optional<std::string>& task = source.manifest.task_id;
  if (!task || options_.task_ids == nullptr) return nullptr;
  const auto known = options_.task_ids->find(*task);
  return known == options_.task_ids->end() ? nullptr : &known->second;
}

// A thread that was imported without its tasks still has the task's id of there.
Result<void> Importer::bind_stored(const Source& source, const Manifest& stored) {
  const std::string* const task = task_of(source);
  if (task == nullptr || options_.dry_run || stored.task_id != source.manifest.task_id) return {};
  SKEIN_TRY(store_.update(stored.id, ManifestPatch().task_id(*task), {}));
  return {};
}

Result<void> Importer::import_thread(Source& source) {
  SKEIN_ASSIGN(const auto stored, store_.get(source.manifest.id));
  std::string& agent = source.manifest.agent_id;
  const bool no_agent = agent.empty();
  if (stored) {
    if (no_agent) agent = stored->agent_id;
    SKEIN_TRY(bind_stored(source, *stored));
    return extend(source, *stored);
  }
  if (no_agent) agent = options_.agent.value_or(options_.default_agent);
  if (const std::string* const task = task_of(source)) source.manifest.task_id = *task;
  adjust_pins(source);
  drop_foreign_session(source);
  if (options_.redactor != nullptr) {
    source.redacted += redact(source.manifest, *options_.redactor);
  }
  SKEIN_TRY(create(source));
  if (no_agent) ++summary_.without_agent;
  return {};
}

Result<void> Importer::tell(const std::filesystem::path& path, const Error& error) {
  if (error.code == ErrorCode::kIo) return tl::unexpected(error);
  ++(error.code == ErrorCode::kConflict ? summary_.conflicts : summary_.failed);
  if (options_.problem) options_.problem({path, 0, error.message});
  return {};
}

Result<void> Importer::import_file(const std::filesystem::path& path) {
  if (const FileKind kind = recognise(path); kind != FileKind::kThreads) {
    return import_transcript(store_, path, kind, options_, summary_);
  }
  auto file = ThreadFile::open(path, [&](const FileProblem& problem) {
    ++summary_.unreadable;
    ++summary_.found_events;
    if (options_.problem) options_.problem(problem);
  });
  if (!file) {
    ++summary_.found;
    ++summary_.failed;
    if (options_.problem) options_.problem({path, 0, file.error().message});
    return {};
  }
  bool any = false;
  while (true) {
    Source source{path, **file, {}};
    auto more = source.file.next_thread(source.manifest);
    if (more && !*more) break;
    any = true;
    ++summary_.found;
    if (!more) return tell(path, more.error());
    SKEIN_TRY(take_thread(source));
  }
  if (!any) {
    ++summary_.found;
    ++summary_.empty;
  }
  return {};
}

Result<void> Importer::take_thread(Source& source) {
  const auto done = import_thread(source);
  if (!done) SKEIN_TRY(tell(source.path, done.error()));
  // What is left of a thread that was refused counts, too.
  Event event;
  while (!done && source.file.next_event(event).value_or(false)) ++source.read;
  summary_.found_events += source.read;
  summary_.present_events += source.same;
  if (done) return {};
  summary_.refused_events += source.read - source.same - source.written;
  summary_.imported_events += source.written;
  return {};
}

// Files of the same name, which must be taken one after the other.
using Group = std::vector<std::filesystem::path>;

// Imports groups of files at the same time, so that they share what flushes cost.
class ParallelImport {
 public:
  ParallelImport(Store& store, const ImportOptions& options) : store_(store) {
    own_options_ = options;
    own_options_.problem = [this, &options](const FileProblem& problem) {
      const std::lock_guard lock(mutex_);
      if (options.problem) options.problem(problem);
    };
  }

  Result<ImportSummary> run(const std::vector<Group>& groups, std::uint64_t files) {
    constexpr std::size_t kWorkers = 16;
    std::atomic<std::size_t> next = 0;
    {
      std::vector<std::jthread> workers;
      for (std::size_t i = 0; i < std::min(kWorkers, groups.size()); ++i) {
        workers.emplace_back([&] { work(groups, next, files); });
      }
    }
    if (error_) return tl::unexpected(std::move(*error_));
    return summary_;
  }

 private:
  void work(const std::vector<Group>& groups, std::atomic<std::size_t>& next, std::uint64_t files) {
    Importer importer(store_, own_options_);
    for (std::size_t at = next++; at < groups.size() && !failed_; at = next++) {
      for (const std::filesystem::path& path : groups[at]) {
        auto done = importer.import_file(path);
        const std::lock_guard lock(mutex_);
        if (!done) {
          failed_ = true;
          error_ = std::move(done).error();
          return;
        }
        if (own_options_.progress) own_options_.progress(++done_files_, files);
      }
    }
    const std::lock_guard lock(mutex_);
    summary_ += importer.summary();
  }

  Store& store_;
  ImportOptions own_options_;
  std::atomic<bool> failed_ = false;

  std::mutex mutex_;  // what is below, and the caller's functions
  std::uint64_t done_files_ = 0;
  ImportSummary summary_;
  std::optional<Error> error_;
};

}  // namespace

ImportSummary& ImportSummary::operator+=(const ImportSummary& other) {
  imported += other.imported;
  imported_events += other.imported_events;
  without_agent += other.without_agent;
  present += other.present;
  extended += other.extended;
  new_events += other.new_events;
  redacted += other.redacted;
  unreadable += other.unreadable;
  conflicts += other.conflicts;
  failed += other.failed;
  found += other.found;
  empty += other.empty;
  found_events += other.found_events;
  present_events += other.present_events;
  refused_events += other.refused_events;
  for (const auto& [kind, count] : other.ignored) ignored[kind] += count;
  return *this;
}

Result<ImportSummary> import_threads(Store& store, const std::vector<std::filesystem::path>& files,
                                     const ImportOptions& options) {
  // What is not named after a thread or a session may hold any: such files are all taken by one.
  std::map<std::string, Group> by_name;
  for (const std::filesystem::path& file : files) {
    const std::string name = file.stem().string();
    by_name[ThreadId::parse(name) || is_transcript_name(file) ? name : ""].push_back(file);
  }
  Group others = std::move(by_name[""]);
  by_name.erase("");
  std::vector<Group> groups;
  for (auto& [name, group] : by_name) groups.push_back(std::move(group));

  ParallelImport import(store, options);
  SKEIN_ASSIGN(ImportSummary summary, import.run(groups, files.size()));
  if (!others.empty()) {
    SKEIN_ASSIGN(summary, import.run({std::move(others)}, files.size()));
  }
  return summary;
}

}  // namespace skein
