// Thread files of the jsonl: backend, as anyone may have left them: line 1, positions, the end.

#include <sys/mman.h>

#include <string>

#include "fuzz/support/check.h"
#include "store/jsonl/head.h"
#include "store/jsonl/tail.h"

namespace {

using namespace skein;
using namespace skein::jsonl;

ThreadFile file_of(std::string_view bytes) {
  ThreadFile file;
  file.path = "fuzzed";
  file.fd = Fd(::memfd_create("fuzzed", MFD_CLOEXEC));
  FUZZ_CHECK(write_at(file.fd, file.path, 0, bytes));
  return file;
}

// Positions rise by one from the first, lines lie within the file, and the end is where it says.
Seq check_walk(const ThreadFile& file, Mark from, std::uint64_t size) {
  LineWalker walker(file, from, size);
  Line line;
  Seq expected = from.seq;
  while (true) {
    const auto more = walker.next(line);
    FUZZ_CHECK(more);
    if (!*more) break;
    FUZZ_CHECK(line.seq == expected);
    FUZZ_CHECK(line.offset >= from.offset && line.offset + line.text.size() <= size);
    ++expected;
    if (expected > 100'000) return expected;
  }
  const FileEnd& end = walker.file_end();
  FUZZ_CHECK(walker.next_seq() == expected);
  FUZZ_CHECK(end.lines_end + end.torn_bytes == size || size < from.offset);
  return expected;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const ThreadFile file = file_of(bytes);
  const auto head = read_head(file, ThreadId::from_bits(1));
  FUZZ_CHECK(head);
  FUZZ_CHECK(head->width <= size);
  if (head->state == Head::State::kVerified) {
    FUZZ_CHECK(!head_line(head->manifest, 0).empty());
  }
  const Seq next = check_walk(file, {1, head->width}, size);
  const auto tail = read_tail(file, head->width, size);
  FUZZ_CHECK(tail);
  FUZZ_CHECK(tail->end.lines_end + tail->end.torn_bytes == size);
  FUZZ_CHECK(find_mark(file, {1, head->width}, next / 2, size));
  return 0;
}
