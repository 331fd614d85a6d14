// Transcripts of other programs as an import reads them: whatever is in the file, what comes out
// can be stored, and nothing comes out twice.

#include <sys/mman.h>
#include <unistd.h>

#include <set>
#include <string>

#include "api/transfer/import.h"
#include "api/transfer/transcripts/transcript_import.h"
#include "fuzz/support/check.h"

namespace {

using namespace skein;

void check_reading(const OpenedTranscript& transcript) {
  if (!transcript) return;
  std::set<std::pair<std::size_t, std::string>> keys;
  const auto read = (*transcript)->read([&](TranscriptEvent one) -> Result<void> {
    FUZZ_CHECK(one.thread < (*transcript)->threads().size());
    FUZZ_CHECK(!one.event.key.empty());
    const bool named = one.continues == Continues::kNamed;
    FUZZ_CHECK(!named || keys.contains({one.thread, one.after}));
    keys.emplace(one.thread, one.event.key);
    return {};
  });
  FUZZ_CHECK(read);
}

void check_importing(const std::string& path, FileKind kind) {
  const auto store = open_store("memory:");
  const Redactor redactor;
  ImportOptions options;
  options.redactor = &redactor;
  ImportSummary first;
  FUZZ_CHECK(import_transcript(**store, path, kind, options, first));
  ImportSummary second;
  FUZZ_CHECK(import_transcript(**store, path, kind, options, second));
  FUZZ_CHECK(second.imported + second.new_events == 0);
  const auto checked = (*store)->check({}, [](const Finding&) {});
  FUZZ_CHECK(checked && checked->events == first.imported_events + first.new_events);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int fd = ::memfd_create("transcript", MFD_CLOEXEC);
  FUZZ_CHECK(::write(fd, data, size) == static_cast<ssize_t>(size));
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  const TranscriptListener listener{[](const FileProblem&) {}, [](const std::string&) {}};
  (void)recognise(path);
  check_reading(open_claude_transcript(path, listener));
  check_reading(open_codex_rollout(path, listener));
  check_reading(open_message_lists(path, listener));
  for (const FileKind kind : {FileKind::kClaude, FileKind::kCodex, FileKind::kMessages}) {
    check_importing(path, kind);
  }
  ::close(fd);
  return 0;
}
