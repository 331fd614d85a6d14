#include "crash/harness/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

namespace skein::crash {
namespace {

std::string text_of(const Event& event) {
  return fmt::format("{} key={} tokens={}", to_json(event), event.key, event.tokens.value_or(0));
}

// An append moves updatedAt, so that it may go back when events are lost, which is said elsewhere.
std::string text_of(Manifest manifest) {
  manifest.updated_at = manifest.created_at;
  return to_json(manifest);
}

ThreadView view_thread(Store& store, ThreadId id) {
  ThreadView view;
  auto manifest = store.get(id);
  if (!manifest)
    view.error = manifest.error();
  else if (*manifest) {
    view.version = (*manifest)->version;
    view.manifest = text_of(**std::move(manifest));
  }
  Seq last = 0;
  const auto read = store.read(id, {}, [&](Event& event) {
    if (event.seq <= last) view.in_order = false;
    last = event.seq;
    if (std::holds_alternative<Unreadable>(event.payload))
      view.unreadable.push_back(event.seq);
    else
      view.events[event.seq] = text_of(event);
    return true;
  });
  if (!read) view.error = read.error();
  return view;
}

void view_records(Store& store, const std::string& collection, Snapshot& snapshot) {
  ScanRange range;
  range.collection = collection;
  range.limit = 1000;
  const auto records = store.scan(range);
  if (!records) {
    snapshot.record_errors.push_back(records.error().message);
    return;
  }
  for (const Record& record : *records)
    snapshot.records[collection + "/" + record.key] = {record.bytes, record.version};
}

bool reported(const Snapshot& seen, std::optional<ThreadId> thread) {
  if (seen.open_error || seen.check_error) return true;
  return std::any_of(seen.findings.begin(), seen.findings.end(), [&](const Finding& finding) {
    return finding.health != Health::kHealthy && (!finding.thread || finding.thread == thread);
  });
}

void compare_thread(ThreadId id, const ThreadView& truth, const Snapshot& snapshot,
                    std::vector<std::string>& wrong) {
  const ThreadView& seen = snapshot.threads.at(id);
  if (!seen.in_order) wrong.push_back(id.str() + ": events out of order");
  const bool older = seen.manifest && seen.version < truth.version;
  if (seen.manifest && seen.manifest != truth.manifest && !older)
    wrong.push_back(
        fmt::format("{}: another manifest: {}", id.str(), seen.manifest->substr(0, 300)));
  for (const auto& [seq, text] : seen.events) {
    const auto expected = truth.events.find(seq);
    if (expected == truth.events.end() || expected->second != text)
      wrong.push_back(fmt::format("{} #{}: another event: {}", id.str(), seq, text.substr(0, 300)));
  }
  const bool admitted = seen.error || !seen.unreadable.empty() || reported(snapshot, id);
  const bool missing = !seen.manifest || older || seen.events.size() < truth.events.size();
  if (missing && !admitted) {
    wrong.push_back(fmt::format("{}: {} of {} events, and nothing was reported", id.str(),
                                seen.events.size(), truth.events.size()));
  }
}

}  // namespace

Snapshot take_snapshot(const std::string& url, const std::vector<ThreadId>& threads,
                       const std::vector<std::string>& collections) {
  Snapshot snapshot;
  std::mutex mutex;
  const auto note = [&](const Finding& finding) {
    const std::lock_guard lock(mutex);
    snapshot.findings.push_back(finding);
  };
  StoreOptions options;
  options.notice = note;
  auto store = open_store(url, std::move(options));
  if (!store) {
    snapshot.open_error = store.error();
    return snapshot;
  }
  for (const ThreadId id : threads) snapshot.threads[id] = view_thread(**store, id);
  for (const std::string& collection : collections) view_records(**store, collection, snapshot);
  const auto checked = (*store)->check({}, note);
  if (!checked) snapshot.check_error = checked.error();
  store->reset();
  return snapshot;
}

std::vector<std::string> silent_differences(const Snapshot& truth, const Snapshot& seen) {
  std::vector<std::string> wrong;
  if (seen.open_error) return wrong;
  for (const auto& [id, view] : truth.threads) compare_thread(id, view, seen, wrong);
  bool missing = false;
  for (const auto& [key, expected] : truth.records) {
    const auto found = seen.records.find(key);
    const bool older = found == seen.records.end() || found->second.version < expected.version;
    missing = missing || older;
    if (!older && found->second != expected)
      wrong.push_back(key + ": another record: " + found->second.bytes.substr(0, 200));
  }
  for (const auto& [key, record] : seen.records) {
    // One that was deleted may come back only with an earlier state that is reported.
    if (!truth.records.contains(key)) missing = true;
  }
  if (missing && seen.record_errors.empty() && !reported(seen, {}))
    wrong.push_back("records are missing or old, and nothing was reported");
  return wrong;
}

std::vector<std::string> spread(const Snapshot& truth, const Snapshot& seen,
                                std::optional<ThreadId> damaged) {
  std::vector<std::string> wrong;
  if (seen.open_error) return {"the store cannot be opened: " + seen.open_error->message};
  for (const auto& [id, view] : truth.threads) {
    if (id == damaged) continue;
    const ThreadView& found = seen.threads.at(id);
    if (found.error) wrong.push_back(id.str() + ": " + found.error->message);
    if (found.manifest != view.manifest || found.events != view.events)
      wrong.push_back(id.str() + " is not as it was");
  }
  for (const Finding& finding : seen.findings) {
    if (finding.thread && finding.thread != damaged) wrong.push_back("blamed: " + finding.what);
  }
  return wrong;
}

}  // namespace skein::crash
