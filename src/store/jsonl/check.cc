#include <algorithm>
#include <utility>

#include "core/try.h"
#include "store/codec.h"
#include "store/jsonl/store_impl.h"

namespace skein::jsonl {

// Looks at every thread, and mends what can be mended without losing anything.
class Checker {
 public:
  Checker(JsonlStore& store, const CheckOptions& options,
          const std::function<void(const Finding&)>& sink)
      : store_(store), options_(options), sink_(sink) {}

  Result<CheckSummary> run() {
    std::vector<std::pair<std::string, ThreadId>> threads;
    SKEIN_TRY(collect(threads));
    tell();
    SKEIN_TRY(store_.feed_.follow());
    news_ = store_.feed_.all_news();
    std::uint64_t done = 0;
    for (const auto& [agent, id] : threads) {
      const auto checked = check_thread(agent, id);
      tell();
      SKEIN_TRY(checked);
      if (options_.progress) options_.progress(++done, threads.size());
    }
    summary_.threads = threads.size();
    const auto records =
        store_.records_.check(options_.repair, [this](const Finding& finding) { found(finding); });
    tell();
    SKEIN_ASSIGN(summary_.records, records);
    return summary_;
  }

 private:
  Result<void> collect(std::vector<std::pair<std::string, ThreadId>>& threads) {
    std::unordered_map<ThreadId, std::string> owners;
    SKEIN_ASSIGN(const auto agents, store_.folder_->agents());
    for (const std::string& agent : agents) {
      SKEIN_ASSIGN(const auto ids, store_.folder_->threads(agent));
      for (const ThreadId id : ids) {
        SKEIN_ASSIGN(const auto stamp, stat_file(store_.folder_->thread_path(agent, id)));
        if (!stamp) continue;
        const auto [owner, first] = owners.emplace(id, agent);
        if (first) {
          threads.emplace_back(agent, id);
        } else {
          report(Health::kBroken, id, 0,
                 "agents " + owner->second + " and " + agent + " both have a file for it; the " +
                     "one of " + owner->second + " counts",
                 "remove or rename one of them", false);
        }
      }
    }
    return {};
  }

  // What was found is told by `tell`, without any lock: the sink may call the store.
  void found(Finding finding) {
    if (finding.health == Health::kBroken) ++summary_.broken;
    if (!finding.repaired) summary_.health = std::max(summary_.health, finding.health);
    untold_.push_back(std::move(finding));
  }

  void tell() {
    for (const Finding& finding : std::exchange(untold_, {})) {
      if (sink_) sink_(finding);
    }
  }

  void report(Health health, ThreadId id, Seq seq, std::string what, std::string repair,
              bool repaired) {
    Finding finding;
    finding.health = health;
    finding.thread = id;
    finding.seq = seq;
    finding.what = std::move(what);
    finding.repair = std::move(repair);
    finding.repaired = repaired;
    found(std::move(finding));
  }

  Result<void> check_thread(const std::string& agent, ThreadId id) {
    const std::shared_ptr<ThreadState> state = store_.threads_.get(id);
    SKEIN_ASSIGN(const ThreadLock lock, ThreadLock::acquire(*store_.folder_, *state));
    const std::string path = store_.folder_->thread_path(agent, id);
    SKEIN_ASSIGN(const auto file, open_thread(path, O_RDWR));
    if (!file) return {};
    SKEIN_ASSIGN(Head head, read_head(*file, id));
    const bool was_damaged = head.state == Head::State::kDamaged;
    if (options_.repair) SKEIN_TRY(store_.writer_.recover_head(*state, *file, head));
    SKEIN_TRY(check_head(agent, id, *file, head, was_damaged));
    if (const auto events = check_events(id, *file, head, *state); !events) {
      if (events.error().code != ErrorCode::kDamaged) return events;
      report(Health::kBroken, id, 0, events.error().message, "restore the file from a copy", false);
    }
    return check_lease_file(id);
  }

  Result<void> check_lease_file(ThreadId id) {
    if (!store_.lease_is_damaged(id)) return {};
    if (options_.repair) SKEIN_TRY(store_.write_lease(id, LeaseState{}));
    report(Health::kBroken, id, 0, "the lease does not match its checksum",
           "remove it; whoever held it starts anew", options_.repair);
    return {};
  }

  Result<void> check_head(const std::string& agent, ThreadId id, const ThreadFile& file,
                          const Head& head, bool was_damaged) {
    if (head.state == Head::State::kDamaged) {
      report(Health::kBroken, id, 0, head.problem,
             "restore line 1 of " + file.path + " from a copy", false);
      return {};
    }
    if (was_damaged) {
      report(Health::kBroken, id, 0, "line 1 was half written", "write it again from its sidecar",
             true);
    }
    if (head.stray_offset) {
      if (options_.repair) {
        SKEIN_TRY(write_at(file.fd, file.path, *head.stray_offset,
                           std::string_view(&head.stray_wanted, 1)));
        SKEIN_TRY(store_.folder_->flusher().data(file.fd, file.path));
      }
      report(Health::kBroken, id, 0, "damaged space after the manifest", "write the space again",
             options_.repair);
    }
    if (!head.manifest.agent_id.empty() && head.manifest.agent_id != agent) {
      report(Health::kBroken, id, 0,
             "lies in the folder of " + agent + " but says that it belongs to " +
                 head.manifest.agent_id,
             "move the file to the agent that it belongs to", false);
    }
    return {};
  }

  Result<void> check_events(ThreadId id, const ThreadFile& file, const Head& head,
                            ThreadState& state) {
    SKEIN_ASSIGN(const auto stamp, stat_open(file.fd, file.path));
    LineWalker walker(file, {1, head.width}, stamp.size);
    EventReader reader;
    Event event;
    Line line;
    std::uint64_t foreign = 0;
    bool shifted = false;
    std::optional<SeqSpan> missing;
    while (true) {
      SKEIN_ASSIGN(const bool more, walker.next(line));
      if (!more) break;
      ++summary_.events;
      if (line.kind == Line::Kind::kMissing) {
        if (!missing) missing = SeqSpan{line.seq, line.seq};
        missing->last = line.seq;
        continue;
      }
      report_missing(id, missing);
      if (line.kind == Line::Kind::kDamaged) {
        report(Health::kBroken, id, line.seq, damage_of(line), "restore the event from a copy",
               false);
      } else if (line.misplaced()) {
        if (std::exchange(shifted, true)) continue;
        report(Health::kBroken, id, line.seq,
               "says that it is event " + std::to_string(line.claimed) +
                   ": something was put in before it",
               "remove the lines that another program inserted", false);
      } else if (line.kind == Line::Kind::kForeign) {
        ++foreign;
        if (!reader.read_padded(line.text, EventSource::kForeign, event) ||
            std::holds_alternative<Unreadable>(event.payload)) {
          report(Health::kBroken, id, line.seq, "not an event", "", false);
        }
      }
    }
    if (walker.left_out() > 0) {
      report(Health::kBroken, id, 0,
             std::to_string(walker.left_out()) +
                 " lines are not delivered, for their positions are taken; the " +
                 "first says that it is event " + std::to_string(walker.left_out_claim()),
             "remove the lines that another program inserted", false);
    }
    summary_.unverifiable += foreign;
    if (foreign > 0) {
      report(Health::kUnverifiable, id, 0,
             std::to_string(foreign) + " events were written by other programs, without checksums",
             "", false);
    }
    const Seq last = walker.next_seq() - 1;
    if (const auto told = news_.find(id); told != news_.end() && told->second.last_seq > last) {
      report(Health::kBroken, id, 0,
             std::to_string(told->second.last_seq - last) + " events are missing at the end",
             "restore the file from a copy", false);
    }
    return check_end(id, walker.file_end(), head, state);
  }

  // A gap is one finding, however many events it has.
  void report_missing(ThreadId id, std::optional<SeqSpan>& missing) {
    if (!missing) return;
    const Seq count = missing->last - missing->first + 1;
    report(Health::kBroken, id, missing->first,
           count == 1 ? "missing from the file"
                      : std::to_string(count) + " events from here on are missing from the file",
           count == 1 ? "restore the event from a copy" : "restore the events from a copy", false);
    missing.reset();
  }

  static std::string damage_of(const Line& line) {
    if (line.claimed == 0) return line.reason;
    return "says that it is event " + std::to_string(line.claimed) + ", which it cannot be";
  }

  Result<void> check_end(ThreadId id, const FileEnd& end, const Head& head, ThreadState& state) {
    if (end.torn_bytes == 0 && !end.newline_damaged) return {};
    const bool repair = options_.repair && head.state != Head::State::kDamaged;
    if (repair) {
      SKEIN_ASSIGN(const bool found, store_.writer_.refresh(state));
      if (found) SKEIN_TRY(store_.writer_.mend_end(state));
    }
    if (end.torn_bytes > 0) {
      report(Health::kBroken, id, 0,
             "torn last line of " + std::to_string(end.torn_bytes) + " bytes",
             "remove it; it is kept under .skein/torn", repair);
    } else {
      report(Health::kBroken, id, 0, "the newline after the last event is damaged",
             "write it again", repair);
    }
    return {};
  }

  JsonlStore& store_;
  const CheckOptions& options_;
  const std::function<void(const Finding&)>& sink_;
  CheckSummary summary_;
  std::vector<Finding> untold_;
  std::unordered_map<ThreadId, ThreadNews> news_;
};

Result<CheckSummary> JsonlStore::check(const CheckOptions& options,
                                       const std::function<void(const Finding&)>& sink) {
  return Checker(*this, options, sink).run();
}

}  // namespace skein::jsonl
