#include "api/transfer/transcripts/transcript_import.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <unordered_map>

#include "api/transfer/carry.h"
#include "api/transfer/redact_events.h"
#include "core/checksum.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/try.h"
#include "skein/engine.h"
#include "thread/event_kind.h"

namespace skein {
namespace {

// What is written at once.
constexpr std::size_t kBatchEvents = 1000;
constexpr std::size_t kBatchBytes = 4 << 20;

constexpr const char* kIdentityField = "importedAs";

// Of what an event says, wherever and whenever it stands.
std::uint32_t digest(const Event& event) {
  Event bare = event;
  bare.seq = 0;
  bare.base.reset();
  bare.key.clear();
  bare.timestamp = Timestamp::from_ms(0);
  return checksum(to_json(bare));
}

class ThreadImport {
 public:
  ThreadImport(Store& store, const ImportOptions& options, const TranscriptThread& about)
      : store_(store), options_(options), about_(about) {
    id_ = transcript_thread_id(about.identity);
  }

  // Answers why the event was left out, or nothing. An error ends the thread.
  Result<std::optional<std::string>> take(TranscriptEvent one);
  Result<void> finish();
  void add_to(ImportSummary& summary) const;
  // Of events that were written, some may be in a thread that failed later.
  std::uint64_t written() const { return written_; }

 private:
  struct Stored {
    Seq seq = 0;
    std::uint32_t digest = 0;
  };

  Result<void> open();
  Result<void> check_same(const Manifest& stored) const;
  Result<void> note_title(const Manifest& stored);
  Result<NewThread> new_thread();
  Result<void> write_batch();
  void set_base(TranscriptEvent& one);
  std::vector<SeqRange> path_to(Seq head) const;

  Store& store_;
  const ImportOptions& options_;
  const TranscriptThread& about_;

  ThreadId id_;
  bool opened_ = false;
  bool is_there_ = false;
  std::unordered_map<std::string, Stored> stored_;  // by key
  std::map<Seq, Seq> bases_;                        // of events that do not follow the one before
  Seq last_ = 0;                                    // of the thread, with what waits
  Seq previous_ = 0;                                // the event of the transcript that came before

  std::vector<Event> batch_;  // of seq last_ - size + 1 …
  std::size_t batch_bytes_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t redacted_ = 0;
};

// --- What is there ---

Result<void> ThreadImport::check_same(const Manifest& stored) const {
  const auto conflict = [&](const std::string& what) {
    return fail(ErrorCode::kConflict, fmt::format("thread {} {}", stored.id.str(), what));
  };
  JsonFields fields(stored.extra.empty() ? "{}" : stored.extra.text());
  if (fields.take_string(kIdentityField) != about_.identity) {
    return conflict("is another one in the store; left as it is");
  }
  if (options_.agent && *options_.agent != stored.agent_id) {
    return conflict(
        fmt::format("belongs to agent {} in the store, not {}", stored.agent_id, *options_.agent));
  }
  return {};
}

Result<void> ThreadImport::note_title(const Manifest& stored) {
  if (stored.title || !about_.title || about_.title->empty() || options_.dry_run) return {};
  std::string title = *about_.title;
  if (options_.redactor != nullptr) redacted_ += options_.redactor->redact_text(title);
  SKEIN_TRY(store_.update(stored.id, ManifestPatch().title(title), {}));
  return {};
}

Result<void> ThreadImport::open() {
  opened_ = true;
  SKEIN_ASSIGN(const auto stored, store_.get(id_));
  if (!stored) return {};
  is_there_ = true;
  SKEIN_TRY(check_same(*stored));
  SKEIN_TRY(store_.read(id_, {}, [&](Event& event) {
    last_ = event.seq;
    if (event.base) bases_[event.seq] = *event.base;
    if (!event.key.empty()) {
      stored_[event.key] = {event.seq, about_.keys_are_places ? digest(event) : 0};
    }
    return true;
  }));
  return note_title(*stored);
}

// --- What is new ---

// The current path at the event, as ranges in rising order.
std::vector<SeqRange> ThreadImport::path_to(Seq head) const {
  std::vector<SeqRange> ranges;
  while (head > 0) {
    auto branch = bases_.upper_bound(head);
    if (branch == bases_.begin()) {
      ranges.insert(ranges.begin(), {1, head});
      break;
    }
    --branch;
    ranges.insert(ranges.begin(), {branch->first, head});
    head = branch->second;
  }
  return ranges;
}

void ThreadImport::set_base(TranscriptEvent& one) {
  Seq after = previous_;
  if (one.continues == Continues::kNothing) after = 0;
  if (one.continues == Continues::kNamed) {
    const auto named = stored_.find(one.after);
    if (named != stored_.end()) after = named->second.seq;
  }
  if (after != last_) {
    one.event.base = after;
    bases_[last_ + 1] = after;
  }
  if (!one.is_summary || after == 0) return;
  JsonFields fields(one.event.metadata.text());
  JsonObject metadata;
  for (const auto& field : fields.others()) metadata.add_json(field.name, field.value);
  JsonFields covers(covers_metadata(path_to(after)).text());
  metadata.add_json("covers", covers.others().front().value);
  one.event.metadata = Json::trusted(metadata.str());
}

Result<std::optional<std::string>> ThreadImport::take(TranscriptEvent one) {
  if (!opened_) SKEIN_TRY(open());
  const auto there = stored_.find(one.event.key);
  if (there != stored_.end() && !about_.keys_are_places) {
    previous_ = there->second.seq;
    return std::nullopt;
  }
  std::size_t redacted = 0;
  if (options_.redactor != nullptr) redacted = redact(one.event, *options_.redactor);
  if (there != stored_.end()) {
    if (there->second.digest != digest(one.event)) {
      return fail(ErrorCode::kConflict,
                  fmt::format("thread {} has another event {} in the store; left as it is",
                              id_.str(), there->second.seq));
    }
    previous_ = there->second.seq;
    return std::nullopt;
  }
  const std::uint32_t said = about_.keys_are_places ? digest(one.event) : 0;
  set_base(one);
  if (auto valid = validate(one.event); !valid) {
    bases_.erase(last_ + 1);
    return std::move(valid).error().message;
  }
  redacted_ += redacted;
  previous_ = ++last_;
  stored_[one.event.key] = {last_, said};
  batch_bytes_ += to_json(one.event).size();
  batch_.push_back(std::move(one.event));
  if (batch_.size() >= kBatchEvents || batch_bytes_ >= kBatchBytes) SKEIN_TRY(write_batch());
  return std::nullopt;
}

Result<NewThread> ThreadImport::new_thread() {
  NewThread thread;
  thread.id = id_;
  thread.agent_id = options_.agent               ? *options_.agent
                    : about_.usual_agent.empty() ? options_.default_agent
                                                 : about_.usual_agent;
  thread.alias = about_.alias;
  const Timestamp created =
      about_.created_at.is_set() ? about_.created_at : batch_.front().timestamp;
  thread.fields.set("createdAt", created.str()).set("updatedAt", created.str());
  thread.fields.set(kIdentityField, about_.identity);
  std::string metadata = about_.metadata.text();
  std::string title = about_.title.value_or("");
  if (options_.redactor != nullptr) {
    redacted_ += options_.redactor->redact_json(metadata) + options_.redactor->redact_text(title);
  }
  thread.fields.metadata(Json::trusted(std::move(metadata)));
  if (!title.empty()) thread.fields.title(title);
  if (about_.session_id && is_engine_session_id(*about_.session_id)) {
    thread.fields.session_id(*about_.session_id);
  }
  thread.events = std::move(batch_);
  return thread;
}

Result<void> ThreadImport::write_batch() {
  if (batch_.empty()) return {};
  const std::size_t count = batch_.size();
  const bool is_first = !is_there_ && written_ == 0;
  if (is_first) {
    SKEIN_ASSIGN(const NewThread thread, new_thread());
    if (!options_.dry_run) SKEIN_TRY(store_.create(thread));
  } else if (!options_.dry_run) {
    std::vector<Append> appends;
    Seq seq = last_ - count;
    for (Event& event : batch_) {
      // The expected position refuses everything if somebody else writes to the thread meanwhile.
      appends.push_back({id_, std::move(event), std::nullopt, ++seq});
    }
    for (auto& result : store_.append(appends)) SKEIN_TRY(std::move(result));
  }
  written_ += count;
  batch_.clear();
  batch_bytes_ = 0;
  return {};
}

Result<void> ThreadImport::finish() { return write_batch(); }

void ThreadImport::add_to(ImportSummary& summary) const {
  summary.redacted += redacted_;
  if (!is_there_) {
    ++(written_ > 0 ? summary.imported : summary.empty);
    summary.imported_events += written_;
  } else if (written_ > 0) {
    ++summary.extended;
    summary.new_events += written_;
  } else {
    ++summary.present;
  }
}

// --- Files ---

class FileImport {
 public:
  FileImport(Store& store, const std::filesystem::path& path, const ImportOptions& options,
             ImportSummary& summary)
      : store_(store), path_(path), options_(options), summary_(summary) {}

  Result<void> run(FileKind kind) {
    const TranscriptListener listener{[&](const FileProblem& problem) {
                                        ++summary_.found_events;
                                        tell(problem, summary_.unreadable);
                                      },
                                      [&](const std::string& what) { ++summary_.ignored[what]; }};
    auto transcript = open(kind, listener);
    if (!transcript) {
      ++summary_.found;
      tell({path_, 0, transcript.error().message}, summary_.failed);
      return {};
    }
    for (const TranscriptThread& thread : (*transcript)->threads()) {
      if (thread.session_id && !is_engine_session_id(*thread.session_id) && options_.problem) {
        options_.problem({path_, 0, not_a_session(*thread.session_id)});
      }
      threads_.push_back({ThreadImport(store_, options_, thread)});
    }
    summary_.found += threads_.size();
    auto read = (*transcript)->read([&](TranscriptEvent one) { return take(std::move(one)); });
    if (!read) {
      ++summary_.found;
      SKEIN_TRY(refuse(read.error()));
    }
    for (Thread& thread : threads_) {
      auto finished = thread.failed ? Result<void>() : thread.import.finish();
      if (!finished) SKEIN_TRY(give_up(thread, finished.error()));
      if (!thread.failed) thread.import.add_to(summary_);
      count_events(thread);
    }
    return {};
  }

 private:
  struct Thread {
    ThreadImport import;
    bool failed = false;
    std::uint64_t events = 0;      // that the transcript has
    std::uint64_t unreadable = 0;  // of those, reported as such
  };

  void count_events(const Thread& thread) {
    const std::uint64_t rest = thread.events - thread.unreadable - thread.import.written();
    summary_.found_events += thread.events;
    (thread.failed ? summary_.refused_events : summary_.present_events) += rest;
    if (thread.failed) summary_.new_events += thread.import.written();
  }

  OpenedTranscript open(FileKind kind, const TranscriptListener& listener) const {
    switch (kind) {
      case FileKind::kClaude:
        return open_claude_transcript(path_, listener);
      case FileKind::kCodex:
        return open_codex_rollout(path_, listener);
      default:
        return open_message_lists(path_, listener);
    }
  }

  Result<void> take(TranscriptEvent one) {
    Thread& thread = threads_[one.thread];
    ++thread.events;
    if (thread.failed) return {};
    const std::uint64_t line = one.line;
    const auto taken = thread.import.take(std::move(one));
    if (!taken) return give_up(thread, taken.error());
    if (*taken) {
      ++thread.unreadable;
      tell({path_, line, **taken}, summary_.unreadable);
    }
    return {};
  }

  Result<void> give_up(Thread& thread, const Error& error) {
    thread.failed = true;
    return refuse(error);
  }

  Result<void> refuse(const Error& error) {
    if (error.code == ErrorCode::kIo) return tl::unexpected(error);
    tell({path_, 0, error.message},
         error.code == ErrorCode::kConflict ? summary_.conflicts : summary_.failed);
    return {};
  }

  void tell(const FileProblem& problem, std::uint64_t& count) const {
    ++count;
    if (options_.problem) options_.problem(problem);
  }

  Store& store_;
  const std::filesystem::path& path_;
  const ImportOptions& options_;
  ImportSummary& summary_;
  std::vector<Thread> threads_;
};

}  // namespace

ThreadId transcript_thread_id(std::string_view identity) {
  const std::uint64_t high = checksum(identity, 1);
  return ThreadId::from_bits(high << 32 | checksum(identity, 2));
}

Result<void> import_transcript(Store& store, const std::filesystem::path& path, FileKind kind,
                               const ImportOptions& options, ImportSummary& summary) {
  return FileImport(store, path, options, summary).run(kind);
}

}  // namespace skein
