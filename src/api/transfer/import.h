// Takes threads from files into the store.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/transfer/line_file.h"
#include "core/redact.h"
#include "skein/store.h"

namespace skein {

struct ImportOptions {
  const Redactor* redactor = nullptr;  // takes credentials out; none: they stay
  bool dry_run = false;
  // Of threads from transcripts, whatever they say, and of others that say nothing.
  std::optional<std::string> agent{};
  std::string default_agent = "default";  // of those that say nothing, where there is no `agent`
  // What "taskId" of a thread becomes, by what it is there; others stay. Borrowed; or none.
  const std::map<std::string, std::string>* task_ids = nullptr;
  std::function<void(std::uint64_t done, std::uint64_t total)> progress{};  // files
  std::function<void(const FileProblem&)> problem{};                        // as they are found
};

// found = imported + extended + present + conflicts + failed + empty, and
// found_events = imported_events + new_events + present_events + unreadable + refused_events.
struct ImportSummary {
  std::uint64_t found = 0;            // threads, and files that should be some
  std::uint64_t imported = 0;         // threads that were not there
  std::uint64_t imported_events = 0;  // in those
  std::uint64_t without_agent = 0;    // of `imported`: named no agent, went to that of the options
  std::uint64_t present = 0;          // threads that were there, with all their events
  std::uint64_t extended = 0;         // threads that were there and got events
  std::uint64_t new_events = 0;       // those
  std::uint64_t redacted = 0;         // credentials taken out of what was written
  std::uint64_t unreadable = 0;       // lines that are no events
  std::uint64_t conflicts = 0;        // threads that are there with other events; left as they were
  std::uint64_t failed = 0;           // files or threads that could not be taken for another reason
  std::uint64_t empty = 0;            // files and conversations without a thread in them
  std::uint64_t found_events = 0;     // lines of threads, and events of transcripts
  std::uint64_t present_events = 0;   // that were there
  std::uint64_t refused_events = 0;   // of threads that could not be taken
  std::map<std::string, std::uint64_t> ignored;  // parts of transcripts, by their kind

  ImportSummary& operator+=(const ImportSummary& other);
};

// Imports every thread of the files, and every conversation of those that are transcripts of other
// programs (transcripts/transcript.h). Ids, times, events, unknown fields and legacy lines are
// kept. A thread that is there already gets the events that it lacks, if it begins with the same
// ones: doing it again, or after a crash in the middle, is safe. Each problem is told and stops
// nothing else. The files are only read. kIo: the store takes no more; what was acknowledged until
// then stays.
Result<ImportSummary> import_threads(Store& store, const std::vector<std::filesystem::path>& files,
                                     const ImportOptions& options);

}  // namespace skein
