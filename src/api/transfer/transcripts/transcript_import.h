// Takes a transcript into the store.
#pragma once

#include "api/transfer/import.h"
#include "api/transfer/transcripts/recognise.h"

namespace skein {

// Each conversation becomes a thread whose id follows from its identity, and each event carries a
// key: doing it again, or after the file has grown, appends what is new, after what it follows in
// the file. What went on in the store meanwhile stays, as a branch of its own. The file is only
// read. kIo: the store takes no more.
Result<void> import_transcript(Store& store, const std::filesystem::path& path, FileKind kind,
                               const ImportOptions& options, ImportSummary& summary);

}  // namespace skein
