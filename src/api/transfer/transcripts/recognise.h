// Tells by its contents what kind of file an import was given.
#pragma once

#include <filesystem>

#include "api/transfer/transcripts/transcript.h"

namespace skein {

enum class FileKind {
  kThreads,  // ours, or of a program that writes the same form; also whatever is nothing else
  kClaude,
  kCodex,
  kMessages,
};

FileKind recognise(const std::filesystem::path& path);

// Whether a file of this name may be a transcript that a program put there: what a folder is
// searched for.
bool is_transcript_name(const std::filesystem::path& path);

}  // namespace skein
