// Thread files as an import reads them, and the redaction of what they hold.

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "api/transfer/thread_file.h"
#include "core/json.h"
#include "core/redact.h"
#include "fuzz/support/check.h"

namespace {

using namespace skein;

void check_redaction(const std::string& text) {
  static const Redactor redactor;
  std::string once = text;
  const std::size_t found = redactor.redact_text(once);
  FUZZ_CHECK((found == 0) == (once == text));
  FUZZ_CHECK(valid_utf8(once) || !valid_utf8(text));
  std::string twice = once;
  FUZZ_CHECK(redactor.redact_text(twice) == 0);
  if (validate_json(text, "text")) {
    std::string json = text;
    redactor.redact_json(json);
    FUZZ_CHECK(validate_json(json, "text"));
  }
}

// Whatever the file holds, what comes out of it can be stored.
void check_file(const std::string& path) {
  auto file = ThreadFile::open(path, [](const FileProblem&) {});
  FUZZ_CHECK(file);
  Manifest manifest;
  Event event;
  while (true) {
    const auto more = (*file)->next_thread(manifest);
    if (!more || !*more) return;
    while (*(*file)->next_event(event)) {
      FUZZ_CHECK(validate(event));
      FUZZ_CHECK(event.timestamp.is_set());
    }
    FUZZ_CHECK((*file)->position_of(0) == 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_redaction(text);
  const int fd = ::memfd_create("a1b2c3d4e5f6", MFD_CLOEXEC);
  FUZZ_CHECK(::write(fd, text.data(), size) == static_cast<ssize_t>(size));
  check_file("/proc/self/fd/" + std::to_string(fd));
  ::close(fd);
  return 0;
}
