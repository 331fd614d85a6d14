#include "crash/harness/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

namespace skein::crash {
namespace {

constexpr std::size_t kEnoughProblems = 20;

// An operation that was begun, and what became of it.
struct Tried {
  Op op;
  std::vector<Outcome> outcomes;  // one for each part

  bool acknowledged() const { return outcomes.front().acknowledged(); }
  bool unknown() const { return outcomes.front().unknown(); }
  std::uint64_t answer() const { return *outcomes.front().answer; }
  std::string name() const { return fmt::format("operation {}.{}", op.writer, op.number); }
};

std::size_t parts_of(const Op& op) { return op.kind == OpKind::kAppend ? op.events.size() : 1; }

// All operations that were begun: those in the journal, and the next of each writer.
std::vector<Tried> tried_operations(const Journal& journal) {
  std::vector<Tried> tried;
  for (std::size_t writer = 0; writer < journal.done.size(); ++writer) {
    const auto& done = journal.done[writer];
    Script script(journal.workload, static_cast<int>(writer));
    const std::uint64_t count = done.empty() ? 1 : done.rbegin()->first + 2;
    for (std::uint64_t number = 0; number < count; ++number) {
      Tried one{.op = script.next(), .outcomes = {}};
      if (const auto found = done.find(number); found != done.end()) one.outcomes = found->second;
      one.outcomes.resize(parts_of(one.op));
      tried.push_back(std::move(one));
    }
  }
  return tried;
}

class Verifier {
 public:
  Verifier(Store& store, const Journal& journal, const VerifyOptions& options)
      : store_(store),
        workload_(journal.workload),
        options_(options),
        tried_(tried_operations(journal)) {}

  std::vector<std::string> run() {
    sort_out();
    for (const ThreadId id : standing_) verify_standing(id);
    for (const auto& [id, created] : created_) verify_created(id, *created);
    verify_records();
    if (options_.feed) verify_feed();
    if (options_.write_on) {
      write_on();
      mend();
    }
    verify_health();
    if (problems_.size() > kEnoughProblems) {
      const std::size_t more = problems_.size() - kEnoughProblems;
      problems_.resize(kEnoughProblems);
      problems_.push_back(fmt::format("and {} more", more));
    }
    return std::move(problems_);
  }

 private:
  struct Wanted {
    const Tried* tried = nullptr;
    std::size_t part = 0;
    Outcome outcome() const { return tried->outcomes[part]; }
  };

  template <class... Args>
  void problem(fmt::format_string<Args...> format, Args&&... args) {
    problems_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  void sort_out() {
    for (int i = 0; i < workload_.shared_threads; ++i) standing_.push_back(workload_.shared_id(i));
    for (const Tried& tried : tried_) {
      switch (tried.op.kind) {
        case OpKind::kCreateOwn:
          if (tried.acknowledged() || (tried.unknown() && manifest_of(tried.op.thread)))
            standing_.push_back(tried.op.thread);
          break;
        case OpKind::kAppend:
          for (std::size_t part = 0; part < tried.op.events.size(); ++part)
            wanted_[tried.op.targets[part]][Origin{tried.op.writer, tried.op.number, part}] = {
                &tried, part};
          break;
        case OpKind::kCreate:
          created_[tried.op.thread] = &tried;
          break;
        case OpKind::kRemove:
          removed_[tried.op.thread] = &tried;
          break;
        case OpKind::kUpdate:
          updates_[tried.op.thread].push_back(&tried);
          break;
        case OpKind::kRecords:
          records_[tried.op.writes.front().key].push_back(&tried);
          break;
        case OpKind::kLease:
          leases_[tried.op.thread].push_back(&tried);
          break;
      }
    }
  }

  std::vector<Event> events_of(ThreadId id) {
    std::vector<Event> events;
    const auto read = store_.read(id, {}, [&](Event& event) {
      events.push_back(std::move(event));
      return true;
    });
    if (!read) problem("{} cannot be read: {}", id.str(), read.error().message);
    return events;
  }

  std::optional<Manifest> manifest_of(ThreadId id) {
    auto manifest = store_.get(id);
    if (!manifest) {
      problem("the manifest of {} cannot be read: {}", id.str(), manifest.error().message);
      return std::nullopt;
    }
    return *std::move(manifest);
  }

  // A thread that must be there, and that several writers may have written.
  void verify_standing(ThreadId id) {
    const auto manifest = manifest_of(id);
    if (!manifest) return problem("thread {} is gone", id.str());
    const std::vector<Event> events = events_of(id);
    if (manifest->last_seq != events.size())
      problem("{} has {} events and says it has {}", id.str(), events.size(), manifest->last_seq);
    auto& wanted = wanted_[id];
    std::set<Origin> seen;
    std::map<int, Origin> newest;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const Event& event = events[i];
      if (event.seq != i + 1) problem("{} has seq {} in place {}", id.str(), event.seq, i + 1);
      if (std::holds_alternative<Unreadable>(event.payload)) {
        problem("{} #{} is unreadable: {}", id.str(), event.seq,
                std::get<Unreadable>(event.payload).reason);
        continue;
      }
      const auto origin = parse_origin(event.metadata);
      if (!origin) continue;  // written by a verifier
      const auto found = wanted.find(*origin);
      if (found == wanted.end()) {
        problem("{} #{} holds {}, which nobody wrote", id.str(), event.seq, str(*origin));
        continue;
      }
      compare_event(id, event, found->second);
      if (!seen.insert(*origin).second) problem("{} holds {} twice", id.str(), str(*origin));
      auto& last = newest[origin->writer];
      if (*origin < last) problem("{} holds {} after {}", id.str(), str(*origin), str(last));
      last = *origin;
    }
    for (const auto& [origin, what] : wanted) {
      if (what.outcome().acknowledged() && !seen.contains(origin))
        problem("{} lost {}, acknowledged as #{}", id.str(), str(origin), *what.outcome().answer);
    }
    verify_manifest(*manifest);
  }

  void compare_event(ThreadId id, const Event& event, const Wanted& wanted) {
    const Outcome outcome = wanted.outcome();
    if (outcome.acknowledged() && *outcome.answer != event.seq)
      problem("{} #{} was acknowledged as #{}", id.str(), event.seq, *outcome.answer);
    if (!outcome.acknowledged() && !outcome.unknown())
      problem("{} #{} is there although it was refused ({})", id.str(), event.seq, outcome.error);
    if (!same_event(event, wanted.tried->op.events[wanted.part]))
      problem("{} #{} does not say what was written: {}", id.str(), event.seq,
              to_json(event).substr(0, 200));
  }

  bool shows(const Manifest& manifest, const Tried& tried) {
    for (const auto& entry : tried.op.patch.entries()) {
      if (entry.field == "title" && manifest.title != text_of(entry.value)) return false;
      if (entry.field == "metadata" && manifest.metadata != entry.value) return false;
      if (entry.field == "note" &&
          !same_json(manifest.extra, Json::trusted("{\"note\":" + entry.value.text() + "}")))
        return false;
    }
    return true;
  }

  static std::optional<std::string> text_of(const Json& json) {
    // Titles hold nothing that JSON would escape.
    return json.text().substr(1, json.text().size() - 2);
  }

  // The manifest is that of the newest acknowledged update, or whole of one whose end nobody knows.
  void verify_manifest(const Manifest& manifest) {
    const auto& updates = updates_[manifest.id];
    const Tried* newest = nullptr;
    for (const Tried* tried : updates) {
      if (tried->acknowledged() && (!newest || tried->answer() > newest->answer())) newest = tried;
    }
    const auto created = created_.find(manifest.id);
    if (!newest && created != created_.end()) newest = created->second;
    if (newest && newest->acknowledged() && manifest.version < newest->answer())
      return problem("{} is at version {}, but version {} was acknowledged", manifest.id.str(),
                     manifest.version, newest->answer());
    const bool is_newest = newest && newest->acknowledged() && manifest.version == newest->answer();
    const bool untouched = !newest && !manifest.title && manifest.metadata.empty();
    if (untouched || (newest && shows(manifest, *newest))) return;
    const bool by_unknown = std::any_of(updates.begin(), updates.end(), [&](const Tried* tried) {
      return tried->unknown() && shows(manifest, *tried);
    });
    if (is_newest || !by_unknown)
      problem("the manifest of {} (version {}) is of no update that could be the last: {}",
              manifest.id.str(), manifest.version, to_json(manifest).substr(0, 200));
  }

  // A thread that one writer made with its events, all or nothing, and perhaps removed.
  void verify_created(ThreadId id, const Tried& created) {
    const auto manifest = manifest_of(id);
    const auto removal = removed_.find(id);
    const bool removed = removal != removed_.end() && removal->second->acknowledged();
    const bool perhaps = removal != removed_.end() && removal->second->unknown();
    if (removed && created.acknowledged() && removal->second->answer() == 0)
      problem("{} was not there to be removed, though its creation was acknowledged", id.str());
    if (!manifest) {
      if (created.acknowledged() && !removed && !perhaps) problem("thread {} is gone", id.str());
      if (!events_of(id).empty()) problem("{} has events, but no manifest", id.str());
      return;
    }
    if (removed) return problem("{} is there again after it was removed", id.str());
    if (!created.acknowledged() && !created.unknown())
      return problem("{} is there although its creation was refused", id.str());
    const std::vector<Event> events = events_of(id);
    if (events.size() != created.op.events.size())
      problem("{} has {} of its first {} events", id.str(), events.size(),
              created.op.events.size());
    for (std::size_t i = 0; i < std::min(events.size(), created.op.events.size()); ++i) {
      if (events[i].seq != i + 1 || !same_event(events[i], created.op.events[i]))
        problem("{} #{} does not say what was written", id.str(), i + 1);
    }
    verify_manifest(*manifest);
  }

  // Three records are written at a time: they are of the last acknowledged write, or all of a later
  // one whose end nobody knows.
  void verify_records() {
    for (const auto& [first_key, writes] : records_) {
      std::vector<const Tried*> candidates;
      bool may_be_absent = true;
      for (const Tried* tried : writes) {
        if (tried->acknowledged()) {
          candidates.clear();
          may_be_absent = false;
        }
        if (tried->acknowledged() || tried->unknown()) candidates.push_back(tried);
      }
      const auto found = records_of(writes.front()->op);
      const bool absent = std::all_of(found.begin(), found.end(), [](const auto& r) { return !r; });
      const bool matches =
          std::any_of(candidates.begin(), candidates.end(), [&](const Tried* tried) {
            return std::equal(
                found.begin(), found.end(), tried->op.writes.begin(), tried->op.writes.end(),
                [](const auto& bytes, const RecordWrite& write) { return bytes == write.bytes; });
          });
      if (!matches && !(absent && may_be_absent))
        problem("the records from {} on are not those of the last write ({})", first_key,
                candidates.empty() ? "none" : candidates.front()->name());
    }
  }

  std::vector<std::optional<std::string>> records_of(const Op& op) {
    std::vector<std::optional<std::string>> found;
    for (const RecordWrite& write : op.writes) {
      ScanRange range;
      range.collection = write.collection;
      range.from = write.key;
      range.limit = 1;
      const auto records = store_.scan(range);
      if (!records) problem("records cannot be read: {}", records.error().message);
      if (records && !records->empty() && records->front().key == write.key)
        found.emplace_back(records->front().bytes);
      else
        found.emplace_back();
    }
    return found;
  }

  // Every acknowledged event of a thread that still stands is in the feed.
  void verify_feed() {
    std::set<std::pair<ThreadId, Seq>> appended;
    std::string cursor;
    while (true) {
      const auto batch = store_.changes(cursor, 1'000, std::chrono::milliseconds(0));
      if (!batch) return problem("the feed cannot be read: {}", batch.error().message);
      if (batch->changes.empty()) break;
      cursor = batch->cursor;
      for (const Change& change : batch->changes) {
        if (change.kind == ChangeKind::kAppended &&
            !appended.emplace(change.thread, change.seq).second && options_.exact_feed)
          problem("the feed has {} #{} twice", change.thread.str(), change.seq);
      }
    }
    for (const ThreadId id : standing_) {
      for (const auto& [origin, what] : wanted_[id]) {
        if (what.outcome().acknowledged() && !appended.contains({id, *what.outcome().answer}))
          problem("the feed lacks {} #{}", id.str(), *what.outcome().answer);
      }
    }
  }

  // A line that was being written may be left torn until its thread is written again.
  void mend() {
    const auto mended = store_.check({.repair = true, .progress = {}}, [&](const Finding& finding) {
      if (!finding.repaired) report(finding);
    });
    if (!mended) problem("check fails: {}", mended.error().message);
  }

  void report(const Finding& finding) {
    problem("check: {}{}{}", finding.thread ? finding.thread->str() + " " : "",
            finding.seq ? fmt::format("#{} ", finding.seq) : "", finding.what);
  }

  void verify_health() {
    const auto summary = store_.check({}, [&](const Finding& finding) { report(finding); });
    if (!summary) return problem("check fails: {}", summary.error().message);
    if (summary->health != Health::kHealthy || summary->unverifiable > 0)
      problem("check finds the store not healthy");
  }

  Result<Appended> append_one(ThreadId id, Event event, std::optional<LeaseToken> fence = {}) {
    const Append append{.thread = id, .event = std::move(event), .fence = fence, .expect_seq = {}};
    return std::move(store_.append({&append, 1}).front());
  }

  void write_on() {
    for (const ThreadId id : standing_) {
      retry_by_key(id);
      const auto before = manifest_of(id);
      Event event;
      event.payload = Message{Role::kUser, "the next one"};
      const auto appended = append_one(id, event);
      if (!appended)
        problem("{} takes no further append: {}", id.str(), appended.error().message);
      else if (before && appended->seq != before->last_seq + 1)
        problem("{} gave the next append #{} after #{}", id.str(), appended->seq, before->last_seq);
      refuse_old_leases(id);
    }
  }

  // Whoever did not hear of an append may send it again under its key, and it is there once.
  void retry_by_key(ThreadId id) {
    for (const auto& [origin, what] : wanted_[id]) {
      const Event& event = what.tried->op.events[what.part];
      const Outcome outcome = what.outcome();
      const bool worth_it =
          outcome.acknowledged() ? what.tried->op.number % 8 == 0 : outcome.unknown();
      if (event.key.empty() || !worth_it) continue;
      const auto again = append_one(id, event);
      if (!again)
        problem("{} refused {} by its key: {}", id.str(), str(origin), again.error().message);
      else if (outcome.acknowledged() && (!again->repeated || again->seq != *outcome.answer))
        problem("{} did not know {} by its key", id.str(), str(origin));
    }
  }

  void refuse_old_leases(ThreadId id) {
    const auto& leases = leases_[id];
    std::optional<LeaseToken> old;
    for (const Tried* tried : leases) {
      if (!tried->acknowledged()) continue;
      if (old) {
        Event event;
        event.payload = Message{Role::kUser, "from the past"};
        const auto appended = append_one(id, event, old);
        if (appended || appended.error().code != ErrorCode::kFenced)
          problem("{} lets a token in that was given back", id.str());
      }
      old = tried->answer();
    }
  }

  Store& store_;
  const Workload workload_;
  const VerifyOptions options_;
  const std::vector<Tried> tried_;
  std::vector<std::string> problems_;

  std::vector<ThreadId> standing_;
  std::map<ThreadId, std::map<Origin, Wanted>> wanted_;
  std::map<ThreadId, std::vector<const Tried*>> updates_;
  std::map<ThreadId, const Tried*> created_;
  std::map<ThreadId, const Tried*> removed_;
  std::map<std::string, std::vector<const Tried*>> records_;  // by the first key of the group
  std::map<ThreadId, std::vector<const Tried*>> leases_;
};

}  // namespace

std::vector<std::string> verify(Store& store, const Journal& journal,
                                const VerifyOptions& options) {
  return Verifier(store, journal, options).run();
}

}  // namespace skein::crash
