// The files of the page, which are part of the program.
#pragma once

#include <span>
#include <string_view>

namespace skein::http {

struct PageFile {
  std::string_view path;  // "/" is the page itself
  std::string_view content_type;
  std::string_view etag;
  bool immutable = false;  // its name changes with its content
  std::string_view bytes;
  std::string_view gzipped;  // empty: it does not get smaller
};

std::span<const PageFile> page_files();

}  // namespace skein::http
