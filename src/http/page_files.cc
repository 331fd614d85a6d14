#include "http/page_files.h"

#include <cstddef>
#include <vector>

// What web/embed.mjs wrote, as it is.
asm(R"(
.pushsection .rodata
.balign 64
.globl skein_page_bytes
.hidden skein_page_bytes
skein_page_bytes:
.incbin ")" SKEIN_PAGE_BYTES R"("
.popsection
)");
extern "C" const char skein_page_bytes[];

namespace skein::http {
namespace {

struct Entry {
  std::string_view path;
  std::string_view content_type;
  std::string_view etag;
  bool immutable;
  std::size_t at;
  std::size_t size;
  std::size_t gzipped_at;
  std::size_t gzipped_size;
};

constexpr Entry kEntries[] = {
#include SKEIN_PAGE_INDEX
};

std::vector<PageFile> make_files() {
  std::vector<PageFile> files;
  for (const Entry& entry : kEntries) {
    files.push_back({.path = entry.path,
                     .content_type = entry.content_type,
                     .etag = entry.etag,
                     .immutable = entry.immutable,
                     .bytes = {skein_page_bytes + entry.at, entry.size},
                     .gzipped = {skein_page_bytes + entry.gzipped_at, entry.gzipped_size}});
  }
  return files;
}

}  // namespace

std::span<const PageFile> page_files() {
  static const std::vector<PageFile> files = make_files();
  return files;
}

}  // namespace skein::http
