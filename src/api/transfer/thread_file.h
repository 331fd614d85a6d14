// Reads threads out of files with the manifest on line 1 and an event on each further line: those
// of other programs, those of a jsonl: store, and our own exports.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/transfer/line_file.h"
#include "skein/event.h"
#include "skein/thread.h"
#include "store/codec.h"

namespace skein {

// Reads one file from front to back, and never writes to it. Not thread-safe.
//
// Lines that are no events are reported and left out; positions that events, pins and forks name
// are adjusted to that. Fields that an event of ours cannot bear are renamed to "imported_…".
class ThreadFile {
 public:
  using Report = std::function<void(FileProblem)>;

  static Result<std::unique_ptr<ThreadFile>> open(const std::filesystem::path& path, Report report);
  ~ThreadFile();

  // Goes on to the next thread of the file: false, if there is none. What was left of the one
  // before is skipped. `manifest` has its id; last_seq and version are not known. Its agent_id is
  // empty, where neither the manifest nor the folder says whose the thread is. kDamaged: there is a
  // thread, but its manifest cannot be read; the file is at its end then.
  Result<bool> next_thread(Manifest& manifest);

  // The next event of the thread; false at its end. Has its timestamp: the one before, where it had
  // none.
  Result<bool> next_event(Event& event);

  // The position that the event at this position of the file has among those that could be read; of
  // one that could not, that of the readable one before it.
  Seq position_of(Seq in_file) const;

 private:
  ThreadFile(std::filesystem::path path, LineFile file, Report report);

  bool begins_thread(std::string_view text);
  Result<Manifest> read_head(std::string_view text);
  // Whether the line is an event; if not, it was reported.
  bool read_event(Event& event);
  void leave_out(Seq first, Seq last);
  void problem(std::string message);

  const std::filesystem::path path_;
  const Report report_;

  LineFile file_;
  LineBuffer::Line line_;
  bool held_ = false;      // line_ waits: it begins the next thread
  bool first_ = true;      // no thread was read yet
  bool sequence_ = false;  // an export of several threads, each of which says its id

  EventReader reader_;
  Seq in_file_ = 0;  // position of the last event line, readable or not
  // Runs of positions that have no readable event, in rising order.
  struct Gap {
    Seq first;
    Seq last;
  };
  std::vector<Gap> gaps_;
  Timestamp last_time_;
};

}  // namespace skein
