// Reads a file with a JSON object on each line, whatever else may be in it.
#pragma once

#include "api/transfer/transcripts/transcript.h"

namespace skein {

// Lines that are no objects are told to the listener and skipped. Halves of surrogate pairs, which
// JavaScript leaves behind where it cut a text, become U+FFFD. Not thread-safe.
class JsonLines {
 public:
  struct Line {
    std::string_view object;  // valid JSON; lives until the next call
    std::uint64_t number = 0;
  };

  // Without a listener nothing is told.
  static Result<JsonLines> open(const std::filesystem::path& path,
                                const TranscriptListener* listener);

  // False at the end.
  Result<bool> next(Line& line);

 private:
  JsonLines(std::filesystem::path path, LineFile file, const TranscriptListener* listener);
  void tell(std::uint64_t line, std::string message) const;

  std::filesystem::path path_;
  LineFile file_;
  const TranscriptListener* listener_;
  std::string mended_;
};

// Valid JSON but for single halves of surrogate pairs becomes valid.
std::string with_whole_surrogates(std::string_view json);

}  // namespace skein
