#include "api/run_states.h"

#include <algorithm>

#include "core/json_fields.h"
#include "core/try.h"
#include "runner/run_book.h"

namespace skein {
namespace {

bool is_at_work(const OpenRun& open) { return open.at_work(); }

}  // namespace

Result<std::set<ThreadId>> busy_threads(Store& store, Clock& clock) {
  SKEIN_ASSIGN(const auto all, RunBook(store, clock, "").all_open());
  std::set<ThreadId> busy;
  for (const OpenRun& open : all) {
    if (is_at_work(open)) busy.insert(open.thread);
  }
  return busy;
}

Result<bool> is_busy(Store& store, Clock& clock, ThreadId thread) {
  SKEIN_ASSIGN(const auto open, RunBook(store, clock, "").open_of(thread));
  return std::any_of(open.begin(), open.end(), is_at_work);
}

Result<std::optional<std::string>> run_at_work(Store& store, Clock& clock, ThreadId thread) {
  SKEIN_ASSIGN(const auto open, RunBook(store, clock, "").open_of(thread));
  for (const OpenRun& entry : open) {
    if (entry.state == OpenRun::State::kRunning) return entry.run_id;
  }
  return std::nullopt;
}

std::string last_run_status(const Manifest& manifest) {
  if (manifest.extra.empty()) return "";
  return JsonFields(manifest.extra.text()).take_string("runStatus").value_or("");
}

Result<void> forget_run(Store& store, Clock& clock, std::string_view run_id) {
  return RunBook(store, clock, "").forget(run_id);
}

}  // namespace skein
